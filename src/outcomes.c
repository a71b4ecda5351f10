/*
 * outcomes.c
 *		How verbs, outcomes and ends are spelt, and what each outcome means.
 *
 * Promises: every (verb, outcome) that a verb can answer with has a line in
 * the list, and no other has; the unit walk and the documentation are checked
 * against it.  Like rules.c it includes nothing of the server.
 */
#include "outcomes.h"

const OutcomeInfo outcomes_list[] = {
	{VERB_CLAIM, OUTCOME_CLAIMED,
		"The lease was free and is yours under the fence shown.",
	"Work, and renew at a third of the ttl."},
	{VERB_CLAIM, OUTCOME_TAKEN_OVER,
		"The former epoch had lapsed; the lease is yours under the fence shown.",
	"Check what the former holder left unfinished, then work."},
	{VERB_CLAIM, OUTCOME_HELD,
		"Somebody holds the lease until the expiry shown; the same owner counts as somebody.",
	"Ask again after the time remaining."},
	{VERB_CLAIM, OUTCOME_REPLAYED,
		"The request id was granted before and its epoch is still current: it is yours.",
	"Work; the remaining time is what is left of the first answer's."},
	{VERB_CLAIM, OUTCOME_REPLAYED_ENDED,
		"The request id was granted before, and its epoch has ended since.",
	"Claim with another request id if you still want the lease."},
	{VERB_CLAIM, OUTCOME_IN_GRACE,
		"The former epoch has lapsed, but the namespace's grace is not over.",
	"Ask again a little later."},
	{VERB_CLAIM, OUTCOME_COOLING,
		"Nobody holds the lease, but the former holder's hold_at_least is not over.",
	"Ask again a little later."},
	{VERB_CLAIM, OUTCOME_FULL,
		"The namespace has as many current leases as it may.",
	"Ask again when another lease has ended."},
	{VERB_CLAIM, OUTCOME_BUSY,
		"Another transaction has the row, or what goes with it, locked, and still had after the wait.",
	"Nothing was decided: ask again."},
	{VERB_CLAIM, OUTCOME_DONE,
		"The name is a task, and it is done.",
	"Nothing is left to do."},
	{VERB_CLAIM, OUTCOME_FAILED,
		"The name is a task, and it has failed for good.",
	"An operator can lease_retry() it."},
	{VERB_CLAIM, OUTCOME_ON_HOLD,
		"An operator has put the lease, or its whole namespace, on hold.",
	"Ask again after the resume; lease_explain() says what stands in the way."},
	{VERB_CLAIM, OUTCOME_CANCELLED,
		"An operator has cancelled the lease, or the task: nothing new is granted.",
	"Leave it; an operator can resume a lease and retry a task."},

	{VERB_TAKEOVER, OUTCOME_TAKEN_OVER,
		"The epoch that you observed had lapsed; the lease is yours under the fence shown.",
	"Check what the former holder left unfinished, then work."},
	{VERB_TAKEOVER, OUTCOME_NOT_EXPIRED,
		"The epoch that you observed is still current.",
	"Ask again after the time remaining."},
	{VERB_TAKEOVER, OUTCOME_RELEASED,
		"The epoch that you observed has ended: it was given back, completed, failed or cancelled.",
	"Claim the lease instead."},
	{VERB_TAKEOVER, OUTCOME_STALE_FENCE,
		"A later epoch than the one that you observed is on record.",
	"Somebody was faster: observe again."},
	{VERB_TAKEOVER, OUTCOME_UNKNOWN_FENCE,
		"The fence observed is above every one that this history granted.",
	"Committed grants have been lost, or the fence is another lease's: tell an operator."},
	{VERB_TAKEOVER, OUTCOME_NOT_FOUND,
		"There is no lease of that name.",
	"Claim the lease instead."},
	{VERB_TAKEOVER, OUTCOME_BROKEN,
		"The epoch that you observed was ended by an operator.",
	"Claim the lease instead."},
	{VERB_TAKEOVER, OUTCOME_REPLAYED,
		"The request id was granted before and its epoch is still current: it is yours.",
	"Work; the remaining time is what is left of the first answer's."},
	{VERB_TAKEOVER, OUTCOME_REPLAYED_ENDED,
		"The request id was granted before, and its epoch has ended since.",
	"Observe again."},
	{VERB_TAKEOVER, OUTCOME_IN_GRACE,
		"The epoch that you observed has lapsed, but the namespace's grace is not over.",
	"Ask again a little later."},
	{VERB_TAKEOVER, OUTCOME_COOLING,
		"The epoch that you observed has lapsed, but its hold_at_least is not over.",
	"Ask again a little later."},
	{VERB_TAKEOVER, OUTCOME_FULL,
		"The namespace has as many current leases as it may.",
	"Ask again when another lease has ended."},
	{VERB_TAKEOVER, OUTCOME_BUSY,
		"Another transaction has the row, or what goes with it, locked, and still had after the wait.",
	"Nothing was decided: ask again."},
	{VERB_TAKEOVER, OUTCOME_DONE,
		"The name is a task, and it is done.",
	"Nothing is left to do."},
	{VERB_TAKEOVER, OUTCOME_FAILED,
		"The name is a task, and it has failed for good.",
	"An operator can lease_retry() it."},
	{VERB_TAKEOVER, OUTCOME_ON_HOLD,
		"An operator has put the lease, or its whole namespace, on hold.",
	"Ask again after the resume; lease_explain() says what stands in the way."},
	{VERB_TAKEOVER, OUTCOME_CANCELLED,
		"An operator has cancelled the lease, or the task: nothing new is granted.",
	"Leave it; an operator can resume a lease and retry a task."},

	{VERB_RENEW, OUTCOME_RENEWED,
		"The epoch is still yours, until the expiry shown.",
	"Go on, and arm the timer anew from the moment at which the request left."},
	{VERB_RENEW, OUTCOME_NOT_FOUND,
		"There is no lease of that name.",
	"Stop working: the lease is not yours."},
	{VERB_RENEW, OUTCOME_UNKNOWN_FENCE,
		"The fence is above every one that this history granted.",
	"Stop working, and tell an operator: committed grants have been lost."},
	{VERB_RENEW, OUTCOME_STALE_FENCE,
		"A later epoch is on record.",
	"Stop working: somebody else may have begun."},
	{VERB_RENEW, OUTCOME_NOT_OWNER,
		"The fence is the one on record, but the owner is another.",
	"Stop working: the token is not yours."},
	{VERB_RENEW, OUTCOME_RELEASED,
		"The epoch was given back.",
	"Stop working, or claim anew."},
	{VERB_RENEW, OUTCOME_EXPIRED,
		"The epoch has lapsed, though nobody has taken it yet.",
	"Stop working, or claim anew: the next epoch has a higher fence."},
	{VERB_RENEW, OUTCOME_BROKEN,
		"An operator ended the epoch.",
	"Stop working."},
	{VERB_RENEW, OUTCOME_CEILING,
		"The epoch may not be prolonged: it has used up the namespace's max_hold, or max_ttl allows less than is already promised.",
	"Finish and release before the expiry shown."},
	{VERB_RENEW, OUTCOME_INVALID,
		"This item of a batch is no lease and no token.",
	"Mend the item; the others were answered on their own."},
	{VERB_RENEW, OUTCOME_STALE_VERSION,
		"The epoch is yours, but the version that you gave is not the one on record.",
	"Adopt the version shown and go on: an earlier answer was lost."},
	{VERB_RENEW, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"The lease is not lost: ask again until your own deadline."},
	{VERB_RENEW, OUTCOME_DONE,
		"The task was completed in this epoch.",
	"Stop working: the epoch is over."},
	{VERB_RENEW, OUTCOME_FAILED,
		"The attempt was reported as failed.",
	"Stop working: the next attempt is another epoch."},
	{VERB_RENEW, OUTCOME_ON_HOLD,
		"A hold that stops stands on the lease, or on its namespace; the epoch runs on.",
	"Stop working, and ask again until your own deadline."},
	{VERB_RENEW, OUTCOME_CANCELLED,
		"The epoch was cancelled, and the deadline is past.",
	"Stop working."},
	{VERB_RENEW, OUTCOME_NOT_A_TASK,
		"A checkpoint was given, but the name is a plain lease.",
	"Renew without a checkpoint."},

	{VERB_RELEASE, OUTCOME_RELEASED,
		"The epoch is over and the lease is free.",
	"Nothing is left to do."},
	{VERB_RELEASE, OUTCOME_ALREADY_RELEASED,
		"The epoch had been given back before, and nobody has taken the lease since.",
	"Nothing is left to do."},
	{VERB_RELEASE, OUTCOME_EXPIRED,
		"The epoch had lapsed before it was given back; the lease is free.",
	"Check your work: since the expiry it was not protected."},
	{VERB_RELEASE, OUTCOME_BROKEN,
		"An operator ended the epoch before you gave it back.",
	"Check your work: since the break it was not protected."},
	{VERB_RELEASE, OUTCOME_INVALID,
		"This item of a batch is no lease and no token.",
	"Mend the item; the others were answered on their own."},
	{VERB_RELEASE, OUTCOME_NOT_FOUND,
		"There is no lease of that name.",
	"Nothing is left to give back."},
	{VERB_RELEASE, OUTCOME_UNKNOWN_FENCE,
		"The fence is above every one that this history granted.",
	"Tell an operator: committed grants have been lost."},
	{VERB_RELEASE, OUTCOME_STALE_FENCE,
		"A later epoch is on record.",
	"Check your work: it was taken over before you gave it back."},
	{VERB_RELEASE, OUTCOME_NOT_OWNER,
		"The fence is the one on record, but the owner is another.",
	"The token is not yours to give back."},
	{VERB_RELEASE, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"The lease is not given back yet: ask again."},
	{VERB_RELEASE, OUTCOME_DONE,
		"The task was completed in this epoch.",
	"Nothing is left to give back."},
	{VERB_RELEASE, OUTCOME_FAILED,
		"The attempt was reported as failed.",
	"Nothing is left to give back."},
	{VERB_RELEASE, OUTCOME_CANCELLED,
		"The epoch was cancelled, and the deadline had passed before it was given back.",
	"Check your work: since the deadline it was not protected."},

	{VERB_BREAK, OUTCOME_BROKEN,
		"The epoch is over, and the lease is free, or handed over where that was asked for.",
	"Its holder is refused from now on; claim the lease if you want it."},
	{VERB_BREAK, OUTCOME_ALREADY_BROKEN,
		"The epoch had been broken before, and nobody had taken the lease since; a hold or hand-over that was asked for with it is done.",
	"Nothing is left to do."},
	{VERB_BREAK, OUTCOME_RELEASED,
		"The epoch had ended before, and not by a break: it was given back, completed, failed or cancelled; nobody has taken the lease since.",
	"Nothing is left to break, and nothing was held or handed over: use lease_hold(), or claim it."},
	{VERB_BREAK, OUTCOME_NOT_FOUND,
		"There is no lease of that name.",
	"Nothing is left to break."},
	{VERB_BREAK, OUTCOME_UNKNOWN_FENCE,
		"The fence expected is above every one that this history granted.",
	"Look again; if the fence was granted once, committed grants have been lost."},
	{VERB_BREAK, OUTCOME_STALE_FENCE,
		"A later epoch than the one expected is on record.",
	"Look again before you break somebody else's work."},
	{VERB_BREAK, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"Ask again; lease_explain() names the backend in the way."},
	{VERB_BREAK, OUTCOME_DONE,
		"The task is done.",
	"Nothing is left to break."},
	{VERB_BREAK, OUTCOME_FAILED,
		"The task has failed, or has no attempt left to hand over.",
	"Use lease_retry() to begin anew."},
	{VERB_BREAK, OUTCOME_CANCELLED,
		"The lease or task is cancelled, and a cancelled one is not handed over.",
	"Break it without a new owner, or resume or retry it first."},
	{VERB_BREAK, OUTCOME_FULL,
		"The namespace has as many current leases as it may, so nothing was handed over or broken.",
	"Break it without a new owner, or end another lease first."},

	{VERB_GET, OUTCOME_IN_GRACE,
		"The last epoch has lapsed, and the namespace's grace is not over.",
	"Claim it a little later."},
	{VERB_GET, OUTCOME_COOLING,
		"Nobody holds the lease, and the former holder's hold_at_least is not over.",
	"Claim it a little later."},
	{VERB_GET, OUTCOME_HELD,
		"Somebody holds the lease until the expiry shown.",
	"Nothing to do."},
	{VERB_GET, OUTCOME_EXPIRED,
		"The last epoch has lapsed and nobody has taken the lease.",
	"Claim it, or take it over."},
	{VERB_GET, OUTCOME_FREE,
		"Nobody holds the lease.",
	"Claim it."},
	{VERB_GET, OUTCOME_NOT_FOUND,
		"There is no lease of that name.",
	"Claim it: the first claim makes the row."},
	{VERB_GET, OUTCOME_ON_HOLD,
		"Nobody holds the lease, and an operator has put it or its whole namespace on hold.",
	"Claim it after the resume."},
	{VERB_GET, OUTCOME_CANCELLED,
		"An operator has cancelled it, and nobody holds it.",
	"An operator can resume a lease and retry a task."},
	{VERB_GET, OUTCOME_DONE,
		"The task is done.",
	"Nothing to do."},
	{VERB_GET, OUTCOME_FAILED,
		"The task has failed for good, or used up its attempts.",
	"An operator can lease_retry() it."},

	{VERB_HOLD, OUTCOME_HOLD_SET,
		"The hold stands: nothing new is granted until it is over.",
	"Use lease_resume() to take it back."},
	{VERB_HOLD, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"Nothing was held: ask again."},

	{VERB_RESUME, OUTCOME_RESUMED,
		"No hold of the lease's own stands, and no cancel on a plain lease.",
	"Nothing is left to do; a hold of the namespace is taken back by itself."},
	{VERB_RESUME, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"Nothing was resumed: ask again."},

	{VERB_CANCEL, OUTCOME_CANCEL_REQUESTED,
		"The holder is asked to stop by the deadline shown; with nobody at it, a task is cancelled.",
	"Nothing new is granted; lease_get() tells when it has stopped."},
	{VERB_CANCEL, OUTCOME_DONE,
		"The task is done.",
	"Nothing is left to cancel."},
	{VERB_CANCEL, OUTCOME_FAILED,
		"The task has failed for good.",
	"Nothing is left to cancel."},
	{VERB_CANCEL, OUTCOME_CANCELLED,
		"The task is cancelled already, and nobody works at it.",
	"Nothing is left to do."},
	{VERB_CANCEL, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"Nothing was cancelled: ask again."},

	{VERB_NAMESPACE_HOLD, OUTCOME_HOLD_SET,
		"The hold stands: no grant is decided from its commit on; one that was decided before and has not committed may still do so.",
	"Look at lease_status once transactions that were open have ended; lease_namespace_resume() takes it back."},
	{VERB_NAMESPACE_HOLD, OUTCOME_BUSY,
		"Another transaction has the namespace locked, and still had after lease.lock_wait.",
	"Nothing was held: ask again."},

	{VERB_NAMESPACE_RESUME, OUTCOME_RESUMED,
		"No hold of the namespace stands.",
	"Nothing is left to do; holds of single leases stay."},
	{VERB_NAMESPACE_RESUME, OUTCOME_BUSY,
		"Another transaction has the namespace locked, and still had after lease.lock_wait.",
	"Nothing was resumed: ask again."},

	{VERB_OFFER, OUTCOME_OFFERED,
		"The task is on record and will be handed out when it is due.",
	"Nothing is left to do."},
	{VERB_OFFER, OUTCOME_EXISTS,
		"The name is a task already, or somebody holds it; nothing was changed.",
	"Use lease_task_get() to see what is there, or offer another name."},
	{VERB_OFFER, OUTCOME_CANCELLED,
		"An operator has cancelled the name; nothing was changed.",
	"Offer it after a resume."},
	{VERB_OFFER, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"Nothing was offered: ask again."},

	{VERB_POLL, OUTCOME_CLAIMED,
		"The task was free and is yours under the fence shown.",
	"Work, and renew at a third of the ttl."},
	{VERB_POLL, OUTCOME_TAKEN_OVER,
		"The former attempt had lapsed; the task is yours under the fence shown.",
	"Go on from the checkpoint, and check what the former attempt left unfinished."},
	{VERB_POLL, OUTCOME_REPLAYED,
		"The request id was granted this task before, and its epoch is still current: it is yours.",
	"Work; the remaining time is what is left of the first answer's."},
	{VERB_POLL, OUTCOME_REPLAYED_ENDED,
		"The request id was granted tasks before, and all their epochs have ended since.",
	"Poll with another request id."},
	{VERB_POLL, OUTCOME_ON_HOLD,
		"An operator has put the whole namespace on hold.",
	"Poll again after the resume."},
	{VERB_POLL, OUTCOME_FULL,
		"The namespace has as many current leases as it may.",
	"Poll again when another lease has ended."},
	{VERB_POLL, OUTCOME_BUSY,
		"A poll with the same request id has not ended yet, or somebody else is counting the namespace's leases.",
	"Nothing was decided: poll again."},

	{VERB_COMPLETE, OUTCOME_COMPLETED,
		"The task is done; repeated by the same epoch, it was done before, and the first result stands.",
	"Nothing is left to do."},
	{VERB_COMPLETE, OUTCOME_REOPENED,
		"This epoch had completed the task, and an operator has reopened it since; nothing was kept.",
	"Stop working: the next attempt is another epoch."},
	{VERB_COMPLETE, OUTCOME_FAILED,
		"This attempt was reported as failed before.",
	"Stop working: the next attempt is another epoch."},
	{VERB_COMPLETE, OUTCOME_NOT_FOUND,
		"There is no task of that name.",
	"Stop working: the task is not yours."},
	{VERB_COMPLETE, OUTCOME_UNKNOWN_FENCE,
		"The fence is above every one that this history granted.",
	"Stop working, and tell an operator: committed grants have been lost."},
	{VERB_COMPLETE, OUTCOME_STALE_FENCE,
		"A later epoch is on record.",
	"Stop working: somebody else may have begun."},
	{VERB_COMPLETE, OUTCOME_NOT_OWNER,
		"The fence is the one on record, but the owner is another.",
	"Stop working: the token is not yours."},
	{VERB_COMPLETE, OUTCOME_RELEASED,
		"The epoch was given back.",
	"Stop working: the next attempt is another epoch."},
	{VERB_COMPLETE, OUTCOME_BROKEN,
		"An operator ended the epoch.",
	"Stop working."},
	{VERB_COMPLETE, OUTCOME_EXPIRED,
		"The epoch has lapsed, though nobody has taken it yet.",
	"Stop working: what you did since the expiry was not protected."},
	{VERB_COMPLETE, OUTCOME_ON_HOLD,
		"A hold that stops stands on the task, or on its namespace; the epoch runs on.",
	"Ask again until your own deadline."},
	{VERB_COMPLETE, OUTCOME_CANCELLED,
		"The epoch was cancelled, and the deadline is past.",
	"Stop working."},
	{VERB_COMPLETE, OUTCOME_NOT_A_TASK,
		"The name is a plain lease.",
	"Release it instead."},
	{VERB_COMPLETE, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"The task is not settled yet: ask again until your own deadline."},

	{VERB_FAIL, OUTCOME_RETRY_SCHEDULED,
		"The attempt is over, and the task waits for the next one.",
	"Poll for other work."},
	{VERB_FAIL, OUTCOME_FAILED,
		"The attempt is over, and no other follows.",
	"An operator can lease_retry() it."},
	{VERB_FAIL, OUTCOME_DONE,
		"The task was completed in this epoch.",
	"Nothing is left to do."},
	{VERB_FAIL, OUTCOME_NOT_FOUND,
		"There is no task of that name.",
	"Stop working: the task is not yours."},
	{VERB_FAIL, OUTCOME_UNKNOWN_FENCE,
		"The fence is above every one that this history granted.",
	"Stop working, and tell an operator: committed grants have been lost."},
	{VERB_FAIL, OUTCOME_STALE_FENCE,
		"A later epoch is on record.",
	"Stop working: somebody else may have begun."},
	{VERB_FAIL, OUTCOME_NOT_OWNER,
		"The fence is the one on record, but the owner is another.",
	"Stop working: the token is not yours."},
	{VERB_FAIL, OUTCOME_RELEASED,
		"The epoch was given back.",
	"Stop working: the next attempt is another epoch."},
	{VERB_FAIL, OUTCOME_BROKEN,
		"An operator ended the epoch.",
	"Stop working."},
	{VERB_FAIL, OUTCOME_EXPIRED,
		"The epoch has lapsed, though nobody has taken it yet.",
	"Stop working: what you did since the expiry was not protected."},
	{VERB_FAIL, OUTCOME_ON_HOLD,
		"A hold that stops stands on the task, or on its namespace; the epoch runs on.",
	"Ask again until your own deadline."},
	{VERB_FAIL, OUTCOME_CANCELLED,
		"The epoch was cancelled, and the deadline is past.",
	"Stop working."},
	{VERB_FAIL, OUTCOME_NOT_A_TASK,
		"The name is a plain lease.",
	"Release it instead."},
	{VERB_FAIL, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"The task is not settled yet: ask again until your own deadline."},

	{VERB_RETRY, OUTCOME_REOPENED,
		"The task is due at once, with all its attempts before it.",
	"Nothing is left to do."},
	{VERB_RETRY, OUTCOME_NOT_TERMINAL,
		"The task is not over.",
	"Break or cancel it first, if it is to begin anew."},
	{VERB_RETRY, OUTCOME_NOT_A_TASK,
		"The name is a plain lease.",
	"Nothing is left to do."},
	{VERB_RETRY, OUTCOME_NOT_FOUND,
		"There is no task of that name.",
	"Offer it."},
	{VERB_RETRY, OUTCOME_BUSY,
		"Another transaction has the row locked, and still had after lease.lock_wait.",
	"Nothing was reopened: ask again."},

	{VERB_TASK_GET, OUTCOME_HELD,
		"Somebody works at the task until the expiry shown.",
	"Nothing to do."},
	{VERB_TASK_GET, OUTCOME_EXPIRED,
		"The last attempt has lapsed and nobody has taken the task.",
	"A poll takes it."},
	{VERB_TASK_GET, OUTCOME_IN_GRACE,
		"The last attempt has lapsed, and the namespace's grace is not over.",
	"A poll takes it a little later."},
	{VERB_TASK_GET, OUTCOME_COOLING,
		"The task is not due yet, or the former holder's hold_at_least is not over.",
	"A poll takes it when it is due."},
	{VERB_TASK_GET, OUTCOME_FREE,
		"Nobody works at the task, and it is due.",
	"A poll takes it."},
	{VERB_TASK_GET, OUTCOME_ON_HOLD,
		"Nobody works at the task, and an operator has put it or its whole namespace on hold.",
	"A poll takes it after the resume."},
	{VERB_TASK_GET, OUTCOME_DONE,
		"The task is done.",
	"Nothing to do."},
	{VERB_TASK_GET, OUTCOME_FAILED,
		"The task has failed for good, or used up its attempts.",
	"An operator can lease_retry() it."},
	{VERB_TASK_GET, OUTCOME_CANCELLED,
		"The task is cancelled.",
	"An operator can lease_retry() it."},
	{VERB_TASK_GET, OUTCOME_NOT_A_TASK,
		"The name is a plain lease.",
	"Use lease_get()."},
	{VERB_TASK_GET, OUTCOME_NOT_FOUND,
		"There is no task of that name.",
	"Offer it."},

	{VERB_PRESENT, OUTCOME_CURRENT,
		"The token is the current epoch's, and no later one begins before this transaction ends.",
	"Write to what is guarded, then commit."},
	{VERB_PRESENT, OUTCOME_PRESENTED,
		"The token is remembered for this transaction and was not judged (prove => false).",
	"Write to what is guarded by high-water marks, then commit."},
	{VERB_PRESENT, OUTCOME_STALE_FENCE,
		"A later epoch is on record.  Raised as LE001.",
	"Stop working: somebody else may have begun."},
	{VERB_PRESENT, OUTCOME_EXPIRED,
		"The epoch has lapsed.  Raised as LE002.",
	"Stop working, or claim anew: the next epoch has a higher fence."},
	{VERB_PRESENT, OUTCOME_NOT_OWNER,
		"The fence is the one on record, but the owner is another.  Raised as LE004.",
	"Stop working: the token is not yours."},
	{VERB_PRESENT, OUTCOME_NOT_FOUND,
		"There is no lease of that name.  Raised as LE006.",
	"Stop working: the lease is not yours."},
	{VERB_PRESENT, OUTCOME_UNKNOWN_FENCE,
		"The fence is above every one that this history granted.  Raised as LE006.",
	"Stop working, and tell an operator: committed grants have been lost."},
	{VERB_PRESENT, OUTCOME_BUSY,
		"The next epoch is being granted by a transaction in flight, and still was after lease.lock_wait.  Raised as LE007.",
	"Nothing was decided: ask again."},
	{VERB_PRESENT, OUTCOME_RELEASED,
		"The epoch was given back.  Raised as LE008.",
	"Stop working, or claim anew."},
	{VERB_PRESENT, OUTCOME_BROKEN,
		"An operator ended the epoch.  Raised as LE008.",
	"Stop working."},
	{VERB_PRESENT, OUTCOME_DONE,
		"The task was completed in this epoch.  Raised as LE008.",
	"Stop working: the epoch is over."},
	{VERB_PRESENT, OUTCOME_FAILED,
		"The attempt was reported as failed.  Raised as LE008.",
	"Stop working: the next attempt is another epoch."},
	{VERB_PRESENT, OUTCOME_ON_HOLD,
		"A hold that stops stands on the lease, or on its namespace.  Raised as LE009.",
	"Stop writing, and ask again until your own deadline."},
	{VERB_PRESENT, OUTCOME_CANCELLED,
		"The epoch was cancelled, and the deadline is past.  Raised as LE009.",
	"Stop working."},

	{VERB_ADMIT, OUTCOME_ADMITTED,
		"No higher fence has been admitted, and none is until this transaction ends.",
	"Write to the resource, then commit."},
	{VERB_ADMIT, OUTCOME_BELOW_HIGH_WATER,
		"A higher fence has been admitted, which is shown.",
	"Refuse the request: its sender has been superseded."},
	{VERB_ADMIT, OUTCOME_BUSY,
		"Another fence's transaction is in, and still was after lease.lock_wait.",
	"Nothing was decided: ask again."},
};

const int	outcomes_count = sizeof(outcomes_list) / sizeof(outcomes_list[0]);

const char *
outcomes_verb_name(LeaseVerb verb)
{
	switch (verb)
	{
		case VERB_CLAIM:
			return "lease_claim";
		case VERB_TAKEOVER:
			return "lease_takeover";
		case VERB_RENEW:
			return "lease_renew";
		case VERB_RELEASE:
			return "lease_release";
		case VERB_BREAK:
			return "lease_break";
		case VERB_GET:
			return "lease_get";
		case VERB_PRESENT:
			return "lease_present";
		case VERB_ADMIT:
			return "lease_admit";
		case VERB_HOLD:
			return "lease_hold";
		case VERB_RESUME:
			return "lease_resume";
		case VERB_CANCEL:
			return "lease_cancel";
		case VERB_NAMESPACE_HOLD:
			return "lease_namespace_hold";
		case VERB_NAMESPACE_RESUME:
			return "lease_namespace_resume";
		case VERB_OFFER:
			return "lease_offer";
		case VERB_POLL:
			return "lease_poll";
		case VERB_COMPLETE:
			return "lease_complete";
		case VERB_FAIL:
			return "lease_fail";
		case VERB_RETRY:
			return "lease_retry";
		case VERB_TASK_GET:
			return "lease_task_get";
		case VERB_FINALISE:
			return "lease_sweep";
		case VERB_REBASE:
			return "";
	}
	return "";
}

const char *
outcomes_name(LeaseOutcome outcome)
{
	switch (outcome)
	{
		case OUTCOME_CLAIMED:
			return "claimed";
		case OUTCOME_TAKEN_OVER:
			return "taken_over";
		case OUTCOME_RENEWED:
			return "renewed";
		case OUTCOME_RELEASED:
			return "released";
		case OUTCOME_ALREADY_RELEASED:
			return "already_released";
		case OUTCOME_BROKEN:
			return "broken";
		case OUTCOME_ALREADY_BROKEN:
			return "already_broken";
		case OUTCOME_REPLAYED:
			return "replayed";
		case OUTCOME_REPLAYED_ENDED:
			return "replayed_ended";
		case OUTCOME_INVALID:
			return "invalid";
		case OUTCOME_BUSY:
			return "busy";
		case OUTCOME_NOT_FOUND:
			return "not_found";
		case OUTCOME_UNKNOWN_FENCE:
			return "unknown_fence";
		case OUTCOME_STALE_FENCE:
			return "stale_fence";
		case OUTCOME_NOT_OWNER:
			return "not_owner";
		case OUTCOME_EXPIRED:
			return "expired";
		case OUTCOME_CEILING:
			return "ceiling";
		case OUTCOME_STALE_VERSION:
			return "stale_version";
		case OUTCOME_HELD:
			return "held";
		case OUTCOME_NOT_EXPIRED:
			return "not_expired";
		case OUTCOME_IN_GRACE:
			return "in_grace";
		case OUTCOME_COOLING:
			return "cooling";
		case OUTCOME_FULL:
			return "full";
		case OUTCOME_FREE:
			return "free";
		case OUTCOME_CURRENT:
			return "current";
		case OUTCOME_PRESENTED:
			return "presented";
		case OUTCOME_ADMITTED:
			return "admitted";
		case OUTCOME_BELOW_HIGH_WATER:
			return "below_high_water";
		case OUTCOME_ON_HOLD:
			return "on_hold";
		case OUTCOME_CANCELLED:
			return "cancelled";
		case OUTCOME_HOLD_SET:
			return "hold_set";
		case OUTCOME_RESUMED:
			return "resumed";
		case OUTCOME_CANCEL_REQUESTED:
			return "cancel_requested";
		case OUTCOME_OFFERED:
			return "offered";
		case OUTCOME_EXISTS:
			return "exists";
		case OUTCOME_NOT_A_TASK:
			return "not_a_task";
		case OUTCOME_COMPLETED:
			return "completed";
		case OUTCOME_RETRY_SCHEDULED:
			return "retry_scheduled";
		case OUTCOME_REOPENED:
			return "reopened";
		case OUTCOME_NOT_TERMINAL:
			return "not_terminal";
		case OUTCOME_DONE:
			return "done";
		case OUTCOME_FAILED:
			return "failed";
		case OUTCOME_FINALISED:
			return "finalised";
		case OUTCOME_PASSED_OVER:
			return "passed_over";
	}
	return "";
}

/*
 * Whether the answer is a success.  A look is one whatever it finds; a word
 * that is good news for one verb is bad news for another (released).
 */
bool
outcomes_ok(LeaseVerb verb, LeaseOutcome outcome)
{
	switch (verb)
	{
		case VERB_CLAIM:
		case VERB_TAKEOVER:
			return outcome == OUTCOME_CLAIMED ||
				outcome == OUTCOME_TAKEN_OVER ||
				outcome == OUTCOME_REPLAYED;
		case VERB_RENEW:
			return outcome == OUTCOME_RENEWED;
		case VERB_RELEASE:
			return outcome == OUTCOME_RELEASED ||
				outcome == OUTCOME_ALREADY_RELEASED;
		case VERB_BREAK:
			return outcome == OUTCOME_BROKEN ||
				outcome == OUTCOME_ALREADY_BROKEN;
		case VERB_GET:
			return outcome != OUTCOME_NOT_FOUND;
		case VERB_PRESENT:
			return outcome == OUTCOME_CURRENT || outcome == OUTCOME_PRESENTED;
		case VERB_ADMIT:
			return outcome == OUTCOME_ADMITTED;
		case VERB_HOLD:
		case VERB_NAMESPACE_HOLD:
			return outcome == OUTCOME_HOLD_SET;
		case VERB_RESUME:
		case VERB_NAMESPACE_RESUME:
			return outcome == OUTCOME_RESUMED;
		case VERB_CANCEL:
			return outcome == OUTCOME_CANCEL_REQUESTED;
		case VERB_OFFER:
			return outcome == OUTCOME_OFFERED;
		case VERB_POLL:
			return outcome == OUTCOME_CLAIMED ||
				outcome == OUTCOME_TAKEN_OVER ||
				outcome == OUTCOME_REPLAYED;
		case VERB_COMPLETE:
			return outcome == OUTCOME_COMPLETED;
		case VERB_FAIL:
			return outcome == OUTCOME_RETRY_SCHEDULED ||
				outcome == OUTCOME_FAILED;
		case VERB_RETRY:
			return outcome == OUTCOME_REOPENED;
		case VERB_TASK_GET:
			return outcome != OUTCOME_NOT_FOUND &&
				outcome != OUTCOME_NOT_A_TASK;
		case VERB_FINALISE:
			return outcome == OUTCOME_FINALISED;
		case VERB_REBASE:
			return false;
	}
	return false;
}

const char *
outcomes_end_name(LeaseEnd end)
{
	switch (end)
	{
		case END_NONE:
			return "";
		case END_RELEASED:
			return "released";
		case END_EXPIRED:
			return "expired";
		case END_BROKEN:
			return "broken";
		case END_COMPLETED:
			return "completed";
		case END_FAILED:
			return "failed";
		case END_CANCELLED:
			return "cancelled";
	}
	return "";
}

const char *
outcomes_task_name(TaskState task)
{
	switch (task)
	{
		case TASK_NONE:
			return "";
		case TASK_OPEN:
			return "open";
		case TASK_DONE:
			return "done";
		case TASK_FAILED:
			return "failed";
		case TASK_CANCELLED:
			return "cancelled";
	}
	return "";
}

static bool
is_spelt(RuleText name, const char *word)
{
	RuleText	spelt = {word, 0};

	while (spelt.data[spelt.len] != '\0')
		spelt.len++;
	return rules_text_equal(name, spelt);
}

/* Sets *task to what outcomes_task_name() spells so; false where nothing is. */
bool
outcomes_task_from_name(RuleText name, TaskState *task)
{
	TaskState	candidate;

	for (candidate = TASK_OPEN; candidate <= TASK_CANCELLED; candidate++)
	{
		if (is_spelt(name, outcomes_task_name(candidate)))
		{
			*task = candidate;
			return true;
		}
	}
	return false;
}

/* Sets *end to what outcomes_end_name() spells so; false where nothing is. */
bool
outcomes_end_from_name(RuleText name, LeaseEnd *end)
{
	LeaseEnd	candidate;

	for (candidate = END_RELEASED; candidate <= END_CANCELLED; candidate++)
	{
		if (is_spelt(name, outcomes_end_name(candidate)))
		{
			*end = candidate;
			return true;
		}
	}
	return false;
}
