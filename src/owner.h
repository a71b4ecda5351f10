/*
 * owner.h
 *		Acting as the extension's owner, between enter and leave.
 */
#ifndef LEASE_OWNER_H
#define LEASE_OWNER_H

#include "lease.h"

typedef struct OwnerScope
{
	Oid			user;
	int			context;
	int			path_level;
} OwnerScope;

extern void owner_enter(Oid owner, OwnerScope *scope);
extern void owner_leave(const OwnerScope *scope);

#endif							/* LEASE_OWNER_H */
