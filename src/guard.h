/*
 * guard.h
 *		What the arguments of a guard's triggers say.
 */
#ifndef LEASE_GUARD_H
#define LEASE_GUARD_H

#include "lease.h"

#include "proof.h"
#include "settings.h"

/* The arguments of lease_fence_check(), in this order. */
enum
{
	GUARD_NAMESPACE,
	GUARD_KIND,
	GUARD_SUBJECT,
	GUARD_FENCE_COLUMN,
	GUARD_MODE,
	GUARD_ENFORCEMENT,
	GUARD_REPLICATION,
	GUARD_ARGUMENTS
};

/* One guard, as it was asked for. */
typedef struct GuardTerms
{
	const char *namespace;
	bool		per_value;		/* one lease a value of a column, or one for
								 * all */
	const char *subject;		/* that column, or the lease's name */
	const char *fence_column;	/* NULL where nothing is stamped */
	ProofMode	mode;
	Enforcement enforcement;
	bool		refuse_replication;
} GuardTerms;

extern void guard_read_terms(char **arguments, int narguments, GuardTerms *terms);
extern bool guard_names_by(Oid type);
pg_noreturn extern void guard_refuse_type(const char *column, const char *table);
extern const char *guard_word(int argument, const GuardTerms *terms);

#endif							/* LEASE_GUARD_H */
