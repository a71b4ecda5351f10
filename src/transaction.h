/*
 * transaction.h
 *		What a transaction has done that its end must know.
 */
#ifndef LEASE_TRANSACTION_H
#define LEASE_TRANSACTION_H

#include "lease.h"

/* Does some work; answers whether it is to be kept. */
typedef bool (*TransactionStep) (void *state);

extern void transaction_init(void);
extern bool transaction_attempt(TransactionStep step, void *state);
extern void transaction_changed(void);
extern void transaction_force_flush(void);

#endif							/* LEASE_TRANSACTION_H */
