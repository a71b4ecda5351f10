/*
 * ledger.h
 *		What outlives a lease's row: floors, generations, history, intents.
 */
#ifndef LEASE_LEDGER_H
#define LEASE_LEDGER_H

#include "lease.h"

#include "rows.h"

/* What an operator wanted. */
typedef struct LedgerIntent
{
	const char *verb;			/* without lease_; NULL: nothing */
	const text *reason;			/* NULL where none was given */
	const char *detail;			/* a jsonb object with something in it, or
								 * NULL */
	bool		idle;			/* that stood already: nothing has changed */
} LedgerIntent;

extern int64 ledger_floor(const text *namespace);
extern void ledger_raise_floor(const text *namespace, int64 fence);
extern int64 ledger_generation(Oid table);
extern int64 ledger_raise_all(Oid table, int64 fence);
extern int64 ledger_raise_past_all(Oid table);

extern void ledger_keep_end(const LeaseKey *key, const LeaseRow *ended,
							LeaseEnd end, TimestampTz at, const text *reason,
							const char *role_name);
extern void ledger_keep_intent(const LeaseKey *key, const int64 *fence,
							   const LedgerIntent *intent);

#endif							/* LEASE_LEDGER_H */
