/*
 * walk.c
 *		Goes through every state of every small world, on the real rules.
 *
 * Breadth first: each state is reached by a shortest path, which is printed
 * where an answer breaks the contract.  In each state every verb is asked with
 * every choice of its arguments, and everything else that may happen happens.
 *
 *	walk			a test for each clause of the contract, and for the ends;
 *					the walk stops at the first state that breaks a clause
 *	walk -x TEST	goes on until that one fails (for mutated rules)
 *
 * A new verb is a line of `verbs`; a new argument a bit of Takes, a field of
 * Step, and a loop in ask_all().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

typedef enum Takes
{
	TAKES_OWNER = 1,
	TAKES_FENCE = 2,
	TAKES_VERSION = 4,
	TAKES_TTL = 8,
	TAKES_HOLD = 16,
	TAKES_ID = 32
} Takes;

typedef struct Verb
{
	LeaseVerb	verb;
	int			takes;
	int			nature;			/* asked in worlds of that alone; 0: in all */
} Verb;

static const Verb verbs[] = {
	{VERB_CLAIM, TAKES_OWNER | TAKES_TTL | TAKES_HOLD | TAKES_ID, 0},
	{VERB_TAKEOVER, TAKES_OWNER | TAKES_FENCE | TAKES_TTL | TAKES_ID, 0},
	{VERB_RENEW, TAKES_OWNER | TAKES_FENCE | TAKES_VERSION | TAKES_TTL, 0},
	{VERB_RELEASE, TAKES_OWNER | TAKES_FENCE, 0},
	{VERB_BREAK, TAKES_FENCE, 0},
	{VERB_GET, 0, 0},
	{VERB_PRESENT, TAKES_OWNER | TAKES_FENCE, 0},
	{VERB_HOLD, 0, NATURE_OPERATOR},
	{VERB_RESUME, 0, NATURE_OPERATOR},
	{VERB_CANCEL, 0, NATURE_OPERATOR},
	{VERB_OFFER, 0, NATURE_TASK},
	{VERB_POLL, TAKES_OWNER, NATURE_TASK},
	{VERB_COMPLETE, TAKES_OWNER | TAKES_FENCE, NATURE_TASK},
	{VERB_FAIL, TAKES_OWNER | TAKES_FENCE, NATURE_TASK},
	{VERB_RETRY, 0, NATURE_TASK},
	{VERB_TASK_GET, 0, NATURE_TASK},
	{VERB_FINALISE, 0, NATURE_TASK},
	{VERB_REBASE, 0, NATURE_CLOCK},
};

#define NEAR 20000
#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]))

typedef struct Node
{
	uint32_t	parent;
	Step		step;
} Node;

/* The states of the world that is walked, in the order in which they came. */
static Node *nodes;
static int8_t * packed;
static int	packed_size;
static uint32_t node_count;
static uint32_t node_room;
static uint32_t *slots;			/* a node's index + 1; 0: empty */
static uint32_t slot_count;

static uint64_t transitions;
static int64_t broken_count[CLAUSES];
static int	wanted = -1;		/* the test of -x, clauses first */

static void *
grown(void *old, size_t size)
{
	void	   *new = realloc(old, size);

	if (!new)
	{
		fputs("Bail out! out of memory\n", stdout);
		exit(2);
	}
	return new;
}

static uint64_t
hash(const int8_t * bytes)
{
	uint64_t	sum = 0;
	int			i;

	for (i = 0; i < packed_size; i += (int) sizeof(uint64_t))
	{
		uint64_t	word;

		memcpy(&word, bytes + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* The slot where the state is, or where it belongs. */
static uint32_t *
slot_of(const int8_t * state)
{
	uint32_t	at = (uint32_t) hash(state) & (slot_count - 1);

	while (slots[at] && memcmp(packed + (size_t) (slots[at] - 1) * packed_size,
							   state, packed_size) != 0)
		at = (at + 1) & (slot_count - 1);
	return &slots[at];
}

static void
make_room(void)
{
	uint32_t	i;

	node_room = node_room ? node_room * 2 : 1 << 16;
	nodes = grown(nodes, node_room * sizeof(Node));
	packed = grown(packed, (size_t) node_room * packed_size);
	slot_count = node_room * 2;
	slots = grown(slots, slot_count * sizeof(uint32_t));
	memset(slots, 0, slot_count * sizeof(uint32_t));
	for (i = 0; i < node_count; i++)
		*slot_of(packed + (size_t) i * packed_size) = i + 1;
}

/* Keep a state that was not met yet. */
static void
meet(const World *world, const State *state, uint32_t parent, Step step)
{
	int8_t		bytes[MAX_PACKED] = {0};
	uint32_t   *slot;

	if (!state_pack(world, state, bytes))
		return;
	slot = slot_of(bytes);
	if (*slot)
		return;
	memcpy(packed + (size_t) node_count * packed_size, bytes, packed_size);
	nodes[node_count].parent = parent;
	nodes[node_count].step = step;
	*slot = ++node_count;
	if (node_count == node_room)
		make_room();
}

static void
print_step(const World *world, const State *state, Step step)
{
	LeaseDecision decision;
	const LeaseRow *row = &decision.row;
	Fences		fences;
	Ask			ask;
	const Verb *verb = verbs;

	if (step.verb == NO_VERB)
	{
		printf("#   %s\n", moves[step.move].name);
		return;
	}
	world_fences(state, &fences);
	world_ask(world, state, &fences, step, &ask);
	world_decide(&ask, &decision);
	while (verb->verb != ask.request.verb)
		verb++;

	printf("#   %s", outcomes_verb_name(verb->verb));
	if (verb->takes & TAKES_OWNER)
		printf(" by %.*s", (int) ask.request.owner.len, ask.request.owner.data);
	if (verb->takes & TAKES_FENCE)
		printf(", fence %lld", (long long) ask.request.fence);
	if (ask.request.has_version)
		printf(", version %lld", (long long) ask.request.version);
	if (ask.request.has_ttl)
		printf(", ttl %lld", (long long) ask.request.ttl);
	if (ask.request.hold_at_least > 0)
		printf(", hold_at_least %lld", (long long) ask.request.hold_at_least);
	if (ask.with_id)
		printf(", with a request id");
	if (step.option > 0)
		printf(", option %d", step.option);
	printf(": %s; ", outcomes_name(decision.outcome));
	if (!row->granted)
		printf("never granted\n");
	else
		printf("%.*s, fence %lld, version %lld, expiry in %lld, ttl %lld%s%s\n",
			   (int) row->owner.len, row->owner.data,
			   (long long) row->fence, (long long) row->version,
			   (long long) (row->expires_at - state->now),
			   (long long) row->ttl, row->ended == END_NONE ? "" : ", ",
			   outcomes_end_name(row->ended));
}

static void
print_path(const World *world, uint32_t node)
{
	State		state;

	if (node == 0)
		return;
	print_path(world, nodes[node].parent);
	state_unpack(world, packed + (size_t) nodes[node].parent * packed_size, &state);
	print_step(world, &state, nodes[node].step);
}

/* Count the clauses broken in a state; the first time, tell how to get there. */
static void
report(const World *world, uint32_t node, const State *state, const Step *step,
	   unsigned broken)
{
	bool		news = false;
	int			i;

	for (i = 0; i < CLAUSES; i++)
	{
		if (!(broken & 1u << i) || broken_count[i]++ > 0)
			continue;
		if (!news)
			printf("# in the world '%s', broken:", world->name);
		printf(" %s", clauses[i].key);
		news = true;
	}
	if (!news)
		return;
	printf("\n");
	print_path(world, node);
	if (step)
		print_step(world, state, *step);
}

static void
ask_one(const World *world, uint32_t node, const State *state,
		const Fences *fences, Step step, Tally *tally, bool *refused)
{
	static LeaseDecision decision;
	static State next;
	Ask			ask;
	bool		moved;
	unsigned	broken;

	world_ask(world, state, fences, step, &ask);
	world_decide(&ask, &decision);
	transitions++;
	*refused = decision.write == WRITE_NOTHING &&
		decision.outcome != OUTCOME_CEILING;
	judge_note(&ask, &decision, tally);
	broken = judge_answer(&ask, &decision, &moved, &next);
	if (broken)
		report(world, node, state, &step, broken);
	if (moved)
		meet(world, &next, node, step);
}

/* How many of a list of lengths are asked with: all until a later one is 0. */
static int
count_lengths(const int64_t *lengths, int room)
{
	int			count = 1;

	while (count < room && lengths[count] != 0)
		count++;
	return count;
}

/*
 * One verb with every choice of its arguments.  But for the ceiling, lengths do
 * not matter to a refusal: it is asked for with one choice of them, in turn.
 */
static void
ask_all(const World *world, uint32_t node, const State *state,
		const Fences *fences, const Verb *verb, Tally *tally)
{
	int			owners = verb->takes & TAKES_OWNER ? world->owners : 1;
	int			fence_count = verb->takes & TAKES_FENCE ? fences->count : 1;
	int			versions = verb->takes & TAKES_VERSION ? VERSIONS : 1;
	int			ids = verb->takes & TAKES_ID && world->request_ids ? 2 : 1;
	int			options = world_options(world, verb->verb);
	int			ttls = 1;
	int			holds = 1;
	unsigned	turn = node;
	Step		step = {.verb = (int8_t) verb->verb};

	if (verb->takes & TAKES_TTL)
		ttls = count_lengths(world->ttl, MAX_TTLS);
	if (verb->takes & TAKES_HOLD)
		holds = count_lengths(world->hold, MAX_HOLDS);
	for (step.owner = 0; step.owner < owners; step.owner++)
		for (step.fence = 0; step.fence < fence_count; step.fence++)
			for (step.version = 0; step.version < versions; step.version++)
				for (step.with_id = 0; step.with_id < ids; step.with_id++)
					for (step.option = 0; step.option < options; step.option++)
					{
						bool		refused = false;
						int			left = ttls * holds;

						for (; left > 0 && !refused; left--, turn++)
						{
							step.ttl = (int8_t) (turn % ttls);
							step.hold = (int8_t) (turn / ttls % holds);
							ask_one(world, node, state, fences, step, tally, &refused);
						}
					}
}

static void
expand(const World *world, uint32_t node)
{
	State		state;
	Fences		fences;
	Tally		tally;
	Step		step = {.verb = NO_VERB};
	unsigned	broken;
	size_t		i;

	state_unpack(world, packed + (size_t) node * packed_size, &state);
	world_fences(&state, &fences);
	memset(&tally, 0, sizeof(tally));
	for (i = 0; i < VERB_COUNT; i++)
	{
		if (verbs[i].nature != 0 && !(world->natures & verbs[i].nature))
			continue;
		ask_all(world, node, &state, &fences, &verbs[i], &tally);
	}
	broken = judge_state(world, &state, &tally);
	if (broken)
		report(world, node, &state, NULL, broken);

	for (; step.move < move_count; step.move++)
	{
		const Move *move = &moves[step.move];
		State		next = state;

		if (!(world->natures & move->nature) || !move->apply(&next, move->by))
			continue;
		transitions++;
		meet(world, &next, node, step);
	}
}

/* Whether the walk may end here: nothing is to be found, or something was. */
static bool
found(void)
{
	int			i;

	if (wanted >= CLAUSES)
		return true;
	if (wanted >= 0)
		return broken_count[wanted] > 0;
	for (i = 0; i < CLAUSES; i++)
	{
		if (broken_count[i] > 0)
			return true;
	}
	return false;
}

/* Walk so many states of a world; returns how many there were. */
static uint32_t
walk(const World *world, uint32_t limit)
{
	static const Step none = {.verb = NO_VERB};
	uint64_t	before = transitions;
	State		first;
	uint32_t	node;

	node_count = 0;
	memset(slots, 0, slot_count * sizeof(uint32_t));
	world_first(world, &first);
	meet(world, &first, 0, none);
	for (node = 0; node < node_count && node < limit && !found(); node++)
		expand(world, node);
	printf("# world '%s': %u states, %llu transitions\n", world->name,
		   node, (unsigned long long) (transitions - before));
	return node;
}

/* -1 where there is none. */
static int
test_named(const char *key)
{
	int			i;

	for (i = 0; i < CLAUSES + end_test_count; i++)
	{
		if (strcmp(key, i < CLAUSES ? clauses[i].key :
				   end_tests[i - CLAUSES].key) == 0)
			return i;
	}
	return -1;
}

static void
judge_word(const char *what, const char *word)
{
	if (!word)
		return;
	printf("# the word '%s' %s\n", word, what);
	broken_count[CLAUSE_WORDS]++;
}

int
main(int argc, char **argv)
{
	uint64_t	states = 0;
	int			failed = 0;
	int			i;

	if (argc == 3 && strcmp(argv[1], "-x") == 0)
		wanted = test_named(argv[2]);
	if (argc > 1 && wanted < 0)
	{
		fputs("usage: walk [-x TEST]\n", stderr);
		return 2;
	}

	printf("1..%d\n", CLAUSES + end_test_count);
	packed_size = state_init();
	make_room();
	judge_word("is judged otherwise by rules and contract", contract_wrong_word());
	/* what is to be found is mostly near the start of some world */
	for (i = 0; i < world_count && wanted >= 0 && !found(); i++)
		states += walk(&worlds[i], NEAR);
	for (i = 0; i < world_count && !found(); i++)
		states += walk(&worlds[i], UINT32_MAX);
	if (!found())
		judge_word("was never answered", contract_unsaid_word());
	printf("# states: %llu\n", (unsigned long long) states);
	printf("# transitions: %llu\n", (unsigned long long) transitions);

	for (i = 0; i < CLAUSES; i++)
	{
		printf("%sok %d - %s: %s\n", broken_count[i] ? "not " : "", i + 1,
			   clauses[i].key, clauses[i].title);
		failed += broken_count[i] > 0;
	}
	for (i = 0; i < end_test_count; i++)
	{
		const char *wrong = end_tests[i].run();

		printf("%sok %d - %s: %s\n", wrong ? "not " : "", CLAUSES + i + 1,
			   end_tests[i].key, end_tests[i].title);
		if (wrong)
			printf("# %s\n", wrong);
		failed += wrong != NULL;
	}
	free(nodes);
	free(packed);
	free(slots);
	return failed > 0;
}
