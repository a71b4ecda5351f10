/*
 * rules.c
 *		Who may have a lease, prolong it and end it: the only place that says.
 *
 * Promises: a decision depends on nothing but its arguments; a refusal leaves
 * the row as it was, but for instants that a clock set back has left ahead
 * of now (rebase); a grant carries a fence above the last one, the floor and
 * the generation's base; an epoch whose expiry has been reached is never
 * prolonged.
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
 * The expiry that everybody goes by.  One that lies further ahead than a
 * whole ttl was promised by a clock that has since been set back; it counts
 * as made just now, so no lease outlives its length by the size of the jump.
 */
int64_t
rules_expiry(const LeaseRow *row, int64_t now)
{
	return earlier(row->expires_at, after(now, row->ttl));
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
	return after(earlier(row->granted_at, now), row->hold_at_least);
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
		last = later(last, facts->generation > INT64_MAX >> 32 ? INT64_MAX :
					 (facts->generation - 1) << 32);
	decision->outcome = outcome;
	if (last == INT64_MAX || (row->exists && row->version == INT64_MAX))
	{
		decision->exhausted = true;
		return;
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
	decision->write = WRITE_GRANT;
}

/*
 * Refuse a grant.  Where the clock was set back since the row was written,
 * what it promises is written down as it is read, so that the wait ends one
 * length from now and does not move ahead with every look.
 */
static void
refuse_grant(LeaseOutcome outcome, int64_t now, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	decision->outcome = outcome;
	if (!row->exists || !row->granted ||
		(row->granted_at <= now &&
		 (row->ended != END_NONE || row->expires_at == rules_expiry(row, now))))
		return;
	if (row->ended == END_NONE)
		row->expires_at = rules_expiry(row, now);
	row->renewed_at = earlier(row->renewed_at, now);
	row->granted_at = earlier(row->granted_at, now);
	decision->write = WRITE_REBASE;
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
	else if (policy->max_leases > 0 && facts->others >= policy->max_leases)
		*outcome = OUTCOME_FULL;
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
	if (rules_is_current(row, now))
		refuse_grant(OUTCOME_HELD, now, decision);
	else if (refuse_ungrantable(row, policy, facts, now, &outcome))
		refuse_grant(outcome, now, decision);
	else
		grant(request, policy, facts, now,
			  !row->exists || rules_is_free(row) ?
			  OUTCOME_CLAIMED : OUTCOME_TAKEN_OVER,
			  decision);
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
	if (refuse_fence(row, request->fence, &outcome))
		refuse_grant(outcome, now, decision);
	else if (rules_is_free(row))
		refuse_grant(row->ended == END_BROKEN ? OUTCOME_BROKEN : OUTCOME_RELEASED,
					 now, decision);
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
refuse_token(const LeaseRequest *request, int64_t now,
			 LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;

	if (refuse_fence(row, request->fence, &decision->outcome))
		return true;
	if (!row->granted || !rules_text_equal(row->owner, request->owner))
		decision->outcome = OUTCOME_NOT_OWNER;
	else if (row->ended != END_NONE)
		decision->outcome = ended_outcome(row->ended);
	else if (!rules_is_current(row, now))
	{
		decision->outcome = OUTCOME_EXPIRED;
		decision->lapsed = true;
	}
	else
		return false;
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
			return promised < end;
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

	if (refuse_token(request, now, decision))
		return;
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
	row->expires_at = until;
	row->ttl = until - now;
	decision->write = WRITE_RENEWAL;
}

/*
 * End the epoch on record.  That must work for ever, so a version at the end
 * of bigint stays there.
 */
static void
end_epoch(LeaseEnd end, int64_t at, LeaseDecision *decision)
{
	LeaseRow   *row = &decision->row;

	if (row->version < INT64_MAX)
		row->version++;
	row->ended = end;
	row->ended_at = at;
	decision->write = WRITE_END;
}

/*
 * A holder's release of its own lapsed epoch frees the row, but is no
 * success: the work may have gone unprotected.
 */
static void
decide_release(const LeaseRequest *request, int64_t now,
			   LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;

	if (!refuse_token(request, now, decision))
	{
		decision->outcome = OUTCOME_RELEASED;
		end_epoch(END_RELEASED, now, decision);
	}
	else if (decision->lapsed)
		end_epoch(END_EXPIRED, row->expires_at, decision);
	else if (decision->outcome == OUTCOME_RELEASED)
		decision->outcome = OUTCOME_ALREADY_RELEASED;
}

/* An operator's end of one epoch, whoever has it and whether or not it lapsed. */
static void
decide_break(const LeaseRequest *request, int64_t now,
			 LeaseDecision *decision)
{
	const LeaseRow *row = &decision->row;

	if (refuse_fence(row, request->fence, &decision->outcome))
		return;
	if (row->ended == END_BROKEN)
		decision->outcome = OUTCOME_ALREADY_BROKEN;
	else if (rules_is_free(row))
		decision->outcome = OUTCOME_RELEASED;
	else
	{
		decision->outcome = OUTCOME_BROKEN;
		end_epoch(END_BROKEN, earlier(now, rules_expiry(row, now)), decision);
	}
}

/*
 * From when on the row itself stands in no claim's way, if nothing happens
 * to it until then; now where it does not already.
 */
int64_t
rules_grantable_at(const LeaseRow *row, const LeasePolicy *policy, int64_t now)
{
	int64_t		at = now;

	if (!row->exists || !row->granted)
		return at;
	if (!rules_is_free(row))
		at = later(at, after(rules_expiry(row, now), policy->grace));
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
			decide_release(request, now, decision);
			break;
		case VERB_BREAK:
			decide_break(request, now, decision);
			break;
		case VERB_GET:
			decision->outcome = rules_state(row, policy, now);
			break;
		case VERB_PRESENT:
			if (!refuse_token(request, now, decision))
				decision->outcome = OUTCOME_CURRENT;
			break;
		case VERB_ADMIT:
			break;
	}
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
