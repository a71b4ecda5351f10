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
	[CLAUSE_I8] = {"I8", "holds, cancels and what a task came to stand until somebody may undo them, and does"},
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

/* How an epoch ended that lapsed. */
static LeaseEnd
lapse_of(const Ask *ask)
{
	return contract_is_past_deadline(ask) ? END_CANCELLED : END_EXPIRED;
}

/* What becomes of the task whose epoch has just ended. */
static void
remember_task(const Ask *ask, Effect effect, Record *record, int64_t now)
{
	const LeasePolicy *policy = ask->policy;

	if (record->task != TASK_OPEN)
		return;
	record->armed = lesser(now, record->due);
	record->delay = 0;
	if (effect == EFFECT_COMPLETE)
		record->task = TASK_DONE;
	else if (record->cancel)
		record->task = TASK_CANCELLED;
	else if (record->attempts >= record->max_attempts ||
			 (effect == EFFECT_FAIL && ask->request.final))
		record->task = TASK_FAILED;
	else if (effect == EFFECT_FAIL && ask->request.has_retry_in)
		record->delay = ask->request.retry_in;
	else if (effect == EFFECT_FAIL)
		record->delay = lesser(policy->retry_cap, policy->retry_base *
							   (record->attempts <= 1 ? 1 : (int64_t) policy->retry_factor));
}

static void
remember_hold(LeaseHold hold, int64_t length, int64_t now, Record *record)
{
	record->hold = hold;
	record->hold_begun = now;
	record->hold_length = length;
}

/* A break that holds makes no hold weaker. */
static void
remember_break_hold(const Ask *ask, Record *record)
{
	bool		stops = ask->policy->hold != HOLD_STOP && contract_stops(ask);

	if (ask->policy->hold == HOLD_STOP)
		stops = record->hold == HOLD_STOP &&
			(record->hold_length == 0 ||
			 ask->state->now < record->hold_begun + record->hold_length);
	if (ask->request.hold != HOLD_NONE)
		remember_hold(stops ? HOLD_STOP : HOLD_GRANTS, 0, ask->state->now, record);
}

static void
remember_cancel(const Ask *ask, State *next)
{
	Record	   *record = &next->here.record;
	int64_t		deadline = next->now + ask->request.deadline;
	bool		held = contract_is_held(ask);

	record->exists = true;
	if (!held && contract_is_unended(ask))
	{
		record->ended = END_EXPIRED;
		record->version++;
		if (record->task == TASK_OPEN)
		{
			record->armed = record->due;
			record->delay = 0;
		}
		next->promise = next->real;
	}
	record->cancel = true;
	record->cancel_begun = next->now;
	record->cancel_length = ask->request.deadline;
	if (!held && record->task == TASK_OPEN)
		record->task = TASK_CANCELLED;
	if (held && ask->request.deadline == 0)
	{
		record->ended = END_CANCELLED;
		record->version++;
		next->promise = next->real;
		remember_task(ask, EFFECT_CANCEL, record, next->now);
	}
	else if (held && deadline < record->due)
	{
		record->due = deadline;
		record->begun = lesser(record->begun, next->now);
		record->version++;
		next->promise = lesser(next->promise, next->real + ask->request.deadline);
	}
}

/* What an operator or whoever offers decides beside the epoch. */
static void
remember_choice(const Ask *ask, Effect effect, State *next)
{
	Record	   *record = &next->here.record;

	world_nobody_waits(next);
	if ((effect == EFFECT_RESUME || effect == EFFECT_HOLD || effect == EFFECT_OFFER) &&
		!record->exists)
		record->fence = next->here.floor;
	switch (effect)
	{
		case EFFECT_HOLD:
			record->exists = true;
			if (ask->request.verb == VERB_HOLD)
				remember_hold(ask->request.hold, ask->request.hold_length, next->now, record);
			else
				remember_break_hold(ask, record);
			return;
		case EFFECT_CANCEL:
			if (!record->exists)
				record->fence = next->here.floor;
			remember_cancel(ask, next);
			return;
		case EFFECT_OFFER:
			record->exists = true;
			record->task = TASK_OPEN;
			record->attempts = 0;
			record->max_attempts = ask->request.has_max_attempts ?
				ask->request.max_attempts : ask->policy->max_attempts;
			record->armed = next->now;
			record->delay = ask->request.delay;
			return;
		case EFFECT_RESUME:
			remember_hold(HOLD_NONE, 0, 0, record);
			if (record->task != TASK_NONE)
				return;
			break;
		default:
			record->task = TASK_OPEN;
			record->attempts = 0;
			record->armed = next->now;
			record->delay = 0;
	}
	if (contract_is_lapsed(ask) && (record->cancel || effect == EFFECT_REOPEN))
	{
		record->ended = lapse_of(ask);
		record->version++;
		next->promise = next->real;
	}
	record->cancel = false;
	record->cancel_begun = 0;
	record->cancel_length = 0;
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
		case EFFECT_HAND_OVER:
			remember_break_hold(ask, record);
			/* fall through */
		case EFFECT_GRANT:
			if (record->task == TASK_OPEN)
			{
				record->attempts++;
				record->armed = lesser(next->now, record->armed + record->delay);
				record->delay = 0;
			}
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
			if (record->cancel)
				record->cancel_begun = lesser(record->cancel_begun, next->now);
			next->promise = next->real + (told->expires_at - next->now);
			break;
		case EFFECT_RELEASE:
			record->ended = END_RELEASED;
			break;
		case EFFECT_LATE_RELEASE:
		case EFFECT_FINALISE:
			record->ended = lapse_of(ask);
			break;
		case EFFECT_BREAK:
			record->ended = END_BROKEN;
			remember_break_hold(ask, record);
			break;
		case EFFECT_COMPLETE:
			record->ended = END_COMPLETED;
			break;
		case EFFECT_FAIL:
			record->ended = END_FAILED;
			break;
		case EFFECT_HOLD:
		case EFFECT_RESUME:
		case EFFECT_CANCEL:
		case EFFECT_OFFER:
		case EFFECT_REOPEN:
			remember_choice(ask, effect, next);
			return;
	}
	if (record->ended != END_NONE)
		remember_task(ask, effect, record, next->now);
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

	if (contract_rebases_hold(ask))
	{
		record->hold_begun = next->now;
		return;
	}
	if (record->granted)
		record->begun = lesser(record->begun, next->now);
	if (record->hold != HOLD_NONE)
		record->hold_begun = lesser(record->hold_begun, next->now);
	if (record->task != TASK_NONE)
	{
		longest = greater(longest, record->delay);
		record->armed = lesser(record->armed, next->now);
	}
	if (contract_is_unended(ask))
		record->due = lesser(record->due, contract_deadline(ask));
	if (record->cancel)
		record->cancel_begun = lesser(record->cancel_begun, next->now);
	if (contract_is_unended(ask))
	{
		record->due = lesser(record->due, next->now + record->length);
		longest = greater(longest, record->length + ask->policy->grace);
	}
	next->waiting = true;
	next->patience = next->real + longest;
}

static bool
choices_agree(const Record *record, const LeaseRow *row)
{
	return row->hold == record->hold && row->hold_at == record->hold_begun &&
		row->hold_length == record->hold_length &&
		row->cancel == record->cancel && row->cancel_at == record->cancel_begun &&
		row->cancel_length == record->cancel_length &&
		row->task == record->task && row->attempts == record->attempts &&
		row->max_attempts == record->max_attempts &&
		row->armed_at == record->armed && row->delay == record->delay;
}

static bool
facts_agree(const State *state)
{
	const Record *record = &state->here.record;
	const LeaseRow *row = &state->here.row;

	if (!state_knows_row(row) || row->exists != record->exists ||
		row->granted != record->granted || row->fence != record->fence ||
		row->ended != record->ended || !choices_agree(record, row))
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
	bool		rebases = contract_rebases(ask) || contract_rebases_hold(ask);
	LeaseRow	right = *before;
	unsigned	broken = 0;

	if (rebases)
	{
		right.granted_at = next->here.record.begun;
		if (before->granted && !contract_rebases_hold(ask))
			right.renewed_at = lesser(before->renewed_at, ask->state->now);
		right.expires_at = next->here.record.due;
		right.hold_at = next->here.record.hold_begun;
		right.cancel_at = next->here.record.cancel_begun;
		right.armed_at = next->here.record.armed;
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
	bool		forced = ask->request.hand_over;

	return broken_unless(row->fence > state->highest, BROKEN(I1)) |
		broken_unless(row->fence == contract_fence(ask), BROKEN(NUMBER)) |
		broken_unless(forced || !contract_is_unended(ask) || state->real >= over, BROKEN(I4)) |
		broken_unless(forced || state->real >= state->rest, BROKEN(REST)) |
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
						 row->ttl == contract_length(ask, effect) &&
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
		[EFFECT_HAND_OVER] = WRITE_GRANT,
		[EFFECT_HOLD] = WRITE_STATE,
		[EFFECT_RESUME] = WRITE_STATE,
		[EFFECT_CANCEL] = WRITE_STATE,
		[EFFECT_OFFER] = WRITE_STATE,
		[EFFECT_COMPLETE] = WRITE_END,
		[EFFECT_FAIL] = WRITE_END,
		[EFFECT_REOPEN] = WRITE_STATE,
		[EFFECT_FINALISE] = WRITE_END,
	};
	const LeaseRow *row = &decision->row;
	unsigned	broken = broken_unless(decision->write == write_of[effect],
									   BROKEN(WRITE));

	switch (effect)
	{
		case EFFECT_NONE:
		case EFFECT_HOLD:
		case EFFECT_RESUME:
		case EFFECT_CANCEL:
		case EFFECT_OFFER:
		case EFFECT_REOPEN:
			return broken;
		case EFFECT_GRANT:
		case EFFECT_HAND_OVER:
			return broken | judge_grant(ask, row) | judge_length(ask, row, effect);
		case EFFECT_RENEWAL:
			return broken | judge_length(ask, row, effect) |
				broken_unless(ask->state->now < ask->record->due, BROKEN(I3));
		case EFFECT_RELEASE:
		case EFFECT_LATE_RELEASE:
		case EFFECT_BREAK:
		case EFFECT_COMPLETE:
		case EFFECT_FAIL:
		case EFFECT_FINALISE:
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
		ask->request.verb == VERB_TASK_GET || ask->request.verb == VERB_POLL ||
		ask->request.verb == VERB_FINALISE || contract_stops(ask) ||
		(ask->request.has_version && ask->request.version > ask->record->version))
		return 0;
	if (ask->policy->max_hold > 0)
		longest = ask->record->begun + ask->policy->max_hold;
	row.version++;
	row.renewed_at = lesser(ask->state->now, ask->record->due - 1);
	row.expires_at = lesser(lesser(row.renewed_at + ask->policy->max_ttl, longest),
							contract_deadline(ask));
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
		ask->request.verb != VERB_GET && ask->request.verb != VERB_TASK_GET &&
		is_not_yet(outcome) && outcome != OUTCOME_FULL;
}

static bool
is_terminal(TaskState task)
{
	return task != TASK_NONE && task != TASK_OPEN;
}

/* Whether what somebody chose is left alone by all verbs but those that may. */
static bool
choices_stand(const Ask *ask, const LeaseRow *after)
{
	const LeaseRow *before = &ask->state->here.row;
	LeaseVerb	verb = ask->request.verb;
	bool		operators = verb == VERB_HOLD || verb == VERB_RESUME ||
	(verb == VERB_BREAK && ask->request.hold != HOLD_NONE);

	return (operators || (after->hold == before->hold &&
						  after->hold_length == before->hold_length)) &&
		(after->cancel == before->cancel || verb == VERB_CANCEL ||
		 verb == VERB_RETRY || (verb == VERB_RESUME && before->task == TASK_NONE)) &&
		(!before->cancel || !after->cancel || after->cancel_length == before->cancel_length) &&
		(!is_terminal(before->task) || after->task == before->task || verb == VERB_RETRY) &&
		(after->fence == before->fence || before->fence == 0 || !before->cancel);
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
	bool		rebases = right->effect == EFFECT_NONE &&
	(contract_rebases(ask) || contract_rebases_hold(ask));
	unsigned	broken;
	bool		stands;

	*moved = false;
	stands = choices_stand(ask, &decision->row);
	if (!told)
		return BROKEN(ORDER) | BROKEN(WORDS);
	broken = broken_unless(right == told && !decision->exhausted, BROKEN(ORDER)) |
		broken_unless(!waits_too_long(ask, decision->outcome), BROKEN(WAIT)) |
		broken_unless(idle || !contract_repeats(ask), BROKEN(I9)) |
		broken_unless(stands, BROKEN(I8)) |
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
			if (outcome == OUTCOME_RENEWED || outcome == OUTCOME_CEILING ||
				(outcome == OUTCOME_ON_HOLD && contract_is_held(ask)))
				count_token(ask, &tally->renewers, &tally->renewer);
			break;
		case VERB_RELEASE:
			if (outcome == OUTCOME_RELEASED)
				count_token(ask, &tally->releasers, &tally->releaser);
			break;
		case VERB_TAKEOVER:
			tally->not_expired += outcome == OUTCOME_NOT_EXPIRED ||
				((outcome == OUTCOME_ON_HOLD || outcome == OUTCOME_CANCELLED) &&
				 contract_is_held(ask));
			break;
		case VERB_CLAIM:
			if (outcome == OUTCOME_ON_HOLD || outcome == OUTCOME_CANCELLED)
				break;
			/* fall through */
		case VERB_GET:
		case VERB_TASK_GET:
			if (outcome == OUTCOME_NOT_A_TASK)
				break;
			tally->asked++;
			tally->held += outcome == OUTCOME_HELD;
			break;
		case VERB_PRESENT:
			if (outcome == OUTCOME_CURRENT ||
				(outcome == OUTCOME_ON_HOLD && contract_is_held(ask)))
				count_token(ask, &tally->presenters, &tally->presenter);
			break;
		default:
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
	const GrantFacts facts = {.floor = state->here.floor,.generation = state->generation};
	int64_t		at = rules_grantable_at(&state->here.row, policy, state->now);
	LeaseRequest claim = {.verb = VERB_CLAIM};
	LeaseDecision answer;
	LeaseRow	row;

	claim.owner = world_owner(0);
	rules_decide(&state->here.row, &claim, policy, &facts, state->now, &answer);
	if (answer.write == WRITE_GRANT || at <= state->now)
		return answer.write == WRITE_GRANT && at == state->now;
	row = answer.row;
	if (at == INT64_MAX)
	{
		rules_decide(&row, &claim, policy, &facts, state->now + INT8_MAX, &answer);
		return answer.write != WRITE_GRANT;
	}
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
