/*
 * check.c
 *		What is wrong with the leases, or threatens to be.
 *
 * Promises: nothing found is nothing wrong with what is looked at; a finding
 * about leases is shown to who may observe their namespace, one about the
 * server to members of pg_monitor, and that one names neither a lease nor the
 * owner of one; the extension's owner sees all.  What is looked at may be
 * damaged: no constraint is relied upon, and no index of ours but, for roles
 * that are not the owner, that of their privileges.
 *
 * A check is a row of the table below and a statement that answers with a row
 * (object, detail) a finding, or (object, detail, hint) where the table has no
 * hint.  Nothing is locked and nothing is mended.
 */
#include "lease.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "policy.h"
#include "privilege.h"
#include "rows.h"
#include "statement.h"

PG_FUNCTION_INFO_V1(lease_check);

/* How far apart two clocks may be before it is worth a word. */
#define CLOCK_TOLERANCE USECS_PER_SEC

/* Who is shown a finding, beside the extension's owner. */
#define OBSERVERS 1				/* who may observe the lease's namespace */
#define MONITORS 2				/* members of pg_monitor */

typedef struct Check
{
	StatementId statement;
	int			audience;
	const char *severity;
	const char *code;
	const char *hint;			/* NULL: the finding has its own */
} Check;

#define WRITTEN_PAST "Something other than the extension has written the row: find out what, and what else it wrote. "

static const Check checks[] = {
	{STATEMENT_CHECK_FENCE_ENDED, OBSERVERS, "error", "fence_on_record_ended",
	WRITTEN_PAST "End the epoch on record with lease_break(), raise all fences above every one that was seen with lease_fences_advance(), and look at what the resources accepted meanwhile."},
	{STATEMENT_CHECK_FENCE_BELOW_REQUEST, OBSERVERS, "error", "fence_below_request",
	WRITTEN_PAST "End the epoch on record with lease_break(), and raise all fences above the one granted with lease_fences_advance()."},
	{STATEMENT_CHECK_FENCE_UNDER_FLOOR, OBSERVERS, "error", "fence_under_floor",
	"Unless the clock was set back between the two instants, something other than the extension has written the row. End the epoch on record with lease_break(); the next one is granted above the floor."},
	{STATEMENT_CHECK_DUPLICATE, OBSERVERS, "error", "duplicate_lease",
	"The primary key is missing or damaged. Delete all rows of the name but the one with the highest fence, and REINDEX TABLE lease_catalog.lease."},
	{STATEMENT_CHECK_HALF_STATE, OBSERVERS, "error", "half_state",
	WRITTEN_PAST "Delete the row, which leaves its fence behind as a floor, or complete it, and validate the constraints of the table."},
	{STATEMENT_CHECK_PROMISE_TOO_LONG, OBSERVERS, "error", "promise_too_long",
	WRITTEN_PAST "A claim that meets the row cuts its expiry down to now and the ttl; lease_break() ends it at once."},
	{STATEMENT_CHECK_ORPHANED, OBSERVERS, "error", "orphaned_lease",
	"Create the namespace again with lease_namespace_create(), or delete the row, which leaves its fence behind as a floor."},
	{STATEMENT_CHECK_CONSTRAINTS, MONITORS, "error", "constraint_missing",
	"Add and validate it as the extension's install script has it, once lease_check() finds no row that breaks it."},
	{STATEMENT_CHECK_INDEXES, MONITORS, "error", "index_missing",
	"Create it as the extension's install script has it, or REINDEX it."},
	{STATEMENT_CHECK_TRIGGERS, MONITORS, "error", "trigger_missing", NULL},
	{STATEMENT_CHECK_GRANTS, MONITORS, "error", "catalog_granted", NULL},
	{STATEMENT_CHECK_UNLOGGED, MONITORS, "error", "table_unlogged", NULL},
	{STATEMENT_CHECK_CLOCK_SET_BACK, OBSERVERS | MONITORS, "warning", "clock_set_back",
	"The clock was set back, or lease.clock was. A lease, hold, delay or deadline from before lasts for one length more at most, from the first claim or poll on that is refused for it; find out what sets the clock."},
	{STATEMENT_CHECK_CLOCK_REPLACED, MONITORS, "warning", "clock_replaced",
	"lease.clock is for tests: it stands still, and so does every expiry. Reset it where leases protect something."},
	{STATEMENT_CHECK_CLOCK_IN_FILE, MONITORS, "warning", "clock_replaced",
	"lease.clock is for tests: it stands still, and so does every expiry. Remove it and reload the configuration."},
	{STATEMENT_CHECK_RISKY_SETTING, MONITORS, "warning", "risky_setting",
	"Set it back to its default; if the server has crashed under it, raise all fences with lease_fences_advance()."},
	{STATEMENT_CHECK_PLANTED_OVERLOAD, MONITORS, "warning", "planted_overload",
	"Drop or rename it, or make sure that callers name the extension's schema, or have it alone in their search_path."},
	{STATEMENT_CHECK_MULTIXACT_AGE, MONITORS, "warning", "multixact_age",
	"Let autovacuum get to the table: look for transactions and prepared transactions that stay open, or run VACUUM (FREEZE) lease_catalog.lease."},
	{STATEMENT_CHECK_INERT_GRANT, MONITORS, "warning", "inert_grant",
	"The role was dropped, renamed or made anew, or the database was restored elsewhere. Grant it again with lease_grant(), or lease_revoke() it."},
};

static void
put(ReturnSetInfo *set, const char *severity, const char *code,
	Datum object, Datum detail, Datum hint)
{
	bool		nulls[5] = {false};
	Datum		values[5] = {
		CStringGetTextDatum(severity),
		CStringGetTextDatum(code),
		object,
		detail,
		hint
	};

	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

/* The check that is run, and where its findings go. */
typedef struct Running
{
	const Check *check;
	ReturnSetInfo *set;
} Running;

static void
put_finding(const Datum *values, const bool *nulls, void *state)
{
	Running    *running = state;
	const Check *check = running->check;

	put(running->set, check->severity, check->code, values[0], values[1],
		check->hint == NULL ? values[2] : CStringGetTextDatum(check->hint));
}

/* A step of the wall clock in this session's life. */
static void
check_course(ReturnSetInfo *set)
{
	int64		course = clock_course();
	int64		distance = course < 0 ? -course : course;
	const char *length = DatumGetCString(DirectFunctionCall1(interval_out,
															 clock_interval_datum(distance)));

	if (distance <= CLOCK_TOLERANCE)
		return;
	put(set, "warning", "clock_stepped",
		CStringGetTextDatum("the server's clock"),
		CStringGetTextDatum(psprintf("Since the library was loaded, the wall clock has gone %s %s than the monotonic clock.",
									 length, course > 0 ? "further" : "less far")),
		CStringGetTextDatum("Find out what sets the clock, or whether the machine was suspended. Set forward, it ends leases early, and fences still protect; set back, a lease lasts one ttl at most from then on."));
}

typedef struct Collected
{
	MemoryContext context;
	List	   *namespaces;		/* of text * */
} Collected;

static void
collect(const Datum *values, const bool *nulls, void *state)
{
	Collected  *collected = state;
	MemoryContext caller = MemoryContextSwitchTo(collected->context);

	collected->namespaces = lappend(collected->namespaces, DatumGetTextPCopy(values[0]));
	MemoryContextSwitchTo(caller);
}

/* The namespaces that the current user may observe, as an array of text. */
static ArrayType *
observed_namespaces(void)
{
	Collected	granted = {CurrentMemoryContext};
	Datum	   *observed;
	int			nobserved = 0;
	ListCell   *cell;

	statement_query(STATEMENT_PRIVILEGE_NAMESPACES, NULL, NULL, collect, &granted);

	observed = palloc(sizeof(Datum) * Max(list_length(granted.namespaces), 1));
	foreach(cell, granted.namespaces)
	{
		if (policy_privileges(lfirst(cell)) & PRIVILEGE_OBSERVE)
			observed[nobserved++] = PointerGetDatum(lfirst(cell));
	}
	return construct_array(observed, nobserved, TEXTOID, -1, false, TYPALIGN_INT);
}

/*
 * Run the checks for an audience, the owner's where both are given; about
 * leases only of the namespaces "observed" where that is not NULL.
 */
static void
run_checks(ReturnSetInfo *set, int audience, ArrayType *observed)
{
	Oid			owner = rows_owner();
	int			i;

	for (i = 0; i < lengthof(checks); i++)
	{
		bool		narrow = observed != NULL && !(checks[i].audience & audience & MONITORS);
		bool		nulls[2] = {!narrow, false};
		Datum		values[2] = {PointerGetDatum(observed), TimestampTzGetDatum(clock_now())};
		Running		running = {&checks[i], set};

		if (!(checks[i].audience & audience))
			continue;
		/* who reads the configuration file must be a superuser */
		if (checks[i].statement == STATEMENT_CHECK_CLOCK_IN_FILE && !superuser_arg(owner))
			continue;
		statement_query(checks[i].statement, values, nulls, put_finding, &running);
	}
}

/* () */
Datum
lease_check(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;
	ArrayType  *observed = NULL;
	int			audience = OBSERVERS | MONITORS;

	if (!privilege_is_owner(GetUserId()))
	{
		observed = observed_namespaces();
		audience = (ARR_NDIM(observed) > 0 ? OBSERVERS : 0) |
			(has_privs_of_role(GetUserId(), ROLE_PG_MONITOR) ? MONITORS : 0);
	}
	if (audience == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function \"%s\"", "lease_check"),
				 errhint("It is for the extension's owner, for members of pg_monitor, and for roles with \"observe\" on a namespace.")));

	InitMaterializedSRF(fcinfo, 0);
	run_checks(set, audience, observed);
	if (audience & MONITORS)
		check_course(set);
	return (Datum) 0;
}
