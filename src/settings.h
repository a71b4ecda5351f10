/*
 * settings.h
 *		The settings lease.*.
 */
#ifndef LEASE_SETTINGS_H
#define LEASE_SETTINGS_H

#include "lease.h"

/* What becomes of a write that a guard refuses, from the strictest on. */
typedef enum Enforcement
{
	ENFORCEMENT_ENFORCE,
	ENFORCEMENT_OBSERVE,
	ENFORCEMENT_OFF
} Enforcement;

extern int	settings_history_retention; /* s */
extern int	settings_lock_wait; /* ms */
extern int	settings_max_ttl;	/* s */
extern int	settings_max_wait;	/* ms */
extern int	settings_poll_push;
extern int	settings_request_retention; /* s */

extern int	settings_enforcement;	/* an Enforcement */
extern char *settings_token;
extern uint64 settings_token_changes;

/* lease.lock_wait in microseconds, as waits are told. */
static inline int64
settings_lock_patience(void)
{
	return settings_lock_wait * INT64CONST(1000);
}

extern void settings_define(void);
extern bool settings_clock(TimestampTz *instant);

#endif							/* LEASE_SETTINGS_H */
