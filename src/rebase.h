/*
 * rebase.h
 *		What a refusal writes down elsewhere than in its own row.
 */
#ifndef LEASE_REBASE_H
#define LEASE_REBASE_H

#include "lease.h"

extern void rebase_counted(const text *namespace);
extern void rebase_if_full(const LeaseKey *key);
extern bool rebase_hold(const text *namespace);

#endif							/* LEASE_REBASE_H */
