/*
 * fencing.c
 *		What SQL calls to write under a token: lease_present, lease_token,
 *		lease_admit, lease_mark_reset.
 */
#include "lease.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "arguments.h"
#include "clock.h"
#include "error.h"
#include "ledger.h"
#include "marks.h"
#include "outcomes.h"
#include "policy.h"
#include "proof.h"
#include "result.h"
#include "settings.h"
#include "token.h"
#include "token_text.h"
#include "transaction.h"

PG_FUNCTION_INFO_V1(lease_present);
PG_FUNCTION_INFO_V1(lease_present_text);
PG_FUNCTION_INFO_V1(lease_token);
PG_FUNCTION_INFO_V1(lease_admit);
PG_FUNCTION_INFO_V1(lease_mark_reset);

/* Present a token, proved or to be proved when a guard needs it. */
static Datum
present(FunctionCallInfo fcinfo, const LeaseKey *key, RuleText owner,
		int64 fence, bool prove)
{
	LeaseCall	call = protocol_call(VERB_PRESENT, PRIVILEGE_USE);
	LeaseAnswer answer = {.outcome = OUTCOME_PRESENTED};
	TupleDesc	columns = result_columns(fcinfo);
	Token	   *token;
	Refused		refused = {.table = NULL};

	PreventCommandIfReadOnly("lease_present");
	PreventCommandIfParallelMode("lease_present");
	answer.privileges = policy_authorize(key->namespace, PRIVILEGE_USE);
	token = token_present(key, owner, fence, GetUserId());
	if (prove)
	{
		if (!proof_call(&token, settings_lock_patience(), &call, &answer, &refused))
			error_refused(&refused);
	}
	else
	{
		call.key = *key;
		answer.now = clock_now();
		transaction_changed();
	}
	return result_row(columns, &call, &answer);
}

/* (name, owner, fence, prove, namespace) */
Datum
lease_present(PG_FUNCTION_ARGS)
{
	LeaseKey	key;
	RuleText	owner;
	int64		fence;

	arguments_key(fcinfo, 0, 4, &key);
	owner = arguments_owner(fcinfo, 1);
	fence = arguments_kept_fence(fcinfo, 2, "fence");
	return present(fcinfo, &key, owner, fence, arguments_bool(fcinfo, 3, "prove"));
}

/* (token) */
Datum
lease_present_text(PG_FUNCTION_ARGS)
{
	TokenText	written;
	const char *cursor;
	const char *fault;
	LeaseKey	key;
	RuleText	owner;
	bool		valid;

	if (PG_ARGISNULL(0))
		error_null("token");
	cursor = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (*cursor == ' ' || !token_text_next(&cursor, &written, &valid) || !valid || *cursor != '\0')
		error_invalid("token", "It is one that lease_token() makes.");
	fault = token_decode(&written, &key, &owner);
	if (fault != NULL)
		error_invalid("token", fault);
	return present(fcinfo, &key, owner, written.fence, true);
}

static char *
utf8(const text *value)
{
	char	   *field = text_to_cstring(value);

	return pg_server_to_any(field, strlen(field), PG_UTF8);
}

/* (namespace, name, owner, fence) */
Datum
lease_token(PG_FUNCTION_ARGS)
{
	LeaseKey	key;
	text	   *owner;
	int64		fence;

	arguments_key(fcinfo, 1, 0, &key);
	owner = arguments_text(fcinfo, 2, "owner", LEASE_OWNER_MAX);
	fence = arguments_kept_fence(fcinfo, 3, "fence");
	PG_RETURN_TEXT_P(cstring_to_text(token_text_make(utf8(key.namespace), utf8(key.name),
													 utf8(owner), fence)));
}

static void
resource_key(FunctionCallInfo fcinfo, int namespace, LeaseKey *key)
{
	key->namespace = arguments_text(fcinfo, namespace, "namespace", LEASE_NAMESPACE_MAX);
	key->name = arguments_text(fcinfo, 0, "resource", LEASE_NAME_MAX);
}

/* (resource, fence, namespace) */
Datum
lease_admit(PG_FUNCTION_ARGS)
{
	static const LeaseOutcome outcomes[] = {
		[MARK_ADMITTED] = OUTCOME_ADMITTED,
		[MARK_BELOW] = OUTCOME_BELOW_HIGH_WATER,
		[MARK_BUSY] = OUTCOME_BUSY
	};
	bool		nulls[3] = {false};
	Datum		values[3];
	LeaseKey	resource;
	TupleDesc	columns = result_columns(fcinfo);
	LeaseOutcome outcome;
	int64		fence;
	int64		mark;

	resource_key(fcinfo, 2, &resource);
	fence = arguments_kept_fence(fcinfo, 1, "fence");
	PreventCommandIfReadOnly("lease_admit");
	PreventCommandIfParallelMode("lease_admit");
	policy_authorize(resource.namespace, PRIVILEGE_USE);
	outcome = outcomes[marks_enter(&resource, fence, settings_lock_patience(), &mark)];

	/* it may have waited since */
	policy_authorize(resource.namespace, PRIVILEGE_USE);
	if (outcome == OUTCOME_ADMITTED)
		transaction_changed();
	if (outcome == OUTCOME_ADMITTED && mark < fence)
		token_forget(&resource);

	values[0] = BoolGetDatum(outcome == OUTCOME_ADMITTED);
	values[1] = CStringGetTextDatum(outcomes_name(outcome));
	values[2] = Int64GetDatum(outcome == OUTCOME_ADMITTED ? Max(mark, fence) : mark);
	return HeapTupleGetDatum(heap_form_tuple(columns, values, nulls));
}

/* (resource, fence, reason, namespace) */
Datum
lease_mark_reset(PG_FUNCTION_ARGS)
{
	LeaseKey	resource;
	LedgerIntent intent = {"mark_reset"};
	int64		fence;
	int64		former;

	resource_key(fcinfo, 3, &resource);
	fence = arguments_kept_fence(fcinfo, 1, "fence");
	intent.reason = arguments_text(fcinfo, 2, "reason", LEASE_REASON_MAX);
	PreventCommandIfReadOnly("lease_mark_reset");
	PreventCommandIfParallelMode("lease_mark_reset");
	policy_authorize(resource.namespace, PRIVILEGE_OPERATE);
	if (!marks_reset(&resource, fence, &former))
	{
		Refused		refused = {
			.refusal = REFUSAL_BUSY,
			.key = &resource,
			.concealed = proof_conceals(&resource)
		};

		error_refused(&refused);
	}
	/* it may have waited since */
	policy_authorize(resource.namespace, PRIVILEGE_OPERATE);
	token_forget(&resource);
	ledger_keep_intent(&resource, &fence, &intent);
	PG_RETURN_INT64(former);
}
