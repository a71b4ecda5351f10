/*
 * policy.c
 *		Namespaces: what they allow, and to whom.
 *
 * Promises: without a grant nobody but the extension's owner and superusers
 * gets past policy_authorize(), and what he is told does not depend on
 * whether the namespace exists; what is read is the latest committed state,
 * whatever the caller's snapshot.
 *
 * The namespace "default" is always there, with or without a row.
 *
 * Judged is the current user, who is the caller everywhere but inside a
 * statement (statement.c).
 *
 * Locks: a namespace's row, for which the owner's create, alter and drop queue
 * as any INSERT, UPDATE and DELETE does, and a hold is busy; after it GATE, which
 * readers share for a moment in which they wait for nothing, and who changes a
 * namespace waits for and keeps shut to the end of his transaction.  A first
 * claim of a name and the drop of its namespace do not wait for each other: each
 * writes first and then looks for the other's uncommitted row (policy_stays,
 * policy_drop).
 */
#include "lease.h"

#include "access/tableam.h"
#include "access/xlog.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "clock.h"
#include "error.h"
#include "memo.h"
#include "policy.h"
#include "privilege.h"
#include "rows.h"
#include "settings.h"
#include "statement.h"

PG_FUNCTION_INFO_V1(lease_forget_namespaces);

/* Columns of lease_catalog.namespace. */
enum
{
	NAMESPACE_NAMESPACE = 1,
	NAMESPACE_MIN_TTL,
	NAMESPACE_DEFAULT_TTL,
	NAMESPACE_MAX_TTL,
	NAMESPACE_MAX_HOLD,
	NAMESPACE_GRACE,
	NAMESPACE_MAX_LEASES,
	NAMESPACE_HISTORY,
	NAMESPACE_HOLD_AT,
	NAMESPACE_HOLD_LENGTH,
	NAMESPACE_HOLD_STOP,
	NAMESPACE_RETRY_BASE,
	NAMESPACE_RETRY_FACTOR,
	NAMESPACE_RETRY_CAP,
	NAMESPACE_RETRY_JITTER,
	NAMESPACE_MAX_ATTEMPTS
};

#define NAMESPACE_COLUMNS NAMESPACE_MAX_ATTEMPTS

/* What a namespace allows where it does not say otherwise. */
static const NamespacePolicy default_policy = {
	.exists = true,
	.rules = {
		.min_ttl = 100 * INT64CONST(1000),
		.default_ttl = 30 * USECS_PER_SEC,
		.max_ttl = USECS_PER_HOUR,
		.retry_base = USECS_PER_SEC,
		.retry_factor = 2,
		.retry_cap = USECS_PER_HOUR,
		.retry_jitter = 0.2,
		.max_attempts = 20
	},
	.history = true
};

/*
 * What was read last of each.  A change is seen by snapshots a moment before
 * it is told of; so whoever makes one keeps GATE shut until both have
 * happened, and what is remembered is gone by only while it is open.
 */
static Memo memo = {"lease policies", sizeof(NamespacePolicy)};
static Oid	namespace_table = InvalidOid;

#define GATE UINT64CONST(0x6E616D657370)

static bool
is_default(const text *namespace)
{
	static const RuleText name = {"default", sizeof("default") - 1};

	return rules_text_equal(lease_text(namespace), name);
}

static int64
length_or(TupleTableSlot *slot, int column, int64 otherwise)
{
	return rows_null(slot, column) ? otherwise : rows_length(slot, column);
}

static double
double_or(TupleTableSlot *slot, int column, double otherwise)
{
	return rows_null(slot, column) ? otherwise :
		DatumGetFloat8(slot->tts_values[column - 1]);
}

static void
read_policy(TupleTableSlot *slot, NamespacePolicy *policy)
{
	LeasePolicy *rules = &policy->rules;

	rules->min_ttl = length_or(slot, NAMESPACE_MIN_TTL, rules->min_ttl);
	rules->default_ttl = length_or(slot, NAMESPACE_DEFAULT_TTL, rules->default_ttl);
	rules->max_ttl = length_or(slot, NAMESPACE_MAX_TTL, rules->max_ttl);
	rules->max_hold = length_or(slot, NAMESPACE_MAX_HOLD, 0);
	rules->grace = length_or(slot, NAMESPACE_GRACE, 0);
	rules->max_leases = rows_int64(slot, NAMESPACE_MAX_LEASES);
	rules->retry_base = length_or(slot, NAMESPACE_RETRY_BASE, rules->retry_base);
	rules->retry_cap = length_or(slot, NAMESPACE_RETRY_CAP, rules->retry_cap);
	rules->retry_factor = double_or(slot, NAMESPACE_RETRY_FACTOR, rules->retry_factor);
	rules->retry_jitter = double_or(slot, NAMESPACE_RETRY_JITTER, rules->retry_jitter);
	if (!rows_null(slot, NAMESPACE_MAX_ATTEMPTS))
		rules->max_attempts = DatumGetInt32(slot->tts_values[NAMESPACE_MAX_ATTEMPTS - 1]);
	if (!rows_null(slot, NAMESPACE_HISTORY))
		policy->history = DatumGetBool(slot->tts_values[NAMESPACE_HISTORY - 1]);
	if (!rows_null(slot, NAMESPACE_HOLD_AT))
	{
		rules->hold = DatumGetBool(slot->tts_values[NAMESPACE_HOLD_STOP - 1]) ?
			HOLD_STOP : HOLD_GRANTS;
		rules->hold_at = rows_int64(slot, NAMESPACE_HOLD_AT);
		rules->hold_length = rows_length(slot, NAMESPACE_HOLD_LENGTH);
	}
}

/* Something of a namespace changes: keep out who goes by memory, and tell all. */
static void
change_namespaces(Relation table)
{
	rows_keep_out(GATE);
	CacheInvalidateRelcache(table);
}

/* AFTER every change of lease_catalog.namespace. */
Datum
lease_forget_namespaces(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		error_no_trigger("lease_forget_namespaces");
	change_namespaces(trigger->tg_relation);
	return PointerGetDatum(NULL);
}

static void
forget_for_relation(Datum arg, Oid relation)
{
	(void) arg;
	if (!OidIsValid(relation) || relation == namespace_table)
		memo_forget(&memo);
}

void
policy_init(void)
{
	CacheRegisterRelcacheCallback(forget_for_relation, (Datum) 0);
}

static void
look_up(const text *namespace, NamespacePolicy *policy)
{
	ScanKeyData key;
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;

	*policy = default_policy;
	rows_key_text(&key, NAMESPACE_NAMESPACE, namespace);
	rows_open(&rows, "namespace", AccessShareLock);
	namespace_table = RelationGetRelid(rows.heap);
	rows_scan_begin(&rows, &scan, &key, 1, ForwardScanDirection);
	slot = rows_scan_next(&scan);
	policy->exists = slot != NULL || is_default(namespace);
	if (slot != NULL)
		read_policy(slot, policy);
	rows_scan_end(&scan);
	rows_close(&rows);
}

/*
 * Enter where nobody is changing a namespace, and know of every change so far;
 * whoever is in leaves soon, and waits for nothing.
 */
static bool
enter(void)
{
	if (RecoveryInProgress() || !rows_try_share(GATE))
		return false;
	AcceptInvalidationMessages();
	return true;
}

static bool
recall(const text *namespace, NamespacePolicy *policy)
{
	const NamespacePolicy *remembered;

	if (!enter())
		return false;
	remembered = memo_find(&memo, InvalidOid, namespace);
	if (remembered != NULL)
		*policy = *remembered;
	rows_leave_share(GATE);
	return remembered != NULL;
}

/* Read it, and remember it unless it was changed meanwhile. */
static void
read_and_keep(const text *namespace, NamespacePolicy *policy)
{
	uint64		forgotten = memo.forgotten;

	look_up(namespace, policy);
	if (enter())
	{
		memo_keep(&memo, forgotten, InvalidOid, namespace, policy);
		rows_leave_share(GATE);
	}
}

/* What a namespace says as of now, within what the server allows. */
void
policy_read(const text *namespace, NamespacePolicy *policy)
{
	if (!recall(namespace, policy))
		read_and_keep(namespace, policy);
	policy->rules.max_ttl = Min(policy->rules.max_ttl,
								settings_max_ttl * USECS_PER_SEC);
}

/*
 * Whether a namespace is there and nobody is about to change or drop it.  Asked after
 * the first row of a name has been written: policy_drop() deletes first and
 * then looks for such rows, so one of the two sees the other.
 */
bool
policy_stays(const text *namespace)
{
	ScanKeyData key;
	Rows		rows;
	bool		stays;

	if (is_default(namespace))
		return true;
	rows_key_text(&key, NAMESPACE_NAMESPACE, namespace);
	rows_open(&rows, "namespace", AccessShareLock);
	stays = rows_look_dirty(&rows, &key, 1) == ROW_PRESENT;
	rows_close(&rows);
	return stays;
}

/* What the current user may do in a namespace. */
int
policy_privileges(const text *namespace)
{
	return privilege_of(GetUserId(), namespace);
}

/* Bring a memo up to date for the next row's namespace. */
void
policy_remember(PolicyMemo *memo, const text *namespace)
{
	MemoryContext caller;

	if (memo->namespace != NULL &&
		rules_text_equal(lease_text(memo->namespace), lease_text(namespace)))
		return;
	caller = MemoryContextSwitchTo(memo->context);
	memo->namespace = DatumGetTextPCopy(PointerGetDatum(namespace));
	memo->privileges = policy_privileges(namespace);
	policy_read(namespace, &memo->policy);
	MemoryContextSwitchTo(caller);
}

static void
require_namespace(const text *namespace)
{
	NamespacePolicy policy;

	if (is_default(namespace))
		return;
	policy_read(namespace, &policy);
	if (!policy.exists)
		error_no_namespace(namespace);
}

/*
 * Error unless the current user has one of the privileges, or where the
 * namespace does not exist.  Answers with all privileges that he has.
 */
int
policy_authorize(const text *namespace, int needed)
{
	int			granted = policy_privileges(namespace);

	if (!(granted & needed))
		error_no_privilege(namespace, privilege_name(needed));
	require_namespace(namespace);
	return granted;
}

/* Error unless the current user is the extension's owner or a superuser. */
void
policy_require_owner(void)
{
	if (!privilege_is_owner(GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be the owner of extension \"lease\"")));
}

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
policy_grant(const text *namespace, Name role, const text *privilege)
{
	Datum		values[4];

	policy_require_owner();
	require_namespace(namespace);
	values[0] = PointerGetDatum(namespace);
	values[1] = CStringGetTextDatum(NameStr(*role));
	values[2] = Int64GetDatum((int64) get_role_oid_or_public(NameStr(*role)));
	values[3] = CStringGetTextDatum(known_privilege(privilege));
	statement_run_one(STATEMENT_PRIVILEGE_SET, values, NULL);
}

/* Take a privilege back; a role that is gone can still be revoked from. */
void
policy_revoke(const text *namespace, Name role, const text *privilege)
{
	Datum		values[3];

	policy_require_owner();
	require_namespace(namespace);
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

/* Error, and so nothing written, where a floor now lies above its ceiling. */
static void
check_consistent(const text *namespace)
{
	NamespacePolicy policy;

	policy_read(namespace, &policy);
	if (policy.rules.min_ttl > policy.rules.max_ttl)
		error_invalid("namespace", "Its min_ttl must not be longer than its max_ttl, nor than lease.max_ttl.");
}

/* Make a namespace. */
void
policy_create(const text *namespace, const NamespaceChange *change)
{
	Datum		values[1] = {PointerGetDatum(namespace)};

	policy_require_owner();
	if (is_default(namespace) ||
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
policy_alter(const text *namespace, const NamespaceChange *change)
{
	policy_require_owner();
	if (write_namespace(STATEMENT_NAMESPACE_UPDATE, namespace, change) == 0 &&
		(!is_default(namespace) ||
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
policy_drop(const text *namespace)
{
	Datum		values[1] = {PointerGetDatum(namespace)};

	policy_require_owner();
	if (is_default(namespace))
		error_invalid("namespace", "The default namespace cannot be dropped.");
	if (statement_run(STATEMENT_NAMESPACE_DELETE, values, NULL) == 0)
		error_no_namespace(namespace);
	if (has_leases(namespace))
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop namespace \"%s\" because it has leases",
						text_to_cstring(namespace)),
				 errhint("Release them, then lease_purge().")));
	statement_run(STATEMENT_PRIVILEGE_UNSET_ALL, values, NULL);
}

/* Make the row of "default"; false where somebody else is at it. */
static bool
make_default(Rows *rows, ScanKey key, const text *namespace)
{
	uint64		hash = rows_hash(NAMESPACE_NAMESPACE, VARDATA_ANY(namespace),
								 VARSIZE_ANY_EXHDR(namespace));
	RowLock		lock = rows_win(rows, key, 1, hash);
	NamespaceChange nothing = {0};

	if (lock == ROW_WON)
	{
		(void) write_namespace(STATEMENT_NAMESPACE_INSERT, namespace, &nothing);
		rows_yield(hash);
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
	change_namespaces(rows->heap);
	return true;
}

/*
 * Put a namespace on hold, or with HOLD_NONE take that back, under the lock of
 * its row.  Whoever calls has authorised his caller.
 */
PolicyHold
policy_hold(const text *namespace, LeaseHold hold, int64 length)
{
	PolicyHold	answer = POLICY_HOLD_KEPT;
	ScanKeyData key;
	TupleTableSlot *slot;
	RowLock		lock;
	Rows		rows;

	rows_key_text(&key, NAMESPACE_NAMESPACE, namespace);
	rows_open(&rows, "namespace", RowExclusiveLock);
	slot = table_slot_create(rows.heap, NULL);
	lock = rows_lock(&rows, &key, 1, LockTupleNoKeyExclusive, slot);
	if (lock == ROW_ABSENT && hold != HOLD_NONE && is_default(namespace))
		lock = make_default(&rows, &key, namespace) ?
			rows_lock(&rows, &key, 1, LockTupleNoKeyExclusive, slot) : ROW_BUSY;
	if (lock == ROW_BUSY)
		answer = POLICY_HOLD_BUSY;
	else if (lock == ROW_LOCKED)
		answer = write_hold(&rows, slot, hold, length) ?
			POLICY_HOLD_WRITTEN : POLICY_HOLD_KEPT;
	else if (!is_default(namespace))
		error_no_namespace(namespace);
	ExecDropSingleTupleTableSlot(slot);
	rows_close_changed(&rows);
	return answer;
}
