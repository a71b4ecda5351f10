/*
 * views.c
 *		The functions beneath the views: what is on record, for those who may see.
 *
 * Promises: a role sees the rows of the namespaces that it may observe, and
 * of others not even how many there are; all rows are of one latest snapshot,
 * judged at one instant.
 */
#include "lease.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/rel.h"

#include "clock.h"
#include "policy.h"
#include "result.h"
#include "rows.h"
#include "store.h"

PG_FUNCTION_INFO_V1(lease_status);
PG_FUNCTION_INFO_V1(lease_history);
PG_FUNCTION_INFO_V1(lease_intents);

typedef struct StatusState
{
	ReturnSetInfo *set;
	TimestampTz now;
	PolicyMemo	memo;
} StatusState;

static bool
put_status(const LeaseKey *key, const LeaseRow *row, void *state_pointer)
{
	StatusState *state = state_pointer;

	policy_remember(&state->memo, key->namespace);
	if (state->memo.privileges & PRIVILEGE_OBSERVE)
		result_put_status(state->set, key, row, &state->memo.policy.rules, state->now);
	return true;
}

/* () */
Datum
lease_status(PG_FUNCTION_ARGS)
{
	StatusState state = {(ReturnSetInfo *) fcinfo->resultinfo};

	InitMaterializedSRF(fcinfo, 0);
	state.memo.context = CurrentMemoryContext;
	state.now = clock_now();
	store_visit(NULL, ForwardScanDirection, put_status, &state);
	return (Datum) 0;
}

/*
 * Put the rows of a table that are in an observable namespace, column by
 * column; "namespace" is the number of the column that tells.
 */
static void
put_table(FunctionCallInfo fcinfo, const char *table, const char *index,
		  int namespace)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	PolicyMemo	memo = {CurrentMemoryContext};
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;

	InitMaterializedSRF(fcinfo, 0);
	rows_open_by(&rows, table, index, AccessShareLock);
	if (RelationGetNumberOfAttributes(rows.heap) != set->setDesc->natts)
		elog(ERROR, "table \"%s\" has an unexpected number of columns", table);
	rows_scan_begin(&rows, &scan, NULL, 0, ForwardScanDirection);
	while ((slot = rows_scan_next(&scan)) != NULL)
	{
		policy_remember(&memo, DatumGetTextPP(slot->tts_values[namespace - 1]));
		if (memo.privileges & PRIVILEGE_OBSERVE)
			tuplestore_putvalues(set->setResult, set->setDesc,
								 slot->tts_values, slot->tts_isnull);
	}
	rows_scan_end(&scan);
	rows_close(&rows);
}

/* () */
Datum
lease_history(PG_FUNCTION_ARGS)
{
	put_table(fcinfo, "history", "history_epoch", 1);
	return (Datum) 0;
}

/* () */
Datum
lease_intents(PG_FUNCTION_ARGS)
{
	put_table(fcinfo, "intent", "intent_pkey", 4);
	return (Datum) 0;
}
