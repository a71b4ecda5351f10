/*
 * mutex.c
 *		Mutexes: advisory locks of a class that SQL cannot make, by the hash of
 *		what they are for.
 *
 * Promises: a mutex is tried and never queued for, so that nobody sleeps in
 * here and no deadlock can pass through, whatever the order in which they are
 * taken.  mutex_block_shares() alone can wait.  All of them go with the
 * transaction.  Two things whose hashes agree only get in each other's way.
 */
#include "lease.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "compat.h"
#include "mutex.h"

/* Tells our advisory lock tags from everybody else's: "LE". */
#define MUTEX_CLASS 0x4C45

uint64
mutex_hash(uint64 seed, const void *data, int len)
{
	return DatumGetUInt64(hash_any_extended(data, len, seed));
}

/* Of a namespace and a name in it. */
uint64
mutex_hash_key(uint64 seed, const LeaseKey *key)
{
	uint64		hash = mutex_hash(seed, VARDATA_ANY(key->namespace),
								  VARSIZE_ANY_EXHDR(key->namespace));

	return mutex_hash(hash, VARDATA_ANY(key->name), VARSIZE_ANY_EXHDR(key->name));
}

static void
make_tag(uint64 hash, LOCKTAG *tag)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, (uint32) (hash >> 32),
						 (uint32) hash, MUTEX_CLASS);
}

/* Try to enter; false where somebody is in. */
bool
mutex_try(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

void
mutex_release(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	LockRelease(&tag, ExclusiveLock, false);
}

/*
 * Try to get in together with others; for as long as the transaction lasts,
 * where it is not released.
 */
bool
mutex_try_share(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	return LockAcquire(&tag, ShareLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Whether we share it. */
bool
mutex_shares(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	return compat_lock_held_by_me(&tag, ShareLock);
}

void
mutex_release_share(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	LockRelease(&tag, ShareLock, false);
}

/*
 * Keep those who share out, to the transaction's end; others who do the same
 * are let in.  Waits for who shares, and so is only for a mutex that is shared
 * for a moment, by who waits for nothing meanwhile.
 */
void
mutex_block_shares(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	(void) LockAcquire(&tag, RowExclusiveLock, false, false);
}

/* The same without a wait: false where somebody is sharing it. */
bool
mutex_try_block_shares(uint64 hash)
{
	LOCKTAG		tag;

	make_tag(hash, &tag);
	return LockAcquire(&tag, RowExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Whether somebody else has the mutex. */
bool
mutex_is_taken(uint64 hash)
{
	if (!mutex_try_share(hash))
		return true;
	mutex_release_share(hash);
	return false;
}
