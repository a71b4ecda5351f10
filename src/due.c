/*
 * due.c
 *		Where polls look for tasks: the table of due entries.
 *
 * Promises: every task that is not over has an entry that is due no later
 * than the task, from the moment at which what made it so commits.  An entry
 * is no more than a hint to look at the lease's row, which alone says whether
 * the task can be had; so there may be several, and one may be early.
 *
 * Whatever makes a task due sooner arms it: changes an entry that it can lock,
 * or adds one.  Whoever finds that an entry is early moves it on, but only if
 * it can be locked and is still the version that was read before the lease's
 * row was.  So what was armed meanwhile is not moved; and one that is armed
 * while somebody moves the other entry adds its own.
 *
 * Locks: rows of this table alone, tried and never waited for.
 */
#include "lease.h"

#include "access/stratnum.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "due.h"
#include "statement.h"

/* Columns of lease_catalog.due. */
enum
{
	DUE_NAMESPACE = 1,
	DUE_NAME,
	DUE_PRIORITY,
	DUE_DUE_AT,
	DUE_ARMED_AT
};

#define DUE_COLUMNS DUE_ARMED_AT

static void
write_entry(Rows *rows, TupleTableSlot *locked, int32 priority, int64 due_at)
{
	Datum		values[DUE_COLUMNS] = {0};
	bool		nulls[DUE_COLUMNS] = {false};
	bool		replace[DUE_COLUMNS] = {false};

	values[DUE_PRIORITY - 1] = Int32GetDatum(priority);
	values[DUE_DUE_AT - 1] = TimestampTzGetDatum(due_at);
	values[DUE_ARMED_AT - 1] = TimestampTzGetDatum(clock_now());
	replace[DUE_PRIORITY - 1] = true;
	replace[DUE_DUE_AT - 1] = true;
	replace[DUE_ARMED_AT - 1] = true;
	rows_update(rows, locked, values, nulls, replace);
}

static void
delete_entry(TupleTableSlot *locked)
{
	Datum		values[] = {PointerGetDatum(&locked->tts_tid)};

	statement_run_one(STATEMENT_DUE_DELETE, values, NULL);
}

/*
 * Visit the entries of a name that can be locked: change the first, if one is
 * to be kept, and delete the others.  Answers whether one was changed.
 */
static bool
settle_entries(const LeaseKey *key, bool keep, int32 priority, int64 due_at)
{
	bool		kept = false;
	ScanKeyData keys[2];
	TupleTableSlot *found;
	TupleTableSlot *locked;
	RowsScan	scan;
	Rows		rows;

	rows_keys_lease(keys, key);
	rows_open_by(&rows, "due", "due_name", RowExclusiveLock);
	locked = table_slot_create(rows.heap, NULL);
	rows_scan_begin(&rows, &scan, keys, 2, ForwardScanDirection);
	while ((found = rows_scan_next(&scan)) != NULL)
	{
		ItemPointerData tid = found->tts_tid;

		if (rows_lock_found(&rows, &tid, scan.snapshot, LockTupleExclusive, locked) != ROW_LOCKED)
			continue;
		if (keep && !kept)
		{
			write_entry(&rows, locked, priority, due_at);
			kept = true;
		}
		else
			delete_entry(locked);
		ExecClearTuple(locked);
	}
	rows_scan_end(&scan);
	ExecDropSingleTupleTableSlot(locked);
	rows_close_changed(&rows);
	return kept;
}

/* Have a task looked at from an instant on, under the lock of its lease. */
void
due_arm(const LeaseKey *key, int32 priority, int64 due_at)
{
	Datum		values[] = {
		PointerGetDatum(key->namespace),
		PointerGetDatum(key->name),
		Int32GetDatum(priority),
		TimestampTzGetDatum(due_at),
		TimestampTzGetDatum(clock_now())
	};

	if (!settle_entries(key, true, priority, due_at))
		statement_run_one(STATEMENT_DUE_INSERT, values, NULL);
}

/* The task is over; what cannot be locked goes when a poll meets it. */
void
due_remove(const LeaseKey *key)
{
	(void) settle_entries(key, false, 0, 0);
}

static void
begin(DueScan *scan, const char *index, int nkeys, LOCKMODE lockmode)
{
	rows_open_by(&scan->rows, "due", index, lockmode);
	rows_scan_begin(&scan->rows, &scan->scan, scan->keys, nkeys, ForwardScanDirection);
}

/* The entries of one priority, as far as an instant or after it. */
static void
begin_priority(DueScan *scan, const text *namespace, int priority,
			   bool after, TimestampTz instant, LOCKMODE lockmode)
{
	rows_key_text(&scan->keys[0], 1, namespace);
	ScanKeyInit(&scan->keys[1], 2, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(priority));
	if (after)
		ScanKeyInit(&scan->keys[2], 3, BTGreaterStrategyNumber,
					F_TIMESTAMPTZ_GT, TimestampTzGetDatum(instant));
	else
		ScanKeyInit(&scan->keys[2], 3, BTLessEqualStrategyNumber,
					F_TIMESTAMPTZ_LE, TimestampTzGetDatum(instant));
	begin(scan, "due_next", 3, lockmode);
}

/* The entries of one priority that are due. */
void
due_scan_begin(DueScan *scan, const text *namespace, int priority,
			   TimestampTz now)
{
	begin_priority(scan, namespace, priority, false, now, RowExclusiveLock);
}

/* Those that were armed later than now: the clock was set back since. */
void
due_scan_begin_ahead(DueScan *scan, const text *namespace, TimestampTz now)
{
	rows_key_text(&scan->keys[0], 1, namespace);
	ScanKeyInit(&scan->keys[1], 2, BTGreaterStrategyNumber, F_TIMESTAMPTZ_GT,
				TimestampTzGetDatum(now));
	begin(scan, "due_armed", 2, RowExclusiveLock);
}

/* The next entry; false after the last. */
bool
due_scan_next(DueScan *scan, DueEntry *entry)
{
	TupleTableSlot *slot = rows_scan_next(&scan->scan);

	if (slot == NULL)
		return false;
	entry->key.namespace = DatumGetTextPP(slot->tts_values[DUE_NAMESPACE - 1]);
	entry->key.name = DatumGetTextPP(slot->tts_values[DUE_NAME - 1]);
	entry->due_at = rows_int64(slot, DUE_DUE_AT);
	entry->tid = slot->tts_tid;
	return true;
}

/* Lock an entry, if it is still what was read. */
static bool
lock_entry(DueScan *scan, const DueEntry *entry, TupleTableSlot *locked)
{
	ItemPointerData tid = entry->tid;

	return rows_lock_found(&scan->rows, &tid, scan->scan.snapshot,
						   LockTupleExclusive, locked) == ROW_LOCKED &&
		ItemPointerEquals(&locked->tts_tid, &tid);
}

/* Move an entry that was found early; false where it has changed meanwhile. */
bool
due_move(DueScan *scan, DueEntry *entry, int64 due_at)
{
	TupleTableSlot *locked = table_slot_create(scan->rows.heap, NULL);
	bool		moves = lock_entry(scan, entry, locked);

	if (moves)
		write_entry(&scan->rows, locked,
					DatumGetInt32(locked->tts_values[DUE_PRIORITY - 1]), due_at);
	ExecDropSingleTupleTableSlot(locked);
	return moves;
}

/* Delete an entry of a task that is over, or gone. */
bool
due_drop(DueScan *scan, const DueEntry *entry)
{
	TupleTableSlot *locked = table_slot_create(scan->rows.heap, NULL);
	bool		drops = lock_entry(scan, entry, locked);

	if (drops)
		delete_entry(locked);
	ExecDropSingleTupleTableSlot(locked);
	return drops;
}

void
due_scan_end(DueScan *scan)
{
	rows_scan_end(&scan->scan);
	rows_close_changed(&scan->rows);
}

/* The first instant after now at which an entry is due; never where none is. */
int64
due_next(const text *namespace, TimestampTz now)
{
	int64		next = PG_INT64_MAX;
	int			priority;

	for (priority = 0; priority < DUE_PRIORITIES; priority++)
	{
		DueScan		scan;
		TupleTableSlot *slot;

		begin_priority(&scan, namespace, priority, true, now, AccessShareLock);
		slot = rows_scan_next(&scan.scan);
		if (slot != NULL)
			next = Min(next, rows_int64(slot, DUE_DUE_AT));
		rows_scan_end(&scan.scan);
		rows_close(&scan.rows);
	}
	return next;
}
