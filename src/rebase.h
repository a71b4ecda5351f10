/*
 * rebase.h
 *		What a refusal writes down elsewhere than in its own row.
 */
#ifndef LEASE_REBASE_H
#define LEASE_REBASE_H

#include "lease.h"

extern bool rebase_hold(const text *namespace);
extern void rebase_after(const LeaseKey *key, LeaseOutcome outcome, bool ahead,
						 bool rebased, bool seeks_place);

#endif							/* LEASE_REBASE_H */
