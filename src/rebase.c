/*
 * rebase.c
 *		What a refusal writes down elsewhere than in its own row.
 *
 * Whoever is refused because of other rows than his own, and finds that a clock
 * set back has left them ahead, writes down what they promise as it is read
 * now; else the wait for them would move ahead with every look, until the clock
 * has caught up.
 *
 * Promises: what needs no change is neither changed nor left locked; what
 * others have locked is passed over, and counts as before; a second time
 * nothing is found to be ahead.
 *
 * Locks: the row that is changed, tried, each in a subtransaction of its own;
 * for a namespace also what policy_try_announce_change() tries.
 */
#include "lease.h"

#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "namespaces.h"
#include "policy.h"
#include "rebase.h"
#include "store.h"
#include "transaction.h"

/*
 * So many leases are written in one go where the limit of the namespace has
 * been lowered to fewer.
 */
#define BATCH 1000

static bool
is_ahead(const LeaseRow *row, const void *state)
{
	(void) state;
	return rules_is_promised_ahead(row, clock_now());
}

/* Rebase the row, if it is still ahead once it is locked. */
static bool
rebase_step(void *state)
{
	static const LeaseRequest request = {.verb = VERB_REBASE};
	static const LeasePolicy policy = {0};
	static const GrantFacts facts = {0};
	LeaseDecision decision = {.write = WRITE_NOTHING};
	const LeaseKey *key = state;
	LockedRow	locked;
	Rows		rows;

	rows_open(&rows, "lease", RowExclusiveLock);
	if (store_lock(&rows, key, NULL, LockTupleNoKeyExclusive, &locked) == ROW_LOCKED)
	{
		rules_decide(&locked.row, &request, &policy, &facts, clock_now(), &decision);
		store_write(&rows, key, &locked, decision.write, &decision.row);
	}
	store_unpin(&locked);
	rows_close_changed(&rows);
	return decision.write != WRITE_NOTHING;
}

/*
 * Write down of the leases that fill a namespace when they end.  The last ones
 * come first: who counts meets the first ones, so while he meets none that is
 * ahead, none is left.
 */
static void
rebase_counted(const text *namespace)
{
	NamespacePolicy policy;
	ListCell   *cell;

	policy_read(namespace, &policy);
	foreach(cell, store_names(namespace, BackwardScanDirection, is_ahead, NULL,
							  Max(policy.rules.max_leases, BATCH)))
	{
		LeaseKey	key = {unconstify(text *, namespace), lfirst(cell)};

		CHECK_FOR_INTERRUPTS();
		(void) transaction_attempt(rebase_step, &key);
	}
}

/* The same, if they fill the namespace.  A poll has no name in its key yet. */
static void
rebase_if_full(const LeaseKey *key)
{
	LeaseKey	own = *key;
	NamespacePolicy policy;
	int64		limit;
	bool		ahead;

	policy_read(key->namespace, &policy);
	limit = policy.rules.max_leases;
	if (own.name == NULL)
		own.name = cstring_to_text("");
	if (limit > 0 && store_count_others(&own, limit, clock_now(), &ahead) >= limit && ahead)
		rebase_counted(key->namespace);
}

static bool
rebase_hold_step(void *state)
{
	return namespaces_rebase_hold(state);
}

/*
 * Write down of the hold of a namespace when it ends, where it is to end;
 * true if that was needed and nobody was in the way.
 */
bool
rebase_hold(const text *namespace)
{
	NamespacePolicy policy;

	policy_read(namespace, &policy);
	return policy.rules.hold != HOLD_NONE && policy.rules.hold_length > 0 &&
		policy.rules.hold_at > clock_now() &&
		transaction_attempt(rebase_hold_step, unconstify(text *, namespace));
}

/*
 * After a look or a decision: write down what else has been found ahead.  "ahead"
 * was a lease that fills a full namespace, "rebased" is the caller's own row.  A
 * caller who seeks a place, and is refused for his own row or for a hold, has the
 * leases rebased that fill the namespace too: else the wait for a place would
 * only begin when the other is over.
 */
void
rebase_after(const LeaseKey *key, LeaseOutcome outcome, bool ahead, bool rebased,
			 bool seeks_place)
{
	if (outcome == OUTCOME_ON_HOLD)
		rebased = rebase_hold(key->namespace) || rebased;
	if (ahead)
		rebase_counted(key->namespace);
	else if (rebased && seeks_place)
		rebase_if_full(key);
}
