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

/* Generations are told apart by time, in steps of so many microseconds, */
#define TICK (10 * USECS_PER_MINUTE)

/* and there is no history with more timelines than time has ticks and this. */
#define AHEAD 1000

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

/* Leave a fence behind. */
void
ledger_raise_floor(const text *namespace, int64 fence)
{
	Datum		values[] = {
		PointerGetDatum(namespace),
		Int64GetDatum(fence),
		TimestampTzGetDatum(clock_now())
	};

	if (fence > ledger_floor(namespace))
		statement_run_one(STATEMENT_FLOOR_INSERT, values, NULL);
}

/*
 * Time by the wall clock since 2026, whatever lease.clock says: what tells two
 * histories apart must not stand still.
 */
static int64
elapsed(void)
{
	return clock_wall() - (TimestampTz) 9497 * USECS_PER_DAY;	/* since 2000 */
}

static void
keep_generation(Oid table, int64 generation)
{
	Datum		values[] = {
		Int64GetDatum(generation),
		Int64GetDatum((int64) GetSystemIdentifier()),
		Int64GetDatum((int64) GetWALInsertionTimeLine()),
		Int64GetDatum((int64) MyDatabaseId),
		Int64GetDatum((int64) table),
		TimestampTzGetDatum(clock_wall())
	};

	statement_run_one(STATEMENT_GENERATION_INSERT, values, NULL);
}

/*
 * The number of this history, of which the lease table's OID is a part.  Where
 * the highest record is another's, a new one is added: above that, above what
 * a copy that parted from us more than ten minutes ago has chosen, and above
 * what a promotion or recovery of an earlier timeline has within these ten
 * minutes.
 */
int64
ledger_generation(Oid table)
{
	int64		timeline = GetWALInsertionTimeLine();
	int64		generation = 0;
	bool		ours = false;
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;

	rows_open_by(&rows, "generation", "generation_highest", AccessShareLock);
	rows_scan_begin(&rows, &scan, NULL, 0, BackwardScanDirection);
	slot = rows_scan_next(&scan);
	if (slot != NULL)
	{
		generation = rows_int64(slot, GENERATION_GENERATION);
		ours = rows_int64(slot, GENERATION_SYSTEM_IDENTIFIER) == (int64) GetSystemIdentifier() &&
			rows_int64(slot, GENERATION_TIMELINE) == timeline &&
			rows_int64(slot, GENERATION_DATABASE_OID) == (int64) MyDatabaseId &&
			rows_int64(slot, GENERATION_TABLE_OID) == (int64) table;
	}
	rows_scan_end(&scan);
	rows_close(&rows);

	if (!ours)
	{
		generation = generation == 0 ? 1 :
			Max(generation + 1, timeline + elapsed() / TICK);
		keep_generation(table, generation);
	}
	return generation;
}

/*
 * Raise the floor of every name, and answer what it is then.  A floor beyond the
 * present generation begins the one that it lies in: else the next histories of
 * this line would begin below it, and give their first fences twice.
 */
int64
ledger_raise_all(Oid table, int64 fence)
{
	if (fence >> 32 > 0 && fence >> 32 >= ledger_generation(table))
		keep_generation(table, (fence >> 32) + 1);
	ledger_raise_floor(all_namespaces(), fence);
	return ledger_floor(all_namespaces());
}

/*
 * The same past every history that may ever have been, also one of which
 * nothing is on record here: generations ahead of all that have begun by time,
 * and within them by time again, so that of two such floors the later is the
 * higher one, though they know nothing of each other either.
 */
int64
ledger_raise_past_all(Oid table)
{
	int64		generation = ledger_generation(table);
	int64		since = elapsed();

	if (generation > PG_INT64_MAX >> 32)
		return ledger_raise_all(table, PG_INT64_MAX);
	return ledger_raise_all(table,
							Max(generation << 32,
								((since / TICK + AHEAD) << 32) + since % TICK));
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
