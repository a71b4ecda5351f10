/*
 * walk.h
 *		What the parts of the walk over the rules share.
 *
 *	world.c		which small worlds are walked, what may happen in them, and
 *				what is asked
 *	state.c		how a state is kept
 *	contract.c	the right answer to every question
 *	judge.c		what must hold of an answer, clause by clause
 *	walk.c		goes through all of it
 *	ends.c		the ends of the numbers, which no small world has
 *	mutants		what each clause must be seen to catch
 *
 * contract.c and judge.c never look at a row to know what is right: they go
 * by a record of what was answered before.
 */
#ifndef WALK_H
#define WALK_H

#include <stddef.h>

#include "outcomes.h"
#include "rules.h"

#define OWNERS 3
#define EPOCH_VERBS 2			/* claim and takeover, the first of the verbs */
#define POLICIES 3
#define MAX_GRANTS 5
#define MAX_TTLS 4
#define MAX_HOLDS 2
#define MAX_FENCES (3 * (MAX_GRANTS + 1) + 1)
#define VERSIONS 4				/* none, and three around the one on record */

/* What the answers and the moves so far add up to, by the contract. */
typedef struct Record
{
	bool		exists;
	bool		granted;
	int			owner;
	int64_t		fence;
	int64_t		version;
	int64_t		begun;
	int64_t		due;			/* when the epoch lapses */
	int64_t		length;
	int64_t		hold_at_least;
	LeaseEnd	ended;
	LeaseHold	hold;
	int64_t		hold_begun;
	int64_t		hold_length;
	bool		cancel;
	int64_t		cancel_begun;
	int64_t		cancel_length;
	TaskState	task;			/* as it was last said to be */
	int			attempts;
	int			max_attempts;
	int64_t		armed;
	int64_t		delay;
} Record;

/* Everything that a standby takes over. */
typedef struct History
{
	LeaseRow	row;
	Record		record;
	int64_t		floor;
	/* what each one's request id was granted; 0: nothing yet */
	int64_t		asked[EPOCH_VERBS][OWNERS];
} History;

typedef struct State
{
	int64_t		now;			/* the server's clock, which may be set */
	int64_t		real;			/* a clock that nobody can set */
	History		here;
	History		standby;
	int64_t		generation;
	int			policy;			/* which of the world's is in force */
	int64_t		others;			/* current leases of other names */
	int64_t		highest;		/* the highest fence ever granted */
	/* what was promised of the epoch on record, in real time: */
	int64_t		promise;		/* its expiry */
	int64_t		rest;			/* the end of its hold_at_least */
	bool		waiting;		/* somebody was refused after a set-back, */
	int64_t		patience;		/* and need not wait longer than this */
	int			grants;
	int64_t		fence[MAX_GRANTS];	/* every one that was granted */
} State;

/* What may happen in a world beside the verbs; a set of these. */
typedef enum Nature
{
	NATURE_TIME = 1,			/* time passes */
	NATURE_CLOCK = 2,			/* the server's clock is set */
	NATURE_ROWS = 4,			/* rows are made and deleted */
	NATURE_HISTORY = 8,			/* a standby that lags is promoted */
	NATURE_POLICY = 16,			/* the namespace is altered */
	NATURE_OTHERS = 32,			/* other leases come and go */
	NATURE_OPERATOR = 64,		/* an operator's verbs are asked */
	NATURE_TASK = 128			/* and those of tasks */
} Nature;

/*
 * A small world.  A state past one of its limits is judged, but nobody goes on
 * from there.
 */
typedef struct World
{
	const char *name;
	int			natures;
	int64_t		origin;			/* now in the first state */
	LeasePolicy policy[POLICIES];
	int64_t		ttl[MAX_TTLS];	/* what is asked; 0: not given */
	int64_t		hold[MAX_HOLDS];
	bool		request_ids;	/* every owner has one for claim and takeover */
	int			owners;
	int			grants;
	int64_t		versions;
	int64_t		generations;
	int64_t		past;			/* instants further back are all the same */
	int64_t		ahead;			/* nor may any lie further ahead */
} World;

/* One thing that may happen beside the verbs; false where it cannot. */
typedef struct Move
{
	const char *name;
	Nature		nature;
	bool		(*apply) (State *state, int64_t by);
	int64_t		by;
} Move;

/* A step: a verb with its choices, or a move. */
typedef struct Step
{
	int8_t		verb;			/* NO_VERB: a move */
	int8_t		move;
	int8_t		owner;
	int8_t		fence;
	int8_t		version;
	int8_t		with_id;
	int8_t		ttl;
	int8_t		hold;
	int8_t		option;			/* which of the verb's own choices */
} Step;

#define NO_VERB (-1)

/* The fences that are worth asking with in a state. */
typedef struct Fences
{
	int			count;
	int64_t		fence[MAX_FENCES];
} Fences;

/* One verb asked in one state. */
typedef struct Ask
{
	const State *state;
	const Record *record;
	const LeasePolicy *policy;
	LeaseRequest request;
	GrantFacts	facts;
	int			owner;
	bool		with_id;
} Ask;

/* What an answer does. */
typedef enum Effect
{
	EFFECT_NONE,
	EFFECT_GRANT,
	EFFECT_RENEWAL,
	EFFECT_RELEASE,
	EFFECT_LATE_RELEASE,
	EFFECT_BREAK,
	EFFECT_HAND_OVER,
	EFFECT_HOLD,
	EFFECT_RESUME,
	EFFECT_CANCEL,
	EFFECT_OFFER,
	EFFECT_COMPLETE,
	EFFECT_FAIL,
	EFFECT_REOPEN,
	EFFECT_FINALISE
} Effect;

/* An answer and when it is the right one. */
typedef struct Line
{
	LeaseVerb	verb;
	LeaseOutcome outcome;
	bool		(*when) (const Ask *ask);
	bool		ok;
	Effect		effect;
} Line;

/* What the contract forbids to break, each a test of its own. */
typedef enum Clause
{
	CLAUSE_I1,
	CLAUSE_I2,
	CLAUSE_I3,
	CLAUSE_I4,
	CLAUSE_I5,
	CLAUSE_I8,
	CLAUSE_I9,
	CLAUSE_ORDER,
	CLAUSE_NUMBER,
	CLAUSE_VERSION,
	CLAUSE_LENGTH,
	CLAUSE_REST,
	CLAUSE_REBASE,
	CLAUSE_WAIT,
	CLAUSE_WAKE,
	CLAUSE_FACTS,
	CLAUSE_WRITE,
	CLAUSE_UNLOCKED,
	CLAUSE_WORDS,
	CLAUSES
} Clause;

typedef struct ClauseInfo
{
	const char *key;
	const char *title;
} ClauseInfo;

typedef struct Token
{
	int			owner;
	int64_t		fence;
} Token;

/* What all the answers in one state say about who holds the lease. */
typedef struct Tally
{
	int			renewers;		/* tokens that a renewal takes for the
								 * holder's */
	Token		renewer;
	int			releasers;		/* tokens that a release does */
	Token		releaser;
	int			presenters;		/* tokens that may be written under */
	Token		presenter;
	int			asked;			/* how often it was asked whether it is held */
	int			held;			/* and how often it was */
	int			not_expired;	/* takeovers that were told so */
	int			replayed;		/* request ids whose epoch is current */
} Tally;

/* A test that needs no walk: NULL, or what was wrong. */
typedef struct EndTest
{
	const char *key;
	const char *title;
	const char *(*run) (void);
} EndTest;

/* world.c */
extern const World worlds[];
extern const int world_count;
extern const Move moves[];
extern const int move_count;
extern RuleText world_owner(int owner);
extern int	world_owner_of(RuleText text);
extern void world_first(const World *world, State *state);
extern void world_nobody_waits(State *state);
extern void world_fences(const State *state, Fences *fences);
extern void world_ask(const World *world, const State *state,
					  const Fences *fences, Step step, Ask *ask);
extern int	world_options(const World *world, LeaseVerb verb);
extern void world_decide(const Ask *ask, LeaseDecision *decision);

/* state.c */
#define MAX_PACKED 192

extern int	state_init(void);
extern bool state_pack(const World *world, const State *state, int8_t * packed);
extern void state_unpack(const World *world, const int8_t * packed,
						 State *state);
extern bool state_same_row(const LeaseRow *a, const LeaseRow *b);
extern bool state_knows_row(const LeaseRow *row);

/* contract.c */
extern const Line *contract_line(const Ask *ask);
extern const Line *contract_line_told(const Line *right, LeaseOutcome outcome);
extern const char *contract_wrong_word(void);
extern const char *contract_unsaid_word(void);
extern bool contract_is_unended(const Ask *ask);
extern bool contract_is_held(const Ask *ask);
extern bool contract_is_lapsed(const Ask *ask);
extern bool contract_repeats(const Ask *ask);
extern bool contract_rebases(const Ask *ask);
extern bool contract_rebases_hold(const Ask *ask);
extern bool contract_is_past_deadline(const Ask *ask);
extern bool contract_is_over(const Ask *ask);
extern bool contract_stops(const Ask *ask);
extern int64_t contract_deadline(const Ask *ask);
extern int64_t contract_until(const Ask *ask, Effect effect);
extern int64_t contract_length(const Ask *ask, Effect effect);
extern int64_t contract_fence(const Ask *ask);
extern int64_t lesser(int64_t a, int64_t b);
extern int64_t greater(int64_t a, int64_t b);

/* judge.c */
extern const ClauseInfo clauses[CLAUSES];
extern unsigned judge_answer(const Ask *ask, const LeaseDecision *decision,
							 bool *moved, State *next);
extern void judge_note(const Ask *ask, const LeaseDecision *decision,
					   Tally *tally);
extern unsigned judge_state(const World *world, const State *state,
							const Tally *tally);

/* ends.c */
extern const EndTest end_tests[];
extern const int end_test_count;

#endif							/* WALK_H */
