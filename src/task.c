/*
 * task.c
 *		The verbs of tasks that SQL calls: arguments in, rows out.
 */
#include "lease.h"

#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "error.h"
#include "payload.h"
#include "poll.h"
#include "protocol.h"
#include "result.h"

PG_FUNCTION_INFO_V1(lease_offer);
PG_FUNCTION_INFO_V1(lease_poll);
PG_FUNCTION_INFO_V1(lease_complete);
PG_FUNCTION_INFO_V1(lease_fail);
PG_FUNCTION_INFO_V1(lease_task_get);

/* So many bytes of an error are kept. */
#define ERROR_MAX 65536

/* (name, payload, priority, delay, max_attempts, namespace) */
Datum
lease_offer(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_OFFER, PRIVILEGE_USE);
	LeaseRequest *request = &call.request;

	arguments_key(fcinfo, 0, 5, &call.key);
	call.has_document = arguments_document(fcinfo, 1, &call.document);
	if (PG_ARGISNULL(2))
		error_null("priority");
	request->priority = PG_GETARG_INT32(2);
	if (request->priority < 0 || request->priority > 9)
		error_invalid("priority", "It must be from 0 to 9.");
	if (!arguments_span(fcinfo, 3, "delay", LENGTH_NOT_NEGATIVE, &request->delay))
		error_null("delay");
	request->has_max_attempts = !PG_ARGISNULL(4);
	if (request->has_max_attempts)
		request->max_attempts = arguments_count(fcinfo, 4, "max_attempts");
	return result_run(fcinfo, &call);
}

/* (owner, max_count, ttl, wait, request_id, namespace) */
Datum
lease_poll(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	LeaseCall	call = protocol_call(VERB_POLL, PRIVILEGE_USE);
	LeaseRequest *request = &call.request;
	int			max_count;
	PollAnswer	told;
	ListCell   *cell;

	call.key.namespace = arguments_namespace(fcinfo, 5);
	request->owner = arguments_owner(fcinfo, 0);
	max_count = Min(arguments_count(fcinfo, 1, "max_count"), POLL_MAX_COUNT);
	request->has_ttl = arguments_length(fcinfo, 2, "ttl", LENGTH_POSITIVE, &request->ttl);
	call.wait = arguments_given_length(fcinfo, 3, "wait", LENGTH_NOT_NEGATIVE);
	call.request_id = arguments_optional_uuid(fcinfo, 4);

	InitMaterializedSRF(fcinfo, 0);
	poll_run(&call, max_count, &told);
	if (told.refused)
		result_put_task(set, &call, &told.whole, NULL);
	foreach(cell, told.items)
	{
		PollItem   *item = lfirst(cell);

		result_put_task(set, &item->call, &item->answer, &item->payload);
	}
	return (Datum) 0;
}

/* (name, owner, fence, result, namespace) */
Datum
lease_complete(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_COMPLETE, PRIVILEGE_USE);

	arguments_key(fcinfo, 0, 4, &call.key);
	call.request.owner = arguments_owner(fcinfo, 1);
	call.request.fence = arguments_fence(fcinfo, 2, "fence");
	call.has_document = arguments_document(fcinfo, 3, &call.document);
	return result_run(fcinfo, &call);
}

/*
 * An error's text as it is kept.  Who reports a failure is the last who could
 * do something about a text that is refused, so of a longer one the beginning
 * is kept, and what it says is that there was more.
 */
static text *
shorten(text *error)
{
	int			len = VARSIZE_ANY_EXHDR(error);
	int			kept;

	if (len <= ERROR_MAX)
		return error;
	kept = pg_mbcliplen(VARDATA_ANY(error), len, ERROR_MAX);
	return cstring_to_text(psprintf("%.*s\n[cut: the first %d of %d bytes]", kept,
									VARDATA_ANY(error), kept, len));
}

/* (name, owner, fence, error, retry_in, final, namespace) */
Datum
lease_fail(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_FAIL, PRIVILEGE_USE);
	LeaseRequest *request = &call.request;

	arguments_key(fcinfo, 0, 6, &call.key);
	request->owner = arguments_owner(fcinfo, 1);
	request->fence = arguments_fence(fcinfo, 2, "fence");
	if (PG_ARGISNULL(3))
		error_null("error");
	call.error = shorten(PG_GETARG_TEXT_PP(3));
	request->has_retry_in = arguments_span(fcinfo, 4, "retry_in", LENGTH_NOT_NEGATIVE,
										   &request->retry_in);
	request->final = arguments_bool(fcinfo, 5, "final");
	return result_run(fcinfo, &call);
}

/* (name, namespace) */
Datum
lease_task_get(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_TASK_GET, PRIVILEGE_USE | PRIVILEGE_OBSERVE);
	TupleDesc	columns = result_columns(fcinfo);
	LeaseAnswer told;
	Payload		payload;

	arguments_key(fcinfo, 0, 1, &call.key);
	protocol_read(&call, &told, &payload);
	return result_task_record(columns, &call, &told, &payload);
}
