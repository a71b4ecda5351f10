/*
 * ledger.c
 *		What outlives a lease's row: floors, generations, requests, history.
 *
 * Promises: a floor and a generation never fall, and raising one makes nobody
 * wait, for both are tables that are only appended to, of which the highest
 * row counts; a request id is on record from the moment at which its grant
 * commits.
 *
 * The generation tells histories of one database apart: a promoted standby, a
 * recovered backup, a copy or a restored dump may lack the last grants of
 * where it came from, and must not hand their fences out again.  A history's
 * identity is what those change: system, timeline, database, table.
 *
 * Locks, tried and never waited for: the row of a request id that is no longer
 * remembered, or where there is none, the id's mutex while it is looked for and
 * written down.  Floors, generations and history need none.
 */
#include "lease.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "ledger.h"
#include "mutex.h"
#include "outcomes.h"
#include "settings.h"
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

/* Columns of lease_catalog.request. */
enum
{
	REQUEST_NAMESPACE = 1,
	REQUEST_VERB,
	REQUEST_OWNER,
	REQUEST_REQUEST_ID,
	REQUEST_NAME,
	REQUEST_FENCE,
	REQUEST_AT
};

#define REQUEST_KEYS 4

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

static void
request_keys(const LeaseKey *key, const LedgerRequest *request,
			 ScanKeyData keys[REQUEST_KEYS])
{
	rows_key_text(&keys[0], REQUEST_NAMESPACE, key->namespace);
	rows_key_text(&keys[1], REQUEST_VERB,
				  cstring_to_text(outcomes_verb_name(request->verb)));
	rows_key_text(&keys[2], REQUEST_OWNER,
				  cstring_to_text_with_len(request->owner.data, request->owner.len));
	ScanKeyInit(&keys[3], REQUEST_REQUEST_ID, BTEqualStrategyNumber,
				F_UUID_EQ, UUIDPGetDatum(request->id));
}

/* What a request id was granted, unless that is longer ago than it is kept. */
void
ledger_find_request(const LeaseKey *key, const LedgerRequest *request,
					LedgerGrant *grant)
{
	TimestampTz oldest = clock_now() -
	settings_request_retention * (TimestampTz) USECS_PER_SEC;
	ScanKeyData keys[REQUEST_KEYS];
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;

	request_keys(key, request, keys);
	rows_open(&rows, "request", AccessShareLock);
	rows_scan_begin(&rows, &scan, keys, REQUEST_KEYS, ForwardScanDirection);
	slot = rows_scan_next(&scan);
	grant->found = slot != NULL && rows_int64(slot, REQUEST_AT) >= oldest;
	if (grant->found)
	{
		grant->name = rows_text(slot, REQUEST_NAME);
		grant->fence = rows_int64(slot, REQUEST_FENCE);
	}
	rows_scan_end(&scan);
	rows_close(&rows);
}

static uint64
request_hash(const LeaseKey *key, const LedgerRequest *request)
{
	uint64		hash = mutex_hash(REQUEST_REQUEST_ID, request->id, UUID_LEN);

	hash = mutex_hash(hash, request->owner.data, request->owner.len);
	return mutex_hash(hash, VARDATA_ANY(key->namespace), VARSIZE_ANY_EXHDR(key->namespace));
}

static void
insert_request(const LeaseKey *key, const LedgerRequest *request, int64 fence)
{
	Datum		values[] = {
		PointerGetDatum(key->namespace),
		CStringGetTextDatum(outcomes_verb_name(request->verb)),
		statement_text(request->owner),
		UUIDPGetDatum(request->id),
		PointerGetDatum(key->name),
		Int64GetDatum(fence),
		TimestampTzGetDatum(clock_now())
	};

	statement_run_one(STATEMENT_REQUEST_INSERT, values, NULL);
}

/* Overwrite a request that is no longer remembered. */
static void
replace_request(Rows *rows, TupleTableSlot *locked, const LeaseKey *key,
				int64 fence)
{
	Datum		values[REQUEST_AT] = {0};
	bool		nulls[REQUEST_AT] = {false};
	bool		replace[REQUEST_AT] = {false};

	values[REQUEST_NAME - 1] = PointerGetDatum(key->name);
	values[REQUEST_FENCE - 1] = Int64GetDatum(fence);
	values[REQUEST_AT - 1] = TimestampTzGetDatum(clock_now());
	replace[REQUEST_NAME - 1] = true;
	replace[REQUEST_FENCE - 1] = true;
	replace[REQUEST_AT - 1] = true;
	rows_update(rows, locked, values, nulls, replace);
}

/*
 * Write down what a request id is granted.  False where somebody else is
 * writing the same one down.
 */
bool
ledger_keep_request(const LeaseKey *key, const LedgerRequest *request,
					int64 fence)
{
	uint64		hash = request_hash(key, request);
	ScanKeyData keys[REQUEST_KEYS];
	TupleTableSlot *slot;
	RowLock		lock;
	Rows		rows;

	request_keys(key, request, keys);
	rows_open(&rows, "request", RowExclusiveLock);
	slot = table_slot_create(rows.heap, NULL);
	do
	{
		lock = rows_lock(&rows, keys, REQUEST_KEYS, LockTupleExclusive, slot);
		if (lock == ROW_LOCKED)
			replace_request(&rows, slot, key, fence);
		else if (lock == ROW_ABSENT)
			lock = rows_win(&rows, keys, REQUEST_KEYS, hash);
	} while (lock == ROW_PRESENT);
	if (lock == ROW_WON)
	{
		insert_request(key, request, fence);
		mutex_release(hash);
	}
	ExecDropSingleTupleTableSlot(slot);
	rows_close_changed(&rows);
	return lock != ROW_BUSY;
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
		statement_text(ended->owner),
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
