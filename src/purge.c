/*
 * purge.c
 *		Removing what is no longer needed.
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
#include "ledger.h"
#include "policy.h"
#include "purge.h"
#include "settings.h"
#include "statement.h"
#include "store.h"
#include "transaction.h"

/* The names that a look has found idle. */
typedef struct Candidates
{
	MemoryContext context;
	const NamespacePolicy *policy;
	int64		idle;
	int64		max;
	List	   *names;			/* of text * */
} Candidates;

static bool
is_idle(const LeaseRow *row, const LeasePolicy *policy, int64 idle,
		TimestampTz now)
{
	LeaseOutcome state = rules_state(row, policy, now);
	TimestampTz since = row->ended != END_NONE ? row->ended_at : row->expires_at;

	return row->granted &&
		(state == OUTCOME_FREE || state == OUTCOME_EXPIRED) &&
		now - Min(since, now) >= idle;
}

static bool
collect(const LeaseKey *key, const LeaseRow *row, void *state)
{
	Candidates *candidates = state;

	if (is_idle(row, &candidates->policy->rules, candidates->idle, clock_now()))
	{
		MemoryContext caller = MemoryContextSwitchTo(candidates->context);

		candidates->names = lappend(candidates->names,
									DatumGetTextPCopy(PointerGetDatum(key->name)));
		MemoryContextSwitchTo(caller);
	}
	return list_length(candidates->names) < candidates->max;
}

/* One row to delete. */
typedef struct Candidate
{
	LeaseKey	key;
	const NamespacePolicy *policy;
	int64		idle;
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
		is_idle(&locked.row, &candidate->policy->rules, candidate->idle, clock_now());
	if (purge)
	{
		if (candidate->policy->history && locked.row.ended == END_NONE)
			ledger_keep_end(&candidate->key, &locked.row, END_EXPIRED,
							locked.row.expires_at, NULL, NULL);
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
	Candidates	candidates = {CurrentMemoryContext};
	NamespacePolicy policy;
	int64		purged = 0;
	ListCell   *cell;

	(void) policy_authorize(namespace, PRIVILEGE_OPERATE);
	policy_read(namespace, &policy);
	candidates.policy = &policy;
	candidates.idle = idle;
	candidates.max = max;
	store_visit(namespace, collect, &candidates);

	foreach(cell, candidates.names)
	{
		Candidate	candidate = {
			{unconstify(text *, namespace), lfirst(cell)}, &policy, idle
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

/* Remove what has been kept for long enough, at most so much of each kind. */
void
purge_sweep(int64 max, SweepCount counts[SWEEP_KINDS])
{
	Datum		limit[1] = {Int64GetDatum(max)};

	policy_require_owner();
	counts[0].what = "history";
	counts[0].count = prune(STATEMENT_HISTORY_PRUNE, settings_history_retention, max);
	counts[1].what = "requests";
	counts[1].count = prune(STATEMENT_REQUEST_PRUNE, settings_request_retention, max);
	counts[2].what = "floors";
	counts[2].count = (int64) statement_run(STATEMENT_FLOOR_PRUNE, limit, NULL);
	counts[3].what = "marks";
	counts[3].count = (int64) statement_run(STATEMENT_MARK_PRUNE, limit, NULL);
}
