/*
 * arguments.h
 *		The arguments of SQL functions, checked.
 */
#ifndef LEASE_ARGUMENTS_H
#define LEASE_ARGUMENTS_H

#include "lease.h"

#include "fmgr.h"
#include "utils/uuid.h"

/* The least that a length of time may be. */
typedef enum LengthFloor
{
	LENGTH_NOT_NEGATIVE,
	LENGTH_POSITIVE
} LengthFloor;

extern void arguments_key(FunctionCallInfo fcinfo, int name, int namespace,
						  LeaseKey *key);
extern const char *arguments_fault(const text *value, int max);
extern text *arguments_text(FunctionCallInfo fcinfo, int n,
							const char *argument, int max);
extern text *arguments_namespace(FunctionCallInfo fcinfo, int n);
extern RuleText arguments_owner(FunctionCallInfo fcinfo, int n);
extern Name arguments_role(FunctionCallInfo fcinfo, int n);
extern int64 arguments_fence(FunctionCallInfo fcinfo, int n,
							 const char *argument);
extern int32 arguments_count(FunctionCallInfo fcinfo, int n,
							 const char *argument);
extern pg_uuid_t *arguments_optional_uuid(FunctionCallInfo fcinfo, int n);
extern int64 arguments_kept_fence(FunctionCallInfo fcinfo, int n,
								  const char *argument);
extern bool arguments_length(FunctionCallInfo fcinfo, int n,
							 const char *argument, LengthFloor floor,
							 int64 *length);

extern bool arguments_span(FunctionCallInfo fcinfo, int n,
						   const char *argument, LengthFloor floor,
						   int64 *length);
extern text *arguments_optional_text(FunctionCallInfo fcinfo, int n,
									 const char *argument, int max);
extern bool arguments_document(FunctionCallInfo fcinfo, int n, Datum *document);
extern bool arguments_bool(FunctionCallInfo fcinfo, int n, const char *argument);
extern int64 arguments_given_length(FunctionCallInfo fcinfo, int n,
									const char *argument,
									LengthFloor floor);

#endif							/* LEASE_ARGUMENTS_H */
