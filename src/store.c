/*
 * store.c
 *		The lease table: its columns, and what may be done to its rows.
 *
 * Promises: a LeaseRow that comes out of here is a copy in the current memory
 * context, and is whole: what a CHECK of the table forbids is XX001 here, also
 * where the constraint is gone; a row is written only where it was locked
 * before.  The rest is rows.c's and statement.c's, on which this file builds.
 */
#include "lease.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "ledger.h"
#include "mutex.h"
#include "outcomes.h"
#include "statement.h"
#include "store.h"

/* Columns of lease_catalog.lease, in the order of the install script. */
enum
{
	LEASE_NAMESPACE = 1,
	LEASE_NAME,
	LEASE_FENCE,
	LEASE_VERSION,
	LEASE_GRANTED_AT,
	LEASE_RENEWED_AT,
	LEASE_EXPIRES_AT,
	LEASE_TTL,
	LEASE_HOLD_AT_LEAST,
	LEASE_ENDED_AT,
	LEASE_OWNER,
	LEASE_ENDED_BY,
	LEASE_HOLD_AT,
	LEASE_HOLD_LENGTH,
	LEASE_HOLD_STOP,
	LEASE_CANCEL_AT,
	LEASE_CANCEL_LENGTH,
	LEASE_TASK,
	LEASE_ATTEMPTS,
	LEASE_MAX_ATTEMPTS,
	LEASE_PRIORITY,
	LEASE_ARMED_AT,
	LEASE_DELAY
};

#define LEASE_COLUMNS LEASE_DELAY

/* Columns that are there together or not at all; each line ends with 0. */
static const int together[][7] = {
	{LEASE_FENCE, LEASE_VERSION},
	{LEASE_OWNER, LEASE_GRANTED_AT, LEASE_RENEWED_AT, LEASE_EXPIRES_AT, LEASE_TTL},
	{LEASE_ENDED_AT, LEASE_ENDED_BY},
	{LEASE_HOLD_AT, LEASE_HOLD_STOP},
	{LEASE_CANCEL_AT, LEASE_CANCEL_LENGTH},
	{LEASE_TASK, LEASE_ATTEMPTS, LEASE_MAX_ATTEMPTS, LEASE_PRIORITY, LEASE_ARMED_AT, LEASE_DELAY}
};

static const int instants[] = {
	LEASE_GRANTED_AT, LEASE_RENEWED_AT, LEASE_EXPIRES_AT, LEASE_ENDED_AT,
	LEASE_HOLD_AT, LEASE_CANCEL_AT, LEASE_ARMED_AT
};

/* Lengths, and the shortest that each can be. */
static const int lengths[][2] = {
	{LEASE_TTL, 1},
	{LEASE_HOLD_AT_LEAST, 1},
	{LEASE_HOLD_LENGTH, 1},
	{LEASE_CANCEL_LENGTH, 0},
	{LEASE_DELAY, 0}
};

/* Whether months are counted, which have no length, or it is too short. */
static bool
is_no_length(TupleTableSlot *slot, int column, int least)
{
	return !rows_null(slot, column) &&
		(DatumGetIntervalP(slot->tts_values[column - 1])->month != 0 ||
		 rows_length(slot, column) < least);
}

/* Whether the columns by themselves are what a row can be made of. */
static bool
is_readable(TupleTableSlot *slot)
{
	int			i;
	int			j;

	if (rows_null(slot, LEASE_FENCE))
		return false;
	for (i = 0; i < lengthof(together); i++)
	{
		for (j = 1; together[i][j] != 0; j++)
		{
			if (rows_null(slot, together[i][j]) != rows_null(slot, together[i][0]))
				return false;
		}
	}
	for (i = 0; i < lengthof(instants); i++)
	{
		if (TIMESTAMP_NOT_FINITE(rows_int64(slot, instants[i])))
			return false;
	}
	for (i = 0; i < lengthof(lengths); i++)
	{
		if (is_no_length(slot, lengths[i][0], lengths[i][1]))
			return false;
	}
	return rows_null(slot, LEASE_HOLD_LENGTH) || !rows_null(slot, LEASE_HOLD_AT);
}

/* Whether what was read can be on record. */
static bool
is_sound(const LeaseRow *row)
{
	return row->fence >= 0 && row->version >= 0 &&
		(row->granted ? row->owner.len > 0 : row->ended == END_NONE) &&
		(row->task == TASK_NONE ||
		 (row->attempts >= 0 && row->max_attempts > 0 &&
		  row->priority >= 0 && row->priority <= 9));
}

/* The row is not named: it can be another than the one that was asked for. */
static void
check_row(bool whole)
{
	if (!whole)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a row of table \"%s.lease\" holds what nothing writes", LEASE_SCHEMA),
				 errhint("lease_check() tells which, and what to do.")));
}

static void
read_choices(TupleTableSlot *slot, LeaseRow *row)
{
	RuleText	task = rows_text(slot, LEASE_TASK);

	if (!rows_null(slot, LEASE_HOLD_AT))
	{
		row->hold = DatumGetBool(slot->tts_values[LEASE_HOLD_STOP - 1]) ? HOLD_STOP : HOLD_GRANTS;
		row->hold_at = rows_int64(slot, LEASE_HOLD_AT);
		row->hold_length = rows_length(slot, LEASE_HOLD_LENGTH);
	}
	if (!rows_null(slot, LEASE_CANCEL_AT))
	{
		row->cancel = true;
		row->cancel_at = rows_int64(slot, LEASE_CANCEL_AT);
		row->cancel_length = rows_length(slot, LEASE_CANCEL_LENGTH);
	}
	if (task.data == NULL)
		return;
	check_row(outcomes_task_from_name(task, &row->task));
	row->attempts = DatumGetInt32(slot->tts_values[LEASE_ATTEMPTS - 1]);
	row->max_attempts = DatumGetInt32(slot->tts_values[LEASE_MAX_ATTEMPTS - 1]);
	row->priority = DatumGetInt32(slot->tts_values[LEASE_PRIORITY - 1]);
	row->armed_at = rows_int64(slot, LEASE_ARMED_AT);
	row->delay = rows_length(slot, LEASE_DELAY);
}

static void
read_slot(TupleTableSlot *slot, LeaseRow *row)
{
	RuleText	ended_by = rows_text(slot, LEASE_ENDED_BY);

	check_row(is_readable(slot));
	memset(row, 0, sizeof(LeaseRow));
	row->exists = true;
	row->owner = rows_text(slot, LEASE_OWNER);
	row->granted = row->owner.data != NULL;
	row->fence = rows_int64(slot, LEASE_FENCE);
	row->version = rows_int64(slot, LEASE_VERSION);
	row->granted_at = rows_int64(slot, LEASE_GRANTED_AT);
	row->renewed_at = rows_int64(slot, LEASE_RENEWED_AT);
	row->expires_at = rows_int64(slot, LEASE_EXPIRES_AT);
	row->ttl = rows_length(slot, LEASE_TTL);
	row->hold_at_least = rows_length(slot, LEASE_HOLD_AT_LEAST);
	row->ended_at = rows_int64(slot, LEASE_ENDED_AT);
	check_row(ended_by.data == NULL || outcomes_end_from_name(ended_by, &row->ended));
	read_choices(slot, row);
	check_row(is_sound(row));
}

/*
 * Find the row as it is now, without a lock; found->row.exists tells whether
 * it is.  Its snapshot is held until store_forget().
 */
void
store_find(Rows *rows, const LeaseKey *key, FoundRow *found)
{
	TupleTableSlot *slot = table_slot_create(rows->heap, NULL);
	ScanKeyData keys[2];

	rows_keys_lease(keys, key);
	memset(found, 0, sizeof(FoundRow));
	found->snapshot = RegisterSnapshot(GetLatestSnapshot());
	if (rows_find(rows, keys, 2, found->snapshot, slot))
	{
		read_slot(slot, &found->row);
		found->tid = slot->tts_tid;
	}
	ExecDropSingleTupleTableSlot(slot);
}

void
store_forget(FoundRow *found)
{
	UnregisterSnapshot(found->snapshot);
}

/*
 * Visit the rows of a namespace, or of all where it is NULL, in the order of
 * (namespace, name) or its reverse, and as of one snapshot, until the visitor
 * answers false.  What the visitor is given lives until it returns.
 */
void
store_visit(const text *namespace, ScanDirection direction,
			StoreVisitor visit, void *state)
{
	MemoryContext one_row = AllocSetContextCreate(CurrentMemoryContext,
												  "lease row",
												  ALLOCSET_SMALL_SIZES);
	ScanKeyData key;
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;
	bool		more = true;

	if (namespace != NULL)
		rows_key_text(&key, 1, namespace);
	rows_open(&rows, "lease", AccessShareLock);
	rows_scan_begin(&rows, &scan, &key, namespace != NULL ? 1 : 0, direction);
	while (more && (slot = rows_scan_next(&scan)) != NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(one_row);
		LeaseRow	row;
		LeaseKey	found;

		read_slot(slot, &row);
		found.namespace = DatumGetTextPP(slot->tts_values[LEASE_NAMESPACE - 1]);
		found.name = DatumGetTextPP(slot->tts_values[LEASE_NAME - 1]);
		more = visit(&found, &row, state);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(one_row);
	}
	rows_scan_end(&scan);
	rows_close(&rows);
	MemoryContextDelete(one_row);
}

/* What store_names() looks for, and has found. */
typedef struct Names
{
	MemoryContext context;
	StorePredicate wanted;
	const void *state;
	int64		max;
	List	   *found;
} Names;

static bool
keep_name(const LeaseKey *key, const LeaseRow *row, void *state)
{
	Names	   *names = state;

	if (names->wanted(row, names->state))
	{
		MemoryContext caller = MemoryContextSwitchTo(names->context);

		names->found = lappend(names->found,
							   DatumGetTextPCopy(PointerGetDatum(key->name)));
		MemoryContextSwitchTo(caller);
	}
	return list_length(names->found) < names->max;
}

/* The names (text *), not more than so many, of a namespace's rows of a kind. */
List *
store_names(const text *namespace, ScanDirection direction,
			StorePredicate wanted, const void *state, int64 max)
{
	Names		names = {CurrentMemoryContext, wanted, state, max, NIL};

	store_visit(namespace, direction, keep_name, &names);
	return names.found;
}

/*
 * Try to lock the row of a name, which may have been found before.  The slot
 * is the caller's to unpin, whatever the answer.
 */
RowLock
store_lock(Rows *rows, const LeaseKey *key, const FoundRow *found,
		   LockTupleMode mode, LockedRow *locked)
{
	RowLock		lock = ROW_ABSENT;

	memset(locked, 0, sizeof(LockedRow));
	locked->slot = table_slot_create(rows->heap, NULL);
	if (found != NULL && found->row.exists)
	{
		ItemPointerData tid = found->tid;

		lock = rows_lock_found(rows, &tid, found->snapshot, mode, locked->slot);
	}
	if (lock == ROW_ABSENT)
	{
		ScanKeyData keys[2];

		rows_keys_lease(keys, key);
		lock = rows_lock(rows, keys, 2, mode, locked->slot);
	}
	if (lock == ROW_LOCKED)
		read_slot(locked->slot, &locked->row);
	return lock;
}

void
store_unpin(LockedRow *locked)
{
	ExecDropSingleTupleTableSlot(locked->slot);
}

static uint64
name_hash(const LeaseKey *key)
{
	return mutex_hash_key(LEASE_NAME, key);
}

/* Try to win the right to insert the row of a name that has none. */
RowLock
store_win(Rows *rows, const LeaseKey *key)
{
	ScanKeyData keys[2];

	rows_keys_lease(keys, key);
	return rows_win(rows, keys, 2, name_hash(key));
}

void
store_yield(const LeaseKey *key)
{
	mutex_release(name_hash(key));
}

/* Whether somebody is writing the row and has not committed. */
bool
store_is_being_written(Rows *rows, const LeaseKey *key)
{
	ScanKeyData keys[2];

	rows_keys_lease(keys, key);
	return rows_look_dirty(rows, keys, 2) == ROW_BUSY;
}

/*
 * How many other names of the namespace have a current epoch, as far as a
 * limit.  Rows that others are just writing count in their old and in their
 * new version, so that two grants that do not see each other cannot both fit
 * in.  *ahead tells whether a clock set back has left one of them promised
 * ahead.
 */
int64
store_count_others(const LeaseKey *key, int64 limit, TimestampTz now,
				   bool *ahead)
{
	MemoryContext one_row = AllocSetContextCreate(CurrentMemoryContext,
												  "lease row",
												  ALLOCSET_SMALL_SIZES);
	char		counted_name[LEASE_NAME_MAX];
	RuleText	counted = {NULL, 0};
	int64		count = 0;
	ScanKeyData keys[2];
	SnapshotData dirty;
	TupleTableSlot *slot;
	IndexScanDesc scan;
	Rows		rows;

	*ahead = false;
	rows_keys_lease(keys, key);
	InitDirtySnapshot(dirty);
	rows_open(&rows, "lease", AccessShareLock);
	slot = table_slot_create(rows.heap, NULL);
	scan = compat_index_beginscan(rows.heap, rows.index, &dirty, 1);
	index_rescan(scan, keys, 1, NULL, 0);
	while (count < limit && index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		MemoryContext caller = MemoryContextSwitchTo(one_row);
		RuleText	name;
		LeaseRow	row;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		name = rows_text(slot, LEASE_NAME);
		read_slot(slot, &row);
		if (rules_is_current(&row, now) && name.len <= LEASE_NAME_MAX &&
			!rules_text_equal(name, lease_text(key->name)) &&
			!rules_text_equal(name, counted))
		{
			memcpy(counted_name, name.data, name.len);
			counted.data = counted_name;
			counted.len = name.len;
			count++;
			*ahead = *ahead || rules_is_promised_ahead(&row, now);
		}
		MemoryContextSwitchTo(caller);
		MemoryContextReset(one_row);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	rows_close(&rows);
	MemoryContextDelete(one_row);
	return count;
}

/* A row's columns, and which of them are to be written. */
typedef struct Columns
{
	Datum		values[LEASE_COLUMNS];
	bool		nulls[LEASE_COLUMNS];
	bool		replace[LEASE_COLUMNS];
} Columns;

static void
set_column(Columns *columns, int column, Datum value)
{
	columns->values[column - 1] = value;
	columns->nulls[column - 1] = false;
	columns->replace[column - 1] = true;
}

static void
set_null(Columns *columns, int column)
{
	columns->nulls[column - 1] = true;
	columns->replace[column - 1] = true;
}

/* A length that is NULL where it is zero. */
static void
set_length(Columns *columns, int column, int64 length)
{
	if (length > 0)
		set_column(columns, column, clock_interval_datum(length));
	else
		set_null(columns, column);
}

/* What a renewal writes. */
static void
set_expiry(Columns *columns, const LeaseRow *row)
{
	set_column(columns, LEASE_VERSION, Int64GetDatum(row->version));
	if (row->cancel)
		set_column(columns, LEASE_CANCEL_AT, TimestampTzGetDatum(row->cancel_at));
	if (!row->granted)
		return;
	set_column(columns, LEASE_GRANTED_AT, TimestampTzGetDatum(row->granted_at));
	set_column(columns, LEASE_RENEWED_AT, TimestampTzGetDatum(row->renewed_at));
	set_column(columns, LEASE_EXPIRES_AT, TimestampTzGetDatum(row->expires_at));
	set_column(columns, LEASE_TTL, clock_interval_datum(row->ttl));
}

static void
set_choices(Columns *columns, const LeaseRow *row)
{
	int			column;

	for (column = LEASE_HOLD_AT; column <= LEASE_DELAY; column++)
		set_null(columns, column);
	if (row->hold != HOLD_NONE)
	{
		set_column(columns, LEASE_HOLD_AT, TimestampTzGetDatum(row->hold_at));
		set_length(columns, LEASE_HOLD_LENGTH, row->hold_length);
		set_column(columns, LEASE_HOLD_STOP, BoolGetDatum(row->hold == HOLD_STOP));
	}
	if (row->cancel)
	{
		set_column(columns, LEASE_CANCEL_AT, TimestampTzGetDatum(row->cancel_at));
		set_column(columns, LEASE_CANCEL_LENGTH, clock_interval_datum(row->cancel_length));
	}
	if (row->task != TASK_NONE)
	{
		set_column(columns, LEASE_TASK, CStringGetTextDatum(outcomes_task_name(row->task)));
		set_column(columns, LEASE_ATTEMPTS, Int32GetDatum(row->attempts));
		set_column(columns, LEASE_MAX_ATTEMPTS, Int32GetDatum(row->max_attempts));
		set_column(columns, LEASE_PRIORITY, Int32GetDatum(row->priority));
		set_column(columns, LEASE_ARMED_AT, TimestampTzGetDatum(row->armed_at));
		set_column(columns, LEASE_DELAY, clock_interval_datum(row->delay));
	}
}

/* All but the key. */
static void
set_all(Columns *columns, const LeaseRow *row)
{
	set_choices(columns, row);
	set_expiry(columns, row);
	set_column(columns, LEASE_FENCE, Int64GetDatum(row->fence));
	set_null(columns, LEASE_ENDED_BY);
	set_null(columns, LEASE_ENDED_AT);
	if (!row->granted)
		return;
	set_column(columns, LEASE_OWNER, lease_text_datum(row->owner));
	set_length(columns, LEASE_HOLD_AT_LEAST, row->hold_at_least);
	if (row->ended != END_NONE)
	{
		set_column(columns, LEASE_ENDED_BY,
				   CStringGetTextDatum(outcomes_end_name(row->ended)));
		set_column(columns, LEASE_ENDED_AT, TimestampTzGetDatum(row->ended_at));
	}
}

/* The statement's arguments are the columns, in their order. */
static void
insert(const LeaseKey *key, const LeaseRow *row)
{
	Columns		columns;

	memset(&columns, 0, sizeof(columns));
	memset(columns.nulls, true, sizeof(columns.nulls));
	set_all(&columns, row);
	set_column(&columns, LEASE_NAMESPACE, PointerGetDatum(key->namespace));
	set_column(&columns, LEASE_NAME, PointerGetDatum(key->name));
	statement_run_one(STATEMENT_LEASE_INSERT, columns.values, columns.nulls);
}

/* Write what a decision changes: a new row, or to the one that is locked. */
void
store_write(Rows *rows, const LeaseKey *key, LockedRow *locked,
			LeaseWrite write, const LeaseRow *row)
{
	Columns		columns = {{0}};

	if (write == WRITE_NOTHING)
		return;
	if (!locked->row.exists)
	{
		insert(key, row);
		return;
	}
	if (write == WRITE_RENEWAL)
		set_expiry(&columns, row);
	else
		set_all(&columns, row);
	rows_update(rows, locked->slot, columns.values, columns.nulls, columns.replace);
}

/*
 * Leave the fence of a row that goes away behind; where a damaged row has lost
 * its namespace, in all of them.
 */
void
store_raise_floor(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	ledger_raise_floor(rows_null(slot, LEASE_NAMESPACE) ? NULL :
					   DatumGetTextPP(slot->tts_values[LEASE_NAMESPACE - 1]),
					   rows_int64(slot, LEASE_FENCE));
}

/* Delete a row that is locked; its fence stays behind as a floor. */
void
store_delete(LockedRow *locked)
{
	Datum		values[] = {PointerGetDatum(&locked->slot->tts_tid)};

	statement_run_one(STATEMENT_LEASE_DELETE, values, NULL);
}
