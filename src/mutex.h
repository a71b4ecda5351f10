/*
 * mutex.h
 *		Mutexes by the hash of what they are for.
 */
#ifndef LEASE_MUTEX_H
#define LEASE_MUTEX_H

#include "lease.h"

extern uint64 mutex_hash(uint64 seed, const void *data, int len);
extern uint64 mutex_hash_key(uint64 seed, const LeaseKey *key);

extern bool mutex_try(uint64 hash);
extern void mutex_release(uint64 hash);
extern bool mutex_is_taken(uint64 hash);

extern bool mutex_try_share(uint64 hash);
extern void mutex_release_share(uint64 hash);
extern bool mutex_shares(uint64 hash);
extern void mutex_block_shares(uint64 hash);
extern bool mutex_try_block_shares(uint64 hash);

#endif							/* LEASE_MUTEX_H */
