/*
 * guard_ddl.c
 *		lease_guard and lease_unguard: making and removing a guard's triggers.
 *
 * Promises: a guard is nothing but triggers, made as CREATE TRIGGER makes them
 * and fired always; so it is dumped, restored and dropped with its table, and
 * DROP EXTENSION is refused while one stands.  Guarding a table again replaces
 * what there was, and mends what was loosened.
 *
 * Which triggers: one for the statement where that is enough, since it costs
 * nothing a row; else one AFTER each row, which sees the row as it was stored
 * and whether one was; a BEFORE one where the fence is stamped; and one for
 * TRUNCATE on the table and on each partition, which inherit none.
 *
 * Locks: the table's, SHARE ROW EXCLUSIVE as for CREATE TRIGGER, and ACCESS
 * EXCLUSIVE where triggers are replaced.
 */
#include "lease.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "arguments.h"
#include "error.h"
#include "guard_ddl.h"
#include "guard_terms.h"
#include "policy.h"
#include "rows.h"

PG_FUNCTION_INFO_V1(lease_guard);
PG_FUNCTION_INFO_V1(lease_unguard);

static List *
function_name(void)
{
	return list_make2(makeString(get_namespace_name(rows_extension_schema())),
					  makeString(pstrdup("lease_fence_check")));
}

/* The trigger function's OID. */
static Oid
trigger_function(void)
{
	return LookupFuncName(function_name(), 0, NULL, false);
}

/* The arguments of a trigger, which are on record one after the other. */
static char **
split_arguments(HeapTuple tuple, TupleDesc columns, int narguments)
{
	char	  **arguments = palloc(sizeof(char *) * Max(narguments, 1));
	bool		isnull;
	bytea	   *value;
	char	   *next;
	int			i;

	value = DatumGetByteaPP(fastgetattr(tuple, Anum_pg_trigger_tgargs, columns, &isnull));
	next = VARDATA_ANY(value);
	for (i = 0; i < narguments; i++)
	{
		arguments[i] = pstrdup(next);
		next += strlen(next) + 1;
	}
	return arguments;
}

static GuardTrigger *
read_trigger(HeapTuple tuple, TupleDesc columns)
{
	Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
	GuardTrigger *trigger = palloc0(sizeof(GuardTrigger));

	trigger->oid = form->oid;
	trigger->table = form->tgrelid;
	trigger->parent = form->tgparentid;
	trigger->type = form->tgtype;
	trigger->enabled = form->tgenabled;
	trigger->conditional = form->tgattr.dim1 > 0 ||
		!heap_attisnull(tuple, Anum_pg_trigger_tgqual, columns);
	trigger->name = pstrdup(NameStr(form->tgname));
	trigger->narguments = form->tgnargs;
	trigger->arguments = split_arguments(tuple, columns, form->tgnargs);
	return trigger;
}

/*
 * The guards' triggers (GuardTrigger *) of a table, or of all tables where it
 * is invalid; no table is locked.
 */
List *
guard_ddl_triggers(Oid table)
{
	Oid			function = trigger_function();
	Relation	triggers = table_open(TriggerRelationId, AccessShareLock);
	List	   *found = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(triggers, TriggerRelidNameIndexId, true, NULL,
							  OidIsValid(table) ? 1 : 0, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (((Form_pg_trigger) GETSTRUCT(tuple))->tgfoid == function)
			found = lappend(found, read_trigger(tuple, RelationGetDescr(triggers)));
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	return found;
}

/*
 * The name of a trigger that the partitions of a table have for its sake, or
 * copies of: another than those of their own guards, and the same after a
 * restore.
 */
static char *
name_for(const char *trigger, Oid table)
{
	char	   *name = get_rel_name(table);

	/* who only looks has no lock on it, and it may be gone */
	if (name == NULL)
		return pstrdup(trigger);
	name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name);
	return psprintf("%s_%08x", trigger,
					(uint32) hash_bytes_extended((const unsigned char *) name, strlen(name), 0));
}

/* Whether a foreign key may change or delete the table's rows by itself. */
static bool
has_foreign_key_action(Oid table)
{
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);
	bool		found = false;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(constraints, ConstraintRelidTypidNameIndexId, true,
							  NULL, 1, &key);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);

		found = form->contype == CONSTRAINT_FOREIGN &&
			(strchr("cnd", form->confupdtype) != NULL ||
			 strchr("cnd", form->confdeltype) != NULL);
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
	return found;
}

/*
 * Whether a guard of this table has to look at each row.  The statement is
 * enough for one lease on a plain table: but its trigger does not fire for
 * what comes through a parent or through replication, and does not know
 * whether a row was changed, which a high-water mark and the action of a
 * foreign key want to know.
 */
bool
guard_ddl_needs_rows(Oid table, const GuardTerms *terms)
{
	return terms->per_value || terms->fence_column != NULL ||
		terms->mode == PROOF_HIGH_WATER || terms->refuse_replication ||
		get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE ||
		has_superclass(table) || has_foreign_key_action(table);
}

static void
create_trigger(Relation table, const char *name, const GuardTerms *terms,
			   bool row, int16 timing, int16 events)
{
	CreateTrigStmt *statement = makeNode(CreateTrigStmt);
	int			i;

	statement->trigname = pstrdup(name);
	statement->relation = makeRangeVar(get_namespace_name(RelationGetNamespace(table)),
									   pstrdup(RelationGetRelationName(table)), -1);
	statement->funcname = function_name();
	for (i = 0; i < GUARD_ARGUMENTS; i++)
		statement->args = lappend(statement->args,
								  makeString(pstrdup(guard_terms_word(i, terms))));
	statement->row = row;
	statement->timing = timing;
	statement->events = events;
	(void) CreateTriggerFiringOn(statement, "", RelationGetRelid(table), InvalidOid,
								 InvalidOid, InvalidOid, InvalidOid, InvalidOid,
								 NULL, false, false, TRIGGER_FIRES_ALWAYS);
	CommandCounterIncrement();
}

/* The name of the trigger for TRUNCATE that partitions have for a table's sake. */
char *
guard_ddl_truncate_name(Oid table)
{
	return name_for(GUARD_TRIGGER_TRUNCATE, table);
}

/* Whether a trigger is there for a parent's sake, not for its table's own guard. */
bool
guard_ddl_is_for_parent(const GuardTrigger *trigger)
{
	return strncmp(trigger->name, GUARD_TRIGGER_TRUNCATE "_",
				   strlen(GUARD_TRIGGER_TRUNCATE "_")) == 0;
}

/* Whether it is there for a parent that the table still has, by its name. */
static bool
has_parent_of(const GuardTrigger *trigger)
{
	ListCell   *cell;

	if (!get_rel_relispartition(trigger->table))
		return false;
	foreach(cell, get_partition_ancestors(trigger->table))
	{
		if (strcmp(trigger->name, guard_ddl_truncate_name(lfirst_oid(cell))) == 0)
			return true;
	}
	return false;
}

/* Whether a table has triggers of its own that make it a guarded one. */
static bool
has_guard(Oid table)
{
	ListCell   *cell;

	foreach(cell, guard_ddl_triggers(table))
	{
		const GuardTrigger *trigger = lfirst(cell);

		if (!OidIsValid(trigger->parent) && !guard_ddl_is_for_parent(trigger))
			return true;
	}
	return false;
}

/* Whether a table is a partition, however deep, of one that has a guard. */
bool
guard_ddl_is_beneath_guard(Oid table)
{
	ListCell   *cell;

	if (!get_rel_relispartition(table))
		return false;
	foreach(cell, get_partition_ancestors(table))
	{
		if (has_guard(lfirst_oid(cell)))
			return true;
	}
	return false;
}

/*
 * Whether a trigger goes with a guard: of the guarded table, where no name is
 * given, or of a partition of it, where that is the name of what it has for
 * the guard's sake.  Copies of a parent's go with theirs.  What a parent had
 * that is none any more goes too; what a renamed one has looks like it, so it
 * stays beneath another guard.
 */
static bool
goes_with_guard(const GuardTrigger *trigger, const char *name, bool beneath)
{
	if (OidIsValid(trigger->parent))
		return false;
	if (!guard_ddl_is_for_parent(trigger))
		return name == NULL;
	if (name != NULL && strcmp(trigger->name, name) == 0)
		return true;
	return !beneath && !has_parent_of(trigger);
}

/* Remove those of a table; answers whether there was any. */
static bool
drop_triggers(Oid table, const char *name, bool beneath)
{
	bool		dropped = false;
	ListCell   *cell;

	foreach(cell, guard_ddl_triggers(table))
	{
		GuardTrigger *trigger = lfirst(cell);
		ObjectAddress address;

		if (!goes_with_guard(trigger, name, beneath))
			continue;
		ObjectAddressSet(address, TriggerRelationId, trigger->oid);
		performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
		CommandCounterIncrement();
		dropped = true;
	}
	return dropped;
}

/*
 * Remove a table's guard, with what its partitions have for its sake; answers
 * whether there was anything of it.
 */
static bool
drop_guard(Relation table)
{
	char	   *name = guard_ddl_truncate_name(RelationGetRelid(table));
	bool		beneath = guard_ddl_is_beneath_guard(RelationGetRelid(table));
	bool		dropped = drop_triggers(RelationGetRelid(table), NULL, beneath);
	ListCell   *cell;

	if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return dropped;
	foreach(cell, find_all_inheritors(RelationGetRelid(table), ShareRowExclusiveLock, NULL))
	{
		if (lfirst_oid(cell) != RelationGetRelid(table))
			dropped = drop_triggers(lfirst_oid(cell), name, beneath) || dropped;
	}
	return dropped;
}

static void
create_partitions_truncate(Relation table, const GuardTerms *terms)
{
	char	   *name = guard_ddl_truncate_name(RelationGetRelid(table));
	ListCell   *cell;

	foreach(cell, find_all_inheritors(RelationGetRelid(table), ShareRowExclusiveLock, NULL))
	{
		Oid			oid = lfirst_oid(cell);
		Relation	partition;

		if (get_rel_relkind(oid) != RELKIND_RELATION)
			continue;
		partition = table_open(oid, NoLock);
		create_trigger(partition, name, terms, false, TRIGGER_TYPE_BEFORE,
					   TRIGGER_TYPE_TRUNCATE);
		table_close(partition, NoLock);
	}
}

static void
create_guard(Relation table, const GuardTerms *terms)
{
	const int16 changes = TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE;
	bool		rows = guard_ddl_needs_rows(RelationGetRelid(table), terms);
	bool		partitioned = table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;

	if (rows)
		create_trigger(table, partitioned ?
					   name_for(GUARD_TRIGGER_ROW, RelationGetRelid(table)) :
					   GUARD_TRIGGER_ROW, terms, true, TRIGGER_TYPE_AFTER, changes);
	else
		create_trigger(table, GUARD_TRIGGER_STATEMENT, terms, false,
					   TRIGGER_TYPE_BEFORE, changes);
	if (terms->fence_column != NULL)
		create_trigger(table, partitioned ?
					   name_for(GUARD_TRIGGER_STAMP, RelationGetRelid(table)) :
					   GUARD_TRIGGER_STAMP, terms, true, TRIGGER_TYPE_BEFORE,
					   TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE);
	create_trigger(table, GUARD_TRIGGER_TRUNCATE, terms, false, TRIGGER_TYPE_BEFORE,
				   TRIGGER_TYPE_TRUNCATE);
	if (partitioned)
		create_partitions_truncate(table, terms);
}

/* Open the table that is to be guarded, for its owner. */
static Relation
open_target(FunctionCallInfo fcinfo, const char *function)
{
	Relation	table;
	char	   *schema;

	PreventCommandIfReadOnly(function);
	if (PG_ARGISNULL(0))
		error_null("target");
	/* who may not have it locks nobody out either */
	if (!compat_owns_table(PG_GETARG_OID(0), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(PG_GETARG_OID(0)));
	table = try_table_open(PG_GETARG_OID(0), ShareRowExclusiveLock);
	if (table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u does not exist", PG_GETARG_OID(0))));
	if (!compat_owns_table(RelationGetRelid(table), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(table));
	schema = get_namespace_name(RelationGetNamespace(table));
	if ((table->rd_rel->relkind != RELKIND_RELATION &&
		 table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE) ||
		IsSystemRelation(table) ||
		strcmp(schema, "information_schema") == 0 || strcmp(schema, LEASE_SCHEMA) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be guarded", RelationGetRelationName(table)),
				 errdetail("Tables and partitioned tables can, but none of the server's and of the extension's own.")));
	return table;
}

static char *
optional_column(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(n)));
}

static char *
given_word(FunctionCallInfo fcinfo, int n, const char *argument)
{
	if (PG_ARGISNULL(n))
		error_null(argument);
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* The columns must be there, and fit for what they are to do. */
static void
check_columns(Relation table, const GuardTerms *terms)
{
	AttrNumber	number;
	GuardFault	fault;

	if ((terms->per_value &&
		 !guard_terms_find_column(RelationGetRelid(table), terms, false, &number, &fault)) ||
		(terms->fence_column != NULL &&
		 !guard_terms_find_column(RelationGetRelid(table), terms, true, &number, &fault)))
		guard_terms_raise(&fault);
}

/*
 * (target, name, name_column, namespace, fence_column, mode, enforcement,
 * replication)
 */
Datum
lease_guard(PG_FUNCTION_ARGS)
{
	char	   *arguments[GUARD_ARGUMENTS];
	char	   *name_column = optional_column(fcinfo, 2);
	char	   *fence_column = optional_column(fcinfo, 4);
	GuardTerms	kind = {.per_value = name_column != NULL};
	GuardTerms	terms;
	GuardFault	fault;
	Relation	table;

	if (PG_ARGISNULL(1) == (name_column == NULL))
		error_invalid("name", "One of name and name_column must be given, and not both.");
	arguments[GUARD_NAMESPACE] = given_word(fcinfo, 3, "namespace");
	arguments[GUARD_KIND] = pstrdup(guard_terms_word(GUARD_KIND, &kind));
	arguments[GUARD_SUBJECT] = name_column == NULL ? given_word(fcinfo, 1, "name") : name_column;
	arguments[GUARD_FENCE_COLUMN] = fence_column == NULL ? pstrdup("") : fence_column;
	arguments[GUARD_MODE] = given_word(fcinfo, 5, "mode");
	arguments[GUARD_ENFORCEMENT] = given_word(fcinfo, 6, "enforcement");
	arguments[GUARD_REPLICATION] = given_word(fcinfo, 7, "replication");
	if (!guard_terms_read(arguments, GUARD_ARGUMENTS, &terms, &fault))
		guard_terms_raise(&fault);

	table = open_target(fcinfo, "lease_guard");
	policy_authorize(cstring_to_text(terms.namespace), PRIVILEGE_USE);
	check_columns(table, &terms);
	(void) drop_guard(table);
	create_guard(table, &terms);
	table_close(table, NoLock);
	PG_RETURN_VOID();
}

/* (target) */
Datum
lease_unguard(PG_FUNCTION_ARGS)
{
	Relation	table = open_target(fcinfo, "lease_unguard");
	bool		guarded = drop_guard(table);

	table_close(table, NoLock);
	PG_RETURN_BOOL(guarded);
}
