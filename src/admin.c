/*
 * admin.c
 *		What the extension's owner and operators call: namespaces, privileges,
 *		fences, purge and sweep.
 *
 * Promises: nothing is written for a caller who is not the extension's owner,
 * or for a purge not an operator of the namespace; what is written has been
 * checked here, argument by argument.
 */
#include "lease.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "arguments.h"
#include "clock.h"
#include "error.h"
#include "ledger.h"
#include "namespaces.h"
#include "policy.h"
#include "purge.h"
#include "rows.h"
#include "transaction.h"

PG_FUNCTION_INFO_V1(lease_grant);
PG_FUNCTION_INFO_V1(lease_revoke);
PG_FUNCTION_INFO_V1(lease_namespace_create);
PG_FUNCTION_INFO_V1(lease_namespace_alter);
PG_FUNCTION_INFO_V1(lease_namespace_drop);
PG_FUNCTION_INFO_V1(lease_fences_advance);
PG_FUNCTION_INFO_V1(lease_purge);
PG_FUNCTION_INFO_V1(lease_sweep);

/* (namespace, role, privilege) */
Datum
lease_grant(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("lease_grant");
	namespaces_grant(arguments_namespace(fcinfo, 0), arguments_role(fcinfo, 1),
					 arguments_text(fcinfo, 2, "privilege", LEASE_NAMESPACE_MAX));
	PG_RETURN_VOID();
}

/* (namespace, role, privilege) */
Datum
lease_revoke(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("lease_revoke");
	namespaces_revoke(arguments_namespace(fcinfo, 0), arguments_role(fcinfo, 1),
					  arguments_text(fcinfo, 2, "privilege", LEASE_NAMESPACE_MAX));
	PG_RETURN_VOID();
}

/* An interval as it will be stored: checked, and with nothing but its time. */
static Interval *
length_argument(FunctionCallInfo fcinfo, int n, const char *argument,
				LengthFloor floor)
{
	int64		length;

	if (!arguments_span(fcinfo, n, argument, floor, &length))
		return NULL;
	return DatumGetIntervalP(clock_interval_datum(length));
}

/* A number within bounds; NULL where it is NULL. */
static double *
double_argument(FunctionCallInfo fcinfo, int n, const char *argument,
				double least, double most, const char *fault)
{
	double	   *value;

	if (PG_ARGISNULL(n))
		return NULL;
	value = palloc(sizeof(double));
	*value = PG_GETARG_FLOAT8(n);
	/* which NaN is not */
	if (!(*value >= least && *value <= most))
		error_invalid(argument, fault);
	return value;
}

/*
 * (namespace, min_ttl, default_ttl, max_ttl, max_hold, grace, max_leases,
 * history, retry_base, retry_factor, retry_cap, retry_jitter, max_attempts)
 */
static void
change_argument(FunctionCallInfo fcinfo, NamespaceChange *change)
{
	change->min_ttl = length_argument(fcinfo, 1, "min_ttl", LENGTH_POSITIVE);
	change->default_ttl = length_argument(fcinfo, 2, "default_ttl", LENGTH_POSITIVE);
	change->max_ttl = length_argument(fcinfo, 3, "max_ttl", LENGTH_POSITIVE);
	change->max_hold = length_argument(fcinfo, 4, "max_hold", LENGTH_NOT_NEGATIVE);
	change->grace = length_argument(fcinfo, 5, "grace", LENGTH_NOT_NEGATIVE);
	change->max_leases = NULL;
	if (!PG_ARGISNULL(6))
	{
		change->max_leases = palloc(sizeof(int64));
		*change->max_leases = PG_GETARG_INT64(6);
		if (*change->max_leases < 0)
			error_invalid("max_leases", "It must not be negative; 0 is no limit.");
	}
	change->history = NULL;
	if (!PG_ARGISNULL(7))
	{
		change->history = palloc(sizeof(bool));
		*change->history = PG_GETARG_BOOL(7);
	}
	change->retry_base = length_argument(fcinfo, 8, "retry_base", LENGTH_POSITIVE);
	change->retry_factor = double_argument(fcinfo, 9, "retry_factor", 1, 100,
										   "It must be from 1 to 100.");
	change->retry_cap = length_argument(fcinfo, 10, "retry_cap", LENGTH_POSITIVE);
	change->retry_jitter = double_argument(fcinfo, 11, "retry_jitter", 0, 1,
										   "It must be from 0 to 1.");
	change->max_attempts = NULL;
	if (!PG_ARGISNULL(12))
	{
		change->max_attempts = palloc(sizeof(int32));
		*change->max_attempts = arguments_count(fcinfo, 12, "max_attempts");
	}
}

Datum
lease_namespace_create(PG_FUNCTION_ARGS)
{
	text	   *namespace = arguments_namespace(fcinfo, 0);
	NamespaceChange change;

	PreventCommandIfReadOnly("lease_namespace_create");
	change_argument(fcinfo, &change);
	namespaces_create(namespace, &change);
	PG_RETURN_VOID();
}

Datum
lease_namespace_alter(PG_FUNCTION_ARGS)
{
	text	   *namespace = arguments_namespace(fcinfo, 0);
	NamespaceChange change;

	PreventCommandIfReadOnly("lease_namespace_alter");
	change_argument(fcinfo, &change);
	namespaces_alter(namespace, &change);
	PG_RETURN_VOID();
}

/* (namespace) */
Datum
lease_namespace_drop(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("lease_namespace_drop");
	namespaces_drop(arguments_namespace(fcinfo, 0));
	PG_RETURN_VOID();
}

/* (floor) */
Datum
lease_fences_advance(PG_FUNCTION_ARGS)
{
	bool		chosen = PG_ARGISNULL(0);	/* by us */
	int64		floor = chosen ? 0 : arguments_kept_fence(fcinfo, 0, "floor");
	Oid			table;
	Rows		rows;

	PreventCommandIfReadOnly("lease_fences_advance");
	policy_require_owner();
	rows_open(&rows, "lease", AccessShareLock);
	table = RelationGetRelid(rows.heap);
	floor = chosen ? ledger_raise_past_all(table) : ledger_raise_all(table, floor);
	rows_close(&rows);
	transaction_changed();
	transaction_force_flush();
	PG_RETURN_INT64(floor);
}

/* (idle, max, namespace) */
Datum
lease_purge(PG_FUNCTION_ARGS)
{
	int64		idle = arguments_given_length(fcinfo, 0, "idle", LENGTH_POSITIVE);
	int64		max = arguments_count(fcinfo, 1, "max");

	PreventCommandIfReadOnly("lease_purge");
	PG_RETURN_INT64(purge_idle(arguments_namespace(fcinfo, 2), idle, max));
}

/* (max) */
Datum
lease_sweep(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		max = arguments_count(fcinfo, 0, "max");
	SweepCount	counts[SWEEP_KINDS];
	int			i;

	PreventCommandIfReadOnly("lease_sweep");
	InitMaterializedSRF(fcinfo, 0);
	purge_sweep(max, counts);
	for (i = 0; i < SWEEP_KINDS; i++)
	{
		bool		nulls[2] = {false};
		Datum		values[2] = {
			CStringGetTextDatum(counts[i].what),
			Int64GetDatum(counts[i].count)
		};

		tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
	}
	return (Datum) 0;
}
