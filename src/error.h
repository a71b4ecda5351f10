/*
 * error.h
 *		The errors that more than one part raises.
 */
#ifndef LEASE_ERROR_H
#define LEASE_ERROR_H

#include "lease.h"

#include "compat.h"

/* Why a write under a token is refused; REFUSAL_NONE where it is not. */
typedef enum Refusal
{
	REFUSAL_NONE,
	REFUSAL_STALE_FENCE,
	REFUSAL_EXPIRED,
	REFUSAL_NO_TOKEN,
	REFUSAL_NO_NAME,
	REFUSAL_TRUNCATE,
	REFUSAL_REPLICATED,
	REFUSAL_NOT_OWNER,
	REFUSAL_BELOW_MARK,
	REFUSAL_UNKNOWN_FENCE,
	REFUSAL_NOT_FOUND,
	REFUSAL_BUSY,
	REFUSAL_ENDED,
	REFUSAL_ON_HOLD,
	REFUSAL_CANCELLED,
	REFUSAL_NO_PRIVILEGE,
	REFUSAL_MALFORMED,
	REFUSAL_READ_ONLY,
	REFUSAL_STAMP_CHANGED
} Refusal;

/* A refusal, with what there is to say about it. */
typedef struct Refused
{
	Refusal		refusal;
	const char *table;			/* NULL where none is written */
	const LeaseKey *key;		/* NULL where no lease is known */
	bool		concealed;		/* who reads it may know its namespace alone */
	bool		has_fence;
	int64		fence;			/* the one presented */
	bool		has_current;
	int64		current;		/* the one on record, or the mark */
	const char *how;			/* what the verb's answer would be called */
} Refused;

pg_noreturn extern void error_refused(const Refused *refused);
extern int	error_refused_code(Refusal refusal);
extern const char *error_refused_message(Refusal refusal);
pg_noreturn extern void error_no_trigger(const char *function);
pg_noreturn extern void error_null(const char *argument);
pg_noreturn extern void error_invalid(const char *argument, const char *detail);
pg_noreturn extern void error_exhausted(void);
pg_noreturn extern void error_no_namespace(const text *namespace);
pg_noreturn extern void error_no_privilege(const text *namespace, const char *privilege);

#endif							/* LEASE_ERROR_H */
