/*
 * operate.c
 *		What operators decide about a lease, or about a whole namespace.
 *
 * Promises: who has not "operate" on the namespace gets no further than that;
 * what is decided and written is on record as an intent, in the same
 * transaction, with its reason and its arguments.
 */
#include "lease.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/timestamp.h"

#include "arguments.h"
#include "error.h"
#include "protocol.h"
#include "result.h"

PG_FUNCTION_INFO_V1(lease_break);
PG_FUNCTION_INFO_V1(lease_hold);
PG_FUNCTION_INFO_V1(lease_resume);
PG_FUNCTION_INFO_V1(lease_namespace_hold);
PG_FUNCTION_INFO_V1(lease_namespace_resume);
PG_FUNCTION_INFO_V1(lease_cancel);
PG_FUNCTION_INFO_V1(lease_retry);

static LeaseCall
new_call(LeaseVerb verb, const char *intent)
{
	LeaseCall	call = protocol_call(verb, PRIVILEGE_OPERATE);

	call.intent.verb = intent;
	return call;
}

static text *
reason_argument(FunctionCallInfo fcinfo, int n)
{
	return arguments_text(fcinfo, n, "reason", LEASE_REASON_MAX);
}

/* A length as JSON has it: in interval's words, whatever the session's style. */
static const char *
length_json(bool given, int64 length)
{
	if (!given)
		return "null";
	return psprintf("\"" INT64_FORMAT ".%06d s\"", length / USECS_PER_SEC,
					(int) (length % USECS_PER_SEC));
}

static const char *
text_json(const text *value)
{
	StringInfoData json;

	if (value == NULL)
		return "null";
	initStringInfo(&json);
	escape_json(&json, text_to_cstring(value));
	return json.data;
}

static const char *
bool_json(bool value)
{
	return value ? "true" : "false";
}

/* (name, expected_fence, reason, hold, new_owner, ttl, namespace) */
Datum
lease_break(PG_FUNCTION_ARGS)
{
	LeaseCall	call = new_call(VERB_BREAK, "break");
	LeaseRequest *request = &call.request;
	bool		hold;
	text	   *new_owner;

	arguments_key(fcinfo, 0, 6, &call.key);
	request->fence = arguments_fence(fcinfo, 1, "expected_fence");
	call.intent.reason = reason_argument(fcinfo, 2);
	hold = arguments_bool(fcinfo, 3, "hold");
	new_owner = arguments_optional_text(fcinfo, 4, "new_owner", LEASE_OWNER_MAX);
	request->has_ttl = arguments_length(fcinfo, 5, "ttl", LENGTH_POSITIVE, &request->ttl);
	request->hold = hold ? HOLD_GRANTS : HOLD_NONE;
	if (new_owner != NULL)
	{
		request->hand_over = true;
		request->owner = lease_text(new_owner);
	}
	call.intent.detail = psprintf("{\"hold\": %s, \"new_owner\": %s, \"ttl\": %s}",
								  bool_json(hold), text_json(new_owner),
								  length_json(request->has_ttl, request->ttl));
	return result_run(fcinfo, &call);
}

/* The arguments until and stop. */
static void
hold_arguments(FunctionCallInfo fcinfo, int until, int stop, LeaseCall *call)
{
	LeaseRequest *request = &call->request;
	bool		ends = arguments_span(fcinfo, until, "until", LENGTH_POSITIVE,
									  &request->hold_length);
	bool		stops = arguments_bool(fcinfo, stop, "stop");

	request->hold = stops ? HOLD_STOP : HOLD_GRANTS;
	call->intent.detail = psprintf("{\"until\": %s, \"stop\": %s}",
								   length_json(ends, request->hold_length),
								   bool_json(stops));
}

/* (name, reason, until, stop, namespace) */
Datum
lease_hold(PG_FUNCTION_ARGS)
{
	LeaseCall	call = new_call(VERB_HOLD, "hold");

	arguments_key(fcinfo, 0, 4, &call.key);
	call.intent.reason = reason_argument(fcinfo, 1);
	hold_arguments(fcinfo, 2, 3, &call);
	return result_run(fcinfo, &call);
}

/* Undo what an operator, or a task's end, has done to one lease. */
static Datum
take_back(FunctionCallInfo fcinfo, LeaseVerb verb, const char *intent)
{
	LeaseCall	call = new_call(verb, intent);

	arguments_key(fcinfo, 0, 2, &call.key);
	call.intent.reason = arguments_optional_text(fcinfo, 1, "reason", LEASE_REASON_MAX);
	return result_run(fcinfo, &call);
}

/* (name, reason, namespace) */
Datum
lease_resume(PG_FUNCTION_ARGS)
{
	return take_back(fcinfo, VERB_RESUME, "resume");
}

/* (namespace, reason, until, stop) */
Datum
lease_namespace_hold(PG_FUNCTION_ARGS)
{
	LeaseCall	call = new_call(VERB_NAMESPACE_HOLD, "namespace_hold");

	call.key.namespace = arguments_namespace(fcinfo, 0);
	call.intent.reason = reason_argument(fcinfo, 1);
	hold_arguments(fcinfo, 2, 3, &call);
	return result_run(fcinfo, &call);
}

/* (namespace, reason) */
Datum
lease_namespace_resume(PG_FUNCTION_ARGS)
{
	LeaseCall	call = new_call(VERB_NAMESPACE_RESUME, "namespace_resume");

	call.key.namespace = arguments_namespace(fcinfo, 0);
	call.intent.reason = arguments_optional_text(fcinfo, 1, "reason", LEASE_REASON_MAX);
	return result_run(fcinfo, &call);
}

/* (name, reason, deadline, namespace) */
Datum
lease_cancel(PG_FUNCTION_ARGS)
{
	LeaseCall	call = new_call(VERB_CANCEL, "cancel");
	LeaseRequest *request = &call.request;

	arguments_key(fcinfo, 0, 3, &call.key);
	call.intent.reason = reason_argument(fcinfo, 1);
	if (!arguments_span(fcinfo, 2, "deadline", LENGTH_NOT_NEGATIVE, &request->deadline))
		error_null("deadline");
	call.intent.detail = psprintf("{\"deadline\": %s}",
								  length_json(true, request->deadline));
	return result_run(fcinfo, &call);
}

/* (name, reason, namespace) */
Datum
lease_retry(PG_FUNCTION_ARGS)
{
	return take_back(fcinfo, VERB_RETRY, "retry");
}
