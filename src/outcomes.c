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

	{VERB_TAKEOVER, OUTCOME_TAKEN_OVER,
		"The epoch that you observed had lapsed; the lease is yours under the fence shown.",
	"Check what the former holder left unfinished, then work."},
	{VERB_TAKEOVER, OUTCOME_NOT_EXPIRED,
		"The epoch that you observed is still current.",
	"Ask again after the time remaining."},
	{VERB_TAKEOVER, OUTCOME_RELEASED,
		"The epoch that you observed was given back.",
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

	{VERB_BREAK, OUTCOME_BROKEN,
		"The epoch is over and the lease is free.",
	"Its holder is refused from now on; claim the lease if you want it."},
	{VERB_BREAK, OUTCOME_ALREADY_BROKEN,
		"The epoch had been broken before, and nobody has taken the lease since.",
	"Nothing is left to do."},
	{VERB_BREAK, OUTCOME_RELEASED,
		"The epoch had been given back before, and nobody has taken the lease since.",
	"Nothing is left to break."},
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
	}
	return "";
}

/* Sets *end to what outcomes_end_name() spells so; false where nothing is. */
bool
outcomes_end_from_name(RuleText name, LeaseEnd *end)
{
	LeaseEnd	candidate;

	for (candidate = END_RELEASED; candidate <= END_BROKEN; candidate++)
	{
		RuleText	spelt = {outcomes_end_name(candidate), 0};

		while (spelt.data[spelt.len] != '\0')
			spelt.len++;
		if (rules_text_equal(name, spelt))
		{
			*end = candidate;
			return true;
		}
	}
	return false;
}
