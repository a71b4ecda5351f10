/*
 * store.h
 *		The lease table.
 */
#ifndef LEASE_STORE_H
#define LEASE_STORE_H

#include "lease.h"

#include "storage/itemptr.h"

#include "rows.h"

/* A row, and where it lies while it is locked. */
typedef struct StoredRow
{
	LeaseRow	row;
	ItemPointerData tid;
} StoredRow;

typedef bool (*StoreVisitor) (const LeaseKey *key, const LeaseRow *row,
							  void *state);

extern void store_read(const LeaseKey *key, LeaseRow *row);
extern void store_visit(const text *namespace, StoreVisitor visit, void *state);
extern RowLock store_lock(Rows *rows, const LeaseKey *key, LockTupleMode mode,
						  StoredRow *stored);
extern RowLock store_win(Rows *rows, const LeaseKey *key);
extern void store_yield(const LeaseKey *key);
extern int64 store_count_others(const LeaseKey *key, TimestampTz now);
extern void store_write(const LeaseKey *key, StoredRow *stored,
						LeaseWrite write, const LeaseRow *row);
extern void store_raise_floor(TupleTableSlot *slot);
extern void store_delete(StoredRow *stored);

#endif							/* LEASE_STORE_H */
