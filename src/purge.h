/*
 * purge.h
 *		Removing what is no longer needed.
 */
#ifndef LEASE_PURGE_H
#define LEASE_PURGE_H

#include "lease.h"

/* How many rows of a kind a sweep has removed. */
typedef struct SweepCount
{
	const char *what;
	int64		count;
} SweepCount;

#define SWEEP_KINDS 5

extern int64 purge_idle(const text *namespace, int64 idle, int64 max);
extern void purge_sweep(int64 max, SweepCount counts[SWEEP_KINDS]);

#endif							/* LEASE_PURGE_H */
