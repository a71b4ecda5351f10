/*
 * transaction.h
 *		What a transaction has done that its end must know.
 */
#ifndef LEASE_TRANSACTION_H
#define LEASE_TRANSACTION_H

#include "lease.h"

extern void transaction_init(void);
extern void transaction_changed(void);
extern void transaction_must_last(void);

#endif							/* LEASE_TRANSACTION_H */
