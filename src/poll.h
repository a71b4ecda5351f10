/*
 * poll.h
 *		Handing tasks out.
 */
#ifndef LEASE_POLL_H
#define LEASE_POLL_H

#include "lease.h"

#include "nodes/pg_list.h"

#include "payload.h"
#include "protocol.h"

#define POLL_MAX_COUNT 1000

/* A task that is handed out. */
typedef struct PollItem
{
	LeaseCall	call;
	LeaseAnswer answer;
	Payload		payload;
} PollItem;

/* What is known once a poll has been decided. */
typedef struct PollAnswer
{
	List	   *items;			/* of PollItem * */
	bool		refused;		/* as a whole */
	LeaseAnswer whole;			/* then, why */
	bool		settled;		/* a repeat, by whatever of it is current */
} PollAnswer;

extern void poll_run(const LeaseCall *call, int max_count, PollAnswer *answer);

#endif							/* LEASE_POLL_H */
