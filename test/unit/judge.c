/*
 * judge.c
 *		What must hold of an answer, clause by clause.
 *
 * An answer is held against the record, and the row that came with it against
 * what was said; then the record is brought up to what was said.  Promises are
 * judged in real time, by a clock that cannot be set.
 */
#include "walk.h"

const ClauseInfo clauses[CLAUSES] = {
	[CLAUSE_I1] = {"I1", "fences only rise"},
	[CLAUSE_I2] = {"I2", "at most one holder, and all verbs agree who that is"},
	[CLAUSE_I3] = {"I3", "a renewal at or after the expiry is refused"},
	[CLAUSE_I4] = {"I4", "nobody is granted a lease before the former promise is over"},
	[CLAUSE_I5] = {"I5", "what is refused changes nothing"},
	[CLAUSE_I9] = {"I9", "a repeated request id makes no second epoch, and revives none"},
	[CLAUSE_ORDER] = {"order", "the answer is the first that is true"},
	[CLAUSE_NUMBER] = {"number", "a fence is one above the last, the floor and the generation's base"},
	[CLAUSE_VERSION] = {"version", "one more with every change of ownership or expiry, and only then"},
	[CLAUSE_LENGTH] = {"length", "lengths are those asked for, held within the policy, from now"},
	[CLAUSE_REST] = {"rest", "a hold_at_least is waited out, however the epoch ended"},
	[CLAUSE_REBASE] = {"rebase", "what a clock set back left ahead is written down, also by a refusal"},
	[CLAUSE_WAIT] = {"wait", "a clock set back costs a claimant no more than one whole length"},
	[CLAUSE_WAKE] = {"wake", "a claim may wait until the lease can be had, and no longer"},
	[CLAUSE_FACTS] = {"facts", "the row says what the answers said"},
	[CLAUSE_WRITE] = {"write", "what is to be written is what changed"},
	[CLAUSE_UNLOCKED] = {"unlocked", "an answer without a lock stands against a renewal in flight"},
	[CLAUSE_WORDS] = {"words", "what is listed is answered, what is answered is listed, both as the same success"},
};

#define BROKEN(clause) (1u << CLAUSE_##clause)

static unsigned
broken_unless(bool held, unsigned clause)
{
	return held ? 0 : clause;
}

/* Bring the record up to what was told. */
static void
remember(const Ask *ask, Effect effect, const LeaseRow *told, State *next)
{
	Record	   *record = &next->here.record;

	switch (effect)
	{
		case EFFECT_NONE:
			return;
		case EFFECT_GRANT:
			record->exists = true;
			record->granted = true;
			record->owner = ask->owner;
			record->fence = told->fence;
			record->begun = next->now;
			record->hold_at_least = told->hold_at_least;
			record->ended = END_NONE;
			next->rest = next->real + told->hold_at_least;
			next->highest = greater(next->highest, told->fence);
			if (ask->with_id)
				next->here.asked[ask->request.verb][ask->owner] = told->fence;
			if (next->grants < MAX_GRANTS)
				next->fence[next->grants] = told->fence;
			next->grants++;
			/* fall through */
		case EFFECT_RENEWAL:
			record->begun = lesser(record->begun, next->now);
			record->due = told->expires_at;
			record->length = told->ttl;
			next->promise = next->real + (told->expires_at - next->now);
			break;
		case EFFECT_RELEASE:
			record->ended = END_RELEASED;
			break;
		case EFFECT_LATE_RELEASE:
			record->ended = END_EXPIRED;
			break;
		case EFFECT_BREAK:
			record->ended = END_BROKEN;
			break;
	}
	if (record->ended != END_NONE)
		next->promise = next->real;
	world_nobody_waits(next);
	record->version++;
}

/* Write down, as the question does, what a clock set back left ahead. */
static void
rebase(const Ask *ask, State *next)
{
	Record	   *record = &next->here.record;
	int64_t		longest = record->hold_at_least;

	record->begun = lesser(record->begun, next->now);
	if (contract_is_unended(ask))
	{
		record->due = lesser(record->due, next->now + record->length);
		longest = greater(longest, record->length + ask->policy->grace);
	}
	next->waiting = true;
	next->patience = next->real + longest;
}

static bool
facts_agree(const State *state)
{
	const Record *record = &state->here.record;
	const LeaseRow *row = &state->here.row;

	if (!state_knows_row(row) || row->exists != record->exists ||
		row->granted != record->granted || row->fence != record->fence ||
		row->ended != record->ended)
		return false;
	if (!record->granted)
		return true;
	return world_owner_of(row->owner) == record->owner &&
		row->granted_at == record->begun &&
		row->expires_at == record->due && row->ttl == record->length &&
		row->hold_at_least == record->hold_at_least &&
		(row->ended == END_NONE) == (row->ended_at == 0);
}

/* What a refusal may leave behind; next has the record as it is to be. */
static unsigned
judge_refusal(const Ask *ask, const LeaseDecision *decision, const State *next)
{
	const LeaseRow *before = &ask->state->here.row;
	bool		rebases = contract_rebases(ask);
	LeaseRow	right = *before;
	unsigned	broken = 0;

	if (rebases)
	{
		right.granted_at = next->here.record.begun;
		right.renewed_at = lesser(before->renewed_at, ask->state->now);
		right.expires_at = next->here.record.due;
	}
	if (!state_same_row(&decision->row, &right))
		broken |= state_same_row(&decision->row, before) ?
			BROKEN(REBASE) : BROKEN(I5);
	if (decision->write != (rebases ? WRITE_REBASE : WRITE_NOTHING))
		broken |= decision->write == WRITE_NOTHING ?
			BROKEN(REBASE) : BROKEN(I5);
	return broken;
}

static unsigned
judge_grant(const Ask *ask, const LeaseRow *row)
{
	const State *state = ask->state;
	int64_t		over = state->promise + ask->policy->grace;

	return broken_unless(row->fence > state->highest, BROKEN(I1)) |
		broken_unless(row->fence == contract_fence(ask), BROKEN(NUMBER)) |
		broken_unless(!contract_is_unended(ask) || state->real >= over, BROKEN(I4)) |
		broken_unless(state->real >= state->rest, BROKEN(REST)) |
		broken_unless(row->hold_at_least == lesser(ask->request.hold_at_least,
												   ask->policy->max_ttl),
					  BROKEN(LENGTH));
}

/* A grant and a renewal alike: another expiry. */
static unsigned
judge_length(const Ask *ask, const LeaseRow *row, Effect effect)
{
	int64_t		now = ask->state->now;

	return broken_unless(row->expires_at == contract_until(ask, effect) &&
						 row->ttl == row->expires_at - now &&
						 row->renewed_at == now && row->granted_at <= now,
						 BROKEN(LENGTH));
}

/* A lapsed epoch ended at its expiry, whenever that is found. */
static unsigned
judge_end(const Ask *ask, const LeaseRow *row)
{
	return broken_unless(row->ended_at == lesser(ask->state->now, ask->record->due),
						 BROKEN(FACTS));
}

static unsigned
judge_effect(const Ask *ask, const LeaseDecision *decision, Effect effect)
{
	static const LeaseWrite write_of[] = {
		[EFFECT_NONE] = WRITE_NOTHING,
		[EFFECT_GRANT] = WRITE_GRANT,
		[EFFECT_RENEWAL] = WRITE_RENEWAL,
		[EFFECT_RELEASE] = WRITE_END,
		[EFFECT_LATE_RELEASE] = WRITE_END,
		[EFFECT_BREAK] = WRITE_END,
	};
	const LeaseRow *row = &decision->row;
	unsigned	broken = broken_unless(decision->write == write_of[effect],
									   BROKEN(WRITE));

	switch (effect)
	{
		case EFFECT_NONE:
			return broken;
		case EFFECT_GRANT:
			return broken | judge_grant(ask, row) | judge_length(ask, row, effect);
		case EFFECT_RENEWAL:
			return broken | judge_length(ask, row, effect) |
				broken_unless(ask->state->now < ask->record->due, BROKEN(I3));
		case EFFECT_RELEASE:
		case EFFECT_LATE_RELEASE:
		case EFFECT_BREAK:
			return broken | judge_end(ask, row);
	}
	return broken;
}

/* A refusal that only says: not now. */
static bool
is_not_yet(LeaseOutcome outcome)
{
	return outcome == OUTCOME_HELD || outcome == OUTCOME_NOT_EXPIRED ||
		outcome == OUTCOME_IN_GRACE || outcome == OUTCOME_COOLING ||
		outcome == OUTCOME_FULL;
}

/* A refusal that says: the epoch is yours, but not this. */
static bool
is_yours_but(LeaseOutcome outcome)
{
	return outcome == OUTCOME_CEILING || outcome == OUTCOME_STALE_VERSION;
}

/*
 * A renewal that was decided in time may become visible after this answer was
 * decided without a lock: what counted as final then has to be right then too.
 * And what is refused for another reason than time, or than a version or a
 * request id that may be about to commit, needs no lock.
 */
static unsigned
judge_unlocked(const Ask *ask, const LeaseDecision *decision)
{
	LeaseRow	row = ask->state->here.row;
	LeaseDecision again;
	int64_t		longest = INT64_MAX;

	if (decision->write != WRITE_NOTHING)
		return broken_unless(!rules_is_final_unlocked(decision), BROKEN(UNLOCKED));
	if (!rules_is_final_unlocked(decision))
		return broken_unless(contract_is_lapsed(ask) ||
							 decision->outcome == OUTCOME_STALE_VERSION ||
							 decision->outcome == OUTCOME_CURRENT ||
							 decision->outcome == OUTCOME_REPLAYED_ENDED,
							 BROKEN(UNLOCKED));
	if (!contract_is_unended(ask) || ask->request.verb == VERB_GET ||
		(ask->request.has_version && ask->request.version > ask->record->version))
		return 0;
	if (ask->policy->max_hold > 0)
		longest = ask->record->begun + ask->policy->max_hold;
	row.version++;
	row.renewed_at = lesser(ask->state->now, ask->record->due - 1);
	row.expires_at = lesser(row.renewed_at + ask->policy->max_ttl, longest);
	row.ttl = row.expires_at - row.renewed_at;
	if (row.expires_at <= ask->record->due)
		return 0;
	rules_decide(&row, &ask->request, ask->policy, &ask->facts, ask->state->now,
				 &again);
	return broken_unless(again.outcome == decision->outcome ||
						 (is_not_yet(again.outcome) && is_not_yet(decision->outcome)) ||
						 (is_yours_but(again.outcome) && is_yours_but(decision->outcome)),
						 BROKEN(UNLOCKED));
}

/* Whether a claimant who met a clock set back is still told to wait. */
static bool
waits_too_long(const Ask *ask, LeaseOutcome outcome)
{
	return ask->state->waiting && ask->state->real >= ask->state->patience &&
		ask->request.verb != VERB_GET &&
		is_not_yet(outcome) && outcome != OUTCOME_FULL;
}

/*
 * The set of clauses that the answer breaks.  Where it leads to another state,
 * *moved says so and *next is that.
 */
unsigned
judge_answer(const Ask *ask, const LeaseDecision *decision, bool *moved,
			 State *next)
{
	const Line *right = contract_line(ask);
	const Line *told = contract_line_told(right, decision->outcome);
	bool		same = state_same_row(&decision->row, &ask->state->here.row);
	bool		idle = same && decision->write == WRITE_NOTHING;
	bool		rebases = right->effect == EFFECT_NONE && contract_rebases(ask);
	unsigned	broken;

	*moved = false;
	if (!told)
		return BROKEN(ORDER) | BROKEN(WORDS);
	broken = broken_unless(right == told && !decision->exhausted, BROKEN(ORDER)) |
		broken_unless(!waits_too_long(ask, decision->outcome), BROKEN(WAIT)) |
		broken_unless(idle || !contract_repeats(ask), BROKEN(I9)) |
		judge_unlocked(ask, decision);
	if (idle && !rebases && right == told && told->effect == EFFECT_NONE)
		return broken;

	*moved = true;
	*next = *ask->state;
	next->here.row = decision->row;
	if (rebases)
		rebase(ask, next);
	if (right->effect == EFFECT_NONE)
		broken |= judge_refusal(ask, decision, next);
	if (right->effect != EFFECT_NONE || told->effect != EFFECT_NONE)
		broken |= judge_effect(ask, decision, told->effect);
	remember(ask, told->effect, &decision->row, next);
	return broken | broken_unless(facts_agree(next), BROKEN(FACTS)) |
		broken_unless(decision->row.version == next->here.record.version,
					  BROKEN(VERSION));
}

static void
count_token(const Ask *ask, int *count, Token *token)
{
	if (*count > 0 && token->owner == ask->owner &&
		token->fence == ask->request.fence)
		return;
	(*count)++;
	token->owner = ask->owner;
	token->fence = ask->request.fence;
}

/* Note what an answer says about who holds the lease. */
void
judge_note(const Ask *ask, const LeaseDecision *decision, Tally *tally)
{
	LeaseOutcome outcome = decision->outcome;

	if (contract_repeats(ask))
	{
		tally->replayed += outcome == OUTCOME_REPLAYED;
		return;
	}
	switch (ask->request.verb)
	{
		case VERB_RENEW:
			if (outcome == OUTCOME_RENEWED || outcome == OUTCOME_CEILING)
				count_token(ask, &tally->renewers, &tally->renewer);
			break;
		case VERB_RELEASE:
			if (outcome == OUTCOME_RELEASED)
				count_token(ask, &tally->releasers, &tally->releaser);
			break;
		case VERB_TAKEOVER:
			tally->not_expired += outcome == OUTCOME_NOT_EXPIRED;
			break;
		case VERB_CLAIM:
		case VERB_GET:
			tally->asked++;
			tally->held += outcome == OUTCOME_HELD;
			break;
		case VERB_PRESENT:
			if (outcome == OUTCOME_CURRENT)
				count_token(ask, &tally->presenters, &tally->presenter);
			break;
		case VERB_BREAK:
		case VERB_ADMIT:
			break;
	}
}

/*
 * A claim that is refused now is granted at the instant that it is told to
 * wait for, and not an instant sooner.
 */
static bool
wakes_in_time(const World *world, const State *state)
{
	const LeasePolicy *policy = &world->policy[state->policy];
	const GrantFacts facts = {state->here.floor, state->generation, 0, false, 0};
	int64_t		at = rules_grantable_at(&state->here.row, policy, state->now);
	LeaseRequest claim = {.verb = VERB_CLAIM};
	LeaseDecision answer;
	LeaseRow	row;

	claim.owner = world_owner(0);
	rules_decide(&state->here.row, &claim, policy, &facts, state->now, &answer);
	if (answer.write == WRITE_GRANT || at <= state->now)
		return answer.write == WRITE_GRANT && at == state->now;
	row = answer.row;
	rules_decide(&row, &claim, policy, &facts, at - 1, &answer);
	if (answer.write == WRITE_GRANT)
		return false;
	rules_decide(&row, &claim, policy, &facts, at, &answer);
	return answer.write == WRITE_GRANT;
}

/* What must hold of a state, when every question has been asked in it. */
unsigned
judge_state(const World *world, const State *state, const Tally *tally)
{
	const LeaseRow *row = &state->here.row;
	bool		current = rules_is_current(row, state->now);
	bool		agreed = tally->renewers == current &&
	tally->releasers == current &&
	tally->presenters == current &&
	tally->held == (current ? tally->asked : 0) &&
	(tally->not_expired > 0) == current &&
	(tally->replayed == 0 || current) &&
	tally->renewer.fence == tally->releaser.fence &&
	tally->renewer.owner == tally->releaser.owner &&
	tally->renewer.fence == tally->presenter.fence &&
	tally->renewer.owner == tally->presenter.owner;

	return broken_unless(agreed, BROKEN(I2)) |
		broken_unless(!current || rules_expiry(row, state->now) - state->now <= row->ttl,
					  BROKEN(LENGTH)) |
		broken_unless(wakes_in_time(world, state), BROKEN(WAKE));
}
