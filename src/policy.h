/*
 * policy.h
 *		Namespaces: what they allow, and to whom.
 */
#ifndef LEASE_POLICY_H
#define LEASE_POLICY_H

#include "lease.h"

#include "utils/timestamp.h"

/* What a namespace says, defaults filled in. */
typedef struct NamespacePolicy
{
	bool		exists;
	LeasePolicy rules;
	bool		history;
} NamespacePolicy;

/* What is to be written down of a namespace; NULL leaves it as it is. */
typedef struct NamespaceChange
{
	Interval   *min_ttl;
	Interval   *default_ttl;
	Interval   *max_ttl;
	Interval   *max_hold;
	Interval   *grace;
	int64	   *max_leases;
	bool	   *history;
	Interval   *retry_base;
	double	   *retry_factor;
	Interval   *retry_cap;
	double	   *retry_jitter;
	int32	   *max_attempts;
} NamespaceChange;

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
extern void policy_read(const text *namespace, NamespacePolicy *policy);
extern bool policy_stays(const text *namespace);

extern void policy_grant(const text *namespace, Name role, const text *privilege);
extern void policy_revoke(const text *namespace, Name role, const text *privilege);
extern void policy_create(const text *namespace, const NamespaceChange *change);
extern void policy_alter(const text *namespace, const NamespaceChange *change);
extern void policy_drop(const text *namespace);

/* What became of a hold of a namespace. */
typedef enum PolicyHold
{
	POLICY_HOLD_BUSY,			/* somebody else has the namespace locked */
	POLICY_HOLD_KEPT,			/* there was nothing to write */
	POLICY_HOLD_WRITTEN
} PolicyHold;

extern PolicyHold policy_hold(const text *namespace, LeaseHold hold, int64 length);

#endif							/* LEASE_POLICY_H */
