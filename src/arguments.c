/*
 * arguments.c
 *		The arguments of SQL functions, checked.
 *
 * What a caller can send gets an error here, or is a value that the rest may
 * rely on: never NULL where a value is needed, a text of the promised length
 * that prints on one line, a length of time that does not depend on the
 * calendar.
 */
#include "lease.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

#include "arguments.h"
#include "clock.h"
#include "compat.h"
#include "error.h"

/* Below a space, delete, or in UTF-8 the second set, U+0080 to U+009F. */
static bool
has_control_utf8(const unsigned char *data, int len)
{
	int			i;

	for (i = 0; i < len; i++)
	{
		if (data[i] < ' ' || data[i] == 0x7F)
			return true;
		if (data[i] == 0xC2 && i + 1 < len && data[i + 1] < 0xA0)
			return true;
	}
	return false;
}

/*
 * Whether a text has a control character.  What is one in UTF-8 is one in
 * every encoding, so that a dump can be restored in any.
 */
static bool
has_control(const char *data, int len)
{
	char	   *utf8;

	if (GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII)
		return has_control_utf8((const unsigned char *) data, len);
	utf8 = pg_server_to_any(pnstrdup(data, len), len, PG_UTF8);
	return has_control_utf8((const unsigned char *) utf8, strlen(utf8));
}

static bool
is_blank(const char *data, int len)
{
	int			i;

	for (i = 0; i < len; i++)
	{
		if (data[i] != ' ')
			return false;
	}
	return true;
}

/* What is wrong with a text that is to name something; NULL where nothing is. */
const char *
arguments_fault(const text *value, int max)
{
	RuleText	bytes = lease_text(value);

	if (bytes.len > max)
		return psprintf("It may be up to %d bytes long.", max);
	if (is_blank(bytes.data, bytes.len))
		return "It must not be empty or blank.";
	if (has_control(bytes.data, bytes.len))
		return "It must not have control characters.";
	return NULL;
}

/* A text that names something: 1 to max bytes, not blank, no control. */
text *
arguments_text(FunctionCallInfo fcinfo, int n, const char *argument, int max)
{
	text	   *value;
	const char *fault;

	if (PG_ARGISNULL(n))
		error_null(argument);
	value = PG_GETARG_TEXT_PP(n);
	fault = arguments_fault(value, max);
	if (fault != NULL)
		error_invalid(argument, fault);
	return value;
}

void
arguments_key(FunctionCallInfo fcinfo, int name, int namespace, LeaseKey *key)
{
	key->namespace = arguments_text(fcinfo, namespace, "namespace", LEASE_NAMESPACE_MAX);
	key->name = arguments_text(fcinfo, name, "name", LEASE_NAME_MAX);
}

text *
arguments_namespace(FunctionCallInfo fcinfo, int n)
{
	return arguments_text(fcinfo, n, "namespace", LEASE_NAMESPACE_MAX);
}

RuleText
arguments_owner(FunctionCallInfo fcinfo, int n)
{
	return lease_text(arguments_text(fcinfo, n, "owner", LEASE_OWNER_MAX));
}

Name
arguments_role(FunctionCallInfo fcinfo, int n)
{
	if (PG_ARGISNULL(n))
		error_null("role");
	return PG_GETARG_NAME(n);
}

/*
 * One that is compared with what is on record.  Any bigint: one that was never
 * granted has an answer of its own.
 */
int64
arguments_fence(FunctionCallInfo fcinfo, int n, const char *argument)
{
	if (PG_ARGISNULL(n))
		error_null(argument);
	return PG_GETARG_INT64(n);
}

/* One that is kept, as a mark, a floor or a token's: not negative. */
int64
arguments_kept_fence(FunctionCallInfo fcinfo, int n, const char *argument)
{
	int64		fence = arguments_fence(fcinfo, n, argument);

	if (fence < 0)
		error_invalid(argument, "It must not be negative.");
	return fence;
}

/* How many, at least one. */
int32
arguments_count(FunctionCallInfo fcinfo, int n, const char *argument)
{
	if (PG_ARGISNULL(n))
		error_null(argument);
	if (PG_GETARG_INT32(n) < 1)
		error_invalid(argument, "It must be at least 1.");
	return PG_GETARG_INT32(n);
}

pg_uuid_t *
arguments_optional_uuid(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : PG_GETARG_UUID_P(n);
}

/*
 * A length of time in microseconds; false where it is NULL.  Months and years
 * are refused, also where days make up for them: how long they are depends on
 * when.
 */
bool
arguments_length(FunctionCallInfo fcinfo, int n, const char *argument,
				 LengthFloor floor, int64 *length)
{
	Interval   *interval;

	if (PG_ARGISNULL(n))
		return false;
	interval = PG_GETARG_INTERVAL_P(n);
	if (INTERVAL_NOT_FINITE(interval))
		error_invalid(argument, "It must be finite.");
	if (interval->month != 0)
		error_invalid(argument, "It must be of fixed length: days, hours, minutes and seconds, no months or years.");
	*length = clock_from_interval(interval);
	if (*length < (floor == LENGTH_POSITIVE ? 1 : 0))
		error_invalid(argument, floor == LENGTH_POSITIVE ?
					  "It must be longer than zero." :
					  "It must not be negative.");
	return true;
}

/* A length of time that must be given. */
int64
arguments_given_length(FunctionCallInfo fcinfo, int n, const char *argument,
					   LengthFloor floor)
{
	int64		length;

	if (!arguments_length(fcinfo, n, argument, floor, &length))
		error_null(argument);
	return length;
}

/*
 * A length of time that no namespace bounds.  So that what it ends in is still
 * an instant, it is held at a hundred years.
 */
bool
arguments_span(FunctionCallInfo fcinfo, int n, const char *argument,
			   LengthFloor floor, int64 *length)
{
	if (!arguments_length(fcinfo, n, argument, floor, length))
		return false;
	*length = Min(*length, LEASE_SPAN_MAX);
	return true;
}

/* As arguments_text(), but NULL where it is NULL. */
text *
arguments_optional_text(FunctionCallInfo fcinfo, int n, const char *argument, int max)
{
	return PG_ARGISNULL(n) ? NULL : arguments_text(fcinfo, n, argument, max);
}

bool
arguments_bool(FunctionCallInfo fcinfo, int n, const char *argument)
{
	if (PG_ARGISNULL(n))
		error_null(argument);
	return PG_GETARG_BOOL(n);
}

/* A jsonb; false where it is NULL. */
bool
arguments_document(FunctionCallInfo fcinfo, int n, Datum *document)
{
	if (PG_ARGISNULL(n))
		return false;
	*document = JsonbPGetDatum(PG_GETARG_JSONB_P(n));
	return true;
}
