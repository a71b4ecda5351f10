/*
 * batch.c
 *		Many leases in one call.
 *
 * Promises: an item that is bad, lost or locked costs the others nothing; a
 * repeated (name, fence) is judged once; rows are locked in the order of
 * their names, byte by byte, and one that is locked by somebody else is not
 * waited for, so that no two batches can stop each other.
 *
 * All that is written is written in one subtransaction, for a subtransaction
 * an item would fill the server's cache of them.  Where an item that looked
 * good is refused under its lock, the whole is rolled back, which undoes the
 * lock, and done again without that item; so it ends after as many rounds as
 * there are items, and nearly always after one.
 */
#include "lease.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "batch.h"
#include "clock.h"
#include "policy.h"
#include "rebase.h"
#include "rows.h"
#include "transaction.h"

static int
compare_items(const void *a, const void *b)
{
	const BatchItem *left = *(BatchItem *const *) a;
	const BatchItem *right = *(BatchItem *const *) b;
	RuleText	left_name = lease_text(left->call.key.name);
	RuleText	right_name = lease_text(right->call.key.name);
	int			order = memcmp(left_name.data, right_name.data,
							   Min(left_name.len, right_name.len));

	if (order != 0)
		return order;
	if (left_name.len != right_name.len)
		return left_name.len < right_name.len ? -1 : 1;
	if (left->call.request.fence != right->call.request.fence)
		return left->call.request.fence < right->call.request.fence ? -1 : 1;
	/* the first of a repeated pair is the one that is judged */
	return left < right ? -1 : 1;
}

static bool
same_name(const BatchItem *a, const BatchItem *b)
{
	return rules_text_equal(lease_text(a->call.key.name), lease_text(b->call.key.name));
}

static bool
same_pair(const BatchItem *a, const BatchItem *b)
{
	return a->call.request.fence == b->call.request.fence && same_name(a, b);
}

/*
 * Sort out what there is to judge: the first places of each pair, in the
 * order in which their rows are locked.
 */
static int
distinct_items(BatchItem *items, int nitems, BatchItem **distinct)
{
	BatchItem **sorted = palloc(sizeof(BatchItem *) * nitems);
	int			nvalid = 0;
	int			ndistinct = 0;
	int			i;

	for (i = 0; i < nitems; i++)
	{
		items[i].judged_at = i;
		if (items[i].valid)
			sorted[nvalid++] = &items[i];
	}
	qsort(sorted, nvalid, sizeof(BatchItem *), compare_items);
	for (i = 0; i < nvalid; i++)
	{
		if (ndistinct > 0 && same_pair(distinct[ndistinct - 1], sorted[i]))
			sorted[i]->judged_at = distinct[ndistinct - 1]->judged_at;
		else
			distinct[ndistinct++] = sorted[i];
	}
	pfree(sorted);
	return ndistinct;
}

/* What one round carries into its subtransaction. */
typedef struct Round
{
	Rows	   *rows;
	BatchItem **items;
	int			nitems;
	bool		again;			/* some are refused, others still to be
								 * written */
} Round;

/*
 * Decide every item that is not settled, under its lock.  One that is refused
 * is settled by that.
 */
static bool
decide_step(void *state)
{
	Round	   *round = state;
	bool		written = false;
	bool		refused = false;	/* holding a lock that it must not keep */
	int			i;

	for (i = 0; i < round->nitems; i++)
	{
		BatchItem  *item = round->items[i];

		CHECK_FOR_INTERRUPTS();
		if (item->settled)
			continue;
		if (protocol_decide(round->rows, &item->call, NULL, LockTupleNoKeyExclusive,
							&item->answer))
		{
			written = true;
			continue;
		}
		item->settled = true;
		if (item->answer.exhausted)
			item->answer.outcome = OUTCOME_INVALID;
		if (item->answer.outcome != OUTCOME_BUSY)
			refused = true;
	}
	round->again = written && refused;
	if (written && !refused)
		transaction_force_flush();
	return written && !refused;
}

/*
 * A row may have been looked at for one item before another one changed it:
 * show the last version to all items of its name, which stand side by side,
 * as of the instant that belongs to it.
 */
static void
share_rows(BatchItem **items, int nitems)
{
	int			first;
	int			end;
	int			i;

	for (first = 0; first < nitems; first = end)
	{
		const LeaseAnswer *last = &items[first]->answer;

		for (end = first + 1; end < nitems && same_name(items[first], items[end]); end++)
		{
			if (items[end]->answer.row.version > last->row.version)
				last = &items[end]->answer;
		}
		for (i = first; i < end; i++)
		{
			LeaseAnswer *answer = &items[i]->answer;

			if (answer->row.version == last->row.version)
				continue;
			answer->row = last->row;
			answer->now = Max(answer->now, last->now);
		}
	}
}

/*
 * Run the same verb, a holder's, on each item.  Every item has an answer
 * afterwards; calls that are not valid have that of OUTCOME_INVALID.
 */
void
batch_run(BatchItem *items, int nitems, const text *namespace)
{
	BatchItem **distinct = palloc(sizeof(BatchItem *) * Max(nitems, 1));
	int			ndistinct = distinct_items(items, nitems, distinct);
	int			privileges = policy_authorize(namespace, PRIVILEGE_USE);
	bool		undecided = false;
	bool		written = false;
	Rows		rows;
	Round		round = {&rows, distinct, ndistinct};
	int			i;

	rows_open(&rows, "lease", RowExclusiveLock);
	for (i = 0; i < ndistinct; i++)
	{
		LockTupleMode mode;
		FoundRow	found;

		CHECK_FOR_INTERRUPTS();
		distinct[i]->settled = protocol_look(&rows, &distinct[i]->call, &found,
											 &distinct[i]->answer, &mode);
		store_forget(&found);
		undecided = undecided || !distinct[i]->settled;
	}
	round.again = undecided;
	while (round.again)
		written = transaction_attempt(decide_step, &round);
	share_rows(distinct, ndistinct);
	if (written)
		rows_close_changed(&rows);
	else
		rows_close(&rows);

	for (i = 0; i < ndistinct; i++)
	{
		if (distinct[i]->answer.outcome == OUTCOME_ON_HOLD)
		{
			(void) rebase_hold(namespace);
			break;
		}
	}
	for (i = 0; i < nitems; i++)
	{
		if (items[i].valid)
			items[i].answer = items[items[i].judged_at].answer;
		else
		{
			items[i].answer.outcome = OUTCOME_INVALID;
			items[i].answer.now = clock_now();
		}
		items[i].answer.privileges = privileges;
	}
}
