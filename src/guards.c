/*
 * guards.c
 *		The view lease_guards: every guard, and what stands open in it.
 *
 * Promises: no lock is taken on what is guarded, so it can be read beside
 * anything; what is listed as open is a way in which rows of the table can be
 * written, or are refused, other than the guard says, as of the catalogue now.
 * It is taken from the triggers' own arguments, so a guard made by hand is
 * listed too.
 */
#include "lease.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "guard.h"
#include "guarding.h"

PG_FUNCTION_INFO_V1(lease_guards);

#define CHANGES (TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE)

/* Columns of lease_guards. */
enum
{
	GUARDS_TARGET,
	GUARDS_NAME,
	GUARDS_NAME_COLUMN,
	GUARDS_NAMESPACE,
	GUARDS_FENCE_COLUMN,
	GUARDS_MODE,
	GUARDS_ENFORCEMENT,
	GUARDS_REPLICATION,
	GUARDS_OPEN,
	GUARDS_COLUMNS
};

/* One guarded table, while it is looked at. */
typedef struct Guarded
{
	Oid			table;
	List	   *all;			/* triggers of every table */
	List	   *own;			/* of this one, copies of a parent's left out */
	char	  **arguments;		/* NULL where they are not as they should be */
	List	   *open;			/* texts */
} Guarded;

static char *
table_name(Oid table)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(table)));
}

static void
report(Guarded *guarded, const char *finding)
{
	guarded->open = lappend(guarded->open, pstrdup(finding));
}

/* Whether triggers of that kind, together, fire for all the events. */
static bool
covers(List *triggers, int16 level, int16 timing, int16 events)
{
	const int16 kind = TRIGGER_TYPE_ROW | TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSTEAD;
	int16		covered = 0;
	ListCell   *cell;

	foreach(cell, triggers)
	{
		GuardTrigger *trigger = lfirst(cell);

		if ((trigger->type & kind) == (level | timing) &&
			trigger->enabled != TRIGGER_DISABLED && !trigger->conditional)
			covered |= trigger->type & events;
	}
	return covered == events;
}

static void
check_enabled(Guarded *guarded, const GuardTrigger *trigger)
{
	if (trigger->conditional)
		report(guarded, psprintf("trigger \"%s\" of %s has a condition", trigger->name,
								 table_name(trigger->table)));
	switch (trigger->enabled)
	{
		case TRIGGER_FIRES_ALWAYS:
			return;
		case TRIGGER_DISABLED:
			report(guarded, psprintf("trigger \"%s\" of %s is disabled", trigger->name,
									 table_name(trigger->table)));
			return;
		case TRIGGER_FIRES_ON_REPLICA:
			report(guarded, psprintf("trigger \"%s\" of %s fires on replicas alone", trigger->name,
									 table_name(trigger->table)));
			return;
		default:
			report(guarded, psprintf("trigger \"%s\" of %s does not fire where session_replication_role is replica",
									 trigger->name, table_name(trigger->table)));
	}
}

static bool
has_argument(const Guarded *guarded, int argument, const char *value)
{
	return strcmp(guarded->arguments[argument], value) == 0;
}

/* The triggers that the guard's terms ask for. */
static void
check_triggers(Guarded *guarded)
{
	bool		stamps = !has_argument(guarded, GUARD_FENCE_COLUMN, "");
	bool		rows = covers(guarded->own, TRIGGER_TYPE_ROW, 0, CHANGES);
	bool		statements = covers(guarded->own, 0, TRIGGER_TYPE_BEFORE, CHANGES);
	ListCell   *cell;

	if (!rows && !statements)
		report(guarded, "a trigger for INSERT, UPDATE or DELETE is missing");
	else if (!rows && guarding_needs_rows(guarded->table,
										  has_argument(guarded, GUARD_KIND, "per"), stamps,
										  has_argument(guarded, GUARD_MODE, "high_water"),
										  has_argument(guarded, GUARD_REPLICATION, "refuse")))
		report(guarded, "no trigger sees each row, which a parent, a foreign key's action, replication, a stamp or the mode calls for");
	if (stamps && !covers(guarded->own, TRIGGER_TYPE_ROW, TRIGGER_TYPE_BEFORE,
						  TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE))
		report(guarded, "the trigger that stamps the fence is missing");
	if (!covers(guarded->own, 0, TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_TRUNCATE))
		report(guarded, "the trigger for TRUNCATE is missing");
	foreach(cell, guarded->own)
		check_enabled(guarded, lfirst(cell));
}

static void
check_column(Guarded *guarded, const char *column, bool is_fence)
{
	AttrNumber	number = get_attnum(guarded->table, column);

	if (number <= 0)
		report(guarded, psprintf("column \"%s\" does not exist", column));
	else if (is_fence && getBaseType(get_atttype(guarded->table, number)) != INT8OID)
		report(guarded, psprintf("column \"%s\" is not of type bigint", column));
}

/* The triggers of one table, with or without copies of a parent's. */
static List *
triggers_of(List *all, Oid table, bool copies)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, all)
	{
		GuardTrigger *trigger = lfirst(cell);

		if (trigger->table == table && (copies || !OidIsValid(trigger->parent)))
			found = lappend(found, trigger);
	}
	return found;
}

static void
check_partition(Guarded *guarded, Oid partition)
{
	List	   *triggers = triggers_of(guarded->all, partition, true);
	ListCell   *cell;

	if (get_rel_relkind(partition) == RELKIND_PARTITIONED_TABLE)
		return;
	if (!covers(triggers, 0, TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_TRUNCATE))
		report(guarded, psprintf("partition %s has no trigger for TRUNCATE", table_name(partition)));
	if (!covers(triggers, TRIGGER_TYPE_ROW, 0, CHANGES))
		report(guarded, psprintf("partition %s has no trigger for its rows", table_name(partition)));
	foreach(cell, triggers)
	{
		GuardTrigger *trigger = lfirst(cell);

		if (OidIsValid(trigger->parent) || guarding_is_for_parent(trigger))
			check_enabled(guarded, trigger);
	}
}

/* Partitions, and the children of an inheritance, which are not guarded with it. */
static void
check_children(Guarded *guarded)
{
	bool		partitioned = get_rel_relkind(guarded->table) == RELKIND_PARTITIONED_TABLE;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(guarded->table, NoLock, NULL))
	{
		Oid			child = lfirst_oid(cell);

		if (child == guarded->table)
			continue;
		if (partitioned)
			check_partition(guarded, child);
		else if (triggers_of(guarded->all, child, false) == NIL)
			report(guarded, psprintf("child %s is not guarded", table_name(child)));
	}
}

/* Whether a table is guarded for the sake of a parent alone. */
static bool
guards_parent_alone(const Guarded *guarded)
{
	ListCell   *cell;

	foreach(cell, guarded->own)
	{
		if (!guarding_is_for_parent(lfirst(cell)))
			return false;
	}
	return true;
}

static Datum
open_array(const Guarded *guarded)
{
	Datum	   *texts = palloc(sizeof(Datum) * (list_length(guarded->open) + 1));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, guarded->open)
		texts[n++] = CStringGetTextDatum((char *) lfirst(cell));
	return PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT));
}

static void
set_text(Datum *values, bool *nulls, int column, const char *value)
{
	values[column] = CStringGetTextDatum(value);
	nulls[column] = false;
}

static void
set_name(Datum *values, bool *nulls, int column, const char *value)
{
	if (value[0] == '\0')
		return;
	values[column] = DirectFunctionCall1(namein, CStringGetDatum(value));
	nulls[column] = false;
}

static void
put(ReturnSetInfo *set, const Guarded *guarded)
{
	Datum		values[GUARDS_COLUMNS];
	bool		nulls[GUARDS_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	values[GUARDS_TARGET] = ObjectIdGetDatum(guarded->table);
	nulls[GUARDS_TARGET] = false;
	values[GUARDS_OPEN] = open_array(guarded);
	nulls[GUARDS_OPEN] = false;
	if (guarded->arguments != NULL)
	{
		if (has_argument(guarded, GUARD_KIND, "per"))
			set_name(values, nulls, GUARDS_NAME_COLUMN, guarded->arguments[GUARD_SUBJECT]);
		else
			set_text(values, nulls, GUARDS_NAME, guarded->arguments[GUARD_SUBJECT]);
		set_text(values, nulls, GUARDS_NAMESPACE, guarded->arguments[GUARD_NAMESPACE]);
		set_name(values, nulls, GUARDS_FENCE_COLUMN, guarded->arguments[GUARD_FENCE_COLUMN]);
		set_text(values, nulls, GUARDS_MODE, guarded->arguments[GUARD_MODE]);
		set_text(values, nulls, GUARDS_ENFORCEMENT, guarded->arguments[GUARD_ENFORCEMENT]);
		set_text(values, nulls, GUARDS_REPLICATION, guarded->arguments[GUARD_REPLICATION]);
	}
	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

static void
put_table(ReturnSetInfo *set, List *all, Oid table)
{
	Guarded		guarded = {.table = table,.all = all};
	GuardTrigger *first;

	guarded.own = triggers_of(all, table, false);
	if (guarded.own == NIL ||
		(guards_parent_alone(&guarded) && has_superclass(table)))
		return;
	first = linitial(guarded.own);
	if (first->narguments == GUARD_ARGUMENTS)
		guarded.arguments = first->arguments;
	if (guarded.arguments == NULL)
		report(&guarded, "the arguments of its triggers are not those of a guard");
	else if (guards_parent_alone(&guarded))
		report(&guarded, "it was detached from what was guarded, and of that only TRUNCATE is left");
	else
	{
		check_triggers(&guarded);
		if (has_argument(&guarded, GUARD_KIND, "per"))
			check_column(&guarded, guarded.arguments[GUARD_SUBJECT], false);
		if (!has_argument(&guarded, GUARD_FENCE_COLUMN, ""))
			check_column(&guarded, guarded.arguments[GUARD_FENCE_COLUMN], true);
		check_children(&guarded);
	}
	put(set, &guarded);
}

/* () */
Datum
lease_guards(PG_FUNCTION_ARGS)
{
	List	   *all = guarding_triggers(InvalidOid);
	Oid			last = InvalidOid;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, all)
	{
		GuardTrigger *trigger = lfirst(cell);

		/* they come in the order of their tables */
		if (trigger->table != last)
			put_table((ReturnSetInfo *) fcinfo->resultinfo, all, trigger->table);
		last = trigger->table;
	}
	return (Datum) 0;
}
