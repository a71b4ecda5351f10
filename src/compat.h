/*
 * compat.h
 *		What differs between the supported servers, and nothing else.
 */
#ifndef LEASE_COMPAT_H
#define LEASE_COMPAT_H

#include "postgres.h"
#include "access/genam.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 150000
#error "lease needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

/* Stands before a declaration, where 18 wants it. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

/* What a setting's check hook leaves for its assign hook; the server frees it. */
static inline void *
compat_guc_malloc(size_t size)
{
#if PG_VERSION_NUM < 160000
	return malloc(size);
#else
	return guc_malloc(LOG, size);
#endif
}

/*
 * Pin the search path to pg_catalog, without pg_temp in front, until
 * compat_unpin_search_path() or the end of the (sub)transaction.
 */
static inline int
compat_pin_search_path(void)
{
#if PG_VERSION_NUM < 170000
	OverrideSearchPath path = {.addCatalog = true};

	PushOverrideSearchPath(&path);
	return 0;
#else
	int			level = NewGUCNestLevel();

	RestrictSearchPath();
	return level;
#endif
}

static inline void
compat_unpin_search_path(int level)
{
#if PG_VERSION_NUM < 170000
	(void) level;
	PopOverrideSearchPath();
#else
	AtEOXact_GUC(false, level);
#endif
}

static inline Oid
compat_primary_key_index(Relation relation)
{
#if PG_VERSION_NUM < 180000
	return RelationGetPrimaryKeyIndex(relation);
#else
	return RelationGetPrimaryKeyIndex(relation, false);
#endif
}

static inline IndexScanDesc
compat_index_beginscan(Relation heap, Relation index, Snapshot snapshot,
					   int nkeys)
{
#if PG_VERSION_NUM < 180000
	return index_beginscan(heap, index, snapshot, nkeys, 0);
#elif PG_VERSION_NUM < 190000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0, SO_NONE);
#endif
}

/* Which indexes want an entry for a new row version: all or none, until 16. */
#if PG_VERSION_NUM < 160000
typedef bool CompatUpdateIndexes;

#define compat_needs_index_entries(update_indexes) (update_indexes)
#define compat_insert_index_tuples(target, slot, estate, update_indexes) \
	((void) (update_indexes), \
	 (void) ExecInsertIndexTuples(target, slot, estate, true, false, NULL, NIL))
#else
typedef TU_UpdateIndexes CompatUpdateIndexes;

#define compat_needs_index_entries(update_indexes) ((update_indexes) != TU_None)
#if PG_VERSION_NUM < 190000
#define compat_insert_index_tuples(target, slot, estate, update_indexes) \
	((void) ExecInsertIndexTuples(target, slot, estate, true, false, NULL, NIL, \
								  (update_indexes) == TU_Summarizing))
#else
#define compat_insert_index_tuples(target, slot, estate, update_indexes) \
	((void) ExecInsertIndexTuples(target, estate, EIIT_IS_UPDATE | \
								  ((update_indexes) == TU_Summarizing ? EIIT_ONLY_SUMMARIZING : 0), \
								  slot, NIL, NULL))
#endif
#endif

/* The status of a backend, of those that there are by number, from 1 on. */
static inline LocalPgBackendStatus *
compat_backend_status(int number)
{
#if PG_VERSION_NUM < 160000
	return pgstat_fetch_stat_local_beentry(number);
#else
	return pgstat_get_local_beentry_by_index(number);
#endif
}

static inline bool
compat_lock_held_by_me(const LOCKTAG *tag, LOCKMODE mode)
{
#if PG_VERSION_NUM < 170000
	return LockHeldByMe(tag, mode);
#else
	return LockHeldByMe(tag, mode, false);
#endif
}

static inline bool
compat_owns_table(Oid table, Oid role)
{
#if PG_VERSION_NUM < 160000
	return pg_class_ownercheck(table, role);
#else
	return object_ownercheck(RelationRelationId, table, role);
#endif
}

/* Intervals know infinity since 17. */
#ifndef INTERVAL_NOT_FINITE
#define INTERVAL_NOT_FINITE(interval) ((void) (interval), false)
#endif

#endif							/* LEASE_COMPAT_H */
