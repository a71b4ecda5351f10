/*
 * poll.c
 *		Handing tasks out: those that are due, the highest priority first, then
 *		by when they were due.
 *
 * Promises: never more than asked for, and whatever is granted is returned;
 * a task that somebody has locked is passed over, and its lock not waited for;
 * no row is answered only where no due task is left that is not locked.  What
 * a row's rule says counts (decide_poll), decided under its lock as every
 * grant is; the due entries (due.c) only say where to look.
 *
 * All is done in one subtransaction.  Where a task that looked due is refused
 * under its lock, all is rolled back, which undoes the lock, and done again
 * without that task.
 *
 * Locks: lease rows FOR UPDATE and due entries, tried, in the order in which
 * they are met; the mutex of a request id (request.c) until its grants are
 * written, and that of a namespace whose leases are counted until the poll is
 * decided.
 */
#include "lease.h"

#include "lib/pairingheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "due.h"
#include "error.h"
#include "payload.h"
#include "policy.h"
#include "poll.h"
#include "protocol.h"
#include "rebase.h"
#include "request.h"
#include "settings.h"
#include "store.h"
#include "transaction.h"
#include "wait.h"

/* A task whose entry was earlier than it is due; it waits for its turn. */
typedef struct Waiting
{
	pairingheap_node node;
	DueEntry	entry;
	int64		due_at;
	int			place;			/* among those that are due at one instant */
} Waiting;

/* One attempt at a poll. */
typedef struct Poll
{
	const LeaseCall *call;
	int			max_count;
	PollAnswer *answer;
	MemoryContext context;		/* of what is answered, or waits for its turn */
	MemoryContext visit;		/* of one look at a task */
	RequestId	request;
	List	   *refused;		/* names (text *) refused under their lock */
	int			limit;			/* of grants, where the namespace was full */
	bool		counted_ahead;	/* of leases that a clock set back left ahead */
	bool		rebased;		/* what one left ahead was met */
	bool		exhausted;		/* one has no number left for an epoch */
	bool		again;			/* all is to be done again without them */

	/* while it runs */
	Rows		leases;
	Rows		payloads;
	NamespacePolicy policy;
	int			budget;			/* entries that may still be moved */
	bool		ahead;			/* looking at what a clock set back left */
	pairingheap waiting;		/* of Waiting, the earliest due first */
	bool		wrote;
} Poll;

static void
refuse(Poll *poll, LeaseOutcome outcome)
{
	poll->answer->refused = true;
	memset(&poll->answer->whole, 0, sizeof(LeaseAnswer));
	poll->answer->whole.outcome = outcome;
	poll->answer->whole.now = clock_now();
}

static bool
has_all(const Poll *poll)
{
	return list_length(poll->answer->items) >= poll->max_count;
}

/* Whether nothing more can be granted. */
static bool
is_full(const Poll *poll)
{
	return has_all(poll) || list_length(poll->answer->items) >= poll->limit;
}

/* What a clock set back left ahead is judged anew also where there is no room. */
static bool
goes_on(const Poll *poll)
{
	return !poll->again && (poll->ahead ? !has_all(poll) : !is_full(poll));
}

static bool
was_refused(const Poll *poll, const text *name)
{
	ListCell   *cell;

	foreach(cell, poll->refused)
	{
		if (rules_text_equal(lease_text(lfirst(cell)), lease_text(name)))
			return true;
	}
	return false;
}

/*
 * Keep an answer, with what the task carried at the snapshot that it belongs
 * to, beyond this lap.
 */
static void
keep_item(Poll *poll, const LeaseCall *call, const LeaseAnswer *answer,
		  Snapshot snapshot)
{
	MemoryContext caller = MemoryContextSwitchTo(poll->context);
	PollItem   *item = palloc0(sizeof(PollItem));

	item->call = *call;
	item->call.key.name = DatumGetTextPCopy(PointerGetDatum(call->key.name));
	item->answer = *answer;
	item->answer.row.owner.data = pnstrdup(answer->row.owner.data, answer->row.owner.len);
	payload_read(&poll->payloads, &call->key, snapshot, &item->payload);
	poll->answer->items = lappend(poll->answer->items, item);
	MemoryContextSwitchTo(caller);
}

/* The call that decides about one task of the poll. */
static LeaseCall
call_for(const Poll *poll, const text *name)
{
	LeaseCall	call = *poll->call;

	call.key.name = unconstify(text *, name);
	return call;
}

/* Lock a task that looked due, and take it if it still is. */
static void
take(Poll *poll, DueScan *scan, DueEntry *entry)
{
	LeaseCall	call = call_for(poll, entry->key.name);
	LeaseAnswer answer;
	Snapshot	snapshot;
	bool		written;

	memset(&answer, 0, sizeof(answer));
	written = protocol_decide(&poll->leases, &call, NULL, LockTupleExclusive, &answer);
	if (answer.outcome == OUTCOME_FULL)
	{
		poll->limit = list_length(poll->answer->items);
		poll->counted_ahead = poll->counted_ahead || answer.ahead;
	}
	if (written)
	{
		poll->wrote = true;
		(void) due_move(scan, entry, rules_due_at(&answer.row, NULL, answer.now));
		if (answer.outcome != OUTCOME_CLAIMED && answer.outcome != OUTCOME_TAKEN_OVER)
		{
			poll->rebased = true;
			return;				/* only what a clock set back left ahead */
		}
		if (poll->request.id != NULL)
			request_keep_poll(&poll->request, call.key.name, answer.row.fence);
		answer.privileges = poll->answer->whole.privileges;
		snapshot = RegisterSnapshot(GetLatestSnapshot());
		keep_item(poll, &call, &answer, snapshot);
		UnregisterSnapshot(snapshot);
		return;
	}
	if (answer.outcome == OUTCOME_BUSY)
		return;
	poll->exhausted = poll->exhausted || answer.exhausted;
	poll->again = true;
	if (answer.outcome != OUTCOME_FULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(poll->context);

		poll->refused = lappend(poll->refused,
								DatumGetTextPCopy(PointerGetDatum(entry->key.name)));
		MemoryContextSwitchTo(caller);
	}
}

/* Do something about the task of an entry, in the memory of one look. */
static void
look_at(Poll *poll, DueScan *scan, DueEntry *entry,
		void (*act) (Poll *poll, DueScan *scan, DueEntry *entry))
{
	MemoryContext caller = MemoryContextSwitchTo(poll->visit);

	act(poll, scan, entry);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(poll->visit);
}

/* Take what waits and was due no later than an instant. */
static void
take_waiting(Poll *poll, DueScan *scan, int64 until)
{
	while (!pairingheap_is_empty(&poll->waiting) && !poll->again && !is_full(poll))
	{
		Waiting    *first = pairingheap_container(Waiting, node,
												  pairingheap_first(&poll->waiting));

		if (first->due_at > until)
			return;
		(void) pairingheap_remove_first(&poll->waiting);
		look_at(poll, scan, &first->entry, take);
	}
}

/* The first of the heap is the greatest: the one that is due earliest. */
static int
compare_waiting(const pairingheap_node * a, const pairingheap_node * b, void *arg)
{
	const Waiting *left = pairingheap_const_container(Waiting, node, a);
	const Waiting *right = pairingheap_const_container(Waiting, node, b);

	(void) arg;
	if (left->due_at != right->due_at)
		return left->due_at < right->due_at ? 1 : -1;
	return left->place < right->place ? 1 : -1;
}

static void
let_wait(Poll *poll, const DueEntry *entry, int64 due_at)
{
	MemoryContext caller = MemoryContextSwitchTo(poll->context);
	Waiting    *waiting = palloc(sizeof(Waiting));

	waiting->entry = *entry;
	waiting->entry.key.namespace = poll->call->key.namespace;
	waiting->entry.key.name = DatumGetTextPCopy(PointerGetDatum(entry->key.name));
	waiting->due_at = due_at;
	waiting->place = -poll->budget;
	pairingheap_add(&poll->waiting, &waiting->node);
	MemoryContextSwitchTo(caller);
}

/* Spare the next poll the look at a task that is not to be had. */
static void
push_on(Poll *poll, DueScan *scan, DueEntry *entry, const LeaseRow *row,
		TimestampTz now)
{
	int64		due_at = rules_due_at(row, NULL, now);
	bool		over = !row->exists || rules_task(row, now) != TASK_OPEN;

	if (poll->budget <= 0 || (!over && due_at <= entry->due_at))
		return;
	poll->budget--;
	if (over ? due_drop(scan, entry) : due_move(scan, entry, due_at))
		poll->wrote = true;
}

/*
 * Look at the task of an entry: take it, let it wait for its turn, or see to
 * it that the next poll need not look at it.
 */
static void
visit(Poll *poll, DueScan *scan, DueEntry *entry)
{
	LeaseCall	call = call_for(poll, entry->key.name);
	LockTupleMode mode;
	LeaseAnswer answer;
	FoundRow	found;
	bool		final;
	int64		due_at;

	final = protocol_look(&poll->leases, &call, &found, &answer, &mode);
	store_forget(&found);
	if (!final && !(is_full(poll) && mode == LockTupleExclusive))
	{
		due_at = rules_due_at(&found.row, &poll->policy.rules, answer.now);
		if (!poll->ahead && due_at > entry->due_at && due_at <= answer.now &&
			poll->budget > 0)
		{
			poll->budget--;
			let_wait(poll, entry, due_at);
		}
		else
			take(poll, scan, entry);
		return;
	}
	if (answer.outcome == OUTCOME_ON_HOLD)
	{
		/* all of them are, since a moment ago */
		poll->again = true;
		return;
	}
	if (!poll->ahead)
		push_on(poll, scan, entry, &found.row, answer.now);
	else if (due_move(scan, entry, rules_due_at(&found.row, NULL, answer.now)))
		poll->wrote = true;
}

/* What was not taken waits at its own place from now on. */
static void
move_waiting(Poll *poll, DueScan *scan)
{
	MemoryContext caller = MemoryContextSwitchTo(poll->visit);

	while (!pairingheap_is_empty(&poll->waiting))
	{
		Waiting    *waiting = pairingheap_container(Waiting, node,
													pairingheap_remove_first(&poll->waiting));

		if (due_move(scan, &waiting->entry, waiting->due_at))
			poll->wrote = true;
		MemoryContextReset(poll->visit);
	}
	MemoryContextSwitchTo(caller);
}

static void
look_through(Poll *poll, DueScan *scan)
{
	DueEntry	entry;

	while (goes_on(poll) && due_scan_next(scan, &entry))
	{
		if (!poll->ahead)
			take_waiting(poll, scan, entry.due_at);
		if (goes_on(poll) && !was_refused(poll, entry.key.name))
			look_at(poll, scan, &entry, visit);
	}
	take_waiting(poll, scan, PG_INT64_MAX);
	if (!poll->again)
		move_waiting(poll, scan);
	due_scan_end(scan);
}

/* Look for tasks, the highest priority first. */
static void
look_for_tasks(Poll *poll)
{
	const text *namespace = poll->call->key.namespace;
	TimestampTz now = clock_now();
	DueScan		scan;
	int			priority;

	/* none, unless the clock was set back; they are judged anew */
	poll->ahead = true;
	due_scan_begin_ahead(&scan, namespace, now);
	look_through(poll, &scan);
	poll->ahead = false;

	for (priority = DUE_PRIORITIES - 1; priority >= 0; priority--)
	{
		if (poll->again || is_full(poll))
			return;
		due_scan_begin(&scan, namespace, priority, now);
		look_through(poll, &scan);
	}
}

/* Answer one task of a repeated request, if its epoch is still current. */
static void
replay(const text *name, int64 fence, void *state)
{
	Poll	   *poll = state;
	LeaseCall	call = call_for(poll, name);
	LeaseAnswer answer;
	FoundRow	found;

	memset(&answer, 0, sizeof(answer));
	store_find(&poll->leases, &call.key, &found);
	answer.now = clock_now();
	if (found.row.fence == fence && rules_is_current(&found.row, answer.now))
	{
		answer.outcome = OUTCOME_REPLAYED;
		answer.row = found.row;
		answer.privileges = poll->answer->whole.privileges;
		keep_item(poll, &call, &answer, found.snapshot);
	}
	store_forget(&found);
}

/* True where the request id settles the poll, as a repeat or as a twin. */
static bool
repeats(Poll *poll)
{
	PollAnswer *answer = poll->answer;
	RowLock		seen = request_visit_poll(&poll->request, replay, poll);

	if (seen == ROW_BUSY)
		refuse(poll, OUTCOME_BUSY);
	answer->settled = seen == ROW_PRESENT;
	if (answer->settled && answer->items == NIL)
		refuse(poll, OUTCOME_REPLAYED_ENDED);
	return answer->settled || answer->refused;
}

/* Whether the whole namespace is on hold. */
static bool
is_held_up(const LeasePolicy *policy)
{
	static const LeaseRow nothing = {0};

	return rules_is_held_up(&nothing, policy, HOLD_GRANTS, clock_now());
}

/* Grant what can be granted; true where something has been written. */
static bool
grant_step(void *state)
{
	Poll	   *poll = state;
	const LeaseCall *call = poll->call;
	bool		counts = poll->policy.rules.max_leases > 0;
	bool		keep = false;

	if (poll->request.id != NULL && !request_try_poll(&poll->request))
	{
		refuse(poll, OUTCOME_BUSY);
		return false;
	}
	if (poll->request.id == NULL || !repeats(poll))
	{
		if (is_held_up(&poll->policy.rules))
			refuse(poll, OUTCOME_ON_HOLD);
		else if (counts && !protocol_try_capacity(call->key.namespace))
			refuse(poll, OUTCOME_BUSY);
		else
		{
			look_for_tasks(poll);
			if (counts)
				protocol_yield_capacity(call->key.namespace);
			if (!poll->again && poll->answer->items == NIL && poll->limit == 0)
				refuse(poll, OUTCOME_FULL);
			keep = poll->wrote && !poll->again;
		}
	}
	if (poll->request.id != NULL)
		request_yield_poll(&poll->request);
	if (keep && poll->answer->items != NIL)
		transaction_force_flush();
	return keep;
}

/* One look through the tasks that are due. */
static void
poll_once(const LeaseCall *call, int max_count, int privileges,
		  PollAnswer *answer)
{
	Poll		poll = {call, max_count, answer, CurrentMemoryContext};
	bool		written;

	poll.request = protocol_request(call);
	poll.limit = max_count;
	poll.waiting.ph_compare = compare_waiting;
	poll.visit = AllocSetContextCreate(poll.context, "lease poll visit",
									   ALLOCSET_SMALL_SIZES);
	do
	{
		memset(answer, 0, sizeof(PollAnswer));
		answer->whole.privileges = privileges;
		poll.again = false;
		poll.wrote = false;
		pairingheap_reset(&poll.waiting);
		poll.budget = settings_poll_push;
		policy_read(call->key.namespace, &poll.policy);
		rows_open(&poll.leases, "lease", RowExclusiveLock);
		payload_open(&poll.payloads);
		written = transaction_attempt(grant_step, &poll);
		if (written)
			rows_close_changed(&poll.leases);
		else
			rows_close(&poll.leases);
		rows_close(&poll.payloads);
		CHECK_FOR_INTERRUPTS();
	} while (poll.again);
	MemoryContextDelete(poll.visit);
	if (poll.exhausted && answer->items == NIL)
		error_exhausted();
	rebase_after(&call->key, answer->whole.outcome, poll.counted_ahead, poll.rebased, true);
	answer->whole.privileges = privileges;
}

/* How long until something may be due, as far as is on record. */
static int64
until_due(const text *namespace)
{
	TimestampTz now = clock_now();
	int64		next = due_next(namespace, now);

	return next == PG_INT64_MAX ? WAIT_IDLE : next - now;
}

/* Hand out up to so many tasks, for as long as the caller waits for one. */
void
poll_run(const LeaseCall *call, int max_count, PollAnswer *answer)
{
	Wait		wait;

	protocol_may_change("lease_poll");
	wait_begin(&wait, Min(call->wait, settings_max_wait * INT64CONST(1000)));
	for (;;)
	{
		int			privileges = policy_authorize(call->key.namespace, call->needed);

		poll_once(call, max_count, privileges, answer);
		if (answer->items != NIL || answer->settled || call->wait == 0 ||
			!wait_nap(&wait, until_due(call->key.namespace), WAIT_IDLE))
			break;
	}
	wait_end(&wait);
}
