/*
 * world.c
 *		The small worlds that are walked: what may happen, what is asked.
 *
 * Each world is made for one kind of trouble, and small in everything else.
 */
#include <assert.h>
#include <string.h>

#include "walk.h"

/*
 * An instant of 0 is how a row says that there is none, so every origin is far
 * from it.  What is past must stay apart for as long as a grace, a hold or a max_hold.
 */
const World worlds[] = {
	{
		.name = "rows made and deleted",
		.natures = NATURE_TIME | NATURE_ROWS,
		.origin = 1000,
		.policy = {{.min_ttl = 1,.default_ttl = 2,.max_ttl = 3}},
		.ttl = {0, 1, 9},
		.owners = 3,
		.grants = 4,
		.versions = 8,
		.generations = 1,
		.past = 3,
		.ahead = 20,
	},
	{
		.name = "time",
		.natures = NATURE_TIME,
		.origin = INT64_C(838000000000000),
		.policy = {{.min_ttl = 2,.default_ttl = 3,.max_ttl = 4,.grace = 2}},
		.ttl = {0, 1, 4, 9},
		.owners = 3,
		.grants = 5,
		.versions = 10,
		.generations = 1,
		.past = 5,
		.ahead = 20,
	},
	{
		.name = "request ids",
		.natures = NATURE_TIME | NATURE_ROWS,
		.origin = 1000,
		.policy = {{.min_ttl = 1,.default_ttl = 1,.max_ttl = 2}},
		.ttl = {0, 2},
		.request_ids = true,
		.owners = 2,
		.grants = 4,
		.versions = 6,
		.generations = 1,
		.past = 1,
		.ahead = 20,
	},
	{
		.name = "tasks, clock set",
		.natures = NATURE_TIME | NATURE_CLOCK | NATURE_POLICY | NATURE_TASK,
		.origin = -1000,
		.policy = {
			{.min_ttl = 1,.default_ttl = 2,.max_ttl = 3,
			.retry_base = 1,.retry_factor = 2,.retry_cap = 3,.max_attempts = 2},
			{.min_ttl = 1,.default_ttl = 2,.max_ttl = 3,.hold = HOLD_GRANTS,
			.retry_base = 2,.retry_factor = 1,.retry_cap = 3,.max_attempts = 1},
			{.min_ttl = 1,.default_ttl = 2,.max_ttl = 3,.hold = HOLD_STOP,
			.retry_base = 1,.retry_factor = 1,.retry_cap = 1,.max_attempts = 2},
		},
		.owners = 1,
		.grants = 2,
		.versions = 3,
		.generations = 1,
		.past = 2,
		.ahead = 4,
	},
	{
		.name = "operators, clock set",
		.natures = NATURE_TIME | NATURE_CLOCK | NATURE_OPERATOR,
		.origin = -1000,
		.policy = {{.min_ttl = 2,.default_ttl = 3,.max_ttl = 3}},
		.owners = 1,
		.grants = 1,
		.versions = 3,
		.generations = 1,
		.past = 2,
		.ahead = 4,
	},
	{
		.name = "operators",
		.natures = NATURE_TIME | NATURE_POLICY | NATURE_OPERATOR,
		.origin = 1000,
		.policy = {
			{.min_ttl = 1,.default_ttl = 3,.max_ttl = 4,.grace = 1},
			{.min_ttl = 1,.default_ttl = 3,.max_ttl = 4,.grace = 1,.hold = HOLD_GRANTS},
			{.min_ttl = 1,.default_ttl = 3,.max_ttl = 4,.grace = 1,.hold = HOLD_STOP},
		},
		.owners = 2,
		.grants = 2,
		.versions = 4,
		.generations = 1,
		.past = 3,
		.ahead = 8,
	},
	{
		.name = "clock set",
		.natures = NATURE_TIME | NATURE_CLOCK,
		.origin = -1000,
		.policy = {{.min_ttl = 2,.default_ttl = 3,.max_ttl = 4,.grace = 1}},
		.ttl = {0, 9},
		.hold = {0, 3},
		.owners = 3,
		.grants = 2,
		.versions = 3,
		.generations = 1,
		.past = 3,
		.ahead = 8,
	},
	{
		.name = "standby promoted",
		.natures = NATURE_TIME | NATURE_ROWS | NATURE_HISTORY,
		.origin = 1000,
		.policy = {{.min_ttl = 1,.default_ttl = 1,.max_ttl = 1}},
		.owners = 2,
		.grants = 3,
		.versions = 3,
		.generations = 2,
		.past = 0,
		.ahead = 20,
	},
	{
		.name = "policy altered",
		.natures = NATURE_TIME | NATURE_POLICY | NATURE_OTHERS,
		.origin = 1000,
		.policy = {
			{.min_ttl = 1,.default_ttl = 4,.max_ttl = 5,.max_hold = 7,.max_leases = 1},
			{.min_ttl = 2,.default_ttl = 3,.max_ttl = 3,.max_hold = 5,.grace = 1},
			{.min_ttl = 1,.default_ttl = 3,.max_ttl = 4,.max_hold = 2},
		},
		.ttl = {0, 1, 9},
		.hold = {0, 9},
		.owners = 3,
		.grants = 2,
		.versions = 4,
		.generations = 1,
		.past = 7,
		.ahead = 20,
	},
	{
		.name = "tasks",
		.natures = NATURE_TIME | NATURE_OPERATOR | NATURE_TASK | NATURE_OTHERS,
		.origin = 1000,
		.policy = {{.min_ttl = 1,.default_ttl = 3,.max_ttl = 4,.grace = 1,.max_leases = 1,
		.retry_base = 1,.retry_factor = 2,.retry_cap = 3,.max_attempts = 2}},
		.owners = 2,
		.grants = 2,
		.versions = 4,
		.generations = 1,
		.past = 2,
		.ahead = 4,
	},
};

const int	world_count = sizeof(worlds) / sizeof(worlds[0]);

/* One is the start of another, and two differ in nothing but the last byte. */
static const RuleText on_record[OWNERS] = {{"A1", 2}, {"A2", 2}, {"A", 1}};

/* ---- What may happen ---- */

static bool
is_unended(const Record *record)
{
	return record->granted && record->ended == END_NONE;
}

void
world_nobody_waits(State *state)
{
	state->waiting = false;
	state->patience = state->real - INT8_MAX;
}

/* Nothing is promised any more: what is past is past by more than any length. */
static void
waive(State *state)
{
	state->promise = state->rest = state->real - INT8_MAX;
	world_nobody_waits(state);
}

static bool
pass(State *state, int64_t by)
{
	state->now += by;
	state->real += by;
	return true;
}

/* Let time pass until so long after the expiry. */
static bool
pass_until_due(State *state, int64_t by)
{
	int64_t		wait = state->here.record.due + by - state->now;

	return is_unended(&state->here.record) && wait > 0 && pass(state, wait);
}

/*
 * No promise is kept while a clock runs ahead; one that is set back begins the
 * waiting anew.
 */
static bool
set_clock(State *state, int64_t by)
{
	state->now += by;
	if (by > 0)
		waive(state);
	else
		world_nobody_waits(state);
	return true;
}

static void
remove_row(State *state)
{
	if (state->here.floor < state->here.record.fence)
		state->here.floor = state->here.record.fence;
	memset(&state->here.row, 0, sizeof(state->here.row));
	memset(&state->here.record, 0, sizeof(state->here.record));
	waive(state);
}

static bool
purge(State *state, int64_t by)
{
	(void) by;
	if (!state->here.record.exists || is_unended(&state->here.record))
		return false;
	remove_row(state);
	return true;
}

/* An administrator's DELETE, whoever holds it. */
static bool
delete_held(State *state, int64_t by)
{
	(void) by;
	if (!is_unended(&state->here.record))
		return false;
	remove_row(state);
	return true;
}

/* A row that is made without a grant. */
static bool
make_row(State *state, int64_t by)
{
	(void) by;
	if (state->here.record.exists)
		return false;
	state->here.row.exists = state->here.record.exists = true;
	state->here.row.fence = state->here.record.fence = state->here.floor;
	return true;
}

static bool
advance_floor(State *state, int64_t by)
{
	if (state->here.floor > state->highest)
		return false;
	state->here.floor = state->highest + by;
	return true;
}

static bool
catch_up(State *state, int64_t by)
{
	(void) by;
	state->standby = state->here;
	return true;
}

/* It goes on from what it has; what it lacks was granted all the same. */
static bool
promote(State *state, int64_t by)
{
	state->here = state->standby;
	state->generation += by;
	waive(state);
	return true;
}

static bool
alter_policy(State *state, int64_t by)
{
	state->policy = (int) (state->policy + by) % POLICIES;
	world_nobody_waits(state);
	return true;
}

static bool
others_change(State *state, int64_t by)
{
	state->others += by;
	return state->others >= 0 && state->others <= 1;
}

const Move	moves[] = {
	{"time passes: 1", NATURE_TIME, pass, 1},
	{"time passes, to the last instant before the expiry", NATURE_TIME, pass_until_due, -1},
	{"time passes, to the expiry", NATURE_TIME, pass_until_due, 0},
	{"the clock is set back by 1", NATURE_CLOCK, set_clock, -1},
	{"the clock is set back by 5", NATURE_CLOCK, set_clock, -5},
	{"the clock is set forward by 3", NATURE_CLOCK, set_clock, 3},
	{"the row is purged", NATURE_ROWS, purge, 0},
	{"the row is deleted", NATURE_ROWS, delete_held, 0},
	{"a row is made", NATURE_ROWS, make_row, 0},
	{"the floor is raised", NATURE_HISTORY, advance_floor, 2},
	{"the standby catches up", NATURE_HISTORY, catch_up, 0},
	{"the standby is promoted", NATURE_HISTORY, promote, 1},
	{"the namespace is altered", NATURE_POLICY, alter_policy, 1},
	{"another lease is granted", NATURE_OTHERS, others_change, 1},
	{"another lease ends", NATURE_OTHERS, others_change, -1},
};

const int	move_count = sizeof(moves) / sizeof(moves[0]);

/* ---- What is asked ---- */

RuleText
world_owner(int owner)
{
	return on_record[owner];
}

/* -1 for a text that is no owner's. */
int
world_owner_of(RuleText text)
{
	int			i;

	for (i = 0; i < OWNERS; i++)
	{
		if (text.data && text.len == on_record[i].len &&
			memcmp(text.data, on_record[i].data, text.len) == 0)
			return i;
	}
	return -1;
}

void
world_first(const World *world, State *state)
{
	memset(state, 0, sizeof(*state));
	state->now = world->origin;
	state->real = world->origin;
	state->generation = 1;
	waive(state);
}

static void
add_fence(Fences *fences, int64_t fence)
{
	int			i;

	for (i = 0; i < fences->count; i++)
	{
		if (fences->fence[i] == fence)
			return;
	}
	fences->fence[fences->count++] = fence;
}

/* Every fence ever granted, the one on record, and the neighbours of each. */
void
world_fences(const State *state, Fences *fences)
{
	int			i;
	int			by;

	fences->count = 0;
	add_fence(fences, 0);
	for (by = -1; by <= 1; by++)
	{
		add_fence(fences, state->here.record.fence + by);
		for (i = 0; i < state->grants; i++)
			add_fence(fences, state->fence[i] + by);
	}
}

/* How many choices of its own a verb has in a world. */
int
world_options(const World *world, LeaseVerb verb)
{
	bool		operators = world->natures & NATURE_OPERATOR;
	bool		tasks = world->natures & NATURE_TASK;

	switch (verb)
	{
		case VERB_BREAK:
			return operators ? 4 : 1;
		case VERB_HOLD:
			return 4;
		case VERB_CANCEL:
			return 2;
		case VERB_RENEW:
		case VERB_OFFER:
			return tasks ? 2 : 1;
		case VERB_FAIL:
			return 3;
		default:
			return 1;
	}
}

static void
choose(const World *world, int option, LeaseRequest *request)
{
	assert(option < world_options(world, request->verb));
	switch (request->verb)
	{
		case VERB_BREAK:
			request->hold = option & 1 ? HOLD_GRANTS : HOLD_NONE;
			request->hand_over = option & 2;
			break;
		case VERB_HOLD:
			request->hold = option & 1 ? HOLD_STOP : HOLD_GRANTS;
			request->hold_length = option & 2 ? 2 : 0;
			break;
		case VERB_CANCEL:
			request->deadline = option * 2;
			break;
		case VERB_RENEW:
			request->checkpoint = option == 1;
			break;
		case VERB_OFFER:
			request->delay = option;
			request->has_max_attempts = option == 0;
			request->max_attempts = 1;
			break;
		case VERB_FAIL:
			request->final = option == 1;
			request->has_retry_in = option == 2;
			request->retry_in = 2;
			break;
		default:
			break;
	}
}

void
world_ask(const World *world, const State *state, const Fences *fences,
		  Step step, Ask *ask)
{
	/* a caller's bytes are never those of the row */
	static const char text[OWNERS][3] = {"A1", "A2", "A"};
	LeaseRequest *request = &ask->request;

	memset(ask, 0, sizeof(*ask));
	ask->state = state;
	ask->record = &state->here.record;
	ask->policy = &world->policy[state->policy];
	ask->owner = step.owner;
	ask->with_id = step.with_id;

	request->verb = (LeaseVerb) step.verb;
	request->owner.data = text[step.owner];

	request->owner.len = on_record[step.owner].len;
	request->fence = fences->fence[step.fence];
	request->has_version = step.version > 0;
	if (request->has_version)
		request->version = ask->record->version + step.version - 2;
	request->has_ttl = world->ttl[step.ttl] > 0;
	request->ttl = world->ttl[step.ttl];
	request->hold_at_least = world->hold[step.hold];
	choose(world, step.option, request);

	ask->facts.floor = state->here.floor;
	ask->facts.generation = state->generation;
	ask->facts.others = state->others;
	if (step.with_id)
	{
		ask->facts.granted_fence = state->here.asked[step.verb][step.owner];
		ask->facts.asked_before = ask->facts.granted_fence != 0;
	}
}

void
world_decide(const Ask *ask, LeaseDecision *decision)
{
	rules_decide(&ask->state->here.row, &ask->request, ask->policy,
				 &ask->facts, ask->state->now, decision);
}
