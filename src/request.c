/*
 * request.c
 *		Request ids: the tables of what was granted to them, one row an id of a
 *		claim or takeover, and of a poll one row a task.
 *
 * Promises: a request id is on record from the moment at which its grant
 * commits, and counts for lease.request_retention; no two grants of one id are
 * written down side by side, and nobody waits for another's: he is told that
 * the id is busy.
 *
 * Locks, tried and never waited for: of a claim or takeover the row of an id
 * that no longer counts, or where there is none, the id's mutex while it is
 * looked for and written down; of a poll the id's mutex, which the caller takes
 * before the look and gives back when all of its grants are written.  Then the
 * rows themselves say that the id is busy, until their transaction ends: a look
 * sees them before they are committed.
 *
 * Not here: what a repeat is answered (rules.c, poll.c), and the removal of what
 * no longer counts (purge.c).
 */
#include "lease.h"

#include "access/stratnum.h"
#include "access/tableam.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "mutex.h"
#include "outcomes.h"
#include "request.h"
#include "settings.h"
#include "statement.h"

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

/* Columns of lease_catalog.polled. */
enum
{
	POLLED_NAMESPACE = 1,
	POLLED_OWNER,
	POLLED_REQUEST_ID,
	POLLED_NAME,
	POLLED_FENCE,
	POLLED_AT
};

#define POLLED_KEYS 3

/* What was granted before that no longer counts. */
static TimestampTz
oldest_kept(void)
{
	return clock_now() - settings_request_retention * (TimestampTz) USECS_PER_SEC;
}

/* In both tables the id follows its owner. */
static void
key_owner_and_id(ScanKey keys, int owner_column, const RequestId *request)
{
	ScanKeyInit(&keys[0], owner_column, BTEqualStrategyNumber, F_TEXTEQ,
				lease_text_datum(request->owner));
	ScanKeyInit(&keys[1], owner_column + 1, BTEqualStrategyNumber, F_UUID_EQ,
				UUIDPGetDatum(request->id));
}

static void
request_keys(const RequestId *request, ScanKeyData keys[REQUEST_KEYS])
{
	rows_key_text(&keys[0], 1, request->namespace);
	rows_key_text(&keys[1], 2,
				  cstring_to_text(outcomes_verb_name(request->verb)));
	key_owner_and_id(&keys[2], 3, request);
}

static void
polled_keys(const RequestId *request, ScanKeyData keys[POLLED_KEYS])
{
	rows_key_text(&keys[0], 1, request->namespace);
	key_owner_and_id(&keys[1], 2, request);
}

/* The seed tells the tables apart. */
static uint64
hash_id(uint64 seed, const RequestId *request)
{
	uint64		hash = mutex_hash(seed, request->id, UUID_LEN);

	hash = mutex_hash(hash, request->owner.data, request->owner.len);
	return mutex_hash(hash, VARDATA_ANY(request->namespace),
					  VARSIZE_ANY_EXHDR(request->namespace));
}

/* What a request id was granted, unless that is longer ago than it is kept. */
void
request_find(const RequestId *request, RequestGrant *grant)
{
	TimestampTz oldest = oldest_kept();
	ScanKeyData keys[REQUEST_KEYS];
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;

	request_keys(request, keys);
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

static void
insert_request(const RequestId *request, const text *name, int64 fence)
{
	Datum		values[] = {
		PointerGetDatum(request->namespace),
		CStringGetTextDatum(outcomes_verb_name(request->verb)),
		lease_text_datum(request->owner),
		UUIDPGetDatum(request->id),
		PointerGetDatum(name),
		Int64GetDatum(fence),
		TimestampTzGetDatum(clock_now())
	};

	statement_run_one(STATEMENT_REQUEST_INSERT, values, NULL);
}

/* Overwrite a request that is no longer remembered. */
static void
replace_request(Rows *rows, TupleTableSlot *locked, const text *name,
				int64 fence)
{
	Datum		values[REQUEST_AT] = {0};
	bool		nulls[REQUEST_AT] = {false};
	bool		replace[REQUEST_AT] = {false};

	values[REQUEST_NAME - 1] = PointerGetDatum(name);
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
request_keep(const RequestId *request, const text *name, int64 fence)
{
	uint64		hash = hash_id(REQUEST_REQUEST_ID, request);
	ScanKeyData keys[REQUEST_KEYS];
	TupleTableSlot *slot;
	RowLock		lock;
	Rows		rows;

	request_keys(request, keys);
	rows_open(&rows, "request", RowExclusiveLock);
	slot = table_slot_create(rows.heap, NULL);
	do
	{
		lock = rows_lock(&rows, keys, REQUEST_KEYS, LockTupleExclusive, slot);
		if (lock == ROW_LOCKED)
			replace_request(&rows, slot, name, fence);
		else if (lock == ROW_ABSENT)
			lock = rows_win(&rows, keys, REQUEST_KEYS, hash);
	} while (lock == ROW_PRESENT);
	if (lock == ROW_WON)
	{
		insert_request(request, name, fence);
		mutex_release(hash);
	}
	ExecDropSingleTupleTableSlot(slot);
	rows_close_changed(&rows);
	return lock != ROW_BUSY;
}

/* Hold off the twins of a poll; false where one of them is at it. */
bool
request_try_poll(const RequestId *request)
{
	return mutex_try(hash_id(POLLED_REQUEST_ID, request));
}

void
request_yield_poll(const RequestId *request)
{
	mutex_release(hash_id(POLLED_REQUEST_ID, request));
}

/*
 * Visit what a poll's request id was granted, under its mutex.  ROW_PRESENT:
 * something was; ROW_ABSENT: nothing, or so long ago that it does not count;
 * ROW_BUSY: it is just being granted.
 */
RowLock
request_visit_poll(const RequestId *request, RequestVisitor visit, void *state)
{
	ScanKeyData keys[POLLED_KEYS];
	TimestampTz oldest;
	TupleTableSlot *slot;
	RowsScan	scan;
	RowLock		seen;
	Rows		rows;

	polled_keys(request, keys);
	rows_open(&rows, "polled", AccessShareLock);
	seen = rows_look_dirty(&rows, keys, POLLED_KEYS);
	if (seen == ROW_PRESENT)
	{
		seen = ROW_ABSENT;
		oldest = oldest_kept();
		rows_scan_begin(&rows, &scan, keys, POLLED_KEYS, ForwardScanDirection);
		while ((slot = rows_scan_next(&scan)) != NULL)
		{
			if (rows_int64(slot, POLLED_AT) < oldest)
				continue;
			seen = ROW_PRESENT;
			visit(DatumGetTextPP(slot->tts_values[POLLED_NAME - 1]),
				  rows_int64(slot, POLLED_FENCE), state);
		}
		rows_scan_end(&scan);
	}
	rows_close(&rows);
	return seen;
}

/* Write down a task that a poll's request id is granted, under its mutex. */
void
request_keep_poll(const RequestId *request, const text *name, int64 fence)
{
	Datum		values[] = {
		PointerGetDatum(request->namespace),
		lease_text_datum(request->owner),
		UUIDPGetDatum(request->id),
		PointerGetDatum(name),
		Int64GetDatum(fence),
		TimestampTzGetDatum(clock_now())
	};

	statement_run_one(STATEMENT_POLLED_INSERT, values, NULL);
}
