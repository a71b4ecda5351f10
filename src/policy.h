/*
 * policy.h
 *		Namespaces: what they allow, and to whom.
 */
#ifndef LEASE_POLICY_H
#define LEASE_POLICY_H

#include "lease.h"

#include "utils/relcache.h"
#include "utils/timestamp.h"

/* What a namespace says, defaults filled in. */
typedef struct NamespacePolicy
{
	bool		exists;
	LeasePolicy rules;
	bool		history;
} NamespacePolicy;

/* Columns of lease_catalog.namespace. */
enum
{
	NAMESPACE_NAMESPACE = 1,
	NAMESPACE_MIN_TTL,
	NAMESPACE_DEFAULT_TTL,
	NAMESPACE_MAX_TTL,
	NAMESPACE_MAX_HOLD,
	NAMESPACE_GRACE,
	NAMESPACE_MAX_LEASES,
	NAMESPACE_HISTORY,
	NAMESPACE_HOLD_AT,
	NAMESPACE_HOLD_LENGTH,
	NAMESPACE_HOLD_STOP,
	NAMESPACE_RETRY_BASE,
	NAMESPACE_RETRY_FACTOR,
	NAMESPACE_RETRY_CAP,
	NAMESPACE_RETRY_JITTER,
	NAMESPACE_MAX_ATTEMPTS
};

#define NAMESPACE_COLUMNS NAMESPACE_MAX_ATTEMPTS

/* What is known of the namespace that came last, while many rows are read. */
typedef struct PolicyMemo
{
	MemoryContext context;		/* where it is kept */
	text	   *namespace;
	int			privileges;
	NamespacePolicy policy;
} PolicyMemo;

extern void policy_init(void);
extern void policy_remember(PolicyMemo *memo, const text *namespace);
extern int	policy_privileges(const text *namespace);
extern int	policy_authorize(const text *namespace, int needed);
extern void policy_require_owner(void);
extern void policy_require_namespace(const text *namespace);
extern bool policy_is_default(const text *namespace);
extern void policy_read(const text *namespace, NamespacePolicy *policy);
extern bool policy_is_settled(const text *namespace);
extern void policy_announce_change(Relation table);
extern bool policy_try_announce_change(Relation table);

#endif							/* LEASE_POLICY_H */
