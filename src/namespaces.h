/*
 * namespaces.h
 *		Namespaces and privileges as their owner changes them.
 */
#ifndef LEASE_NAMESPACES_H
#define LEASE_NAMESPACES_H

#include "lease.h"

#include "utils/timestamp.h"

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

/* What became of a hold of a namespace. */
typedef enum NamespacesHold
{
	NAMESPACES_HOLD_BUSY,		/* somebody else has the namespace locked */
	NAMESPACES_HOLD_KEPT,		/* there was nothing to write */
	NAMESPACES_HOLD_WRITTEN
} NamespacesHold;

extern void namespaces_grant(const text *namespace, Name role, const text *privilege);
extern void namespaces_revoke(const text *namespace, Name role, const text *privilege);
extern void namespaces_create(const text *namespace, const NamespaceChange *change);
extern void namespaces_alter(const text *namespace, const NamespaceChange *change);
extern void namespaces_drop(const text *namespace);
extern NamespacesHold namespaces_hold(const text *namespace, LeaseHold hold, int64 length);
extern bool namespaces_rebase_hold(const text *namespace);

#endif							/* LEASE_NAMESPACES_H */
