/*
 * rows.c
 *		Our tables, row by row: find, lock, read columns.  The only locks on rows of
 *		leases; statement.c has those of its own statements.
 *
 * Promises: everything is read at a snapshot taken for that very read, at
 * every isolation level, so that answers are about now; what a lock returns is
 * the latest version of the row, read after the lock was obtained.
 *
 * Locks: the table's, given back by rows_close() where nothing changed; rows,
 * to the end of the (sub)transaction; in rows_win() a mutex.  Rows and mutexes
 * are tried once and not queued for, whatever the order in which callers take
 * them, so that no deadlock can pass through a lease.  FOR KEY SHARE alone can
 * wait, up to lease.lock_wait, for a version that is just being written
 * (lock_tuple).
 *
 * Reading goes straight to the tables and needs no privilege; whoever calls
 * has authorised his caller.
 */
#include "lease.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/inval.h"
#include "utils/fmgroids.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "mutex.h"
#include "rows.h"
#include "settings.h"

/* Found right since a table of the extension has last changed. */
static bool version_checked = false;

static Oid	version_table = InvalidOid;
static Oid	privilege_table = InvalidOid;

static void
forget_version(Datum arg, Oid relation)
{
	(void) arg;
	if (!OidIsValid(relation) || relation == version_table)
		version_checked = false;
}

/* Whether who may do what is read from the table, or from whose it is. */
bool
rows_is_privilege_source(Oid table)
{
	return table == version_table || table == privilege_table;
}

void
rows_init(void)
{
	CacheRegisterRelcacheCallback(forget_version, (Datum) 0);
}

/* A column of the extension's own row in pg_extension; false where it has none. */
static bool
read_extension(AttrNumber column, Datum *value)
{
	Relation	extensions = table_open(ExtensionRelationId, AccessShareLock);
	bool		isnull = true;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum("lease"));
	scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		*value = heap_getattr(tuple, column, RelationGetDescr(extensions), &isnull);
		if (!isnull && column == Anum_pg_extension_extversion)
			*value = CStringGetDatum(TextDatumGetCString(*value));
	}
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return !isnull;
}

/*
 * Columns are read by number, so the tables must be those that this library
 * was built for.  After an upgrade of one without the other they are not.
 */
static void
check_version(void)
{
	Datum		version;

	if (version_checked)
		return;
	if (!read_extension(Anum_pg_extension_extversion, &version))
		return;
	if (strcmp(DatumGetCString(version), LEASE_SQL_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"lease\" has version %s, but the library is for version %s",
						DatumGetCString(version), LEASE_SQL_VERSION),
				 errhint("Run ALTER EXTENSION lease UPDATE, and end the sessions that still have another library loaded.")));
	version_checked = true;
}

/* The schema that the extension's functions are in. */
Oid
rows_extension_schema(void)
{
	Datum		schema;

	check_version();
	if (!read_extension(Anum_pg_extension_extnamespace, &schema))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"lease\" does not exist")));
	return DatumGetObjectId(schema);
}

/*
 * Open a table of ours and lock it.  DROP and CREATE EXTENSION may come
 * between the look-up and the lock, and then the name means another table.
 */
static Relation
open_heap(const char *name, LOCKMODE lockmode)
{
	/* the latest snapshot is not to be had there */
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot look at leases during a parallel operation"),
				 errhint("A function that calls them must not be marked PARALLEL SAFE.")));
	check_version();
	for (;;)
	{
		Oid			namespace = get_namespace_oid(LEASE_SCHEMA, true);
		Oid			table = OidIsValid(namespace) ?
		get_relname_relid(name, namespace) : InvalidOid;
		Relation	heap;

		if (!OidIsValid(table))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("table \"%s.%s\" does not exist", LEASE_SCHEMA, name),
					 errhint("If the extension was dropped, run CREATE EXTENSION lease.")));
		heap = try_table_open(table, lockmode);
		if (heap != NULL)
		{
			if (strcmp(name, "lease") == 0)
				version_table = table;
			else if (strcmp(name, "privilege") == 0)
				privilege_table = table;
			return heap;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

static void
index_missing(const char *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("an index of table \"%s.%s\" is missing or not valid", LEASE_SCHEMA, table)));
}

/* Whose tables these are, and in whose name they are written. */
Oid
rows_owner(void)
{
	Relation	heap = open_heap("lease", AccessShareLock);
	Oid			owner = heap->rd_rel->relowner;

	table_close(heap, AccessShareLock);
	return owner;
}

/* Open a table by its primary key. */
void
rows_open(Rows *rows, const char *table, LOCKMODE lockmode)
{
	Oid			index;

	rows->heap = open_heap(table, lockmode);
	index = compat_primary_key_index(rows->heap);
	if (!OidIsValid(index))
		index_missing(table);
	rows->index = index_open(index, lockmode);
	rows->lockmode = lockmode;
	rows->patience = settings_lock_patience();
}

/* Open a table by another index. */
void
rows_open_by(Rows *rows, const char *table, const char *index,
			 LOCKMODE lockmode)
{
	Oid			oid;

	rows->heap = open_heap(table, lockmode);
	oid = get_relname_relid(index, RelationGetNamespace(rows->heap));
	if (!OidIsValid(oid))
		index_missing(table);
	rows->index = index_open(oid, lockmode);
	if (rows->index->rd_index->indrelid != RelationGetRelid(rows->heap) ||
		!rows->index->rd_index->indisvalid)
		index_missing(table);
	rows->lockmode = lockmode;
	rows->patience = settings_lock_patience();
}

/* Close a table in which nothing has changed: it is unlocked too. */
void
rows_close(Rows *rows)
{
	index_close(rows->index, rows->lockmode);
	table_close(rows->heap, rows->lockmode);
}

/* Close a table in which rows have been locked or written; it stays locked. */
void
rows_close_changed(Rows *rows)
{
	index_close(rows->index, NoLock);
	table_close(rows->heap, NoLock);
}

/* Make the key "column of the index = value"; value must outlive the key. */
void
rows_key_text(ScanKey key, int index_column, const text *value)
{
	ScanKeyInit(key, index_column, BTEqualStrategyNumber, F_TEXTEQ,
				PointerGetDatum(value));
}

/* The same for an index that begins with (namespace, name). */
void
rows_keys_lease(ScanKeyData keys[2], const LeaseKey *key)
{
	rows_key_text(&keys[0], 1, key->namespace);
	rows_key_text(&keys[1], 2, key->name);
}

/* Where nothing else is said, keys are compared byte by byte (COLLATE "C"). */
void
rows_scan_begin(Rows *rows, RowsScan *scan, ScanKey keys, int nkeys,
				ScanDirection direction)
{
	scan->slot = table_slot_create(rows->heap, NULL);
	scan->snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan->scan = compat_index_beginscan(rows->heap, rows->index,
										scan->snapshot, nkeys);
	scan->direction = direction;
	index_rescan(scan->scan, keys, nkeys, NULL, 0);
}

/* The next row, good until the one after it; NULL after the last. */
TupleTableSlot *
rows_scan_next(RowsScan *scan)
{
	CHECK_FOR_INTERRUPTS();
	if (!index_getnext_slot(scan->scan, scan->direction, scan->slot))
		return NULL;
	slot_getallattrs(scan->slot);
	return scan->slot;
}

void
rows_scan_end(RowsScan *scan)
{
	index_endscan(scan->scan);
	ExecDropSingleTupleTableSlot(scan->slot);
	UnregisterSnapshot(scan->snapshot);
}

/* Find one row at a snapshot; the slot holds it, pinned, until it is cleared. */
bool
rows_find(Rows *rows, ScanKey keys, int nkeys, Snapshot snapshot,
		  TupleTableSlot *slot)
{
	IndexScanDesc scan = compat_index_beginscan(rows->heap, rows->index,
												snapshot, nkeys);
	bool		found;

	index_rescan(scan, keys, nkeys, NULL, 0);
	found = index_getnext_slot(scan, ForwardScanDirection, slot);
	index_endscan(scan);
	if (found)
		slot_getallattrs(slot);
	return found;
}

/*
 * Lock a row version and those that follow it.  To reach a version that
 * somebody is just writing, FOR KEY SHARE has to walk on to it, and there the
 * server waits whatever it is told, if the writer has locked his own version
 * FOR UPDATE; so that wait has its limit here, and ends in 55P03 (proof.c).
 */
static TM_Result
lock_tuple(Rows *rows, ItemPointer tid, Snapshot snapshot, LockTupleMode mode,
		   TupleTableSlot *slot, TM_FailureData *failure)
{
	volatile TM_Result result = TM_Ok;
	int			timeout = LockTimeout;

	if (mode != LockTupleKeyShare)
		return table_tuple_lock(rows->heap, tid, snapshot, slot,
								GetCurrentCommandId(false), mode, LockWaitSkip,
								TUPLE_LOCK_FLAG_FIND_LAST_VERSION, failure);
	PG_TRY();
	{
		LockTimeout = Max((int) (rows->patience / 1000), 1);
		if (timeout > 0)
			LockTimeout = Min(LockTimeout, timeout);
		result = table_tuple_lock(rows->heap, tid, snapshot, slot,
								  GetCurrentCommandId(false), mode, LockWaitSkip,
								  TUPLE_LOCK_FLAG_FIND_LAST_VERSION |
								  TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS,
								  failure);
	}
	PG_FINALLY();
	{
		LockTimeout = timeout;
	}
	PG_END_TRY();
	return result;
}

/*
 * Try to lock a row that was found at a snapshot which is still held.  FOR KEY
 * SHARE does not conflict with an update in flight, nor with one that has been
 * committed since: whoever locks so must read again, unless rows_is_latest().
 * ROW_LOCKED: the slot holds its latest version, read after the lock was
 * obtained, and the lock stays until the (sub)transaction ends.  Else
 * ROW_BUSY, or ROW_ABSENT where it has been deleted since, and an empty slot.
 * The slot's pin is the current resource owner's.
 */
RowLock
rows_lock_found(Rows *rows, ItemPointer tid, Snapshot snapshot,
				LockTupleMode mode, TupleTableSlot *slot)
{
	ItemPointerData latest = *tid;
	TM_FailureData failure;
	TM_Result	result;

	result = lock_tuple(rows, &latest, snapshot, mode, slot, &failure);
	switch (result)
	{
		case TM_Ok:
			slot_getallattrs(slot);
			return ROW_LOCKED;
		case TM_WouldBlock:
			ExecClearTuple(slot);
			return ROW_BUSY;
		case TM_Deleted:
			ExecClearTuple(slot);
			return ROW_ABSENT;
		default:
			elog(ERROR, "unexpected answer %d to a row lock", result);
	}
}

/*
 * Whether nobody had updated a version, committed or in flight, when it was
 * locked.  Locking keeps an updater in the version's xmax, and whoever comes
 * after the lock writes himself there; so while it says that there are but
 * lockers, there has been nobody since either.  False proves nothing.
 */
bool
rows_is_latest(TupleTableSlot *locked)
{
	HeapTuple	version = ExecFetchSlotHeapTuple(locked, false, NULL);

	return HEAP_XMAX_IS_LOCKED_ONLY(version->t_data->t_infomask);
}

/*
 * Find a row and try to lock it, as rows_lock_found() does.  ROW_ABSENT: no
 * committed row has the key.
 */
RowLock
rows_lock(Rows *rows, ScanKey keys, int nkeys, LockTupleMode mode,
		  TupleTableSlot *slot)
{
	for (;;)
	{
		Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
		bool		found = rows_find(rows, keys, nkeys, snapshot, slot);
		RowLock		lock = ROW_ABSENT;

		if (found)
		{
			ItemPointerData tid = slot->tts_tid;

			lock = rows_lock_found(rows, &tid, snapshot, mode, slot);
		}
		UnregisterSnapshot(snapshot);

		/* one that was deleted since the snapshot is not seen by the next */
		if (!found || lock != ROW_ABSENT)
			return lock;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Put the entries of a new row version into every index of the table. */
static void
insert_index_entries(Rows *rows, TupleTableSlot *slot,
					 CompatUpdateIndexes update_indexes)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *target = makeNode(ResultRelInfo);

	/* no range table: nobody asks who may do this */
	InitResultRelInfo(target, rows->heap, 0, NULL, 0);
	ExecOpenIndices(target, false);
	compat_insert_index_tuples(target, slot, estate, update_indexes);
	ExecCloseIndices(target);
	FreeExecutorState(estate);
}

/*
 * Write columns of a row that rows_lock() has locked.  No executor: it would
 * parse the table's CHECKs anew for every row, which is more than all the
 * rest.  They are there for what others write.
 */
void
rows_update(Rows *rows, TupleTableSlot *locked, Datum *values, bool *nulls,
			bool *replace)
{
	HeapTuple	old = ExecFetchSlotHeapTuple(locked, false, NULL);
	HeapTuple	changed = heap_modify_tuple(old, RelationGetDescr(rows->heap),
											values, nulls, replace);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rows->heap),
													&TTSOpsHeapTuple);
	CompatUpdateIndexes update_indexes;

	ExecStoreHeapTuple(changed, slot, true);
	slot->tts_tableOid = RelationGetRelid(rows->heap);
	simple_table_tuple_update(rows->heap, &locked->tts_tid, slot,
							  InvalidSnapshot, &update_indexes);
	if (compat_needs_index_entries(update_indexes))
		insert_index_entries(rows, slot, update_indexes);
	ExecDropSingleTupleTableSlot(slot);
	CommandCounterIncrement();
}

/*
 * Look for rows that are there, or that others are just writing: ROW_PRESENT
 * where there is one that nobody else is writing, ROW_BUSY where there are but
 * versions that somebody else has inserted, deleted or replaced and not
 * committed, else ROW_ABSENT.
 */
RowLock
rows_look_dirty(Rows *rows, ScanKey keys, int nkeys)
{
	TupleTableSlot *slot = table_slot_create(rows->heap, NULL);
	RowLock		answer = ROW_ABSENT;
	SnapshotData dirty;
	IndexScanDesc scan;

	InitDirtySnapshot(dirty);
	scan = compat_index_beginscan(rows->heap, rows->index, &dirty, nkeys);
	index_rescan(scan, keys, nkeys, NULL, 0);
	while (answer != ROW_PRESENT &&
		   index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		coming = TransactionIdIsValid(dirty.xmin);
		bool		going = TransactionIdIsValid(dirty.xmax);

		answer = coming || going ? ROW_BUSY : ROW_PRESENT;
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return answer;
}

/*
 * Try to win the right to insert a row that is not there.  A plain INSERT
 * would wait, without bound, for whoever has inserted the same key and not
 * committed; so look for such a row, with others of us kept out until
 * mutex_release().  ROW_WON needs that; ROW_PRESENT and ROW_BUSY hold nothing.
 * Two keys whose hashes agree only wait for each other's look.
 */
RowLock
rows_win(Rows *rows, ScanKey keys, int nkeys, uint64 hash)
{
	RowLock		found;

	if (!mutex_try(hash))
		return ROW_BUSY;
	found = rows_look_dirty(rows, keys, nkeys);
	if (found == ROW_ABSENT)
		return ROW_WON;
	mutex_release(hash);
	return found;
}

bool
rows_null(TupleTableSlot *slot, int column)
{
	return slot->tts_isnull[column - 1];
}

/* A copy in the current memory context, ended by a zero byte. */
RuleText
rows_text(TupleTableSlot *slot, int column)
{
	RuleText	result = {NULL, 0};
	text	   *value;

	if (rows_null(slot, column))
		return result;
	value = DatumGetTextPP(slot->tts_values[column - 1]);
	result.len = VARSIZE_ANY_EXHDR(value);
	result.data = pnstrdup(VARDATA_ANY(value), result.len);
	return result;
}

/* A bigint or a timestamptz; zero where it is NULL. */
int64
rows_int64(TupleTableSlot *slot, int column)
{
	if (rows_null(slot, column))
		return 0;
	return DatumGetInt64(slot->tts_values[column - 1]);
}

/* An interval in microseconds; zero where it is NULL. */
int64
rows_length(TupleTableSlot *slot, int column)
{
	if (rows_null(slot, column))
		return 0;
	return clock_from_interval(DatumGetIntervalP(slot->tts_values[column - 1]));
}
