/*
 * due.h
 *		Where polls look for tasks.
 */
#ifndef LEASE_DUE_H
#define LEASE_DUE_H

#include "lease.h"

#include "rows.h"

/* An entry as it was met; its key is the scan's, good until the next one. */
typedef struct DueEntry
{
	LeaseKey	key;
	int64		due_at;
	ItemPointerData tid;
} DueEntry;

/* Entries in the order in which they are due, as of one latest snapshot. */
typedef struct DueScan
{
	Rows		rows;
	RowsScan	scan;
	ScanKeyData keys[3];
} DueScan;

#define DUE_PRIORITIES 10		/* 0 to 9 */

extern void due_arm(const LeaseKey *key, int32 priority, int64 due_at);
extern void due_remove(const LeaseKey *key);
extern void due_scan_begin(DueScan *scan, const text *namespace, int priority,
						   TimestampTz now);
extern void due_scan_begin_ahead(DueScan *scan, const text *namespace,
								 TimestampTz now);
extern bool due_scan_next(DueScan *scan, DueEntry *entry);
extern bool due_move(DueScan *scan, DueEntry *entry, int64 due_at);
extern bool due_drop(DueScan *scan, const DueEntry *entry);
extern void due_scan_end(DueScan *scan);
extern int64 due_next(const text *namespace, TimestampTz now);

#endif							/* LEASE_DUE_H */
