/*
 * guard_ddl.h
 *		The triggers that make up a guard.
 */
#ifndef LEASE_GUARD_DDL_H
#define LEASE_GUARD_DDL_H

#include "lease.h"

#include "nodes/pg_list.h"

#include "guard_terms.h"

/* The names of a guard's triggers; the last sorts behind all others. */
#define GUARD_TRIGGER_STATEMENT "lease_guard"
#define GUARD_TRIGGER_ROW "lease_guard_row"
#define GUARD_TRIGGER_TRUNCATE "lease_guard_truncate"
#define GUARD_TRIGGER_STAMP "~lease_guard_stamp"

/* A trigger that calls lease_fence_check(). */
typedef struct GuardTrigger
{
	Oid			oid;
	Oid			table;
	Oid			parent;			/* that it is a copy of, or invalid */
	int16		type;			/* as pg_trigger has it */
	char		enabled;
	bool		conditional;	/* not for every row and column */
	const char *name;
	char	  **arguments;
	int			narguments;
} GuardTrigger;

extern List *guard_ddl_triggers(Oid table);
extern bool guard_ddl_needs_rows(Oid table, const GuardTerms *terms);
extern char *guard_ddl_truncate_name(Oid table);
extern bool guard_ddl_is_for_parent(const GuardTrigger *trigger);
extern bool guard_ddl_is_beneath_guard(Oid table);

#endif							/* LEASE_GUARD_DDL_H */
