/*
 * batch.h
 *		Many leases in one call.
 */
#ifndef LEASE_BATCH_H
#define LEASE_BATCH_H

#include "protocol.h"

/* One place of the caller's arrays. */
typedef struct BatchItem
{
	LeaseCall	call;
	LeaseAnswer answer;
	bool		valid;			/* has a name and a fence that can be judged */
	bool		settled;		/* answered without a lock, or not to be tried
								 * again */
	int			judged_at;		/* the place that answers for this one */
} BatchItem;

extern void batch_run(BatchItem *items, int nitems, const text *namespace);

#endif							/* LEASE_BATCH_H */
