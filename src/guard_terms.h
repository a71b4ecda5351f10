/*
 * guard_terms.h
 *		What the arguments of a guard's triggers say.
 */
#ifndef LEASE_GUARD_TERMS_H
#define LEASE_GUARD_TERMS_H

#include "lease.h"

#include "access/attnum.h"

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

/* What is wrong with a guard itself; no code where nothing is. */
typedef struct GuardFault
{
	int			code;			/* an SQLSTATE */
	const char *message;
	const char *detail;			/* or NULL */
	const char *hint;			/* or NULL */
} GuardFault;

static inline bool
guard_terms_broken(const GuardFault *fault)
{
	return fault->code != 0;
}

pg_noreturn extern void guard_terms_raise(const GuardFault *fault);
extern bool guard_terms_read(char **arguments, int narguments, GuardTerms *terms,
							 GuardFault *fault);
extern bool guard_terms_same(char **a, int na, char **b, int nb);
extern const char *guard_terms_word(int argument, const GuardTerms *terms);
extern bool guard_terms_find_column(Oid table, const GuardTerms *terms, bool stamped,
									AttrNumber *number, GuardFault *fault);

#endif							/* LEASE_GUARD_TERMS_H */
