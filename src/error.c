/*
 * error.c
 *		The errors that more than one part raises, each with one SQLSTATE.
 *
 * Contention and a lost lease are answers, never errors: what is here is
 * misuse, a missing privilege, or the end of a number's range.
 */
#include "lease.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "error.h"

/* 22004: NULL where a value is needed. */
void
error_null(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", argument)));
}

/* 22023: a value that can never be right. */
void
error_invalid(const char *argument, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid %s", argument),
			 errdetail_internal("%s", detail)));
}

/* 22003: the next fence or version would not fit. */
void
error_exhausted(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("the lease has reached the end of its numbers"),
			 errdetail("Its fence or version is the greatest bigint, and the next one would have to be greater."),
			 errhint("Use another name.")));
}

/* 42704: for those who would be allowed to know. */
void
error_no_namespace(const text *namespace)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("namespace \"%s\" does not exist",
					text_to_cstring(namespace))));
}

/* 42501: the same words whether or not the namespace exists. */
void
error_no_privilege(const text *namespace, const char *privilege)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for namespace \"%s\"",
					text_to_cstring(namespace)),
			 errhint("The extension's owner can grant it: SELECT lease_grant(%s, %s, '%s').",
					 quote_literal_cstr(text_to_cstring(namespace)),
					 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)),
					 privilege)));
}
