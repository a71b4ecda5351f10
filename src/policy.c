/*
 * policy.c
 *		Namespaces: what they allow, and to whom.  Changing it is namespaces.c's.
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
 * Locks: GATE.  A reader shares it for a moment in which it waits for nothing,
 * or does without its memory where it cannot.  Whoever has changed a namespace
 * closes it, waiting (policy_announce_change) or not
 * (policy_try_announce_change), until the transaction ends.
 */
#include "lease.h"

#include "access/xlog.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "error.h"
#include "memo.h"
#include "mutex.h"
#include "policy.h"
#include "privilege.h"
#include "rows.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(lease_forget_namespaces);

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

/* Whether it is the one that is always there. */
bool
policy_is_default(const text *namespace)
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
void
policy_announce_change(Relation table)
{
	mutex_block_shares(GATE);
	CacheInvalidateRelcache(table);
}

/* The same without a wait: false where somebody is just going by memory. */
bool
policy_try_announce_change(Relation table)
{
	if (!mutex_try_block_shares(GATE))
		return false;
	CacheInvalidateRelcache(table);
	return true;
}

/* AFTER every change of lease_catalog.namespace. */
Datum
lease_forget_namespaces(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		error_no_trigger("lease_forget_namespaces");
	policy_announce_change(trigger->tg_relation);
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
	rows_key_text(&key, 1, namespace);
	rows_open(&rows, "namespace", AccessShareLock);
	namespace_table = RelationGetRelid(rows.heap);
	rows_scan_begin(&rows, &scan, &key, 1, ForwardScanDirection);
	slot = rows_scan_next(&scan);
	policy->exists = slot != NULL || policy_is_default(namespace);
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
	if (RecoveryInProgress() || !mutex_try_share(GATE))
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
	mutex_release_share(GATE);
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
		mutex_release_share(GATE);
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
 * Whether a namespace is there and nobody is about to change or drop it.
 * Asked after the first row of a name has been written: namespaces_drop()
 * deletes first and then looks for such rows, so one of the two sees the other.
 */
bool
policy_is_settled(const text *namespace)
{
	ScanKeyData key;
	Rows		rows;
	bool		stays;

	if (policy_is_default(namespace))
		return true;
	rows_key_text(&key, 1, namespace);
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

/* Error where there is no such namespace. */
void
policy_require_namespace(const text *namespace)
{
	NamespacePolicy policy;

	if (policy_is_default(namespace))
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
	policy_require_namespace(namespace);
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
