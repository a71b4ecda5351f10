/*
 * ledger.c
 *		What outlives a lease's row: floors, generations, history, intents.
 *
 * Promises: a floor and a generation never fall, and raising one makes nobody
 * wait, for both are tables that are only appended to, of which the highest
 * row counts.
 *
 * The generation tells histories of one database apart: a promoted standby, a
 * recovered backup, a copy or a restored dump may lack the last grants of
 * where it came from, and must not hand their fences out again.  A history's
 * identity is what those change: system, timeline, database, table.
 *
 * Locks: no row and no mutex.
 */
#include "lease.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "ledger.h"
#include "outcomes.h"
#include "statement.h"

/* Columns of lease_catalog.floor. */
enum
{
	FLOOR_NAMESPACE = 1,
	FLOOR_FENCE,
	FLOOR_AT
};

/* Columns of lease_catalog.generation. */
enum
{
	GENERATION_GENERATION = 1,
	GENERATION_SYSTEM_IDENTIFIER,
	GENERATION_TIMELINE,
	GENERATION_DATABASE_OID,
	GENERATION_TABLE_OID,
	GENERATION_AT
};

/*
 * Generations count time in ticks of so many microseconds: six million fences of
 * one name a second.
 */
#define TICK (10 * INT64CONST(1000))

/* A timeline counts for as much as the clocks of two servers may be apart; */
#define TIMELINE (10 * USECS_PER_MINUTE / TICK)

/* a successor for a second, also where the clock was set back meanwhile; */
#define SUCCESSOR (USECS_PER_SEC / TICK)

/*
 * and an operator's advance for half a week, or for a whole one where all that
 * there was before may be unknown.
 */
#define ADVANCE (504 * TIMELINE)
#define ADVANCE_BLIND (2 * ADVANCE)

/* The floor of all namespaces is that of the name that none can have. */
static text *
all_namespaces(void)
{
	return cstring_to_text("");
}

static int64
highest_floor(Rows *rows, const text *namespace)
{
	ScanKeyData key;
	TupleTableSlot *slot;
	RowsScan	scan;
	int64		fence = 0;

	rows_key_text(&key, 1, namespace);
	rows_scan_begin(rows, &scan, &key, 1, BackwardScanDirection);
	slot = rows_scan_next(&scan);
	if (slot != NULL)
		fence = rows_int64(slot, FLOOR_FENCE);
	rows_scan_end(&scan);
	return fence;
}

/* The highest fence that rows which are gone have left behind. */
int64
ledger_floor(const text *namespace)
{
	Rows		rows;
	int64		own;
	int64		all;

	rows_open_by(&rows, "floor", "floor_highest", AccessShareLock);
	own = highest_floor(&rows, namespace);
	all = highest_floor(&rows, all_namespaces());
	rows_close(&rows);
	return Max(own, all);
}

/* Leave a fence behind in a namespace, or where that is NULL, in all of them. */
void
ledger_raise_floor(const text *namespace, int64 fence)
{
	const text *whose = namespace != NULL ? namespace : all_namespaces();
	Datum		values[] = {
		PointerGetDatum(whose),
		Int64GetDatum(fence),
		TimestampTzGetDatum(clock_now())
	};

	if (fence > ledger_floor(whose))
		statement_run_one(STATEMENT_FLOOR_INSERT, values, NULL);
}

/*
 * Ticks since 2026 by the wall clock, whatever lease.clock says: what tells two
 * histories apart must not stand still.
 */
static int64
ticks(void)
{
	const TimestampTz start = (TimestampTz) 9497 * USECS_PER_DAY;	/* since 2000 */

	return (clock_wall() - start) / TICK;
}

/* A generation on record: whose it is, and since when. */
typedef struct Generation
{
	int64		number;			/* 0: no grant yet, since the extension is
								 * there */
	int64		system_identifier;
	int64		timeline;
	int64		database;
	int64		table;
	TimestampTz at;
} Generation;

/* The generation that this history would be. */
static Generation
here(Oid table)
{
	Generation	generation = {
		.system_identifier = (int64) GetSystemIdentifier(),
		.timeline = (int64) GetWALInsertionTimeLine(),
		.database = (int64) MyDatabaseId,
		.table = (int64) table,
		.at = clock_wall()
	};

	return generation;
}

/* The highest on record; false where there is none. */
static bool
read_generation(Generation *generation)
{
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;

	rows_open_by(&rows, "generation", "generation_highest", AccessShareLock);
	rows_scan_begin(&rows, &scan, NULL, 0, BackwardScanDirection);
	slot = rows_scan_next(&scan);
	if (slot != NULL)
	{
		generation->number = rows_int64(slot, GENERATION_GENERATION);
		generation->system_identifier = rows_int64(slot, GENERATION_SYSTEM_IDENTIFIER);
		generation->timeline = rows_int64(slot, GENERATION_TIMELINE);
		generation->database = rows_int64(slot, GENERATION_DATABASE_OID);
		generation->table = rows_int64(slot, GENERATION_TABLE_OID);
		generation->at = rows_int64(slot, GENERATION_AT);
	}
	rows_scan_end(&scan);
	rows_close(&rows);
	return slot != NULL;
}

static void
keep_generation(const Generation *generation)
{
	Datum		values[] = {
		Int64GetDatum(generation->number),
		Int64GetDatum(generation->system_identifier),
		Int64GetDatum(generation->timeline),
		Int64GetDatum(generation->database),
		Int64GetDatum(generation->table),
		TimestampTzGetDatum(generation->at)
	};

	statement_run_one(STATEMENT_GENERATION_INSERT, values, NULL);
}

static bool
is_same_history(const Generation *a, const Generation *b)
{
	return a->system_identifier == b->system_identifier &&
		a->timeline == b->timeline &&
		a->database == b->database &&
		a->table == b->table;
}

/* The number of a history by the time at which it begins, and its timeline. */
static int64
number_by_time(const Generation *next)
{
	return next->timeline * TIMELINE + ticks();
}

/*
 * The number of a history that comes after another.  It has to be above that, and
 * another one than those of its other successors, of which nothing is known here:
 * they differ by the time at which they begin, or by their timelines.  So both
 * are counted from the former one on, wherever that stands.
 */
static int64
number_after(const Generation *last, const Generation *next)
{
	int64		timelines = Max(next->timeline - last->timeline, 0);
	int64		passed = IS_VALID_TIMESTAMP(last->at) ? Max(next->at - last->at, 0) : 0;

	if (last->number == 0)
		return number_by_time(next);
	return Max(Min(last->number, PG_INT64_MAX / 2) + SUCCESSOR + timelines * TIMELINE + passed / TICK,
			   number_by_time(next));
}

/*
 * The number of this history, of which the lease table's OID is a part.  Where
 * the highest record is another's, a new one is added.
 */
int64
ledger_generation(Oid table)
{
	Generation	last = {.number = 0};
	Generation	now = here(table);
	bool		known = read_generation(&last);
	bool		ours = !known || is_same_history(&last, &now);

	if (ours && last.number > 0)
		return last.number;
	now.number = ours ? 1 : number_after(&last, &now);
	keep_generation(&now);
	return now.number;
}

/*
 * Raise the floor of every name, and answer what it is then.  A floor beyond the
 * present generation begins the one that it lies in: else the next histories of
 * this line would begin below it, and give their first fences twice.
 */
int64
ledger_raise_all(Oid table, int64 fence)
{
	int64		begun = fence >> RULES_GENERATION_BITS;

	if (begun > 0 && begun >= ledger_generation(table))
	{
		Generation	now = here(table);

		now.number = begun + 1;
		keep_generation(&now);
	}
	ledger_raise_floor(NULL, fence);
	return ledger_floor(all_namespaces());
}

/*
 * The same past every history that may ever have been, also one of which
 * nothing is on record here: ahead of all that time and timelines have begun, and
 * of two such floors the later is the higher one.
 */
int64
ledger_raise_past_all(Oid table)
{
	int64		generation = ledger_generation(table);
	Generation	now = here(table);

	/* the first generation is one that knows of none before it */
	generation = Max(generation, number_by_time(&now) + (generation > 1 ? ADVANCE : ADVANCE_BLIND));
	return ledger_raise_all(table, generation > PG_INT64_MAX >> RULES_GENERATION_BITS ?
							PG_INT64_MAX : generation << RULES_GENERATION_BITS);
}

/*
 * Write down that an epoch has ended.  "ended" is its row before that; a
 * reason and a role are an act's, and a lapse has neither.
 */
void
ledger_keep_end(const LeaseKey *key, const LeaseRow *ended, LeaseEnd end,
				TimestampTz at, const text *reason, const char *role_name)
{
	bool		nulls[9] = {false};
	Datum		values[9] = {
		PointerGetDatum(key->namespace),
		PointerGetDatum(key->name),
		lease_text_datum(ended->owner),
		Int64GetDatum(ended->fence),
		TimestampTzGetDatum(ended->granted_at),
		TimestampTzGetDatum(at),
		CStringGetTextDatum(outcomes_end_name(end)),
		PointerGetDatum(reason),
		(Datum) 0
	};

	nulls[7] = reason == NULL;
	nulls[8] = role_name == NULL;
	if (role_name != NULL)
		values[8] = CStringGetTextDatum(role_name);
	statement_run_one(STATEMENT_HISTORY_INSERT, values, nulls);
}

/*
 * Write down what an operator wanted, of the epoch that he found, if any; of a
 * whole namespace where there is no name.
 */
void
ledger_keep_intent(const LeaseKey *key, const int64 *fence,
				   const LedgerIntent *intent)
{
	const char *detail = intent->detail;
	bool		nulls[8] = {false};
	Datum		values[8] = {
		TimestampTzGetDatum(clock_now()),
		CStringGetTextDatum(GetUserNameFromId(GetUserId(), false)),
		PointerGetDatum(key->namespace),
		PointerGetDatum(key->name),
		fence != NULL ? Int64GetDatum(*fence) : (Datum) 0,
		CStringGetTextDatum(intent->verb),
		PointerGetDatum(intent->reason),
		(Datum) 0
	};

	nulls[3] = key->name == NULL;
	nulls[4] = fence == NULL;
	nulls[6] = intent->reason == NULL;
	if (intent->idle)
		detail = detail == NULL ? "{\"changed\": false}" :
			psprintf("{\"changed\": false, %s", detail + 1);
	nulls[7] = detail == NULL;
	if (detail != NULL)
		values[7] = DirectFunctionCall1(jsonb_in, CStringGetDatum(detail));
	statement_run_one(STATEMENT_INTENT_INSERT, values, nulls);
}
