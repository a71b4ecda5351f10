/*
 * store.h
 *		The lease table.
 */
#ifndef LEASE_STORE_H
#define LEASE_STORE_H

#include "lease.h"

#include "nodes/pg_list.h"
#include "storage/itemptr.h"

#include "rows.h"

/* A row as it was found without a lock, and the snapshot that keeps it there. */
typedef struct FoundRow
{
	LeaseRow	row;
	ItemPointerData tid;
	Snapshot	snapshot;
} FoundRow;

/* A row that is locked; where there is none, row.exists says so. */
typedef struct LockedRow
{
	LeaseRow	row;
	TupleTableSlot *slot;
} LockedRow;

typedef bool (*StoreVisitor) (const LeaseKey *key, const LeaseRow *row,
							  void *state);
typedef bool (*StorePredicate) (const LeaseRow *row, const void *state);

extern void store_find(Rows *rows, const LeaseKey *key, FoundRow *found);
extern void store_forget(FoundRow *found);
extern void store_visit(const text *namespace, ScanDirection direction,
						StoreVisitor visit, void *state);
extern List *store_names(const text *namespace, ScanDirection direction,
						 StorePredicate wanted, const void *state, int64 max);
extern RowLock store_lock(Rows *rows, const LeaseKey *key,
						  const FoundRow *found, LockTupleMode mode,
						  LockedRow *locked);
extern void store_unpin(LockedRow *locked);
extern RowLock store_win(Rows *rows, const LeaseKey *key);
extern void store_yield(const LeaseKey *key);
extern bool store_is_being_written(Rows *rows, const LeaseKey *key);
extern int64 store_count_others(const LeaseKey *key, int64 limit,
								TimestampTz now, bool *ahead);
extern void store_write(Rows *rows, const LeaseKey *key, LockedRow *locked,
						LeaseWrite write, const LeaseRow *row);
extern void store_delete(LockedRow *locked);
extern void store_raise_floor(TupleTableSlot *slot);

#endif							/* LEASE_STORE_H */
