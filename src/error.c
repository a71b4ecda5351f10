/*
 * error.c
 *		The errors that more than one part raises, each with one SQLSTATE.
 *
 * Contention and a lost lease are answers to a verb, never errors: what is here
 * is misuse, a missing privilege, the end of a number's range, and a write that
 * must not happen under its token.
 */
#include "lease.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "error.h"

/* One line a refusal: its SQLSTATE, what is wrong, and what to do. */
static const struct
{
	int			code;
	const char *message;
	const char *hint;
}			refusals[] = {

	[REFUSAL_STALE_FENCE] = {MAKE_SQLSTATE('L', 'E', '0', '0', '1'),
		"stale fence: a later epoch is on record",
	"Stop working: somebody else may have begun."},
	[REFUSAL_EXPIRED] = {MAKE_SQLSTATE('L', 'E', '0', '0', '2'),
		"the lease has expired",
	"Stop working, or claim anew."},
	[REFUSAL_NO_TOKEN] = {MAKE_SQLSTATE('L', 'E', '0', '0', '3'),
		"no token was presented for what is guarded",
	"Call lease_present() in the same transaction, or set lease.token."},
	[REFUSAL_NO_NAME] = {MAKE_SQLSTATE('L', 'E', '0', '0', '3'),
		"a guarded row names no lease",
	"Store a name in the column that the guard goes by.  A row that has none already can be mended once the table's owner has called lease_unguard()."},
	[REFUSAL_TRUNCATE] = {MAKE_SQLSTATE('L', 'E', '0', '0', '3'),
		"a table whose rows have leases of their own cannot be truncated",
	"DELETE the rows under the tokens of their leases, or let the table's owner call lease_unguard(), TRUNCATE it and guard it anew."},
	[REFUSAL_REPLICATED] = {MAKE_SQLSTATE('L', 'E', '0', '0', '3'),
		"the guard refuses what replication brings",
	"Take the table out of the subscription, or guard it with replication => 'trust'."},
	[REFUSAL_NOT_OWNER] = {MAKE_SQLSTATE('L', 'E', '0', '0', '4'),
		"the fence is another owner's",
	"Stop working: the token is not yours."},
	[REFUSAL_BELOW_MARK] = {MAKE_SQLSTATE('L', 'E', '0', '0', '5'),
		"the fence is below the high-water mark",
	"Stop working: a later epoch has written here."},
	[REFUSAL_UNKNOWN_FENCE] = {MAKE_SQLSTATE('L', 'E', '0', '0', '6'),
		"unknown fence: this history has not granted it",
	"Stop working, and tell an operator: committed grants have been lost."},
	[REFUSAL_NOT_FOUND] = {MAKE_SQLSTATE('L', 'E', '0', '0', '6'),
		"there is no such lease",
	"Claim it first.  Where leases are kept in another database, guard the table in the mode high_water."},
	[REFUSAL_BUSY] = {MAKE_SQLSTATE('L', 'E', '0', '0', '7'),
		"busy: the lease is being changed, or written under another fence, by a transaction in flight",
	"Nothing was decided: try again."},
	[REFUSAL_ENDED] = {MAKE_SQLSTATE('L', 'E', '0', '0', '8'),
		"the epoch has ended",
	"Stop working, or claim anew."},
	[REFUSAL_ON_HOLD] = {MAKE_SQLSTATE('L', 'E', '0', '0', '9'),
		"an operator has stopped the epoch",
	"Stop working, unless you know that the hold will be taken back in time."},
	[REFUSAL_CANCELLED] = {MAKE_SQLSTATE('L', 'E', '0', '0', '9'),
		"an operator has cancelled the epoch, and its deadline is past",
	"Stop working: nothing brings the epoch back."},
	[REFUSAL_NO_PRIVILEGE] = {ERRCODE_INSUFFICIENT_PRIVILEGE,
		"permission denied for the namespace of the lease",
	"The extension's owner can grant it with lease_grant()."},
	[REFUSAL_MALFORMED] = {ERRCODE_INVALID_PARAMETER_VALUE,
		"invalid lease.token",
	"Set it to what lease_token() makes."},
	[REFUSAL_READ_ONLY] = {ERRCODE_READ_ONLY_SQL_TRANSACTION,
		"a token cannot be proved in a read-only transaction",
	"Write to what is guarded, also to a temporary table, in another."},
	[REFUSAL_STAMP_CHANGED] = {ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION,
		"the fence was changed after it was stamped",
	"A trigger that comes later wrote the column, or gave the row to another lease."},
};

int
error_refused_code(Refusal refusal)
{
	return refusals[refusal].code;
}

const char *
error_refused_message(Refusal refusal)
{
	return refusals[refusal].message;
}

/*
 * What there is to say about a refusal.  The name may come from a column that
 * who reads this may not read, and the fence from a token that is not his.
 */
static const char *
refused_detail(const Refused *refused)
{
	StringInfoData detail;

	initStringInfo(&detail);
	if (refused->table != NULL)
		appendStringInfo(&detail, "Table \"%s\": ", refused->table);
	if (refused->key == NULL)
		appendStringInfoString(&detail, "a lease that is not named");
	else if (refused->concealed)
		appendStringInfo(&detail, "a lease of namespace \"%s\"",
						 text_to_cstring(refused->key->namespace));
	else
		appendStringInfo(&detail, "lease \"%s\" of namespace \"%s\"",
						 text_to_cstring(refused->key->name),
						 text_to_cstring(refused->key->namespace));
	if (refused->how != NULL)
		appendStringInfo(&detail, ": %s", refused->how);
	if (refused->has_fence && !refused->concealed)
		appendStringInfo(&detail, "; fence " INT64_FORMAT " was presented", refused->fence);
	if (refused->has_current && !refused->concealed)
		appendStringInfo(&detail, ", " INT64_FORMAT " is on record", refused->current);
	if (detail.data[detail.len - 1] != '.')
		appendStringInfoChar(&detail, '.');
	detail.data[0] = pg_toupper((unsigned char) detail.data[0]);
	return detail.data;
}

/* A write that must not happen: LE001 to LE009. */
void
error_refused(const Refused *refused)
{
	ereport(ERROR,
			(errcode(error_refused_code(refused->refusal)),
			 errmsg("%s", refusals[refused->refusal].message),
			 errdetail_internal("%s", refused_detail(refused)),
			 errhint("%s", refusals[refused->refusal].hint)));
}

/* 39P01: called by hand, and not as a trigger. */
void
error_no_trigger(const char *function)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("function \"%s\" must be called as a trigger", function)));
}

/* 22004: NULL where a value is needed. */
void
error_null(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", argument)));
}

/* 22023: a value that can never be right. */
void
error_invalid(const char *argument, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid %s", argument),
			 errdetail_internal("%s", detail)));
}

/* 22003: the next fence or version would not fit. */
void
error_exhausted(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("the lease has reached the end of its numbers"),
			 errdetail("Its fence or version is the greatest bigint, and the next one would have to be greater."),
			 errhint("Use another name.")));
}

/* 42704: for those who would be allowed to know. */
void
error_no_namespace(const text *namespace)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("namespace \"%s\" does not exist",
					text_to_cstring(namespace))));
}

/* 42501: the same words whether or not the namespace exists. */
void
error_no_privilege(const text *namespace, const char *privilege)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for namespace \"%s\"",
					text_to_cstring(namespace)),
			 errhint("The extension's owner can grant it: SELECT lease_grant(%s, %s, '%s').",
					 quote_literal_cstr(text_to_cstring(namespace)),
					 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)),
					 privilege)));
}
