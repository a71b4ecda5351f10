/*
 * request.h
 *		Request ids: what was granted to them.
 */
#ifndef LEASE_REQUEST_H
#define LEASE_REQUEST_H

#include "lease.h"

#include "utils/uuid.h"

#include "rows.h"

/* A request id, with all that tells it from the same one of somebody else. */
typedef struct RequestId
{
	const text *namespace;
	LeaseVerb	verb;
	RuleText	owner;
	pg_uuid_t  *id;				/* NULL where none was given */
} RequestId;

/* What the request id of a claim or takeover was granted. */
typedef struct RequestGrant
{
	bool		found;
	RuleText	name;
	int64		fence;
} RequestGrant;

/* Told of each task that a poll's request id was granted. */
typedef void (*RequestVisitor) (const text *name, int64 fence, void *state);

extern void request_find(const RequestId *request, RequestGrant *grant);
extern bool request_keep(const RequestId *request, const text *name,
						 int64 fence);

extern bool request_try_poll(const RequestId *request);
extern void request_yield_poll(const RequestId *request);
extern RowLock request_visit_poll(const RequestId *request,
								  RequestVisitor visit, void *state);
extern void request_keep_poll(const RequestId *request, const text *name,
							  int64 fence);

#endif							/* LEASE_REQUEST_H */
