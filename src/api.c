/*
 * api.c
 *		The verbs that SQL calls: arguments in, rows out.
 *
 * Each checks its arguments by position, hands the call to protocol.c and
 * makes a lease_result of the answer.  Positions are those of the install
 * script; the namespace is always the last.
 */
#include "lease.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "arguments.h"
#include "batch.h"
#include "error.h"
#include "outcomes.h"
#include "protocol.h"
#include "result.h"

PG_FUNCTION_INFO_V1(lease_claim);
PG_FUNCTION_INFO_V1(lease_takeover);
PG_FUNCTION_INFO_V1(lease_renew);
PG_FUNCTION_INFO_V1(lease_renew_many);
PG_FUNCTION_INFO_V1(lease_release);
PG_FUNCTION_INFO_V1(lease_release_many);
PG_FUNCTION_INFO_V1(lease_get);
PG_FUNCTION_INFO_V1(lease_outcomes);

/* (name, owner, ttl, request_id, wait, hold_at_least, namespace) */
Datum
lease_claim(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_CLAIM, PRIVILEGE_USE);
	LeaseRequest *request = &call.request;

	arguments_key(fcinfo, 0, 6, &call.key);
	request->owner = arguments_owner(fcinfo, 1);
	request->has_ttl = arguments_length(fcinfo, 2, "ttl", LENGTH_POSITIVE, &request->ttl);
	call.request_id = arguments_optional_uuid(fcinfo, 3);
	call.wait = arguments_given_length(fcinfo, 4, "wait", LENGTH_NOT_NEGATIVE);
	(void) arguments_length(fcinfo, 5, "hold_at_least", LENGTH_NOT_NEGATIVE,
							&request->hold_at_least);
	return result_run(fcinfo, &call);
}

/* (name, owner, expected_fence, ttl, request_id, wait, namespace) */
Datum
lease_takeover(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_TAKEOVER, PRIVILEGE_USE);
	LeaseRequest *request = &call.request;

	arguments_key(fcinfo, 0, 6, &call.key);
	request->owner = arguments_owner(fcinfo, 1);
	request->fence = arguments_fence(fcinfo, 2, "expected_fence");
	request->has_ttl = arguments_length(fcinfo, 3, "ttl", LENGTH_POSITIVE, &request->ttl);
	call.request_id = arguments_optional_uuid(fcinfo, 4);
	call.wait = arguments_given_length(fcinfo, 5, "wait", LENGTH_NOT_NEGATIVE);
	return result_run(fcinfo, &call);
}

/* (name, owner, fence, version, ttl, checkpoint, namespace) */
Datum
lease_renew(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_RENEW, PRIVILEGE_USE);
	LeaseRequest *request = &call.request;

	arguments_key(fcinfo, 0, 6, &call.key);
	request->owner = arguments_owner(fcinfo, 1);
	request->fence = arguments_fence(fcinfo, 2, "fence");
	request->has_version = !PG_ARGISNULL(3);
	if (request->has_version)
		request->version = PG_GETARG_INT64(3);
	request->has_ttl = arguments_length(fcinfo, 4, "ttl", LENGTH_POSITIVE, &request->ttl);
	call.has_document = arguments_document(fcinfo, 5, &call.document);
	request->checkpoint = call.has_document;
	return result_run(fcinfo, &call);
}

/* (name, owner, fence, namespace) */
Datum
lease_release(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_RELEASE, PRIVILEGE_USE);

	arguments_key(fcinfo, 0, 3, &call.key);
	call.request.owner = arguments_owner(fcinfo, 1);
	call.request.fence = arguments_fence(fcinfo, 2, "fence");
	return result_run(fcinfo, &call);
}

/* (name, namespace) */
Datum
lease_get(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_GET, PRIVILEGE_USE | PRIVILEGE_OBSERVE);
	LeaseAnswer answer;

	arguments_key(fcinfo, 0, 1, &call.key);
	protocol_read(&call, &answer, NULL);
	return result_row(result_columns(fcinfo), &call, &answer);
}

/* One array argument of a batch. */
typedef struct Elements
{
	Datum	   *values;
	bool	   *nulls;
	int			count;
} Elements;

static void
get_elements(FunctionCallInfo fcinfo, int n, const char *argument,
			 Oid type, int16 length, bool byval, char align, Elements *elements)
{
	ArrayType  *array;

	if (PG_ARGISNULL(n))
		error_null(argument);
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (ARR_NDIM(array) > 1)
		error_invalid(argument, "It must have one dimension.");
	deconstruct_array(array, type, length, byval, align,
					  &elements->values, &elements->nulls, &elements->count);
}

/*
 * The items of a batch: names at argument 0, owner at 1, fences at 2, and
 * versions at 3 where "versions" is given.  A bad element makes its item
 * invalid and costs the others nothing.
 */
static BatchItem *
get_items(FunctionCallInfo fcinfo, LeaseCall *call, Elements *versions, int *nitems)
{
	Elements	names;
	Elements	fences;
	BatchItem  *items;
	int			i;

	get_elements(fcinfo, 0, "names", TEXTOID, -1, false, TYPALIGN_INT, &names);
	get_elements(fcinfo, 2, "fences", INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &fences);
	call->request.owner = arguments_owner(fcinfo, 1);
	if (fences.count != names.count)
		error_invalid("fences", "There must be one for each name.");
	if (versions != NULL && versions->count != names.count)
		error_invalid("versions", "There must be one for each name.");

	items = palloc0(sizeof(BatchItem) * Max(names.count, 1));
	for (i = 0; i < names.count; i++)
	{
		BatchItem  *item = &items[i];

		item->call = *call;
		if (!names.nulls[i])
			item->call.key.name = DatumGetTextPP(names.values[i]);
		item->valid = !names.nulls[i] && !fences.nulls[i] &&
			arguments_fault(item->call.key.name, LEASE_NAME_MAX) == NULL;
		if (!fences.nulls[i])
			item->call.request.fence = DatumGetInt64(fences.values[i]);
		if (versions != NULL && !versions->nulls[i])
		{
			item->call.request.has_version = true;
			item->call.request.version = DatumGetInt64(versions->values[i]);
		}
	}
	*nitems = names.count;
	return items;
}

static Datum
change_many(FunctionCallInfo fcinfo, const char *function, LeaseCall *call,
			Elements *versions)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	int			nitems;
	BatchItem  *items = get_items(fcinfo, call, versions, &nitems);
	int			i;

	protocol_may_change(function);
	InitMaterializedSRF(fcinfo, 0);
	batch_run(items, nitems, call->key.namespace);
	for (i = 0; i < nitems; i++)
		result_put(set, &items[i].call, &items[i].answer);
	return (Datum) 0;
}

/* (names, owner, fences, versions, ttl, namespace) */
Datum
lease_renew_many(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_RENEW, PRIVILEGE_USE);
	Elements	versions;

	call.key.namespace = arguments_namespace(fcinfo, 5);
	call.request.has_ttl = arguments_length(fcinfo, 4, "ttl", LENGTH_POSITIVE,
											&call.request.ttl);
	if (PG_ARGISNULL(3))
		return change_many(fcinfo, "lease_renew_many", &call, NULL);
	get_elements(fcinfo, 3, "versions", INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &versions);
	return change_many(fcinfo, "lease_renew_many", &call, &versions);
}

/* (names, owner, fences, namespace) */
Datum
lease_release_many(PG_FUNCTION_ARGS)
{
	LeaseCall	call = protocol_call(VERB_RELEASE, PRIVILEGE_USE);

	call.key.namespace = arguments_namespace(fcinfo, 3);
	return change_many(fcinfo, "lease_release_many", &call, NULL);
}

/* () */
Datum
lease_outcomes(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < outcomes_count; i++)
	{
		const OutcomeInfo *info = &outcomes_list[i];
		bool		nulls[5] = {false};
		Datum		values[5] = {
			CStringGetTextDatum(outcomes_verb_name(info->verb)),
			CStringGetTextDatum(outcomes_name(info->outcome)),
			BoolGetDatum(outcomes_ok(info->verb, info->outcome)),
			CStringGetTextDatum(info->meaning),
			CStringGetTextDatum(info->advice)
		};

		tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
	}
	return (Datum) 0;
}
