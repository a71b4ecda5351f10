/*
 * guard_terms.c
 *		What the arguments of a guard's triggers say, and whether a table has the
 *		columns for it.
 *
 * Promises: how a guard is written and read stands here alone, and what is
 * wrong with one is found here alone, as an answer: who makes a guard raises
 * it, who lists guards lists it, and whose guard only observes lets the write
 * through.  No table is locked.
 */
#include "lease.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "arguments.h"
#include "guard_terms.h"

static const char *const kinds[] = {"one", "per"};
static const char *const modes[] = {"current", "high_water", "both"};
static const char *const enforcements[] = {"enforce", "observe", "off"};
static const char *const replications[] = {"trust", "refuse"};

/* How an argument of the trigger is spelt. */
const char *
guard_terms_word(int argument, const GuardTerms *terms)
{
	switch (argument)
	{
		case GUARD_NAMESPACE:
			return terms->namespace;
		case GUARD_KIND:
			return kinds[terms->per_value];
		case GUARD_SUBJECT:
			return terms->subject;
		case GUARD_FENCE_COLUMN:
			return terms->fence_column == NULL ? "" : terms->fence_column;
		case GUARD_MODE:
			return modes[terms->mode];
		case GUARD_ENFORCEMENT:
			return enforcements[terms->enforcement];
		case GUARD_REPLICATION:
			return replications[terms->refuse_replication];
	}
	return "";
}

void
guard_terms_raise(const GuardFault *fault)
{
	ereport(ERROR,
			(errcode(fault->code),
			 errmsg_internal("%s", fault->message),
			 fault->detail == NULL ? 0 : errdetail_internal("%s", fault->detail),
			 fault->hint == NULL ? 0 : errhint("%s", fault->hint)));
}

static void
invalid(GuardFault *fault, const char *argument, const char *detail)
{
	if (guard_terms_broken(fault))
		return;
	fault->code = ERRCODE_INVALID_PARAMETER_VALUE;
	fault->message = psprintf("invalid %s", argument);
	fault->detail = detail;
}

static int
find_word(const char *word, const char *const *words, int nwords,
		  const char *argument, const char *detail, GuardFault *fault)
{
	int			i;

	for (i = 0; i < nwords; i++)
	{
		if (strcmp(word, words[i]) == 0)
			return i;
	}
	invalid(fault, argument, detail);
	return 0;
}

static void
check_text(const char *value, int max, const char *argument, GuardFault *fault)
{
	const char *detail = arguments_fault(cstring_to_text(value), max);

	if (detail != NULL)
		invalid(fault, argument, detail);
}

/*
 * Read a guard's words.  False, with the first fault (22023), where some mean
 * nothing; the terms are then those of a guard that enforces.
 */
bool
guard_terms_read(char **arguments, int narguments, GuardTerms *terms,
				 GuardFault *fault)
{
	memset(terms, 0, sizeof(GuardTerms));
	memset(fault, 0, sizeof(GuardFault));
	if (narguments != GUARD_ARGUMENTS)
	{
		invalid(fault, "trigger arguments", "They are namespace, 'one' or 'per', name or column, fence column or '', mode, enforcement, replication.");
		return false;
	}
	terms->namespace = arguments[GUARD_NAMESPACE];
	check_text(terms->namespace, LEASE_NAMESPACE_MAX, "namespace", fault);
	terms->per_value = find_word(arguments[GUARD_KIND], kinds, lengthof(kinds),
								 "kind of guard", "It is one of one and per.", fault) == 1;
	terms->subject = arguments[GUARD_SUBJECT];
	check_text(terms->subject, terms->per_value ? NAMEDATALEN - 1 : LEASE_NAME_MAX,
			   terms->per_value ? "name_column" : "name", fault);
	if (arguments[GUARD_FENCE_COLUMN][0] != '\0')
		terms->fence_column = arguments[GUARD_FENCE_COLUMN];
	if (terms->per_value && terms->fence_column != NULL &&
		strcmp(terms->subject, terms->fence_column) == 0)
		invalid(fault, "fence_column", "It must be another column than name_column: the fence would overwrite the name.");
	terms->mode = find_word(arguments[GUARD_MODE], modes, lengthof(modes), "mode",
							"It is one of current, high_water and both.", fault);
	terms->enforcement = find_word(arguments[GUARD_ENFORCEMENT], enforcements,
								   lengthof(enforcements), "enforcement",
								   "It is one of enforce, observe and off.", fault);
	terms->refuse_replication = find_word(arguments[GUARD_REPLICATION], replications,
										  lengthof(replications), "replication",
										  "It is one of trust and refuse.", fault) == 1;
	if (guard_terms_broken(fault))
		terms->enforcement = ENFORCEMENT_ENFORCE;
	return !guard_terms_broken(fault);
}

/* Whether two triggers say the same. */
bool
guard_terms_same(char **a, int na, char **b, int nb)
{
	int			i;

	for (i = 0; i < na && i < nb; i++)
	{
		if (strcmp(a[i], b[i]) != 0)
			return false;
	}
	return na == nb;
}

/*
 * Whether values of a type are known to be written alike in every session, so
 * that one value names one lease: of a type that an extension brings nobody
 * knows.  Values that are merely equal may name two, by their bytes: numerics
 * of different scales, texts under a lax collation.
 */
static bool
names_by(Oid type)
{
	switch (type)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
		case UUIDOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case BOOLOID:
			return true;
		default:
			return type_is_enum(type);
	}
}

/*
 * Find the column that names the leases, or the one that is stamped.  False,
 * with the fault, where it is not fit for that.
 */
bool
guard_terms_find_column(Oid table, const GuardTerms *terms, bool stamped,
						AttrNumber *number, GuardFault *fault)
{
	const char *column = stamped ? terms->fence_column : terms->subject;
	Oid			type;

	memset(fault, 0, sizeof(GuardFault));
	*number = get_attnum(table, column);
	if (*number <= 0)
	{
		fault->code = ERRCODE_UNDEFINED_COLUMN;
		fault->message = psprintf("column \"%s\" of table \"%s\" does not exist",
								  column, get_rel_name(table));
		fault->hint = "Call lease_guard() with a column that there is.";
		return false;
	}
	type = getBaseType(get_atttype(table, *number));
	if (stamped && type != INT8OID)
	{
		fault->code = ERRCODE_DATATYPE_MISMATCH;
		fault->message = psprintf("column \"%s\" of table \"%s\" is not of type bigint",
								  column, get_rel_name(table));
	}
	else if (!stamped && !names_by(type))
	{
		fault->code = ERRCODE_DATATYPE_MISMATCH;
		fault->message = psprintf("column \"%s\" of table \"%s\" cannot name leases",
								  column, get_rel_name(table));
		fault->detail = "Its type is not one of those whose values are known to be written alike in every session.";
		fault->hint = "Use a column of text, an integer, numeric, boolean, a uuid or an enum; a generated column can hold the value as text, if that does not depend on settings.";
	}
	else if (terms->fence_column != NULL && get_attgenerated(table, *number) != '\0')
	{
		fault->code = ERRCODE_FEATURE_NOT_SUPPORTED;
		fault->message = psprintf("column \"%s\" of table \"%s\" is generated, and fences cannot be stamped",
								  column, get_rel_name(table));
		fault->detail = "It has no value yet when the fence is written.";
	}
	return !guard_terms_broken(fault);
}
