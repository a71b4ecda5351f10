/*
 * privilege.h
 *		What a role may do in a namespace.
 */
#ifndef LEASE_PRIVILEGE_H
#define LEASE_PRIVILEGE_H

#include "lease.h"

#define PRIVILEGE_ALL (PRIVILEGE_USE | PRIVILEGE_OBSERVE | PRIVILEGE_OPERATE)

extern void privilege_init(void);
extern int	privilege_of(Oid role, const text *namespace);
extern bool privilege_is_owner(Oid role);
extern const char *privilege_name(int privilege);
extern bool privilege_from_name(const char *name, const char **known);

#endif							/* LEASE_PRIVILEGE_H */
