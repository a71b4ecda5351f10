/*
 * protocol.c
 *		One verb, from the look to the answer.
 *
 * The order is the whole point: look without a lock, and answer a refusal
 * that no pending transaction can overturn; otherwise lock the row, read it
 * again, read the clock, decide, write.  Lock and write happen in a
 * subtransaction, which a refusal rolls back: whoever is refused leaves
 * nothing behind, no row lock, no table lock and no number.
 *
 * What is worth waiting for is waited for in here, with nothing locked and no
 * subtransaction open, and then looked at afresh: a holder's verb waits up to
 * lease.lock_wait for a locked row, a claim or takeover as long as its caller
 * said, also for the lease itself.
 *
 * The current user is authorised here before anything is read for him, and
 * again after each sleep.
 */
#include "lease.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "clock.h"
#include "due.h"
#include "error.h"
#include "ledger.h"
#include "mutex.h"
#include "namespaces.h"
#include "outcomes.h"
#include "payload.h"
#include "policy.h"
#include "protocol.h"
#include "rebase.h"
#include "request.h"
#include "settings.h"
#include "store.h"
#include "token.h"
#include "transaction.h"
#include "wait.h"

/*
 * What the verbs are to this file.  One of which nothing is said is judged by
 * the namespace's policy each time, and makes nothing.
 */
typedef struct Traits
{
	bool		waits;			/* for the lease, and is repeated by its id */
	bool		makes_epoch;	/* whatever else it is asked */
	bool		makes_row;		/* of a name that has none */
	bool		policy_late;	/* the policy counts under the lock alone */
	bool		of_namespace;	/* and of no name */
} Traits;

static const Traits traits[LEASE_VERBS] = {
	[VERB_CLAIM] = {.waits = true,.makes_epoch = true,.makes_row = true},
	[VERB_TAKEOVER] = {.waits = true,.makes_epoch = true},
	[VERB_RENEW] = {.policy_late = true},
	[VERB_RELEASE] = {.policy_late = true},
	[VERB_BREAK] = {.policy_late = true},
	[VERB_HOLD] = {.makes_row = true,.policy_late = true},
	[VERB_RESUME] = {.policy_late = true},
	[VERB_CANCEL] = {.makes_row = true,.policy_late = true},
	[VERB_NAMESPACE_HOLD] = {.of_namespace = true},
	[VERB_NAMESPACE_RESUME] = {.of_namespace = true},
	[VERB_OFFER] = {.makes_row = true,.policy_late = true},
	[VERB_POLL] = {.makes_epoch = true},
	[VERB_COMPLETE] = {.policy_late = true},
	[VERB_FAIL] = {.policy_late = true},
	[VERB_RETRY] = {.policy_late = true},
	[VERB_FINALISE] = {.policy_late = true}
};

static const Traits *
traits_of(const LeaseCall *call)
{
	return &traits[call->request.verb];
}

static bool
makes_epoch(const LeaseCall *call)
{
	return traits_of(call)->makes_epoch || call->request.hand_over;
}

/* A call of a verb, of which all else is to be filled in. */
LeaseCall
protocol_call(LeaseVerb verb, int needed)
{
	LeaseCall	call = {.request.verb = verb,.needed = needed};

	return call;
}

/* The request id of a call, as it is on record. */
RequestId
protocol_request(const LeaseCall *call)
{
	RequestId	request = {
		call->key.namespace, call->request.verb, call->request.owner, call->request_id
	};

	return request;
}

/* Whether the request id was granted before; then it must have been this name. */
static void
read_request(const LeaseCall *call, GrantFacts *facts)
{
	RequestId	request = protocol_request(call);
	RequestGrant grant;

	if (call->request_id == NULL || !traits_of(call)->waits)
		return;
	request_find(&request, &grant);
	if (!grant.found)
		return;
	if (!rules_text_equal(grant.name, lease_text(call->key.name)))
		error_invalid("request_id", "It was used before, for another name.");
	facts->asked_before = true;
	facts->granted_fence = grant.fence;
}

/* Judge a row that has been read, at the instant that it is now. */
static void
decide(const LeaseCall *call, const LeaseRow *row, const LeasePolicy *policy,
	   const GrantFacts *facts, LeaseDecision *decision, LeaseAnswer *answer)
{
	answer->now = clock_now();
	rules_decide(row, &call->request, policy, facts, answer->now, decision);
	answer->outcome = decision->outcome;
	answer->row = decision->row;
	answer->exhausted = decision->exhausted;
	answer->due_at = rules_due_at(row, policy, answer->now);
}

/* Judge a row as it was read, without the will to write. */
void
protocol_judge(const LeaseCall *call, const LeaseRow *row,
			   LeaseDecision *decision, LeaseAnswer *answer)
{
	/* a holder's verb is looked at for its token alone */
	static const LeasePolicy any = {.max_ttl = PG_INT64_MAX};
	const LeasePolicy *rules = &any;
	GrantFacts	facts = {0};
	NamespacePolicy policy;

	if (!traits_of(call)->policy_late)
	{
		read_request(call, &facts);
		policy_read(call->key.namespace, &policy);
		rules = &policy.rules;
	}
	decide(call, row, rules, &facts, decision, answer);

	/* nothing has been written, whatever was decided */
	answer->row = *row;
}

/*
 * Decide without a lock.  True: the answer stands.  Otherwise *mode is the
 * lock under which it has to be decided.  The caller forgets what was found.
 */
bool
protocol_look(Rows *rows, const LeaseCall *call, FoundRow *found,
			  LeaseAnswer *answer, LockTupleMode *mode)
{
	LeaseDecision decision;

	store_find(rows, &call->key, found);
	protocol_judge(call, &found->row, &decision, answer);

	/*
	 * A new epoch must not begin while a guarded write of the old one is in
	 * flight, and that holds FOR KEY SHARE; what leaves the epoch alone does
	 * not wait for it.
	 */
	*mode = decision.write == WRITE_GRANT || decision.exhausted ?
		LockTupleExclusive : LockTupleNoKeyExclusive;
	return rules_is_final_unlocked(&decision);
}

/* The names that keep two grants of one namespace from fitting in together. */
static uint64
capacity_hash(const text *namespace)
{
	return mutex_hash(0, VARDATA_ANY(namespace), VARSIZE_ANY_EXHDR(namespace));
}

/* False where somebody else is counting the namespace's leases. */
bool
protocol_try_capacity(const text *namespace)
{
	return mutex_try(capacity_hash(namespace));
}

void
protocol_yield_capacity(const text *namespace)
{
	mutex_release(capacity_hash(namespace));
}

/*
 * Collect what a grant depends on beside the row, and hold off those who
 * would collect the same: *capacity tells whether the namespace's places are
 * being counted, and *ahead whether that has met a lease promised ahead.  False
 * where somebody else is at it.
 */
static bool
collect_facts(Rows *rows, const LeaseCall *call, const LeaseRow *row,
			  const LeasePolicy *policy, GrantFacts *facts, bool *capacity,
			  bool *ahead)
{
	memset(facts, 0, sizeof(GrantFacts));
	if (call->request.verb == VERB_FAIL)
		facts->random = pg_prng_double(&pg_global_prng_state);
	if (makes_epoch(call) || !row->exists)
		facts->floor = ledger_floor(call->key.namespace);
	if (!makes_epoch(call))
		return true;
	read_request(call, facts);
	facts->generation = ledger_generation(RelationGetRelid(rows->heap));
	if (policy->max_leases > 0)
	{
		if (!protocol_try_capacity(call->key.namespace))
			return false;
		*capacity = true;
		facts->others = store_count_others(&call->key, policy->max_leases, clock_now(),
										   ahead);
	}
	return true;
}

/* Whether somebody ended the epoch, or time did. */
static bool
is_act(const LeaseCall *call, const LeaseDecision *decision)
{
	return decision->closes != END_EXPIRED &&
		(decision->closes != END_CANCELLED || call->request.verb == VERB_CANCEL);
}

/* Write down the end of an epoch that the decision ends or finds ended. */
static void
keep_end(const LeaseCall *call, const LeaseRow *before,
		 const LeaseDecision *decision, const NamespacePolicy *policy)
{
	if (decision->closes == END_NONE || !policy->history)
		return;
	if (is_act(call, decision))
		ledger_keep_end(&call->key, before, decision->closes, decision->closed_at,
						call->intent.reason, GetUserNameFromId(GetUserId(), false));
	else
		ledger_keep_end(&call->key, before, decision->closes, decision->closed_at,
						NULL, NULL);
}

/*
 * Whether a task has to be looked at sooner than was known: one that is new or
 * open again, one whose attempt is over, and whatever else is due sooner now
 * than by the row as it was, to which its entry may have been moved.
 */
static bool
is_due_sooner(const LeaseRow *before, const LeaseDecision *decision,
			  TimestampTz now)
{
	return before->task != TASK_OPEN || decision->write == WRITE_END ||
		rules_due_at(&decision->row, NULL, now) < rules_due_at(before, NULL, now);
}

/*
 * Write down what the verb says of a task, beside the lease's row; of one that
 * is refused nothing.
 */
static void
keep_task(const LeaseCall *call, const LeaseRow *before,
		  const LeaseDecision *decision, TimestampTz now)
{
	const LeaseRow *row = &decision->row;

	if (row->task == TASK_NONE || decision->write == WRITE_REBASE)
		return;
	switch (call->request.verb)
	{
		case VERB_OFFER:
			payload_offer(&call->key, call->document, call->has_document);
			break;
		case VERB_RENEW:
			if (call->has_document)
				payload_checkpoint(&call->key, call->document);
			break;
		case VERB_COMPLETE:
			payload_complete(&call->key, call->document, call->has_document);
			break;
		case VERB_FAIL:
			payload_fail(&call->key, call->error);
			break;
		case VERB_RETRY:
			payload_reopen(&call->key);
			break;
		default:
			break;
	}
	if (row->task != TASK_OPEN)
	{
		if (before->task == TASK_OPEN)
			due_remove(&call->key);
	}
	else if (is_due_sooner(before, decision, now))
		due_arm(&call->key, row->priority, rules_due_at(row, NULL, now));
}

/*
 * Write a decision with all that belongs to it.  False where that must be
 * undone: somebody else is writing the same request id down, or is dropping
 * the namespace.
 */
static bool
write_decision(Rows *rows, const LeaseCall *call, LockedRow *locked,
			   const LeaseDecision *decision, const NamespacePolicy *policy,
			   TimestampTz now)
{
	if (decision->write == WRITE_GRANT && traits_of(call)->waits &&
		call->request_id != NULL)
	{
		RequestId	request = protocol_request(call);

		if (!request_keep(&request, call->key.name, decision->row.fence))
			return false;
	}
	store_write(rows, &call->key, locked, decision->write, &decision->row);
	if (decision->write == WRITE_GRANT || decision->closes != END_NONE ||
		(call->request.verb == VERB_HOLD && decision->row.hold == HOLD_STOP))
		token_forget(&call->key);
	keep_end(call, &locked->row, decision, policy);
	keep_task(call, &locked->row, decision, now);
	if (call->intent.verb != NULL)
		ledger_keep_intent(&call->key, locked->row.exists ? &locked->row.fence : NULL,
						   &call->intent);
	return locked->row.exists || policy_is_settled(call->key.namespace);
}

/* Lock the row of the call, or win its key where it is to be made. */
static RowLock
lock(Rows *rows, const LeaseCall *call, const FoundRow *found,
	 LockTupleMode mode, LockedRow *locked)
{
	RowLock		answer = store_lock(rows, &call->key, found, mode, locked);

	while (answer == ROW_ABSENT && traits_of(call)->makes_row)
	{
		answer = store_win(rows, &call->key);
		if (answer == ROW_PRESENT)
		{
			store_unpin(locked);
			answer = store_lock(rows, &call->key, NULL, mode, locked);
		}
	}
	return answer;
}

/*
 * Lock, read, decide and write, in a subtransaction of the caller's.  Answers
 * whether anything was written; where nothing was, what has been locked is
 * the caller's to undo.
 */
bool
protocol_decide(Rows *rows, const LeaseCall *call, const FoundRow *found,
				LockTupleMode mode, LeaseAnswer *answer)
{
	NamespacePolicy policy;
	LeaseDecision decision;
	GrantFacts	facts;
	LockedRow	locked;
	RowLock		obtained;
	bool		capacity = false;
	bool		written = false;

	answer->exhausted = false;
	answer->rebased = false;
	answer->ahead = false;
	obtained = lock(rows, call, found, mode, &locked);
	if (obtained == ROW_BUSY)
	{
		store_unpin(&locked);
		answer->outcome = OUTCOME_BUSY;
		return false;
	}

	policy_read(call->key.namespace, &policy);
	if (!collect_facts(rows, call, &locked.row, &policy.rules, &facts, &capacity,
					   &answer->ahead))
		answer->outcome = OUTCOME_BUSY;
	else
	{
		decide(call, &locked.row, &policy.rules, &facts, &decision, answer);
		if (decision.write == WRITE_GRANT && mode != LockTupleExclusive)
		{
			/* looked refused, and is grantable now: not under this lock */
			answer->outcome = OUTCOME_BUSY;
		}
		else if (decision.write != WRITE_NOTHING)
		{
			written = write_decision(rows, call, &locked, &decision, &policy,
									 answer->now);
			answer->rebased = written && decision.write == WRITE_REBASE;
			if (!written)
				answer->outcome = OUTCOME_BUSY;
		}
	}
	if (!written)
		answer->row = locked.row;
	if (capacity)
		protocol_yield_capacity(call->key.namespace);
	if (obtained == ROW_WON)
		store_yield(&call->key);
	store_unpin(&locked);
	return written;
}

/* What one attempt at a call carries into its subtransaction. */
typedef struct Attempt
{
	const LeaseCall *call;
	LeaseAnswer *answer;
	Rows		rows;
	FoundRow	found;
	LockTupleMode mode;
} Attempt;

static bool
decide_step(void *state)
{
	Attempt    *attempt = state;
	bool		written = protocol_decide(&attempt->rows, attempt->call,
										  &attempt->found, attempt->mode,
										  attempt->answer);

	if (written && outcomes_ok(attempt->call->request.verb, attempt->answer->outcome))
		transaction_force_flush();
	return written;
}

/* Put a whole namespace on hold, or take that back. */
static bool
hold_namespace_step(void *state)
{
	Attempt    *attempt = state;
	const LeaseCall *call = attempt->call;
	bool		holds = call->request.verb == VERB_NAMESPACE_HOLD;
	NamespacesHold became = namespaces_hold(call->key.namespace, call->request.hold,
											call->request.hold_length);

	attempt->answer->now = clock_now();
	attempt->answer->outcome = became == NAMESPACES_HOLD_BUSY ? OUTCOME_BUSY :
		holds ? OUTCOME_HOLD_SET : OUTCOME_RESUMED;
	if (became != NAMESPACES_HOLD_WRITTEN)
		return false;
	if (call->request.hold == HOLD_STOP)
		token_forget_namespace(call->key.namespace);
	ledger_keep_intent(&call->key, NULL, &call->intent);
	transaction_force_flush();
	return true;
}

/*
 * An operator's verb that is ok without a change, for somebody has been here
 * before, is on record all the same: who wanted it, and why.
 */
static void
keep_idle_intent(const LeaseCall *call, const LeaseAnswer *answer)
{
	LedgerIntent intent = call->intent;

	if (intent.verb == NULL || answer->exhausted ||
		!outcomes_ok(call->request.verb, answer->outcome))
		return;
	intent.idle = true;
	ledger_keep_intent(&call->key, answer->row.exists ? &answer->row.fence : NULL, &intent);
	transaction_changed();
	transaction_force_flush();
}

/* Look, and where the look does not settle it, decide under the row's lock. */
static void
try_once(const LeaseCall *call, LeaseAnswer *answer)
{
	Attempt		attempt = {call, answer};
	bool		written = false;

	if (traits_of(call)->of_namespace)
	{
		if (!transaction_attempt(hold_namespace_step, &attempt))
			keep_idle_intent(call, answer);
		return;
	}
	rows_open(&attempt.rows, "lease", RowExclusiveLock);
	if (!protocol_look(&attempt.rows, call, &attempt.found, answer, &attempt.mode))
		written = transaction_attempt(decide_step, &attempt);
	store_forget(&attempt.found);
	if (written)
		rows_close_changed(&attempt.rows);
	else
		rows_close(&attempt.rows);
	if (!written)
		keep_idle_intent(call, answer);
	rebase_after(&call->key, answer->outcome, answer->outcome == OUTCOME_FULL && answer->ahead,
				 written && answer->rebased, makes_epoch(call));
}

/* Whether time alone can turn the refusal into something better. */
static bool
passes_with_time(const LeaseCall *call, LeaseOutcome outcome)
{
	switch (outcome)
	{
		case OUTCOME_BUSY:
			return true;
		case OUTCOME_HELD:
		case OUTCOME_NOT_EXPIRED:
		case OUTCOME_IN_GRACE:
		case OUTCOME_COOLING:
			return traits_of(call)->waits;
		default:
			return false;
	}
}

static bool
nap(Wait *wait, const LeaseAnswer *answer)
{
	if (answer->outcome == OUTCOME_BUSY)
		return wait_nap(wait, WAIT_LOCKED, WAIT_LOCKED);
	return wait_nap(wait, answer->due_at == PG_INT64_MAX ? WAIT_IDLE :
					Max(answer->due_at, answer->now) - answer->now,
					WAIT_IDLE);
}

/*
 * Answer a verb that changes nothing, and where "payload" is given, with what
 * the task carried at the same moment: both tables are open before that.
 */
void
protocol_read(const LeaseCall *call, LeaseAnswer *answer, Payload *payload)
{
	LockTupleMode mode;
	FoundRow	found;
	Rows		carried;
	Rows		rows;

	memset(answer, 0, sizeof(LeaseAnswer));
	answer->privileges = policy_authorize(call->key.namespace, call->needed);
	rows_open(&rows, "lease", AccessShareLock);
	if (payload != NULL)
		payload_open(&carried);
	(void) protocol_look(&rows, call, &found, answer, &mode);
	if (payload != NULL)
	{
		payload_read(&carried, &call->key, found.snapshot, payload);
		rows_close(&carried);
	}
	store_forget(&found);
	rows_close(&rows);
}

/* Error where nothing may be written. */
void
protocol_may_change(const char *function)
{
	PreventCommandIfReadOnly(function);
	PreventCommandIfParallelMode(function);
}

/* Run a verb that changes state, for as long as it is worth trying. */
void
protocol_run(const LeaseCall *call, LeaseAnswer *answer)
{
	int64		patience = traits_of(call)->waits ?
	Min(call->wait, settings_max_wait * INT64CONST(1000)) :
	settings_lock_patience();
	Wait		wait;

	protocol_may_change(outcomes_verb_name(call->request.verb));
	memset(answer, 0, sizeof(LeaseAnswer));
	wait_begin(&wait, patience);
	for (;;)
	{
		answer->privileges = policy_authorize(call->key.namespace, call->needed);
		try_once(call, answer);
		if (answer->exhausted)
			error_exhausted();
		if (!passes_with_time(call, answer->outcome) ||
			!nap(&wait, answer))
			break;
	}
	wait_end(&wait);
}
