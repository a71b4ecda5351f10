/*
 * namespaces.c
 *		Namespaces and privileges as their owner changes them.
 *
 * Promises: whoever calls is the extension's owner or a superuser, but for a
 * hold and its rebase, whose callers have been authorised before; a namespace
 * is never left with a floor above its ceiling, and is not dropped while it
 * has leases.
 *
 * Locks: the namespace's row, for which the owner's INSERT, UPDATE and DELETE
 * queue as ever, and a hold is busy; then what policy_announce_change()
 * takes, which a rebase tries.  A first claim of a name and the drop of its
 * namespace do not wait for each other: each writes first and then looks for
 * the other's uncommitted row (policy_is_settled, namespaces_drop).
 */
#include "lease.h"

#include "access/tableam.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "error.h"
#include "mutex.h"
#include "namespaces.h"
#include "policy.h"
#include "privilege.h"
#include "rows.h"
#include "statement.h"

static const char *
known_privilege(const text *privilege)
{
	const char *known;

	if (privilege_from_name(text_to_cstring(privilege), &known))
		return known;
	error_invalid("privilege", "It is one of use, observe and operate.");
}

/* Let a role, or "public", do what the privilege says. */
void
namespaces_grant(const text *namespace, Name role, const text *privilege)
{
	Datum		values[4];

	policy_require_owner();
	policy_require_namespace(namespace);
	values[0] = PointerGetDatum(namespace);
	values[1] = CStringGetTextDatum(NameStr(*role));
	values[2] = Int64GetDatum((int64) get_role_oid_or_public(NameStr(*role)));
	values[3] = CStringGetTextDatum(known_privilege(privilege));
	statement_run_one(STATEMENT_PRIVILEGE_SET, values, NULL);
}

/* Take a privilege back; a role that is gone can still be revoked from. */
void
namespaces_revoke(const text *namespace, Name role, const text *privilege)
{
	Datum		values[3];

	policy_require_owner();
	policy_require_namespace(namespace);
	values[0] = PointerGetDatum(namespace);
	values[1] = CStringGetTextDatum(NameStr(*role));
	values[2] = CStringGetTextDatum(known_privilege(privilege));
	statement_run(STATEMENT_PRIVILEGE_UNSET, values, NULL);
}

/* The parameters of a statement, in its order. */
typedef struct Parameters
{
	Datum		values[13];
	bool		nulls[13];
	int			count;
} Parameters;

static void
put(Parameters *parameters, bool given, Datum value)
{
	parameters->values[parameters->count] = value;
	parameters->nulls[parameters->count] = !given;
	parameters->count++;
}

/* The next one: made of what a pointer points to, or NULL where it does not. */
#define PUT(parameters, given, datum) \
	put(parameters, (given) != NULL, (given) != NULL ? (datum) : (Datum) 0)

static uint64
write_namespace(StatementId id, const text *namespace,
				const NamespaceChange *change)
{
	Parameters	all = {.count = 0};

	PUT(&all, namespace, PointerGetDatum(namespace));
	PUT(&all, change->min_ttl, IntervalPGetDatum(change->min_ttl));
	PUT(&all, change->default_ttl, IntervalPGetDatum(change->default_ttl));
	PUT(&all, change->max_ttl, IntervalPGetDatum(change->max_ttl));
	PUT(&all, change->max_hold, IntervalPGetDatum(change->max_hold));
	PUT(&all, change->grace, IntervalPGetDatum(change->grace));
	PUT(&all, change->max_leases, Int64GetDatum(*change->max_leases));
	PUT(&all, change->history, BoolGetDatum(*change->history));
	PUT(&all, change->retry_base, IntervalPGetDatum(change->retry_base));
	PUT(&all, change->retry_factor, Float8GetDatum(*change->retry_factor));
	PUT(&all, change->retry_cap, IntervalPGetDatum(change->retry_cap));
	PUT(&all, change->retry_jitter, Float8GetDatum(*change->retry_jitter));
	PUT(&all, change->max_attempts, Int32GetDatum(*change->max_attempts));
	Assert(all.count == lengthof(all.values));
	return statement_run(id, all.values, all.nulls);
}

/* Error, and so nothing written, where a floor now lies above a ceiling. */
static void
check_consistent(const text *namespace)
{
	NamespacePolicy policy;

	policy_read(namespace, &policy);
	if (policy.rules.min_ttl > policy.rules.max_ttl)
		error_invalid("namespace", "Its min_ttl must not be longer than its max_ttl, nor than lease.max_ttl.");
	if (policy.rules.max_hold > 0 && policy.rules.min_ttl > policy.rules.max_hold)
		error_invalid("namespace", "Its min_ttl must not be longer than its max_hold.");
}

/* Make a namespace. */
void
namespaces_create(const text *namespace, const NamespaceChange *change)
{
	Datum		values[1] = {PointerGetDatum(namespace)};

	policy_require_owner();
	if (policy_is_default(namespace) ||
		write_namespace(STATEMENT_NAMESPACE_INSERT, namespace, change) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("namespace \"%s\" already exists",
						text_to_cstring(namespace))));
	/* one that was dropped while somebody granted on it starts anew */
	statement_run(STATEMENT_PRIVILEGE_UNSET_ALL, values, NULL);
	check_consistent(namespace);
}

/* Change what a namespace allows; "default" gets its row by the first change. */
void
namespaces_alter(const text *namespace, const NamespaceChange *change)
{
	policy_require_owner();
	if (write_namespace(STATEMENT_NAMESPACE_UPDATE, namespace, change) == 0 &&
		(!policy_is_default(namespace) ||
		 write_namespace(STATEMENT_NAMESPACE_INSERT, namespace, change) == 0))
		error_no_namespace(namespace);
	check_consistent(namespace);
}

/* Committed or not. */
static bool
has_leases(const text *namespace)
{
	ScanKeyData key;
	Rows		rows;
	bool		found;

	rows_key_text(&key, 1, namespace);
	rows_open(&rows, "lease", AccessShareLock);
	found = rows_look_dirty(&rows, &key, 1) != ROW_ABSENT;
	rows_close(&rows);
	return found;
}

/* Drop a namespace that has no leases; its floor stays. */
void
namespaces_drop(const text *namespace)
{
	Datum		values[1] = {PointerGetDatum(namespace)};

	policy_require_owner();
	if (policy_is_default(namespace))
		error_invalid("namespace", "The default namespace cannot be dropped.");
	if (statement_run(STATEMENT_NAMESPACE_DELETE, values, NULL) == 0)
		error_no_namespace(namespace);
	if (has_leases(namespace))
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop namespace \"%s\" because it has leases",
						text_to_cstring(namespace)),
				 errhint("Release or break what is held, resume what is on hold or cancelled, and lease_cancel() the tasks; then lease_sweep() and lease_purge(). Tasks that are over go once lease.history_retention has passed.")));
	statement_run(STATEMENT_PRIVILEGE_UNSET_ALL, values, NULL);
}

/* Make the row of "default"; false where somebody else is at it. */
static bool
make_default(Rows *rows, ScanKey key, const text *namespace)
{
	uint64		hash = mutex_hash(NAMESPACE_NAMESPACE, VARDATA_ANY(namespace),
								  VARSIZE_ANY_EXHDR(namespace));
	RowLock		lock = rows_win(rows, key, 1, hash);
	NamespaceChange nothing = {0};

	if (lock == ROW_WON)
	{
		(void) write_namespace(STATEMENT_NAMESPACE_INSERT, namespace, &nothing);
		mutex_release(hash);
	}
	return lock != ROW_BUSY;
}

static bool
write_hold(Rows *rows, TupleTableSlot *locked, LeaseHold hold, int64 length)
{
	Datum		values[NAMESPACE_COLUMNS] = {0};
	bool		nulls[NAMESPACE_COLUMNS] = {false};
	bool		replace[NAMESPACE_COLUMNS] = {false};

	if (hold == HOLD_NONE && rows_null(locked, NAMESPACE_HOLD_AT))
		return false;
	replace[NAMESPACE_HOLD_AT - 1] = true;
	replace[NAMESPACE_HOLD_LENGTH - 1] = true;
	replace[NAMESPACE_HOLD_STOP - 1] = true;
	nulls[NAMESPACE_HOLD_AT - 1] = hold == HOLD_NONE;
	nulls[NAMESPACE_HOLD_LENGTH - 1] = length == 0;
	nulls[NAMESPACE_HOLD_STOP - 1] = hold == HOLD_NONE;
	values[NAMESPACE_HOLD_AT - 1] = TimestampTzGetDatum(clock_now());
	values[NAMESPACE_HOLD_LENGTH - 1] = clock_interval_datum(length);
	values[NAMESPACE_HOLD_STOP - 1] = BoolGetDatum(hold == HOLD_STOP);
	rows_update(rows, locked, values, nulls, replace);
	policy_announce_change(rows->heap);
	return true;
}

/*
 * Put a namespace on hold, or with HOLD_NONE take that back, under the lock of
 * its row.  Whoever calls has authorised his caller.
 */
NamespacesHold
namespaces_hold(const text *namespace, LeaseHold hold, int64 length)
{
	NamespacesHold answer = NAMESPACES_HOLD_KEPT;
	ScanKeyData key;
	TupleTableSlot *slot;
	RowLock		lock;
	Rows		rows;

	rows_key_text(&key, 1, namespace);
	rows_open(&rows, "namespace", RowExclusiveLock);
	slot = table_slot_create(rows.heap, NULL);
	lock = rows_lock(&rows, &key, 1, LockTupleNoKeyExclusive, slot);
	if (lock == ROW_ABSENT && hold != HOLD_NONE && policy_is_default(namespace))
		lock = make_default(&rows, &key, namespace) ?
			rows_lock(&rows, &key, 1, LockTupleNoKeyExclusive, slot) : ROW_BUSY;
	if (lock == ROW_BUSY)
		answer = NAMESPACES_HOLD_BUSY;
	else if (lock == ROW_LOCKED)
		answer = write_hold(&rows, slot, hold, length) ?
			NAMESPACES_HOLD_WRITTEN : NAMESPACES_HOLD_KEPT;
	else if (!policy_is_default(namespace))
		error_no_namespace(namespace);
	ExecDropSingleTupleTableSlot(slot);
	rows_close_changed(&rows);
	return answer;
}

/*
 * Let a hold of a namespace that a clock set back has left ahead begin now,
 * so that it ends as long from now as it was made to last.  Nothing is waited
 * for: false, where nothing is to be written, or somebody is in the way; then
 * what was locked is the caller's to undo.
 */
bool
namespaces_rebase_hold(const text *namespace)
{
	Datum		values[NAMESPACE_COLUMNS] = {0};
	bool		nulls[NAMESPACE_COLUMNS] = {false};
	bool		replace[NAMESPACE_COLUMNS] = {false};
	TimestampTz now;
	ScanKeyData key;
	TupleTableSlot *slot;
	Rows		rows;
	bool		written = false;

	rows_key_text(&key, 1, namespace);
	rows_open(&rows, "namespace", RowExclusiveLock);
	slot = table_slot_create(rows.heap, NULL);
	if (rows_lock(&rows, &key, 1, LockTupleNoKeyExclusive, slot) == ROW_LOCKED)
	{
		now = clock_now();
		written = !rows_null(slot, NAMESPACE_HOLD_AT) &&
			rows_int64(slot, NAMESPACE_HOLD_AT) > now && policy_try_announce_change(rows.heap);
		if (written)
		{
			values[NAMESPACE_HOLD_AT - 1] = TimestampTzGetDatum(now);
			replace[NAMESPACE_HOLD_AT - 1] = true;
			rows_update(&rows, slot, values, nulls, replace);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	rows_close_changed(&rows);
	return written;
}
