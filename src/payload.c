/*
 * payload.c
 *		What a task carries: its payload, checkpoint, result and last error.
 *
 * Kept off the lease's row, so that a heartbeat does not copy it.  Written
 * under the lock of the lease's row alone, so nobody waits for a row of this
 * table.
 */
#include "lease.h"

#include "access/tableam.h"
#include "utils/builtins.h"
#include "utils/datum.h"

#include "payload.h"
#include "rows.h"
#include "statement.h"

/* Columns of lease_catalog.task. */
enum
{
	TASK_NAMESPACE = 1,
	TASK_NAME,
	TASK_PAYLOAD,
	TASK_CHECKPOINT,
	TASK_RESULT,
	TASK_LAST_ERROR
};

static uint64
put(StatementId id, const LeaseKey *key, Datum value, bool given)
{
	bool		nulls[3] = {false, false, !given};
	Datum		values[3] = {
		PointerGetDatum(key->namespace),
		PointerGetDatum(key->name),
		value
	};

	return statement_run(id, values, nulls);
}

void
payload_offer(const LeaseKey *key, Datum payload, bool given)
{
	(void) put(STATEMENT_TASK_OFFER, key, payload, given);
}

void
payload_checkpoint(const LeaseKey *key, Datum checkpoint)
{
	(void) put(STATEMENT_TASK_CHECKPOINT, key, checkpoint, true);
}

void
payload_complete(const LeaseKey *key, Datum result, bool given)
{
	(void) put(STATEMENT_TASK_RESULT, key, result, given);
}

void
payload_fail(const LeaseKey *key, const text *error)
{
	(void) put(STATEMENT_TASK_ERROR, key, PointerGetDatum(error), true);
}

void
payload_reopen(const LeaseKey *key)
{
	(void) put(STATEMENT_TASK_REOPEN, key, (Datum) 0, false);
}

void
payload_delete(const LeaseKey *key)
{
	(void) put(STATEMENT_TASK_DELETE, key, (Datum) 0, false);
}

static void
copy(TupleTableSlot *slot, int column, Datum *value, bool *has)
{
	*has = !rows_null(slot, column);
	if (*has)
		*value = PointerGetDatum(PG_DETOAST_DATUM_COPY(slot->tts_values[column - 1]));
}

/* Open the table, for payload_read(); the caller closes it. */
void
payload_open(Rows *rows)
{
	rows_open(rows, "task", AccessShareLock);
}

/*
 * What is on record at a snapshot, which is that of the lease's row where the
 * two must agree; nothing where there is no row.
 */
void
payload_read(Rows *rows, const LeaseKey *key, Snapshot snapshot,
			 Payload *payload)
{
	TupleTableSlot *slot = table_slot_create(rows->heap, NULL);
	ScanKeyData keys[2];

	memset(payload, 0, sizeof(Payload));
	rows_keys_lease(keys, key);
	if (rows_find(rows, keys, 2, snapshot, slot))
	{
		copy(slot, TASK_PAYLOAD, &payload->payload, &payload->has_payload);
		copy(slot, TASK_CHECKPOINT, &payload->checkpoint, &payload->has_checkpoint);
		copy(slot, TASK_RESULT, &payload->result, &payload->has_result);
		copy(slot, TASK_LAST_ERROR, &payload->last_error, &payload->has_last_error);
	}
	ExecDropSingleTupleTableSlot(slot);
}
