/*
 * purge.c
 *		Removing what is no longer needed, and writing down what is over.
 *
 * Promises: only what nobody holds, and nobody has held for as long as was
 * said, is removed, as judged under its lock; its fence stays behind as a
 * floor (floor.c); what is locked by others is passed over; correctness
 * depends on none of it.
 */
#include "lease.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "due.h"
#include "ledger.h"
#include "payload.h"
#include "policy.h"
#include "protocol.h"
#include "purge.h"
#include "settings.h"
#include "statement.h"
#include "store.h"
#include "transaction.h"

/* What is idle, and in which namespace. */
typedef struct Idleness
{
	const NamespacePolicy *policy;
	int64		idle;
} Idleness;

/*
 * Whether nobody has had a lease for so long, and nobody's choice stands on
 * it.  A task must be over, and its history too.
 */
static bool
is_idle(const LeaseRow *row, const void *idleness_pointer)
{
	const Idleness *idleness = idleness_pointer;
	const LeasePolicy *policy = &idleness->policy->rules;
	int64		idle = idleness->idle;
	TimestampTz now = clock_now();
	LeaseOutcome state = rules_state(row, policy, now);
	TimestampTz since = row->ended != END_NONE ? row->ended_at : row->expires_at;

	if (row->task == TASK_OPEN || rules_is_held_up(row, policy, HOLD_GRANTS, now))
		return false;
	if (row->task != TASK_NONE)
	{
		idle = Max(idle, settings_history_retention * USECS_PER_SEC);
		since = row->granted ? Max(since, row->armed_at) : row->armed_at;
	}
	else if (state != OUTCOME_FREE && state != OUTCOME_EXPIRED)
		return false;
	else if (!row->granted)
		return true;			/* made for a hold or a cancel that is over */
	return now - Min(since, now) >= idle;
}

/* One row to delete. */
typedef struct Candidate
{
	LeaseKey	key;
	const Idleness *idleness;
} Candidate;

/* Delete the row, if it is still idle once it is locked. */
static bool
purge_step(void *state)
{
	Candidate  *candidate = state;
	LockedRow	locked;
	Rows		rows;
	bool		purge;

	rows_open(&rows, "lease", RowExclusiveLock);
	purge = store_lock(&rows, &candidate->key, NULL, LockTupleExclusive, &locked) == ROW_LOCKED &&
		is_idle(&locked.row, candidate->idleness);
	if (purge)
	{
		if (candidate->idleness->policy->history && !rules_is_free(&locked.row))
			ledger_keep_end(&candidate->key, &locked.row, END_EXPIRED,
							locked.row.expires_at, NULL, NULL);
		if (locked.row.task != TASK_NONE)
		{
			payload_delete(&candidate->key);
			due_remove(&candidate->key);
		}
		store_delete(&locked);
	}
	store_unpin(&locked);
	rows_close_changed(&rows);
	return purge;
}

/* Remove the rows that have been free for so long; answers how many. */
int64
purge_idle(const text *namespace, int64 idle, int64 max)
{
	NamespacePolicy policy;
	Idleness	idleness = {&policy, idle};
	int64		purged = 0;
	ListCell   *cell;

	(void) policy_authorize(namespace, PRIVILEGE_OPERATE);
	policy_read(namespace, &policy);
	foreach(cell, store_names(namespace, ForwardScanDirection, is_idle, &idleness, max))
	{
		Candidate	candidate = {
			{unconstify(text *, namespace), lfirst(cell)}, &idleness
		};

		CHECK_FOR_INTERRUPTS();
		if (transaction_attempt(purge_step, &candidate))
			purged++;
	}
	return purged;
}

static int64
prune(StatementId id, int retention, int64 max)
{
	Datum		values[2] = {
		TimestampTzGetDatum(clock_now() - retention * (TimestampTz) USECS_PER_SEC),
		Int64GetDatum(max)
	};

	return (int64) statement_run(id, values, NULL);
}

/* Keys that a query has found. */
typedef struct Found
{
	MemoryContext context;
	List	   *keys;			/* of LeaseKey * */
} Found;

static void
keep_key(const Datum *values, const bool *nulls, void *state)
{
	Found	   *found = state;
	MemoryContext caller = MemoryContextSwitchTo(found->context);
	LeaseKey   *key = palloc(sizeof(LeaseKey));

	key->namespace = DatumGetTextPCopy(values[0]);
	key->name = DatumGetTextPCopy(values[1]);
	found->keys = lappend(found->keys, key);
	MemoryContextSwitchTo(caller);
}

/* Write down that a task is over, if it is once its row is locked. */
static bool
finalise_step(void *state)
{
	LeaseCall	call = protocol_call(VERB_FINALISE, PRIVILEGE_NONE);
	LeaseAnswer answer;
	Rows		rows;
	bool		written;

	call.key = *(LeaseKey *) state;
	rows_open(&rows, "lease", RowExclusiveLock);
	written = protocol_decide(&rows, &call, NULL, LockTupleNoKeyExclusive, &answer);
	rows_close_changed(&rows);
	return written;
}

/* Write down which tasks are over; answers how many. */
static int64
finalise(int64 max)
{
	Datum		values[2] = {TimestampTzGetDatum(clock_now()), Int64GetDatum(max)};
	Found		found = {CurrentMemoryContext};
	int64		finalised = 0;
	ListCell   *cell;

	statement_query(STATEMENT_TASK_OVER, values, NULL, keep_key, &found);
	foreach(cell, found.keys)
	{
		CHECK_FOR_INTERRUPTS();
		if (transaction_attempt(finalise_step, lfirst(cell)))
			finalised++;
	}
	return finalised;
}

/* Do what has come due, at most so much of each kind. */
void
purge_sweep(int64 max, SweepCount counts[SWEEP_KINDS])
{
	Datum		limit[1] = {Int64GetDatum(max)};

	policy_require_owner();
	counts[0].what = "history";
	counts[0].count = prune(STATEMENT_HISTORY_PRUNE, settings_history_retention, max);
	counts[1].what = "requests";
	counts[1].count = prune(STATEMENT_REQUEST_PRUNE, settings_request_retention, max);
	counts[1].count += prune(STATEMENT_POLLED_PRUNE, settings_request_retention,
							 max - counts[1].count);
	counts[2].what = "floors";
	counts[2].count = (int64) statement_run(STATEMENT_FLOOR_PRUNE, limit, NULL);
	counts[3].what = "marks";
	counts[3].count = (int64) statement_run(STATEMENT_MARK_PRUNE, limit, NULL);
	counts[4].what = "tasks";
	counts[4].count = finalise(max);
}
