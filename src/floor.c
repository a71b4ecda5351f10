/*
 * floor.c
 *		The trigger that keeps the fences of rows that go away.
 *
 * Promises: whoever deletes, truncates or renames rows of the lease table,
 * and however, leaves their highest fence behind as the floor of their
 * namespace, in the same transaction.
 */
#include "lease.h"

#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "error.h"
#include "ledger.h"
#include "rows.h"
#include "statement.h"
#include "store.h"

PG_FUNCTION_INFO_V1(lease_keep_floor);

/* AFTER DELETE OR UPDATE OF namespace, name FOR EACH ROW; BEFORE TRUNCATE */
Datum
lease_keep_floor(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		error_no_trigger("lease_keep_floor");
	if (strcmp(RelationGetRelationName(trigger->tg_relation), "lease") != 0 ||
		strcmp(get_namespace_name(RelationGetNamespace(trigger->tg_relation)),
			   LEASE_SCHEMA) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger function \"%s\" belongs to table \"%s.lease\" alone",
						"lease_keep_floor", LEASE_SCHEMA)));

	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
	{
		Datum		values[1] = {TimestampTzGetDatum(clock_now())};

		(void) statement_run(STATEMENT_FLOOR_FROM_LEASES, values, NULL);
	}
	else
		store_raise_floor(trigger->tg_trigslot);
	return PointerGetDatum(NULL);
}
