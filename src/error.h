/*
 * error.h
 *		The errors that more than one part raises.
 */
#ifndef LEASE_ERROR_H
#define LEASE_ERROR_H

#include "lease.h"

#include "compat.h"

pg_noreturn extern void error_null(const char *argument);
pg_noreturn extern void error_invalid(const char *argument, const char *detail);
pg_noreturn extern void error_exhausted(void);
pg_noreturn extern void error_no_namespace(const text *namespace);
pg_noreturn extern void error_no_privilege(const text *namespace, const char *privilege);

#endif							/* LEASE_ERROR_H */
