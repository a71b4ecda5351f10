/*
 * settings.c
 *		The settings lease.*, alphabetically.
 *
 * All but lease.token are a superuser's: a worker must not be able to stretch
 * what the server allows, nor to move the clock by which others are judged.
 */
#include "lease.h"

#include <limits.h>
#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "settings.h"
#include "token_text.h"

/* 9999-12-31 in seconds since 1970: far from the end of what timestamptz holds */
#define CLOCK_MAX_SECONDS INT64CONST(253402300799)

#define UNIX_EPOCH \
	((TimestampTz) (UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY)

int			settings_enforcement = ENFORCEMENT_ENFORCE;
int			settings_history_retention;
int			settings_lock_wait;
int			settings_max_ttl;
int			settings_max_wait;
int			settings_poll_push;
int			settings_request_retention;
char	   *settings_token = NULL;

/* How often lease.token has been set, or gone back to what it was. */
uint64		settings_token_changes = 0;

static const struct config_enum_entry enforcements[] = {
	{"enforce", ENFORCEMENT_ENFORCE, false},
	{"observe", ENFORCEMENT_OBSERVE, false},
	{"off", ENFORCEMENT_OFF, false},
	{NULL, 0, false}
};

static char *clock_string = NULL;
static TimestampTz *clock_instant = NULL;

/* The instant that lease.clock says; false where it is empty. */
bool
settings_clock(TimestampTz *instant)
{
	if (clock_instant == NULL)
		return false;
	*instant = *clock_instant;
	return true;
}

/* Digits with at most one point among them: seconds since 1970. */
static bool
parse_seconds(const char *text, TimestampTz *instant)
{
	double		seconds;

	if (text[strspn(text, "0123456789.")] != '\0' ||
		strchr(text, '.') != strrchr(text, '.') || strcmp(text, ".") == 0)
		return false;
	seconds = strtod(text, NULL);
	if (seconds > CLOCK_MAX_SECONDS)
		*instant = DT_NOEND;
	else
		*instant = UNIX_EPOCH + (TimestampTz) rint(seconds * USECS_PER_SEC);
	return true;
}

/* Whether it means another instant each time that it is read. */
static bool
is_relative(const char *text)
{
	static const char *const words[] = {"now", "today", "tomorrow", "yesterday"};
	char	   *lower = pstrdup(text);
	bool		found = false;
	int			i;

	for (i = 0; lower[i] != '\0'; i++)
		lower[i] = pg_tolower((unsigned char) lower[i]);
	for (i = 0; i < lengthof(words); i++)
		found = found || strstr(lower, words[i]) != NULL;
	pfree(lower);
	return found;
}

/*
 * A hook must not throw, since it also runs where the configuration file is
 * read, and timestamptz's input function has no other way to say no; it takes
 * nothing that would have to be given back.
 */
static bool
parse_timestamptz(const char *text, TimestampTz *instant)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile bool parsed = true;

	PG_TRY();
	{
		*instant = DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in,
														   CStringGetDatum(text),
														   ObjectIdGetDatum(InvalidOid),
														   Int32GetDatum(-1)));
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		FlushErrorState();
		parsed = false;
	}
	PG_END_TRY();
	return parsed;
}

static bool
check_clock(char **newval, void **extra, GucSource source)
{
	TimestampTz instant;

	(void) source;
	if (*newval == NULL || **newval == '\0')
		return true;
	if (!parse_seconds(*newval, &instant) &&
		(is_relative(*newval) || !parse_timestamptz(*newval, &instant)))
	{
		GUC_check_errdetail("It is a number of seconds since 1970-01-01 00:00 UTC, or a timestamptz.");
		return false;
	}
	if (instant < UNIX_EPOCH ||
		instant > UNIX_EPOCH + CLOCK_MAX_SECONDS * USECS_PER_SEC)
	{
		GUC_check_errdetail("It must lie between the years 1970 and 9999.");
		return false;
	}
	*extra = compat_guc_malloc(sizeof(TimestampTz));
	if (*extra == NULL)
		return false;
	*(TimestampTz *) *extra = instant;
	return true;
}

static void
assign_clock(const char *newval, void *extra)
{
	(void) newval;
	clock_instant = extra;
}

static bool
check_token(char **newval, void **extra, GucSource source)
{
	const char *cursor = *newval;
	TokenText	token;
	bool		valid = true;

	(void) extra;
	(void) source;
	if (cursor == NULL)
		return true;
	while (valid && token_text_next(&cursor, &token, &valid))
		continue;
	if (!valid)
		GUC_check_errdetail("It is a list of tokens as lease_token() makes them, separated by spaces.");
	return valid;
}

static void
assign_token(const char *newval, void *extra)
{
	(void) newval;
	(void) extra;
	settings_token_changes++;
}

void
settings_define(void)
{
	/*
	 * Replaces the clock by which leases are judged, so that tests of this
	 * extension, and of what is built on it, need not wait.  It stands still
	 * until it is set again.  Every session that decides about a lease must
	 * see the same one: set it for the database or the server, not for one of
	 * two sessions.  Never set it where leases protect something.
	 */
	DefineCustomStringVariable("lease.clock",
							   "Replaces the clock by which leases are judged.",
							   "A number of seconds since 1970-01-01 00:00 UTC, or a timestamptz; empty is the server's clock.",
							   &clock_string,
							   "",
							   PGC_SUSET,
							   0,
							   check_clock, assign_clock, NULL);

	/*
	 * The way back when a rollout of guards goes wrong: "observe" lets
	 * through and logs what guards refuse, "off" switches them off, both for
	 * the whole server or for one role or database.  It weakens what the
	 * guards themselves say and never strengthens it.  Normally "enforce".
	 */
	DefineCustomEnumVariable("lease.enforcement",
							 "The most that guards may do: enforce, observe or off.",
							 NULL,
							 &settings_enforcement,
							 ENFORCEMENT_ENFORCE,
							 enforcements,
							 PGC_SUSET,
							 0,
							 NULL, NULL, NULL);

	/*
	 * How long an ended epoch stays in lease_history.  Long enough that
	 * whoever looks into yesterday's incident finds it; the table grows by a
	 * row a grant, so a busy server may want less.
	 */
	DefineCustomIntVariable("lease.history_retention",
							"How long ended epochs are kept in lease_history.",
							NULL,
							&settings_history_retention,
							7 * SECS_PER_DAY,
							0, INT_MAX,
							PGC_SUSET,
							GUC_UNIT_S,
							NULL, NULL, NULL);

	/*
	 * How long a verb of a holder or an operator waits for a row that another
	 * transaction has locked, and a guarded write, lease_admit and
	 * lease_mark_reset for those who are in the way.  Renewals lock for a
	 * millisecond or so; what waits longer waits for a transaction that
	 * somebody left open.  Keep it well below the shortest ttl in use, so
	 * that a worker hears "busy" while there is time left to ask again; 0
	 * never waits.
	 */
	DefineCustomIntVariable("lease.lock_wait",
							"How long a verb waits for a locked row, and a guarded write for other transactions, before it is told busy.",
							"Claims, takeovers and polls have their wait instead, and batches do not wait.",
							&settings_lock_wait,
							1000,
							0, INT_MAX,
							PGC_SUSET,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	/*
	 * The longest ttl that any namespace can allow, and so the longest that
	 * work can stand still behind an owner that has died.  A namespace's own
	 * max_ttl is usually far below.
	 */
	DefineCustomIntVariable("lease.max_ttl",
							"The longest ttl that any namespace can allow.",
							NULL,
							&settings_max_ttl,
							SECS_PER_DAY,
							1, INT_MAX,
							PGC_SUSET,
							GUC_UNIT_S,
							NULL, NULL, NULL);

	/*
	 * The longest that one call of lease_claim, lease_takeover or lease_poll
	 * may wait.  A waiting call keeps its connection, its snapshot and a
	 * pooler's slot, so raise it only where those are plenty.
	 */
	DefineCustomIntVariable("lease.max_wait",
							"The longest that a claim, takeover or poll may wait.",
							NULL,
							&settings_max_wait,
							60 * 1000,
							0, INT_MAX,
							PGC_SUSET,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	/*
	 * How many entries of tasks that are not to be had yet one poll moves on,
	 * so that the next ones need not look at them.  Each is a small write; a
	 * poll that meets more goes on looking without moving them.  Raise it
	 * where polls are slow after thousands of renewed tasks were met at once.
	 */
	DefineCustomIntVariable("lease.poll_push",
							"How many entries of tasks that are not due one poll moves on.",
							NULL,
							&settings_poll_push,
							100,
							0, 1000000,
							PGC_SUSET,
							0,
							NULL, NULL, NULL);

	/*
	 * How long a request id is remembered, and so how late a client that lost
	 * an answer may ask again and still be told what it was.
	 */
	DefineCustomIntVariable("lease.request_retention",
							"How long request ids are remembered.",
							NULL,
							&settings_request_retention,
							SECS_PER_DAY,
							0, INT_MAX,
							PGC_SUSET,
							GUC_UNIT_S,
							NULL, NULL, NULL);

	/*
	 * The tokens under which a session writes to guarded tables, as
	 * lease_token() makes them, separated by spaces: for clients that cannot
	 * open a transaction block in which to call lease_present().  Anybody may
	 * set it, for a token proves itself.  Behind a transaction pooler use SET
	 * LOCAL alone: another client may be next on the same connection.
	 */
	DefineCustomStringVariable("lease.token",
							   "The tokens under which the session writes to guarded tables.",
							   "As lease_token() makes them, separated by spaces.",
							   &settings_token,
							   "",
							   PGC_USERSET,
							   0,
							   check_token, assign_token, NULL);

	MarkGUCPrefixReserved("lease");
}
