/*
 * guard_view.c
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
#include "guard_ddl.h"
#include "guard_terms.h"

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
	GuardTrigger *first;		/* of these, which stands for the guard */
	bool		readable;		/* its arguments are as they should be */
	GuardTerms	terms;
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

/* The triggers that the guard's terms ask for. */
static void
check_triggers(Guarded *guarded)
{
	bool		stamps = guarded->terms.fence_column != NULL;
	bool		rows = covers(guarded->own, TRIGGER_TYPE_ROW, 0, CHANGES);
	bool		statements = covers(guarded->own, 0, TRIGGER_TYPE_BEFORE, CHANGES);
	ListCell   *cell;

	if (!rows && !statements)
		report(guarded, "a trigger for INSERT, UPDATE or DELETE is missing");
	else if (!rows && guard_ddl_needs_rows(guarded->table, &guarded->terms))
		report(guarded, "no trigger sees each row, which a parent, a foreign key's action, replication, a stamp or the mode calls for");
	if (stamps && !covers(guarded->own, TRIGGER_TYPE_ROW, TRIGGER_TYPE_BEFORE,
						  TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE))
		report(guarded, "the trigger that stamps the fence is missing");
	if (!covers(guarded->own, 0, TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_TRUNCATE))
		report(guarded, "the trigger for TRUNCATE is missing");
	foreach(cell, guarded->own)
		check_enabled(guarded, lfirst(cell));
}

/* Whether a trigger of the guard says what the guard says. */
static void
check_arguments(Guarded *guarded, const GuardTrigger *trigger)
{
	const GuardTrigger *first = guarded->first;
	GuardFault	fault;
	GuardTerms	terms;

	if (!guard_terms_read(trigger->arguments, trigger->narguments, &terms, &fault))
		report(guarded, psprintf("trigger \"%s\" of %s: %s", trigger->name,
								 table_name(trigger->table), fault.message));
	else if (!guard_terms_same(trigger->arguments, trigger->narguments,
							   first->arguments, first->narguments))
		report(guarded, psprintf("trigger \"%s\" of %s has other arguments than \"%s\"",
								 trigger->name, table_name(trigger->table), first->name));
}

static void
check_column(Guarded *guarded, bool stamped)
{
	AttrNumber	number;
	GuardFault	fault;

	if (!guard_terms_find_column(guarded->table, &guarded->terms, stamped, &number, &fault))
		report(guarded, fault.message);
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
	char	   *truncate = guard_ddl_truncate_name(guarded->table);
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

		if (OidIsValid(trigger->parent) || guard_ddl_is_for_parent(trigger))
			check_enabled(guarded, trigger);
		if (strcmp(trigger->name, truncate) == 0)
			check_arguments(guarded, trigger);
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

/*
 * Find the trigger that stands for the guard, and read its terms: the first one
 * that is not there for a parent's sake, and of these one that can be read.
 */
static void
find_first(Guarded *guarded)
{
	ListCell   *cell;

	foreach(cell, guarded->own)
	{
		GuardTrigger *trigger = lfirst(cell);
		GuardFault	fault;

		if (guarded->readable || guard_ddl_is_for_parent(trigger))
			continue;
		if (guarded->first == NULL)
			guarded->first = trigger;
		guarded->readable = guard_terms_read(trigger->arguments, trigger->narguments,
											 &guarded->terms, &fault);
		if (guarded->readable)
			guarded->first = trigger;
	}
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
	if (guarded->readable)
	{
		const GuardTerms *terms = &guarded->terms;

		if (terms->per_value)
			set_name(values, nulls, GUARDS_NAME_COLUMN, terms->subject);
		else
			set_text(values, nulls, GUARDS_NAME, terms->subject);
		set_text(values, nulls, GUARDS_NAMESPACE, terms->namespace);
		if (terms->fence_column != NULL)
			set_name(values, nulls, GUARDS_FENCE_COLUMN, terms->fence_column);
		set_text(values, nulls, GUARDS_MODE, guard_terms_word(GUARD_MODE, terms));
		set_text(values, nulls, GUARDS_ENFORCEMENT, guard_terms_word(GUARD_ENFORCEMENT, terms));
		set_text(values, nulls, GUARDS_REPLICATION, guard_terms_word(GUARD_REPLICATION, terms));
	}
	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

static void
put_table(ReturnSetInfo *set, List *all, Oid table)
{
	Guarded		guarded = {.table = table,.all = all};
	ListCell   *cell;

	guarded.own = triggers_of(all, table, false);
	find_first(&guarded);
	if (guarded.first != NULL)
	{
		foreach(cell, guarded.own)
		{
			if (!guard_ddl_is_for_parent(lfirst(cell)))
				check_arguments(&guarded, lfirst(cell));
		}
		check_triggers(&guarded);
		if (guarded.readable && guarded.terms.per_value)
			check_column(&guarded, false);
		if (guarded.readable && guarded.terms.fence_column != NULL)
			check_column(&guarded, true);
		check_children(&guarded);
	}
	else if (guarded.own != NIL && !guard_ddl_is_beneath_guard(table))
		report(&guarded, "it was detached from what was guarded, and of that only TRUNCATE is left");
	else
		return;
	put(set, &guarded);
}

/* () */
Datum
lease_guards(PG_FUNCTION_ARGS)
{
	List	   *all = guard_ddl_triggers(InvalidOid);
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
