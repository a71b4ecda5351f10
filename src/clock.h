/*
 * clock.h
 *		The only source of "now".
 */
#ifndef LEASE_CLOCK_H
#define LEASE_CLOCK_H

#include "lease.h"

extern TimestampTz clock_now(void);
extern TimestampTz clock_wall(void);
extern bool clock_stands_still(void);
extern int64 clock_monotonic(void);
extern bool clock_nap(int64 deadline, int64 length);
extern void clock_init(void);
extern int64 clock_course(void);
extern int64 clock_from_interval(const Interval *interval);
extern Datum clock_interval_datum(int64 length);

#endif							/* LEASE_CLOCK_H */
