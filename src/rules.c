/*
 * rules.c
 *		Who may have a lease, prolong it and end it: the only place that says.
 *
 * Promises: a decision depends on nothing but its arguments; a refusal leaves
 * the row as it was, but for instants that a clock set back has left ahead
 * of now (rebase); a grant carries a fence above the last one, the floor and
 * the generation's base; an epoch whose expiry has been reached is never
 * prolonged; a hold, a cancel and a terminal state go by an operator's or the
 * holder's verb and by no other.
 *
 * "Current" is one comparison, now < expiry, in rules_is_current() alone.
 *
 * Not here: locks, clocks, privileges, storage, and how outcomes are spelt
 * (outcomes.c).
 */
#include "rules.h"

/* Byte by byte; a missing text equals nothing, not even another one. */
bool
rules_text_equal(RuleText a, RuleText b)
{
	int32_t		i;

	if (!a.data || !b.data || a.len != b.len)
		return false;
	for (i = 0; i < a.len; i++)
	{
		if (a.data[i] != b.data[i])
			return false;
	}
	return true;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* instant + length, held at the ends of int64 instead of wrapping */
static int64_t
after(int64_t instant, int64_t length)
{
	if (length > 0 && instant > INT64_MAX - length)
		return INT64_MAX;
	if (length < 0 && instant < INT64_MIN - length)
		return INT64_MIN;
	return instant + length;
}

/*
 * Until when something lasts that was begun so long ago.  Where the clock has
 * since been set back past its beginning, it counts as begun just now.
 */
static int64_t
lasts_until(int64_t begun, int64_t length, int64_t now)
{
	return after(earlier(begun, now), length);
}

/*
 * One that lies further ahead than a whole ttl was promised by a clock that
 * has since been set back; it counts as made just now, so no lease outlives
 * its length by the size of the jump.
 */
static int64_t
believed_expiry(const LeaseRow *row, int64_t now)
{
	return earlier(row->expires_at, after(now, row->ttl));
}

/* By when its holder was asked to stop; without end where nobody asked. */
int64_t
rules_cancel_deadline(const LeaseRow *row, int64_t now)
{
	return row->cancel ? lasts_until(row->cancel_at, row->cancel_length, now) : INT64_MAX;
}

static bool
is_past_deadline(const LeaseRow *row, int64_t now)
{
	return row->cancel && now >= rules_cancel_deadline(row, now);
}

/* The expiry that everybody goes by. */
int64_t
rules_expiry(const LeaseRow *row, int64_t now)
{
	return earlier(believed_expiry(row, now), rules_cancel_deadline(row, now));
}

/* Until when a hold lasts: before all time where there is none. */
int64_t
rules_hold_end(LeaseHold hold, int64_t at, int64_t length, int64_t now)
{
	if (hold == HOLD_NONE)
		return INT64_MIN;
	return length == 0 ? INT64_MAX : lasts_until(at, length, now);
}

/* Whether a hold of at least that kind stands, the lease's own or all leases'. */
bool
rules_is_held_up(const LeaseRow *row, const LeasePolicy *policy,
				 LeaseHold least, int64_t now)
{
	return (row->hold >= least &&
			now < rules_hold_end(row->hold, row->hold_at, row->hold_length, now)) ||
		(policy->hold >= least &&
		 now < rules_hold_end(policy->hold, policy->hold_at, policy->hold_length, now));
}

/* Nobody ever held it, or its last epoch was ended and not merely outlived. */
bool
rules_is_free(const LeaseRow *row)
{
	return !row->granted || row->ended != END_NONE;
}

bool
rules_is_current(const LeaseRow *row, int64_t now)
{
	return row->exists && !rules_is_free(row) && now < rules_expiry(row, now);
}

/* Whether it is current for longer the later one looks, as far as is on record. */
bool
rules_is_promised_ahead(const LeaseRow *row, int64_t now)
{
	return rules_is_current(row, now) && row->expires_at != rules_expiry(row, now);
}

/* The ttl that the policy makes of what was asked. */
static int64_t
clamp_ttl(int64_t ttl, const LeasePolicy *policy)
{
	return earlier(later(ttl, policy->min_ttl), policy->max_ttl);
}

/* Where the hold_at_least of the last epoch ends, however that one did. */
static int64_t
cooling_end(const LeaseRow *row, int64_t now)
{
	return lasts_until(row->granted_at, row->hold_at_least, now);
}

static bool
uses_last_attempt(const LeaseRow *row)
{
	return row->attempts >= row->max_attempts;
}

/*
 * What a task is as of now, whether or not that was written down: with nobody
 * at it, one that was cancelled or has no attempt left is over.
 */
TaskState
rules_task(const LeaseRow *row, int64_t now)
{
	if (row->task != TASK_OPEN || rules_is_current(row, now))
		return row->task;
	if (row->cancel)
		return TASK_CANCELLED;
	return uses_last_attempt(row) ? TASK_FAILED : TASK_OPEN;
}

/* Whether a task is over, and the word for that. */
static bool
is_over(const LeaseRow *row, int64_t now, LeaseOutcome *outcome)
{
	switch (rules_task(row, now))
	{
		case TASK_NONE:
		case TASK_OPEN:
			return false;
		case TASK_DONE:
			*outcome = OUTCOME_DONE;
			return true;
		case TASK_FAILED:
			*outcome = OUTCOME_FAILED;
			return true;
		case TASK_CANCELLED:
			*outcome = OUTCOME_CANCELLED;
			return true;
	}
	return false;
}

/*
 * How long to wait before the next attempt: longer after each, up to the cap,
 * less what is left to chance, so that what failed together does not come back
 * together.
 */
int64_t
rules_backoff(const LeasePolicy *policy, int32_t attempts, double random)
{
	double		delay = (double) policy->retry_base;
	double		cap = (double) policy->retry_cap;
	int32_t		n;

	for (n = 1; n < attempts && n < 1000 && delay < cap; n++)
		delay *= policy->retry_factor;
	if (delay > cap)
		delay = cap;
	return (int64_t) (delay * (1 - policy->retry_jitter * random));
}

/* Nobody has it, nothing waits for it: a row that a verb but a grant makes. */
static void
make_row(const GrantFacts *facts, LeaseDecision *decision)
{
	if (decision->row.exists)
		return;
	decision->row.exists = true;
	decision->row.fence = facts->floor;
}

/* That must work for ever, so a version at the end of bigint stays there. */
static void
count_version(LeaseRow *row)
{
	if (row->version < INT64_MAX)
		row->version++;
}

/*
 * Make decision->row an epoch of the requester that begins now.  Sets
 * exhausted, and changes nothing, where a number would pass the end of bigint.
 */
static void
grant(const LeaseRequest *request, const LeasePolicy *policy,
	  const GrantFacts *facts, int64_t now, LeaseOutcome outcome,
	  LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;
	int64_t		last = later(row->exists ? row->fence : 0, facts->floor);

	if (facts->generation > 1)
		last = later(last, facts->generation > INT64_MAX >> RULES_GENERATION_BITS ? INT64_MAX :
					 (facts->generation - 1) << RULES_GENERATION_BITS);
	decision->outcome = outcome;
	if (last == INT64_MAX || (row->exists && row->version == INT64_MAX))
	{
		decision->exhausted = true;
		return;
	}
	if (row->exists && !rules_is_free(row))
	{
		decision->closes = request->hand_over ? END_BROKEN : END_EXPIRED;
		decision->closed_at = earlier(now, rules_expiry(row, now));
	}
	row->version = row->exists ? row->version + 1 : 1;
	row->exists = true;
	row->granted = true;
	row->owner = request->owner;
	row->fence = last + 1;
	row->granted_at = now;
	row->renewed_at = now;
	row->ttl = clamp_ttl(request->has_ttl ? request->ttl : policy->default_ttl,
						 policy);
	if (policy->max_hold > 0)
		row->ttl = earlier(row->ttl, policy->max_hold);
	row->expires_at = after(now, row->ttl);
	row->hold_at_least = earlier(request->hold_at_least, policy->max_ttl);
	row->ended = END_NONE;
	row->ended_at = 0;
	if (row->task == TASK_OPEN)
	{
		row->attempts++;
		row->armed_at = earlier(now, after(row->armed_at, row->delay));
		row->delay = 0;
	}
	decision->write = WRITE_GRANT;
}

/* Whether something was begun or promised later than can have been. */
static bool
lies_ahead(const LeaseRow *row, int64_t now)
{
	return (row->granted &&
			(row->granted_at > now ||
			 (row->ended == END_NONE && row->expires_at != rules_expiry(row, now)))) ||
		(row->hold != HOLD_NONE && row->hold_at > now) ||
		(row->cancel && row->cancel_at > now) ||
		(row->task == TASK_OPEN && row->armed_at > now);
}

/*
 * Where the clock was set back since the row was written, write down what it
 * promises as it is read, so that the wait ends one length from now and does
 * not move ahead with every look.
 */
static void
rebase(int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	if (!lies_ahead(row, now))
		return;
	if (row->granted)
	{
		if (row->ended == END_NONE)
			row->expires_at = rules_expiry(row, now);
		row->renewed_at = earlier(row->renewed_at, now);
		row->granted_at = earlier(row->granted_at, now);
	}
	if (row->hold != HOLD_NONE)
		row->hold_at = earlier(row->hold_at, now);
	if (row->cancel)
		row->cancel_at = earlier(row->cancel_at, now);
	if (row->task != TASK_NONE)
		row->armed_at = earlier(row->armed_at, now);
	decision->write = WRITE_REBASE;
}

static void
refuse_grant(LeaseOutcome outcome, int64_t now, LeaseDecision *decision)
{
	decision->outcome = outcome;
	rebase(now, decision);
}

/*
 * What keeps a lease that is not current from being granted, if anything
 * does.
 */
static bool
refuse_ungrantable(const LeaseRow *row, const LeasePolicy *policy,
				   const GrantFacts *facts, int64_t now,
				   LeaseOutcome *outcome)
{
	if (row->exists && !rules_is_free(row) &&
		now < after(rules_expiry(row, now), policy->grace))
		*outcome = OUTCOME_IN_GRACE;
	else if (row->exists && row->granted && now < cooling_end(row, now))
		*outcome = OUTCOME_COOLING;
	else if (row->task == TASK_OPEN && now < lasts_until(row->armed_at, row->delay, now))
		*outcome = OUTCOME_COOLING;
	else if (policy->max_leases > 0 && facts->others >= policy->max_leases)
		*outcome = OUTCOME_FULL;
	else
		return false;
	return true;
}

/* What an operator or the task itself has to say against any grant. */
static bool
refuse_unwanted(const LeaseRow *row, const LeasePolicy *policy, int64_t now,
				LeaseOutcome *outcome)
{
	if (is_over(row, now, outcome))
		return true;
	if (rules_is_held_up(row, policy, HOLD_GRANTS, now))
		*outcome = OUTCOME_ON_HOLD;
	else if (row->cancel)
		*outcome = OUTCOME_CANCELLED;
	else
		return false;
	return true;
}

/*
 * A request id that was granted before never begins another epoch, and never
 * revives the one that it was granted.
 */
static bool
replay(const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;

	if (!facts->asked_before)
		return false;
	if (row->exists && row->fence == facts->granted_fence &&
		rules_is_current(row, now))
		decision->outcome = OUTCOME_REPLAYED;
	else
	{
		decision->outcome = OUTCOME_REPLAYED_ENDED;
		/* a look may have read the row before the grant that it read after */
		decision->lapsed = !row->exists || row->fence < facts->granted_fence ||
			(row->fence == facts->granted_fence && !rules_is_free(row));
	}
	return true;
}

static void
decide_claim(const LeaseRequest *request, const LeasePolicy *policy,
			 const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;
	LeaseOutcome outcome;

	if (replay(facts, now, decision))
		return;
	if (refuse_unwanted(row, policy, now, &outcome))
		refuse_grant(outcome, now, decision);
	else if (rules_is_current(row, now))
		refuse_grant(OUTCOME_HELD, now, decision);
	else if (refuse_ungrantable(row, policy, facts, now, &outcome))
		refuse_grant(outcome, now, decision);
	else
		grant(request, policy, facts, now,
			  !row->exists || rules_is_free(row) ?
			  OUTCOME_CLAIMED : OUTCOME_TAKEN_OVER,
			  decision);
}

/*
 * One row that a poll has come to.  Whatever is not to be offered is passed
 * over; a word for the poll as a whole is what holds for all.
 */
static void
decide_poll(const LeaseRequest *request, const LeasePolicy *policy,
			const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	static const LeasePolicy nothing = {0};
	const LeaseRow *row = &decision->row;
	LeaseOutcome outcome;

	if (rules_is_held_up(row, policy, HOLD_GRANTS, now) &&
		!rules_is_held_up(row, &nothing, HOLD_GRANTS, now))
		refuse_grant(OUTCOME_ON_HOLD, now, decision);
	else if (row->task != TASK_OPEN || rules_is_current(row, now) ||
			 refuse_unwanted(row, policy, now, &outcome))
		refuse_grant(OUTCOME_PASSED_OVER, now, decision);
	else if (refuse_ungrantable(row, policy, facts, now, &outcome))
		refuse_grant(outcome == OUTCOME_FULL ? outcome : OUTCOME_PASSED_OVER,
					 now, decision);
	else
		grant(request, policy, facts, now,
			  rules_is_free(row) ? OUTCOME_CLAIMED : OUTCOME_TAKEN_OVER, decision);
}

/* What a holder who comes too late is told of the way his epoch ended. */
static LeaseOutcome
ended_outcome(LeaseEnd end)
{
	switch (end)
	{
		case END_NONE:
		case END_RELEASED:
			return OUTCOME_RELEASED;
		case END_EXPIRED:
			return OUTCOME_EXPIRED;
		case END_BROKEN:
			return OUTCOME_BROKEN;
		case END_COMPLETED:
			return OUTCOME_DONE;
		case END_FAILED:
			return OUTCOME_FAILED;
		case END_CANCELLED:
			return OUTCOME_CANCELLED;
	}
	return OUTCOME_RELEASED;
}

/*
 * Judge a fence against the one on record: true, with the outcome, where it
 * is not that one.  The order is the contract's.
 */
static bool
refuse_fence(const LeaseRow *row, int64_t fence, LeaseOutcome *outcome)
{
	if (!row->exists)
		*outcome = OUTCOME_NOT_FOUND;
	else if (fence > row->fence)
		*outcome = OUTCOME_UNKNOWN_FENCE;
	else if (fence < row->fence)
		*outcome = OUTCOME_STALE_FENCE;
	else
		return false;
	return true;
}

static void
decide_takeover(const LeaseRequest *request, const LeasePolicy *policy,
				const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;
	LeaseOutcome outcome;

	if (replay(facts, now, decision))
		return;
	if (refuse_fence(row, request->fence, &outcome) || is_over(row, now, &outcome))
		refuse_grant(outcome, now, decision);
	else if (rules_is_free(row))
		refuse_grant(row->ended == END_BROKEN ? OUTCOME_BROKEN : OUTCOME_RELEASED,
					 now, decision);
	else if (refuse_unwanted(row, policy, now, &outcome))
		refuse_grant(outcome, now, decision);
	else if (rules_is_current(row, now))
		refuse_grant(OUTCOME_NOT_EXPIRED, now, decision);
	else if (refuse_ungrantable(row, policy, facts, now, &outcome))
		refuse_grant(outcome, now, decision);
	else
		grant(request, policy, facts, now, OUTCOME_TAKEN_OVER, decision);
}

/*
 * Judge the token of a holder's verb: true, with the outcome, where it is not
 * the current epoch's.
 */
static bool
refuse_token(const LeaseRequest *request, const LeasePolicy *policy,
			 int64_t now, LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;
	bool		stopped = is_past_deadline(row, now);

	if (refuse_fence(row, request->fence, &decision->outcome))
		return true;
	if (!row->granted || !rules_text_equal(row->owner, request->owner))
		decision->outcome = OUTCOME_NOT_OWNER;
	else if (row->ended != END_NONE)
		decision->outcome = ended_outcome(row->ended);
	else if (!rules_is_current(row, now) && !stopped)
	{
		decision->outcome = OUTCOME_EXPIRED;
		decision->lapsed = true;
	}
	else if (request->verb != VERB_RELEASE &&
			 rules_is_held_up(row, policy, HOLD_STOP, now))
		decision->outcome = OUTCOME_ON_HOLD;
	else if (stopped)
	{
		decision->outcome = OUTCOME_CANCELLED;
		decision->lapsed = true;
	}
	else
		return false;
	return true;
}

/*
 * The same for a verb that changes something.  A hold that refuses it, and
 * that a clock set back has left ahead, is written down as it is read: the
 * holder may be the only one who comes, and his lease ends meanwhile.
 */
static bool
refuse_holder(const LeaseRequest *request, const LeasePolicy *policy,
			  int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	if (!refuse_token(request, policy, now, decision))
		return false;
	if (decision->outcome == OUTCOME_ON_HOLD && row->hold == HOLD_STOP &&
		row->hold_at > now)
	{
		row->hold_at = now;
		decision->write = WRITE_REBASE;
	}
	return true;
}

/*
 * Until when a renewal may prolong; false where the policy would cut it short
 * of what is already promised, or has nothing left to give.
 */
static bool
prolong(const LeaseRow *row, const LeaseRequest *request,
		const LeasePolicy *policy, int64_t now, int64_t *until)
{
	int64_t		wanted = request->has_ttl ? request->ttl : row->ttl;
	int64_t		ttl = clamp_ttl(wanted, policy);
	int64_t		promised = rules_expiry(row, now);

	*until = after(now, ttl);
	if (ttl < wanted && *until < promised)
		return false;
	if (policy->max_hold > 0)
	{
		int64_t		end = after(earlier(row->granted_at, now), policy->max_hold);

		if (end < *until)
		{
			*until = end;
			if (promised >= end)
				return false;
		}
	}
	return true;
}

static void
decide_renew(const LeaseRequest *request, const LeasePolicy *policy,
			 int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;
	int64_t		until;

	if (refuse_holder(request, policy, now, decision))
		return;
	if (request->checkpoint && row->task == TASK_NONE)
	{
		decision->outcome = OUTCOME_NOT_A_TASK;
		return;
	}
	if (!prolong(row, request, policy, now, &until))
	{
		decision->outcome = OUTCOME_CEILING;
		return;
	}
	if (request->has_version && request->version != row->version)
	{
		decision->outcome = OUTCOME_STALE_VERSION;
		return;
	}
	decision->outcome = OUTCOME_RENEWED;
	if (row->version == INT64_MAX)
	{
		decision->exhausted = true;
		return;
	}
	row->version++;
	row->granted_at = earlier(row->granted_at, now);
	row->renewed_at = now;
	row->ttl = until - now;

	/*
	 * Who was asked to stop goes on to the deadline, and not past it; if that
	 * is taken back, to the length that he had.
	 */
	row->expires_at = earlier(until, rules_cancel_deadline(row, now));
	if (row->cancel)
		row->cancel_at = earlier(row->cancel_at, now);
	decision->write = WRITE_RENEWAL;
}

/* What becomes of a task whose attempt has ended: it waits for the next. */
static void
settle_task(LeaseEnd end, int64_t at, LeaseRow *row)
{
	if (row->task != TASK_OPEN)
		return;
	if (end == END_COMPLETED)
		row->task = TASK_DONE;
	else if (row->cancel)
		row->task = TASK_CANCELLED;
	else if (uses_last_attempt(row))
		row->task = TASK_FAILED;
	row->armed_at = at;
	row->delay = 0;
}

/* End the epoch on record. */
static void
end_epoch(LeaseEnd end, int64_t at, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	count_version(row);
	row->ended = end;
	row->ended_at = at;
	settle_task(end, at, row);
	decision->closes = end;
	decision->closed_at = at;
	decision->write = WRITE_END;
}

/* Write down that the epoch on record has lapsed. */
static void
end_lapsed(int64_t now, LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;

	if (is_past_deadline(row, now))
		end_epoch(END_CANCELLED, row->expires_at, decision);
	else
		end_epoch(END_EXPIRED, row->expires_at, decision);
}

/*
 * A holder's release of its own lapsed epoch frees the row, but is no
 * success: the work may have gone unprotected.
 */
static void
decide_release(const LeaseRequest *request, const LeasePolicy *policy,
			   int64_t now, LeaseDecision *decision)
{
	if (!refuse_token(request, policy, now, decision))
	{
		decision->outcome = OUTCOME_RELEASED;
		end_epoch(END_RELEASED, now, decision);
	}
	else if (decision->lapsed)
		end_lapsed(now, decision);
	else if (decision->outcome == OUTCOME_RELEASED)
		decision->outcome = OUTCOME_ALREADY_RELEASED;
}

/*
 * The end of a task by its holder; repeated it is answered as the first time,
 * as long as that stands: once an operator has reopened the task, its result
 * is gone, and another is not taken from an epoch that has ended.
 */
static void
decide_complete(const LeaseRequest *request, const LeasePolicy *policy,
				int64_t now, LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;

	if (refuse_holder(request, policy, now, decision))
	{
		if (decision->outcome == OUTCOME_DONE)
			decision->outcome = row->task == TASK_DONE ?
				OUTCOME_COMPLETED : OUTCOME_REOPENED;
	}
	else if (row->task == TASK_NONE)
		decision->outcome = OUTCOME_NOT_A_TASK;
	else
	{
		decision->outcome = OUTCOME_COMPLETED;
		end_epoch(END_COMPLETED, now, decision);
	}
}

/*
 * The end of one attempt.  The task waits for the next one, unless this was
 * the last, or the holder says so, or was asked to stop.
 */
static void
decide_fail(const LeaseRequest *request, const LeasePolicy *policy,
			const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	if (refuse_holder(request, policy, now, decision))
	{
		if (decision->outcome == OUTCOME_FAILED && row->task == TASK_OPEN)
			decision->outcome = OUTCOME_RETRY_SCHEDULED;
		return;
	}
	if (row->task == TASK_NONE)
	{
		decision->outcome = OUTCOME_NOT_A_TASK;
		return;
	}
	end_epoch(END_FAILED, now, decision);
	if (row->task == TASK_OPEN && request->final)
		row->task = TASK_FAILED;
	decision->outcome = OUTCOME_FAILED;
	if (row->task == TASK_OPEN)
	{
		decision->outcome = OUTCOME_RETRY_SCHEDULED;
		row->delay = request->has_retry_in ? request->retry_in :
			rules_backoff(policy, row->attempts, facts->random);
	}
}

static void
set_hold(LeaseHold hold, int64_t length, int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	row->hold = hold;
	row->hold_at = now;
	row->hold_length = length;
	if (decision->write == WRITE_NOTHING)
		decision->write = WRITE_STATE;
}

/*
 * An operator's hand-over passes over whatever only lets time pass, and over
 * the present hold, but not over a cancel.
 */
static bool
refuse_hand_over(const LeaseRow *row, const LeasePolicy *policy,
				 const GrantFacts *facts, int64_t now, LeaseOutcome *outcome)
{
	if (is_over(row, now, outcome))
		return true;
	if (row->cancel)
		*outcome = OUTCOME_CANCELLED;
	else if (row->task == TASK_OPEN && uses_last_attempt(row))
		*outcome = OUTCOME_FAILED;
	else if (policy->max_leases > 0 && facts->others >= policy->max_leases)
		*outcome = OUTCOME_FULL;
	else
		return false;
	return true;
}

/*
 * An operator's end of one epoch, whoever has it and whether or not it lapsed;
 * in the same act the lease can be handed over, and held after that.
 */
static void
decide_break(const LeaseRequest *request, const LeasePolicy *policy,
			 const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	static const LeasePolicy nothing = {0};
	LeaseRow   *row = &decision->row;
	LeaseOutcome outcome = OUTCOME_BROKEN;

	if (refuse_fence(row, request->fence, &decision->outcome))
		return;
	if (row->ended == END_BROKEN)
		outcome = OUTCOME_ALREADY_BROKEN;
	else if (is_over(row, now, &decision->outcome))
		return;
	else if (rules_is_free(row))
	{
		decision->outcome = OUTCOME_RELEASED;
		return;
	}
	if (request->hand_over)
	{
		if (refuse_hand_over(row, policy, facts, now, &decision->outcome))
			return;
		grant(request, policy, facts, now, outcome, decision);
		if (decision->exhausted)
			return;
	}
	else if (outcome == OUTCOME_BROKEN)
		end_epoch(END_BROKEN, earlier(now, rules_expiry(row, now)), decision);
	if (request->hold != HOLD_NONE)
		set_hold(rules_is_held_up(row, &nothing, HOLD_STOP, now) ? HOLD_STOP : HOLD_GRANTS,
				 0, now, decision);
	decision->outcome = outcome;
}

static void
decide_hold(const LeaseRequest *request, const GrantFacts *facts, int64_t now,
			LeaseDecision *decision)
{
	make_row(facts, decision);
	set_hold(request->hold, request->hold_length, now, decision);
	decision->outcome = OUTCOME_HOLD_SET;
}

static void
forget_cancel(LeaseRow *row)
{
	row->cancel = false;
	row->cancel_at = 0;
	row->cancel_length = 0;
}

/*
 * Take back the hold, and of a plain lease the cancel.  An epoch that has
 * lapsed by then stays over, whatever capped it.
 */
static void
decide_resume(int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;
	bool		uncancels = row->cancel && row->task == TASK_NONE;

	decision->outcome = OUTCOME_RESUMED;
	if (row->hold == HOLD_NONE && !uncancels)
		return;
	if (uncancels)
	{
		if (!rules_is_free(row) && !rules_is_current(row, now))
			end_lapsed(now, decision);
		forget_cancel(row);
	}
	row->hold = HOLD_NONE;
	row->hold_at = 0;
	row->hold_length = 0;
	decision->write = WRITE_STATE;
}

/*
 * Ask the holder to stop by a deadline, which caps its epoch.  The first
 * request stands; where nobody holds it there is nobody to ask.
 */
static void
decide_cancel(const LeaseRequest *request, const GrantFacts *facts, int64_t now,
			  LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;
	bool		held = rules_is_current(row, now);

	if (is_over(row, now, &decision->outcome))
		return;
	decision->outcome = OUTCOME_CANCEL_REQUESTED;
	if (row->cancel)
		return;
	make_row(facts, decision);
	if (!held && !rules_is_free(row))
		end_lapsed(now, decision);
	row->cancel = true;
	row->cancel_at = now;
	row->cancel_length = request->deadline;
	if (!held && row->task == TASK_OPEN)
		row->task = TASK_CANCELLED;
	if (held && request->deadline == 0)
		end_epoch(END_CANCELLED, now, decision);
	else if (held && after(now, request->deadline) < row->expires_at)
	{
		count_version(row);
		row->granted_at = earlier(row->granted_at, now);
		row->renewed_at = earlier(row->renewed_at, now);
		row->expires_at = after(now, request->deadline);
	}
	decision->write = WRITE_STATE;
}

/* Hang work on a name: a new row, or a plain one that nobody holds. */
static void
decide_offer(const LeaseRequest *request, const LeasePolicy *policy,
			 const GrantFacts *facts, int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	if (row->task != TASK_NONE || rules_is_current(row, now))
		decision->outcome = OUTCOME_EXISTS;
	else if (row->cancel)
	{
		decision->outcome = OUTCOME_CANCELLED;
		decision->lapsed = !rules_is_free(row);
	}
	else
	{
		make_row(facts, decision);
		row->task = TASK_OPEN;
		row->attempts = 0;
		row->max_attempts = request->has_max_attempts ?
			request->max_attempts : policy->max_attempts;
		row->priority = request->priority;
		row->armed_at = now;
		row->delay = request->delay;
		decision->outcome = OUTCOME_OFFERED;
		decision->write = WRITE_STATE;
	}
}

/* An operator's second chance for a task that is over. */
static void
decide_retry(int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;
	LeaseOutcome over;

	if (!row->exists)
		decision->outcome = OUTCOME_NOT_FOUND;
	else if (row->task == TASK_NONE)
		decision->outcome = OUTCOME_NOT_A_TASK;
	else if (!is_over(row, now, &over))
		decision->outcome = OUTCOME_NOT_TERMINAL;
	else
	{
		if (!rules_is_free(row))
			end_lapsed(now, decision);
		forget_cancel(row);
		row->task = TASK_OPEN;
		row->attempts = 0;
		row->armed_at = now;
		row->delay = 0;
		decision->outcome = OUTCOME_REOPENED;
		decision->write = WRITE_STATE;
	}
}

/* Write down that a task is over, where it only reads so. */
static void
decide_finalise(int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	decision->outcome = OUTCOME_PASSED_OVER;
	if (rules_task(row, now) == row->task)
		return;
	end_lapsed(now, decision);
	decision->outcome = OUTCOME_FINALISED;
}

/*
 * Write down when a lease ends that takes a place in a namespace without one to
 * spare, where that moves ahead with the clock.
 */
static void
decide_rebase(int64_t now, LeaseDecision *decision)
{
	decision->outcome = OUTCOME_PASSED_OVER;
	if (rules_is_promised_ahead(&decision->row, now))
		rebase(now, decision);
}

/*
 * From when on nothing on record stands in a claim's way, if nothing happens
 * until then; now where nothing does already, never where time does not help.
 */
int64_t
rules_grantable_at(const LeaseRow *row, const LeasePolicy *policy, int64_t now)
{
	return later(now, rules_due_at(row, policy, now));
}

/*
 * Since when that is so, or from when on it will be.  Of what the namespace
 * says, where no policy is given nothing counts: no grant comes before.
 */
int64_t
rules_due_at(const LeaseRow *row, const LeasePolicy *policy, int64_t now)
{
	int64_t		at = rules_hold_end(policy ? policy->hold : HOLD_NONE,
									policy ? policy->hold_at : 0,
									policy ? policy->hold_length : 0, now);

	if (row->cancel || (row->task != TASK_NONE &&
						(row->task != TASK_OPEN || uses_last_attempt(row))))
		return INT64_MAX;
	at = later(at, rules_hold_end(row->hold, row->hold_at, row->hold_length, now));
	if (row->task == TASK_OPEN)
		at = later(at, lasts_until(row->armed_at, row->delay, now));
	if (!row->exists || !row->granted)
		return at;
	if (!rules_is_free(row))
		at = later(at, after(rules_expiry(row, now), policy ? policy->grace : 0));
	return later(at, cooling_end(row, now));
}

/* The state of a row as of now: what a reader is told. */
LeaseOutcome
rules_state(const LeaseRow *row, const LeasePolicy *policy, int64_t now)
{
	static const GrantFacts nothing = {0};
	LeaseOutcome outcome;

	if (!row->exists)
		return OUTCOME_NOT_FOUND;
	if (rules_is_current(row, now))
		return OUTCOME_HELD;
	if (refuse_unwanted(row, policy, now, &outcome))
		return outcome;
	if (refuse_ungrantable(row, policy, &nothing, now, &outcome) &&
		outcome != OUTCOME_FULL)
		return outcome;
	return rules_is_free(row) ? OUTCOME_FREE : OUTCOME_EXPIRED;
}

/*
 * Decide one verb.  Texts in the decision's row point where those of the row
 * and the request do.
 */
void
rules_decide(const LeaseRow *row, const LeaseRequest *request,
			 const LeasePolicy *policy, const GrantFacts *facts, int64_t now,
			 LeaseDecision *decision)
{
	decision->write = WRITE_NOTHING;
	decision->exhausted = false;
	decision->lapsed = false;
	decision->closes = END_NONE;
	decision->closed_at = 0;
	decision->row = *row;

	switch (request->verb)
	{
		case VERB_CLAIM:
			decide_claim(request, policy, facts, now, decision);
			break;
		case VERB_TAKEOVER:
			decide_takeover(request, policy, facts, now, decision);
			break;
		case VERB_RENEW:
			decide_renew(request, policy, now, decision);
			break;
		case VERB_RELEASE:
			decide_release(request, policy, now, decision);
			break;
		case VERB_BREAK:
			decide_break(request, policy, facts, now, decision);
			break;
		case VERB_GET:
			decision->outcome = rules_state(row, policy, now);
			break;
		case VERB_PRESENT:
			if (!refuse_token(request, policy, now, decision))
				decision->outcome = OUTCOME_CURRENT;
			break;
		case VERB_ADMIT:
		case VERB_NAMESPACE_HOLD:
		case VERB_NAMESPACE_RESUME:
			/* not decided by a lease's row */
			decision->outcome = OUTCOME_INVALID;
			break;
		case VERB_HOLD:
			decide_hold(request, facts, now, decision);
			break;
		case VERB_RESUME:
			decide_resume(now, decision);
			break;
		case VERB_CANCEL:
			decide_cancel(request, facts, now, decision);
			break;
		case VERB_OFFER:
			decide_offer(request, policy, facts, now, decision);
			break;
		case VERB_POLL:
			decide_poll(request, policy, facts, now, decision);
			break;
		case VERB_COMPLETE:
			decide_complete(request, policy, now, decision);
			break;
		case VERB_FAIL:
			decide_fail(request, policy, facts, now, decision);
			break;
		case VERB_RETRY:
			decide_retry(now, decision);
			break;
		case VERB_TASK_GET:
			decision->outcome = row->exists && row->task == TASK_NONE ?
				OUTCOME_NOT_A_TASK : rules_state(row, policy, now);
			break;
		case VERB_FINALISE:
			decide_finalise(now, decision);
			break;
		case VERB_REBASE:
			decide_rebase(now, decision);
			break;
	}

	/* that nobody is at it any more may be about to prove wrong */
	if (row->task == TASK_OPEN && rules_task(row, now) != TASK_OPEN &&
		(decision->outcome == OUTCOME_FAILED || decision->outcome == OUTCOME_CANCELLED))
		decision->lapsed = true;
}

/*
 * Whether a decision on a row that was read without a lock may be answered as
 * it is.  What would write has to be decided again under the lock, and so has
 * a lapse: a renewal that was decided in time may be about to commit.  A wrong
 * version comes last of all refusals, of which the look may not know all.
 * That a token is current is worth nothing unless the lock keeps it so.
 */
bool
rules_is_final_unlocked(const LeaseDecision *decision)
{
	return decision->write == WRITE_NOTHING && !decision->exhausted &&
		!decision->lapsed && decision->outcome != OUTCOME_STALE_VERSION &&
		decision->outcome != OUTCOME_CURRENT;
}
