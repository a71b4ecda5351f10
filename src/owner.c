/*
 * owner.c
 *		The only change of identity.
 *
 * Between owner_enter() and owner_leave() the caller's role has no say: SQL
 * runs with the rights of the extension's owner, resolves names in pg_catalog
 * alone, and meets no row security.  Whoever enters has authorised the caller
 * before.  Nothing that the caller wrote is executed in between.  An error
 * needs no leave: the end of the (sub)transaction gives both back.
 */
#include "lease.h"

#include "miscadmin.h"

#include "compat.h"
#include "owner.h"

void
owner_enter(Oid owner, OwnerScope *scope)
{
	GetUserIdAndSecContext(&scope->user, &scope->context);
	SetUserIdAndSecContext(owner, scope->context |
						   SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	scope->path_level = compat_pin_search_path();
}

void
owner_leave(const OwnerScope *scope)
{
	compat_unpin_search_path(scope->path_level);
	SetUserIdAndSecContext(scope->user, scope->context);
}
