/*
 * protocol.h
 *		One verb, from the look to the answer.
 */
#ifndef LEASE_PROTOCOL_H
#define LEASE_PROTOCOL_H

#include "lease.h"

#include "utils/uuid.h"

#include "ledger.h"
#include "payload.h"
#include "request.h"
#include "store.h"

/* One call of a verb: the request that is judged, and what goes with it. */
typedef struct LeaseCall
{
	LeaseKey	key;
	LeaseRequest request;
	int			needed;			/* privileges, of which one will do */
	int64		wait;			/* how long a claim or takeover may take */
	pg_uuid_t  *request_id;		/* NULL where none was given */
	LedgerIntent intent;		/* an operator's */
	bool		has_document;
	Datum		document;		/* a payload, checkpoint or result: jsonb */
	text	   *error;			/* what a failure says */
} LeaseCall;

/* What is known once a verb has been decided. */
typedef struct LeaseAnswer
{
	LeaseOutcome outcome;
	LeaseRow	row;			/* on record after the verb */
	TimestampTz now;			/* at which it was decided */
	TimestampTz due_at;			/* as rules_due_at() says */
	int			privileges;		/* the caller's, in the namespace */
	bool		exhausted;		/* refused at the end of bigint */
	bool		rebased;		/* all that was written is what a clock set
								 * back left ahead */
	bool		ahead;			/* counted against it was a lease that a clock
								 * set back has left promised ahead */
} LeaseAnswer;

extern LeaseCall protocol_call(LeaseVerb verb, int needed);
extern RequestId protocol_request(const LeaseCall *call);
extern void protocol_judge(const LeaseCall *call, const LeaseRow *row,
						   LeaseDecision *decision, LeaseAnswer *answer);
extern bool protocol_look(Rows *rows, const LeaseCall *call, FoundRow *found,
						  LeaseAnswer *answer, LockTupleMode *mode);
extern bool protocol_decide(Rows *rows, const LeaseCall *call,
							const FoundRow *found, LockTupleMode mode,
							LeaseAnswer *answer);
extern void protocol_read(const LeaseCall *call, LeaseAnswer *answer,
						  Payload *payload);
extern bool protocol_try_capacity(const text *namespace);
extern void protocol_yield_capacity(const text *namespace);
extern void protocol_may_change(const char *function);
extern void protocol_run(const LeaseCall *call, LeaseAnswer *answer);

#endif							/* LEASE_PROTOCOL_H */
