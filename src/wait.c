/*
 * wait.c
 *		Looking again and again until a deadline.
 *
 * The pattern of whoever waits: wait_begin(), look, wait_nap() while it is not
 * to be had yet, wait_end().  Promises: naps that grow, so that a long wait
 * costs little; and a wait of many laps takes the memory of one.  What the last
 * lap made lives as long as what the caller makes; what earlier ones made is
 * gone after the nap.
 *
 * Whoever naps has given back what the look has locked, and looks afresh
 * afterwards at all that may have changed meanwhile, what he may do included.
 * What his transaction has locked before stays, and so does the wish to be the
 * next (marks.c).
 */
#include "lease.h"

#include "utils/memutils.h"

#include "clock.h"
#include "wait.h"

#define FIRST_NAP INT64CONST(1000)

/* Wait for that many microseconds at most. */
void
wait_begin(Wait *wait, int64 patience)
{
	wait->deadline = clock_monotonic() + patience;
	wait->step = FIRST_NAP;
	wait->caller = CurrentMemoryContext;
	wait->lap = NULL;
}

/* How much of the time is left. */
int64
wait_left(const Wait *wait)
{
	return Max(wait->deadline - clock_monotonic(), 0);
}

/*
 * Sleep until it is worth looking again: twice as long each time, up to a
 * longest, but not past the deadline, nor for longer than is left until
 * something may be had.  False, without sleep, where the deadline has come.
 */
bool
wait_nap(Wait *wait, int64 left, int64 longest)
{
	int64		length = Min(wait->step, longest);

	wait->step = Min(wait->step * 2, longest);
	if (!clock_stands_still())
		length = Min(length, left);
	if (!clock_nap(wait->deadline, length))
		return false;
	if (wait->lap == NULL)
		wait->lap = AllocSetContextCreate(wait->caller, "lease wait",
										  ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(wait->lap);
	MemoryContextSwitchTo(wait->lap);
	return true;
}

void
wait_end(Wait *wait)
{
	MemoryContextSwitchTo(wait->caller);
}
