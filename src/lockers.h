/*
 * lockers.h
 *		The transactions in the way of a row.
 */
#ifndef LEASE_LOCKERS_H
#define LEASE_LOCKERS_H

#include "lease.h"

#include "nodes/lockoptions.h"
#include "nodes/pg_list.h"

#include "rows.h"

/* A transaction that has a row locked, or has written it and not committed. */
typedef struct Locker
{
	TransactionId xid;
	LockTupleMode mode;			/* the strongest that it has */
	bool		writes;
	bool		ours;			/* the current transaction */
	int			pid;			/* 0 where no backend of this server runs it */
	TimestampTz began;			/* 0 where that is not known */
} Locker;

extern List *lockers_find(Rows *rows, ScanKey keys, int nkeys);

#endif							/* LEASE_LOCKERS_H */
