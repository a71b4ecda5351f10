/*
 * lease.h
 *		What the parts of the extension share: names and plain data.
 */
#ifndef LEASE_H
#define LEASE_H

#include "postgres.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"

#include "compat.h"
#include "rules.h"

/* The version of the install script that this library goes with. */
#define LEASE_SQL_VERSION "1.0"

/* Where the tables are; the install script makes it and nobody else may. */
#define LEASE_SCHEMA "lease_catalog"

/* Longest texts, in bytes. */
#define LEASE_NAME_MAX 512
#define LEASE_OWNER_MAX 255
#define LEASE_NAMESPACE_MAX 63
#define LEASE_REASON_MAX 1024

/* The longest span that no namespace bounds, in microseconds. */
#define LEASE_SPAN_MAX (INT64CONST(36500) * USECS_PER_DAY)

/* The identity of a lease: plain, detoasted texts. */
typedef struct LeaseKey
{
	text	   *namespace;
	text	   *name;
} LeaseKey;

static inline RuleText
lease_text(const text *value)
{
	RuleText	result = {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};

	return result;
}

static inline Datum
lease_text_datum(RuleText value)
{
	return PointerGetDatum(cstring_to_text_with_len(value.data, value.len));
}

/* What a role may do in a namespace. */
typedef enum LeasePrivilege
{
	PRIVILEGE_NONE = 0,
	PRIVILEGE_USE = 1 << 0,
	PRIVILEGE_OBSERVE = 1 << 1,
	PRIVILEGE_OPERATE = 1 << 2
} LeasePrivilege;

#endif							/* LEASE_H */
