/*
 * clock.c
 *		The only source of "now", the only sleep, and lengths of time.
 *
 * Every decision asks clock_now() after it has the row's lock.  The clock is
 * the server's wall clock, or the instant that lease.clock says, which stands
 * still.  What bounds a sleep is the monotonic clock, which no setting and no
 * administrator moves; it is never stored and never compared with the other.
 */
#include "lease.h"

#include "common/int.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "clock.h"
#include "compat.h"
#include "settings.h"

TimestampTz
clock_now(void)
{
	TimestampTz instant;

	if (settings_clock(&instant))
		return instant;
	return clock_wall();
}

/* The wall clock, for what lease.clock must not govern. */
TimestampTz
clock_wall(void)
{
	return GetCurrentTimestamp();
}

/* Whether waiting brings an instant no nearer. */
bool
clock_stands_still(void)
{
	TimestampTz instant;

	return settings_clock(&instant);
}

/* Microseconds since some instant of this process's machine. */
int64
clock_monotonic(void)
{
	instr_time	instant;

	INSTR_TIME_SET_CURRENT(instant);
	return (int64) INSTR_TIME_GET_MICROSEC(instant);
}

/*
 * Sleep for that long, but not past the deadline (of the monotonic clock), and
 * interruptibly; false, without sleep, where it has come.
 */
bool
clock_nap(int64 deadline, int64 length)
{
	int64		left = deadline - clock_monotonic();

	if (left <= 0)
		return false;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Max((Min(left, length) + 999) / 1000, 1), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* Where both clocks stood when the library was loaded. */
static TimestampTz wall_at_start;
static int64 monotonic_at_start;

void
clock_init(void)
{
	wall_at_start = clock_wall();
	monotonic_at_start = clock_monotonic();
}

/*
 * How much further the wall clock has gone since then than the monotonic one;
 * negative where less far.
 */
int64
clock_course(void)
{
	return (clock_wall() - wall_at_start) - (clock_monotonic() - monotonic_at_start);
}

/*
 * The microseconds of an interval whose months are zero and which is finite;
 * one that int64 cannot hold comes back as the nearest that it can.
 */
int64
clock_from_interval(const Interval *interval)
{
	int64		days;
	int64		length;

	if (pg_mul_s64_overflow(interval->day, USECS_PER_DAY, &days))
		days = interval->day < 0 ? PG_INT64_MIN : PG_INT64_MAX;
	if (pg_add_s64_overflow(days, interval->time, &length))
		return days < 0 ? PG_INT64_MIN : PG_INT64_MAX;
	return length;
}

/* An interval of so many microseconds, all in its time. */
Datum
clock_interval_datum(int64 length)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = length;
	return IntervalPGetDatum(interval);
}
