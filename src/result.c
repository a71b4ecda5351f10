/*
 * result.c
 *		Answers as rows: the types of verbs and tasks, and lease_status.
 *
 * A row shows what is on record after the verb.  On a lease that nobody holds
 * owner, expiry and ttl are NULL, while fence and version go on counting.  An
 * expiry that a clock set back has left too far ahead is shown as it is
 * judged, and what remains is never negative.  Another holder's owner is the
 * empty string to a role without "observe".
 */
#include "lease.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "outcomes.h"
#include "result.h"

/* Columns of lease_result. */
enum
{
	RESULT_OK,
	RESULT_OUTCOME,
	RESULT_NAMESPACE,
	RESULT_NAME,
	RESULT_OWNER,
	RESULT_FENCE,
	RESULT_VERSION,
	RESULT_EXPIRES_AT,
	RESULT_REMAINING,
	RESULT_TTL,
	RESULT_SERVER_TIME,
	RESULT_CANCEL_DEADLINE,
	RESULT_COLUMNS
};

/* Columns of lease_task after those, and of lease_task_record after those. */
enum
{
	TASK_ATTEMPT = RESULT_COLUMNS,
	TASK_PRIORITY,
	TASK_PAYLOAD,
	TASK_CHECKPOINT,
	RECORD_MAX_ATTEMPTS,
	RECORD_DUE_AT,
	RECORD_RESULT,
	RECORD_LAST_ERROR,
	RECORD_COLUMNS
};

/* Columns of lease_status. */
enum
{
	STATUS_NAMESPACE,
	STATUS_NAME,
	STATUS_STATE,
	STATUS_OWNER,
	STATUS_FENCE,
	STATUS_VERSION,
	STATUS_GRANTED_AT,
	STATUS_RENEWED_AT,
	STATUS_EXPIRES_AT,
	STATUS_REMAINING,
	STATUS_TTL,
	STATUS_CANCEL_DEADLINE,
	STATUS_COLUMNS
};

static void
set_column(Datum *values, bool *nulls, int column, Datum value)
{
	values[column] = value;
	nulls[column] = false;
}

static Datum
remaining(const LeaseRow *row, TimestampTz now)
{
	return clock_interval_datum(Max(rules_expiry(row, now) - now, 0));
}

static void
fill_result(const LeaseCall *call, const LeaseAnswer *answer,
			Datum *values, bool *nulls)
{
	const LeaseRow *row = &answer->row;

	memset(nulls, true, RESULT_COLUMNS * sizeof(bool));
	set_column(values, nulls, RESULT_OK,
			   BoolGetDatum(outcomes_ok(call->request.verb, answer->outcome)));
	set_column(values, nulls, RESULT_OUTCOME,
			   CStringGetTextDatum(outcomes_name(answer->outcome)));
	set_column(values, nulls, RESULT_NAMESPACE, PointerGetDatum(call->key.namespace));
	if (call->key.name != NULL)
		set_column(values, nulls, RESULT_NAME, PointerGetDatum(call->key.name));
	set_column(values, nulls, RESULT_SERVER_TIME, TimestampTzGetDatum(answer->now));
	if (row->exists)
	{
		set_column(values, nulls, RESULT_FENCE, Int64GetDatum(row->fence));
		set_column(values, nulls, RESULT_VERSION, Int64GetDatum(row->version));
	}
	if (row->exists && row->cancel)
		set_column(values, nulls, RESULT_CANCEL_DEADLINE,
				   TimestampTzGetDatum(rules_cancel_deadline(row, answer->now)));
	if (row->exists && !rules_is_free(row))
	{
		RuleText	owner = row->owner;

		if (!(answer->privileges & PRIVILEGE_OBSERVE) &&
			!rules_text_equal(owner, call->request.owner))
			owner.len = 0;
		set_column(values, nulls, RESULT_OWNER, lease_text_datum(owner));
		set_column(values, nulls, RESULT_EXPIRES_AT,
				   TimestampTzGetDatum(rules_expiry(row, answer->now)));
		set_column(values, nulls, RESULT_REMAINING, remaining(row, answer->now));
		set_column(values, nulls, RESULT_TTL, clock_interval_datum(row->ttl));
	}
}

/*
 * The row type that a function returns.  Who sleeps asks before: the function
 * may be gone when he wakes.
 */
TupleDesc
result_columns(FunctionCallInfo fcinfo)
{
	TupleDesc	columns;

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return columns;
}

/* The answer as a row of that type. */
Datum
result_row(TupleDesc columns, const LeaseCall *call, const LeaseAnswer *answer)
{
	Datum		values[RESULT_COLUMNS];
	bool		nulls[RESULT_COLUMNS];

	fill_result(call, answer, values, nulls);
	return HeapTupleGetDatum(heap_form_tuple(columns, values, nulls));
}

/* Run a verb that changes state, and make its answer the function's row. */
Datum
result_run(FunctionCallInfo fcinfo, const LeaseCall *call)
{
	TupleDesc	columns = result_columns(fcinfo);
	LeaseAnswer answer;

	protocol_run(call, &answer);
	return result_row(columns, call, &answer);
}

/* The answer as one row of a set. */
void
result_put(ReturnSetInfo *set, const LeaseCall *call, const LeaseAnswer *answer)
{
	Datum		values[RESULT_COLUMNS];
	bool		nulls[RESULT_COLUMNS];

	fill_result(call, answer, values, nulls);
	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

/* What a task's row has beside a lease's; nothing where it is no task. */
static void
fill_task(const LeaseAnswer *answer, const Payload *payload,
		  Datum *values, bool *nulls)
{
	const LeaseRow *row = &answer->row;

	memset(&nulls[TASK_ATTEMPT], true, (RECORD_COLUMNS - TASK_ATTEMPT) * sizeof(bool));
	if (payload == NULL || !row->exists || row->task == TASK_NONE)
		return;
	set_column(values, nulls, TASK_ATTEMPT, Int32GetDatum(row->attempts));
	set_column(values, nulls, TASK_PRIORITY, Int32GetDatum(row->priority));
	if (payload->has_payload)
		set_column(values, nulls, TASK_PAYLOAD, payload->payload);
	if (payload->has_checkpoint)
		set_column(values, nulls, TASK_CHECKPOINT, payload->checkpoint);
	set_column(values, nulls, RECORD_MAX_ATTEMPTS, Int32GetDatum(row->max_attempts));
	if (answer->due_at < PG_INT64_MAX)
		set_column(values, nulls, RECORD_DUE_AT,
				   TimestampTzGetDatum(answer->due_at));
	if (payload->has_result)
		set_column(values, nulls, RECORD_RESULT, payload->result);
	if (payload->has_last_error)
		set_column(values, nulls, RECORD_LAST_ERROR, payload->last_error);
}

/* A task that a poll hands out, or why it hands out none. */
void
result_put_task(ReturnSetInfo *set, const LeaseCall *call,
				const LeaseAnswer *answer, const Payload *payload)
{
	Datum		values[RECORD_COLUMNS];
	bool		nulls[RECORD_COLUMNS];

	fill_result(call, answer, values, nulls);
	fill_task(answer, payload, values, nulls);
	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

/* All that is on record of a task. */
Datum
result_task_record(TupleDesc columns, const LeaseCall *call,
				   const LeaseAnswer *answer, const Payload *payload)
{
	Datum		values[RECORD_COLUMNS];
	bool		nulls[RECORD_COLUMNS];

	fill_result(call, answer, values, nulls);
	fill_task(answer, payload, values, nulls);
	return HeapTupleGetDatum(heap_form_tuple(columns, values, nulls));
}

/* A row of lease_status. */
void
result_put_status(ReturnSetInfo *set, const LeaseKey *key,
				  const LeaseRow *row, const LeasePolicy *policy,
				  TimestampTz now)
{
	Datum		values[STATUS_COLUMNS];
	bool		nulls[STATUS_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	set_column(values, nulls, STATUS_NAMESPACE, PointerGetDatum(key->namespace));
	set_column(values, nulls, STATUS_NAME, PointerGetDatum(key->name));
	set_column(values, nulls, STATUS_STATE,
			   CStringGetTextDatum(outcomes_name(rules_state(row, policy, now))));
	set_column(values, nulls, STATUS_FENCE, Int64GetDatum(row->fence));
	set_column(values, nulls, STATUS_VERSION, Int64GetDatum(row->version));
	if (row->cancel)
		set_column(values, nulls, STATUS_CANCEL_DEADLINE,
				   TimestampTzGetDatum(rules_cancel_deadline(row, now)));
	if (!rules_is_free(row))
	{
		set_column(values, nulls, STATUS_OWNER,
				   lease_text_datum(row->owner));
		set_column(values, nulls, STATUS_GRANTED_AT, TimestampTzGetDatum(row->granted_at));
		set_column(values, nulls, STATUS_RENEWED_AT, TimestampTzGetDatum(row->renewed_at));
		set_column(values, nulls, STATUS_EXPIRES_AT,
				   TimestampTzGetDatum(rules_expiry(row, now)));
		set_column(values, nulls, STATUS_REMAINING, remaining(row, now));
		set_column(values, nulls, STATUS_TTL,
				   clock_interval_datum(row->ttl));
	}
	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}
