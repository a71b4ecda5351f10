/*
 * observe.h
 *		Proves tokens for a guard that only observes.
 */
#ifndef LEASE_OBSERVE_H
#define LEASE_OBSERVE_H

#include "lease.h"

#include "nodes/pg_list.h"

#include "proof.h"

/* What was refused in a statement, and passed all the same. */
typedef struct Observed
{
	MemoryContext context;		/* of the statement */
	List	   *passed;
} Observed;

extern void observe_init(void);
extern bool observe_token(Observed *observed, Token *token, ProofMode mode,
						  Refused *refused);

#endif							/* LEASE_OBSERVE_H */
