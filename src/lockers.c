/*
 * lockers.c
 *		Who is in the way of a row: the transactions that have it locked, or
 *		have written it and not committed, and the backends that run them.
 *
 * Promises: nothing is waited for and nothing is changed; what is found was so
 * while it was looked at, and a transaction that has ended by then is not in
 * it; a row whose first version is not committed yet is found too.
 *
 * Who locks a row is written in the row itself: the xmax of its versions, a
 * transaction or a multixact of several.  They are mostly subtransactions,
 * for every verb locks in one; what can be ended is the session around them.
 *
 * Locks: the content lock of one page at a time, shared, while a version's
 * header is read, so that what it refers to is not cleaned up meanwhile.
 */
#include "lease.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/subtrans.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/backend_status.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "lockers.h"

static Locker *
find_transaction(List *lockers, TransactionId xid)
{
	ListCell   *cell;

	foreach(cell, lockers)
	{
		Locker	   *locker = lfirst(cell);

		if (TransactionIdEquals(locker->xid, xid))
			return locker;
	}
	return NULL;
}

/* Add what one (sub)transaction has, unless it has ended. */
static List *
add(List *lockers, TransactionId xid, LockTupleMode mode, bool writes)
{
	bool		ours = TransactionIdIsCurrentTransactionId(xid);
	Locker	   *locker;

	if (!TransactionIdIsNormal(xid) || !TransactionIdIsInProgress(xid))
		return lockers;
	xid = ours ? GetTopTransactionIdIfAny() : SubTransGetTopmostTransaction(xid);
	locker = find_transaction(lockers, xid);
	if (locker == NULL)
	{
		locker = palloc0(sizeof(Locker));
		locker->xid = xid;
		locker->mode = mode;
		lockers = lappend(lockers, locker);
	}
	locker->ours = ours;
	locker->mode = Max(locker->mode, mode);
	locker->writes = locker->writes || writes;
	return lockers;
}

/* The mode of an xmax that is no multixact. */
static LockTupleMode
mode_of(HeapTupleHeader header)
{
	if (HEAP_XMAX_IS_KEYSHR_LOCKED(header->t_infomask))
		return LockTupleKeyShare;
	if (HEAP_XMAX_IS_SHR_LOCKED(header->t_infomask))
		return LockTupleShare;
	return header->t_infomask2 & HEAP_KEYS_UPDATED ?
		LockTupleExclusive : LockTupleNoKeyExclusive;
}

static LockTupleMode
mode_of_member(MultiXactStatus status)
{
	switch (status)
	{
		case MultiXactStatusForKeyShare:
			return LockTupleKeyShare;
		case MultiXactStatusForShare:
			return LockTupleShare;
		case MultiXactStatusForNoKeyUpdate:
		case MultiXactStatusNoKeyUpdate:
			return LockTupleNoKeyExclusive;
		case MultiXactStatusForUpdate:
		case MultiXactStatusUpdate:
			break;
	}
	return LockTupleExclusive;
}

static List *
add_members(List *lockers, MultiXactId multi, bool only_locked)
{
	MultiXactMember *members;
	int			nmembers = GetMultiXactIdMembers(multi, &members, false, only_locked);
	int			i;

	for (i = 0; i < nmembers; i++)
		lockers = add(lockers, members[i].xid, mode_of_member(members[i].status),
					  ISUPDATE_from_mxstatus(members[i].status));
	return lockers;
}

/* Add those who are in the way of one version of the row. */
static List *
add_version(List *lockers, TupleTableSlot *slot)
{
	BufferHeapTupleTableSlot *version = (BufferHeapTupleTableSlot *) slot;
	HeapTupleHeader header;
	bool		only_locked;

	if (!TTS_IS_BUFFERTUPLE(slot))
		return lockers;
	LockBuffer(version->buffer, BUFFER_LOCK_SHARE);
	header = version->base.tuple->t_data;
	only_locked = HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask);

	/* whoever inserted it; for others it is as if NO KEY UPDATE locked it */
	lockers = add(lockers, HeapTupleHeaderGetXmin(header), LockTupleNoKeyExclusive, true);
	if (!(header->t_infomask & HEAP_XMAX_INVALID))
		lockers = header->t_infomask & HEAP_XMAX_IS_MULTI ?
			add_members(lockers, HeapTupleHeaderGetRawXmax(header), only_locked) :
			add(lockers, HeapTupleHeaderGetRawXmax(header), mode_of(header), !only_locked);
	LockBuffer(version->buffer, BUFFER_LOCK_UNLOCK);
	return lockers;
}

/* When the transaction that a backend runs now began. */
static TimestampTz
began(int pid)
{
	int			n = pgstat_fetch_stat_numbackends();
	int			i;

	for (i = 1; i <= n; i++)
	{
		LocalPgBackendStatus *local = compat_backend_status(i);

		if (local != NULL && local->backendStatus.st_procpid == pid)
			return local->backendStatus.st_xact_start_timestamp;
	}
	return 0;
}

/* Find the backends, and leave out who has ended meanwhile. */
static List *
add_backends(List *lockers)
{
	List	   *found = NIL;
	ListCell   *cell;

	/* what this transaction has seen of others' activity may be old */
	if (lockers != NIL)
		pgstat_clear_backend_activity_snapshot();
	foreach(cell, lockers)
	{
		Locker	   *locker = lfirst(cell);

		locker->pid = BackendXidGetPid(locker->xid);
		if (locker->pid != 0)
			locker->began = began(locker->pid);
		if (TransactionIdIsInProgress(locker->xid))
			found = lappend(found, locker);
	}
	return found;
}

/*
 * Those who are in the way of the row that the keys name, one entry (Locker *)
 * a transaction, in the current memory context.
 */
List *
lockers_find(Rows *rows, ScanKey keys, int nkeys)
{
	TupleTableSlot *slot = table_slot_create(rows->heap, NULL);
	SnapshotData dirty;
	IndexScanDesc scan;
	List	   *lockers = NIL;

	InitDirtySnapshot(dirty);
	scan = compat_index_beginscan(rows->heap, rows->index, &dirty, nkeys);
	index_rescan(scan, keys, nkeys, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		lockers = add_version(lockers, slot);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return add_backends(lockers);
}
