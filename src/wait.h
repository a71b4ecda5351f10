/*
 * wait.h
 *		Looking again and again until a deadline.
 */
#ifndef LEASE_WAIT_H
#define LEASE_WAIT_H

#include "lease.h"

/* The longest nap where somebody has something locked, and where nothing is due. */
#define WAIT_LOCKED INT64CONST(10000)
#define WAIT_IDLE INT64CONST(50000)

typedef struct Wait
{
	int64		deadline;		/* of the monotonic clock */
	int64		step;			/* the next nap */
	MemoryContext caller;
	MemoryContext lap;			/* NULL until there is a second one */
} Wait;

extern void wait_begin(Wait *wait, int64 patience);
extern int64 wait_left(const Wait *wait);
extern bool wait_nap(Wait *wait, int64 left, int64 longest);
extern void wait_end(Wait *wait);

#endif							/* LEASE_WAIT_H */
