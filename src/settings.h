/*
 * settings.h
 *		The settings lease.*.
 */
#ifndef LEASE_SETTINGS_H
#define LEASE_SETTINGS_H

#include "lease.h"

extern int	settings_history_retention; /* s */
extern int	settings_lock_wait; /* ms */
extern int	settings_max_ttl;	/* s */
extern int	settings_max_wait;	/* ms */
extern int	settings_request_retention; /* s */

extern void settings_define(void);
extern bool settings_clock(TimestampTz *instant);

#endif							/* LEASE_SETTINGS_H */
