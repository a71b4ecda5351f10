/*
 * marks.c
 *		High-water marks: the highest fence that a resource has accepted.
 *
 * Promises: a mark never falls but by marks_reset(); a fence is admitted only
 * where it is not below the mark; the mark that it raises is on disk when the
 * raise commits.  The table is only appended to and the highest row counts, so
 * raising a mark makes nobody wait; a fence that is the mark writes nothing.
 *
 * Admission is by the fair lock of a resource: writers of one fence are in
 * together, those of different fences in turn, and a higher fence that waits
 * holds off lower ones that come later.  Whose lease keeps higher fences away
 * (FOR KEY SHARE on its row) needs it only to raise the mark (marks_raise()).
 *
 * Locks, none of which is waited for in the server's queue:
 *	gate	a mutex, while it is looked who is in; never while asleep
 *	inside	shared by all who are in beside others, to the end of their
 *			transactions; whoever raises the mark tries it exclusively, to see
 *			that nobody is in, and whoever resets it keeps it so
 *	want	a mutex of the higher fence that waits, given back when it is in
 * Whoever has raised the mark and not committed is seen by his row, and needs no
 * lock: a bulk write may raise more marks than the lock table has room for.
 */
#include "lease.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "marks.h"
#include "mutex.h"
#include "rows.h"
#include "settings.h"
#include "statement.h"
#include "transaction.h"
#include "wait.h"

/* Columns of lease_catalog.mark. */
enum
{
	MARK_NAMESPACE = 1,
	MARK_NAME,
	MARK_FENCE,
	MARK_AT
};

/* Which lock of a resource. */
enum
{
	LOCK_GATE = 0x4D00,
	LOCK_INSIDE,
	LOCK_WANT
};

/* How long to stand at the gate, and to sleep there. */
#define GATE_PATIENCE INT64CONST(50000)
#define GATE_NAP INT64CONST(1000)

/* What is on record of a resource, committed or not. */
typedef struct Record
{
	int64		mark;			/* as we see it, our own included */
	bool		same;			/* somebody is raising it to our fence */
	bool		different;		/* somebody is raising it to another fence */
	bool		higher;			/* and that is higher than ours */
} Record;

static uint64
lock_hash(const LeaseKey *resource, int lock)
{
	return mutex_hash_key(lock, resource);
}

/* The mark as it is now; 0 where nothing was ever accepted. */
int64
marks_read(const LeaseKey *resource)
{
	ScanKeyData keys[2];
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;
	int64		mark = 0;

	rows_keys_lease(keys, resource);
	rows_open_by(&rows, "mark", "mark_highest", AccessShareLock);
	rows_scan_begin(&rows, &scan, keys, 2, BackwardScanDirection);
	slot = rows_scan_next(&scan);
	if (slot != NULL)
		mark = rows_int64(slot, MARK_FENCE);
	rows_scan_end(&scan);
	rows_close(&rows);
	return mark;
}

/* Read what is on record, with what others are just writing. */
static void
read_record(const LeaseKey *resource, int64 fence, Record *record)
{
	TupleTableSlot *slot;
	SnapshotData dirty;
	IndexScanDesc scan;
	ScanKeyData keys[2];
	Rows		rows;

	memset(record, 0, sizeof(Record));
	rows_keys_lease(keys, resource);
	InitDirtySnapshot(dirty);
	rows_open_by(&rows, "mark", "mark_highest", AccessShareLock);
	slot = table_slot_create(rows.heap, NULL);
	scan = compat_index_beginscan(rows.heap, rows.index, &dirty, 2);
	index_rescan(scan, keys, 2, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		int64		found;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		found = rows_int64(slot, MARK_FENCE);
		if (!TransactionIdIsValid(dirty.xmin))
			record->mark = Max(record->mark, found);
		else if (found == fence)
			record->same = true;
		else
		{
			record->different = true;
			record->higher = record->higher || found > fence;
		}
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	rows_close(&rows);
}

static void
insert_mark(const LeaseKey *resource, int64 fence)
{
	Datum		values[] = {
		PointerGetDatum(resource->namespace),
		PointerGetDatum(resource->name),
		Int64GetDatum(fence),
		TimestampTzGetDatum(clock_now())
	};

	statement_run_one(STATEMENT_MARK_INSERT, values, NULL);
	transaction_changed();
	transaction_force_flush();
}

/* Get in beside those who are in under the same fence, which is the mark. */
static MarkAnswer
join(const LeaseKey *resource)
{
	return mutex_try_share(lock_hash(resource, LOCK_INSIDE)) ?
		MARK_ADMITTED : MARK_BUSY;
}

/*
 * Get in under a fence above the mark: nobody may be in under the mark, nor
 * under another fence.  Our row is there before the gate opens.
 */
static MarkAnswer
raise_inside(const LeaseKey *resource, int64 fence)
{
	uint64		inside = lock_hash(resource, LOCK_INSIDE);

	if (!mutex_try(inside))
		return MARK_BUSY;
	insert_mark(resource, fence);
	mutex_release(inside);
	return MARK_ADMITTED;
}

/* One attempt, with the gate held.  *wanting is set where we may wait for it. */
static MarkAnswer
try_inside(const LeaseKey *resource, int64 fence, bool waiting, int64 *mark,
		   bool *wanting)
{
	Record		record;

	read_record(resource, fence, &record);
	*mark = record.mark;
	*wanting = false;
	if (fence < record.mark)
		return MARK_BELOW;
	if (fence == record.mark && mutex_shares(lock_hash(resource, LOCK_INSIDE)))
		return MARK_ADMITTED;
	*wanting = fence > record.mark && !record.higher;
	if (record.different ||
		(!waiting && mutex_is_taken(lock_hash(resource, LOCK_WANT))))
		return MARK_BUSY;
	if (fence == record.mark)
		return join(resource);
	if (!record.same)
		return raise_inside(resource, fence);
	if (join(resource) == MARK_BUSY)
		return MARK_BUSY;
	insert_mark(resource, fence);
	return MARK_ADMITTED;
}

/*
 * Pass the gate.  It is held for as long as a look takes, by equal fences too,
 * and so says nothing of who is in: it is worth a moment, whatever the
 * patience.
 */
static bool
pass_gate(uint64 gate)
{
	int64		deadline = clock_monotonic() + GATE_PATIENCE;

	while (!mutex_try(gate))
	{
		if (!clock_nap(deadline, GATE_NAP))
			return false;
	}
	return true;
}

/*
 * Admit a fence by the fair lock of the resource, and raise the mark to it;
 * MARK_BUSY where others were still in when the patience ended.  *mark is
 * what the mark was.
 */
MarkAnswer
marks_enter(const LeaseKey *resource, int64 fence, int64 patience, int64 *mark)
{
	uint64		gate = lock_hash(resource, LOCK_GATE);
	uint64		want = lock_hash(resource, LOCK_WANT);
	bool		waiting = false;
	MarkAnswer	answer;
	Wait		wait;

	wait_begin(&wait, patience);
	for (;;)
	{
		bool		wanting = false;

		answer = MARK_BUSY;
		if (pass_gate(gate))
		{
			answer = try_inside(resource, fence, waiting, mark, &wanting);
			mutex_release(gate);
		}
		else
			*mark = marks_read(resource);
		if (answer != MARK_BUSY)
			break;
		if (wanting && !waiting)
			waiting = mutex_try(want);
		if (!wait_nap(&wait, WAIT_LOCKED, WAIT_LOCKED))
			break;
	}
	wait_end(&wait);
	if (waiting)
		mutex_release(want);
	return answer;
}

/*
 * Admit a fence whose lease keeps every other grant of it away, and raise the
 * mark to it: by the resource's lock, for who is in under a lower fence may
 * hold no lease.  A fence that is the mark needs none.
 */
MarkAnswer
marks_raise(const LeaseKey *resource, int64 fence, int64 patience, int64 *mark)
{
	*mark = marks_read(resource);
	if (fence > *mark)
		return marks_enter(resource, fence, patience, mark);
	return fence < *mark ? MARK_BELOW : MARK_ADMITTED;
}

/*
 * Set a mark to a fence, up or down, once nobody is in; false where somebody
 * still was after lease.lock_wait.  Nobody gets in until this commits.
 */
bool
marks_reset(const LeaseKey *resource, int64 fence, int64 *former)
{
	uint64		gate = lock_hash(resource, LOCK_GATE);
	uint64		inside = lock_hash(resource, LOCK_INSIDE);
	bool		alone = false;
	Wait		wait;

	wait_begin(&wait, settings_lock_patience());
	for (;;)
	{
		if (pass_gate(gate))
		{
			Record		record;

			read_record(resource, PG_INT64_MAX, &record);
			*former = record.mark;
			alone = !record.different && mutex_try(inside);
			mutex_release(gate);
		}
		if (alone || !wait_nap(&wait, WAIT_LOCKED, WAIT_LOCKED))
			break;
	}
	wait_end(&wait);
	if (alone)
	{
		Datum		values[] = {
			PointerGetDatum(resource->namespace),
			PointerGetDatum(resource->name)
		};

		(void) statement_run(STATEMENT_MARK_DELETE, values, NULL);
		insert_mark(resource, fence);
	}
	return alone;
}
