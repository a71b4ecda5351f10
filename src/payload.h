/*
 * payload.h
 *		What a task carries.
 */
#ifndef LEASE_PAYLOAD_H
#define LEASE_PAYLOAD_H

#include "lease.h"

#include "rows.h"

/* Copies, in the memory context of whoever reads. */
typedef struct Payload
{
	Datum		payload;
	Datum		checkpoint;
	Datum		result;
	Datum		last_error;
	bool		has_payload;
	bool		has_checkpoint;
	bool		has_result;
	bool		has_last_error;
} Payload;

extern void payload_offer(const LeaseKey *key, Datum payload, bool given);
extern void payload_checkpoint(const LeaseKey *key, Datum checkpoint);
extern void payload_complete(const LeaseKey *key, Datum result, bool given);
extern void payload_fail(const LeaseKey *key, const text *error);
extern void payload_reopen(const LeaseKey *key);
extern void payload_delete(const LeaseKey *key);
extern void payload_open(Rows *rows);
extern void payload_read(Rows *rows, const LeaseKey *key, Snapshot snapshot,
						 Payload *payload);

#endif							/* LEASE_PAYLOAD_H */
