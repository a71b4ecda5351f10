/*
 * rows.h
 *		Our tables, row by row: find, lock, read columns.
 */
#ifndef LEASE_ROWS_H
#define LEASE_ROWS_H

#include "lease.h"

#include "access/genam.h"
#include "access/sdir.h"
#include "access/skey.h"
#include "executor/tuptable.h"
#include "nodes/lockoptions.h"
#include "storage/itemptr.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* One of our tables, open, with the index that finds its rows. */
typedef struct Rows
{
	Relation	heap;
	Relation	index;
	LOCKMODE	lockmode;
	int64		patience;		/* for the one wait that is the server's */
} Rows;

/* Rows in the order of the index, as of one latest snapshot. */
typedef struct RowsScan
{
	Snapshot	snapshot;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	ScanDirection direction;
} RowsScan;

typedef enum RowLock
{
	ROW_LOCKED,					/* the row is ours */
	ROW_WON,					/* there is none, and nobody else inserts it */
	ROW_ABSENT,					/* there is none */
	ROW_PRESENT,				/* one has come meanwhile */
	ROW_BUSY					/* somebody else's, and it was not waited for */
} RowLock;

extern void rows_init(void);
extern Oid	rows_owner(void);
extern bool rows_is_privilege_source(Oid table);
extern Oid	rows_extension_schema(void);
extern void rows_open(Rows *rows, const char *table, LOCKMODE lockmode);
extern void rows_open_by(Rows *rows, const char *table, const char *index,
						 LOCKMODE lockmode);
extern void rows_close(Rows *rows);
extern void rows_close_changed(Rows *rows);

extern void rows_key_text(ScanKey key, int index_column, const text *value);
extern void rows_keys_lease(ScanKeyData keys[2], const LeaseKey *key);
extern void rows_scan_begin(Rows *rows, RowsScan *scan, ScanKey keys,
							int nkeys, ScanDirection direction);
extern TupleTableSlot *rows_scan_next(RowsScan *scan);
extern void rows_scan_end(RowsScan *scan);

extern bool rows_find(Rows *rows, ScanKey keys, int nkeys,
					  Snapshot snapshot, TupleTableSlot *slot);
extern RowLock rows_lock(Rows *rows, ScanKey keys, int nkeys,
						 LockTupleMode mode, TupleTableSlot *slot);
extern RowLock rows_lock_found(Rows *rows, ItemPointer tid, Snapshot snapshot,
							   LockTupleMode mode, TupleTableSlot *slot);
extern bool rows_is_latest(TupleTableSlot *locked);
extern void rows_update(Rows *rows, TupleTableSlot *locked, Datum *values,
						bool *nulls, bool *replace);
extern RowLock rows_win(Rows *rows, ScanKey keys, int nkeys, uint64 hash);
extern RowLock rows_look_dirty(Rows *rows, ScanKey keys, int nkeys);

extern bool rows_null(TupleTableSlot *slot, int column);
extern RuleText rows_text(TupleTableSlot *slot, int column);
extern int64 rows_int64(TupleTableSlot *slot, int column);
extern int64 rows_length(TupleTableSlot *slot, int column);

#endif							/* LEASE_ROWS_H */
