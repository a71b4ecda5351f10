/*
 * result.h
 *		Answers as rows.
 */
#ifndef LEASE_RESULT_H
#define LEASE_RESULT_H

#include "lease.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

#include "payload.h"
#include "protocol.h"

extern TupleDesc result_columns(FunctionCallInfo fcinfo);
extern Datum result_run(FunctionCallInfo fcinfo, const LeaseCall *call);
extern Datum result_row(TupleDesc columns, const LeaseCall *call,
						const LeaseAnswer *answer);
extern void result_put(ReturnSetInfo *set, const LeaseCall *call,
					   const LeaseAnswer *answer);
extern void result_put_task(ReturnSetInfo *set, const LeaseCall *call,
							const LeaseAnswer *answer, const Payload *payload);
extern Datum result_task_record(TupleDesc columns, const LeaseCall *call,
								const LeaseAnswer *answer,
								const Payload *payload);
extern void result_put_status(ReturnSetInfo *set, const LeaseKey *key,
							  const LeaseRow *row, const LeasePolicy *policy,
							  TimestampTz now);

#endif							/* LEASE_RESULT_H */
