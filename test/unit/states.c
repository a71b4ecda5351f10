/*
 * states.c
 *		What each verb makes of each state, as the tables of doc/internals.md.
 *
 * Every state is reached by asking verbs, and every verb is then asked with the
 * token on record, by the real rules; none writes an answer down here.  A cell
 * is the outcome, and behind an arrow the state that the row reads as next, where
 * that is another one or another's.
 */
#include <stdio.h>
#include <string.h>

#include "outcomes.h"
#include "rules.h"

typedef struct Verb
{
	const char *title;
	LeaseRequest request;
	bool		by_another;		/* not by the holder A, but by B */
	bool		of_tasks;
} Verb;

typedef struct Past
{
	const char *title;
	int			count;
	LeaseRequest asked[3];		/* by A, each a second after the other */
	int64_t		later;			/* and then it is so much later */
	bool		of_tasks;
	bool		of_leases;
} Past;

#define CLAIM {.verb = VERB_CLAIM}
#define RELEASE {.verb = VERB_RELEASE}
#define HOLD {.verb = VERB_HOLD,.hold = HOLD_GRANTS}
#define STOP {.verb = VERB_HOLD,.hold = HOLD_STOP}
#define CANCEL {.verb = VERB_CANCEL,.deadline = 4}

static const LeasePolicy policy = {
	.min_ttl = 1,.default_ttl = 10,.max_ttl = 20,.grace = 5,
	.retry_base = 10,.retry_factor = 2,.retry_cap = 100,.max_attempts = 3,
};

static const LeaseRequest offer = {.verb = VERB_OFFER};

static const Past pasts[] = {
	{"free", 2, {CLAIM, RELEASE}, 0, true, true},
	{"waits", 2, {CLAIM, {.verb = VERB_FAIL}}, 0, true, false},
	{"held", 1, {CLAIM}, 0, true, true},
	{"in grace", 1, {CLAIM}, 10, true, true},
	{"expired", 1, {CLAIM}, 20, true, true},
	{"on hold", 3, {CLAIM, RELEASE, HOLD}, 0, true, true},
	{"held, on hold", 2, {CLAIM, HOLD}, 0, true, true},
	{"held, stopped", 2, {CLAIM, STOP}, 0, true, true},
	{"cancel pending", 2, {CLAIM, CANCEL}, 0, true, true},
	{"past its deadline", 2, {CLAIM, CANCEL}, 5, true, true},
	{"done", 2, {CLAIM, {.verb = VERB_COMPLETE}}, 0, true, false},
	{"reopened", 3, {CLAIM, {.verb = VERB_COMPLETE}, {.verb = VERB_RETRY}}, 0, true, false},
	{"failed", 2, {CLAIM, {.verb = VERB_FAIL,.final = true}}, 0, true, false},
	{"cancelled", 3, {CLAIM, CANCEL, RELEASE}, 0, true, true},
};

static const Verb verbs[] = {
	{"get", {.verb = VERB_GET}, false, false},
	{"claim", CLAIM, true, false},
	{"takeover", {.verb = VERB_TAKEOVER}, true, false},
	{"poll", {.verb = VERB_POLL}, true, true},
	{"renew", {.verb = VERB_RENEW}, false, false},
	{"guarded write", {.verb = VERB_PRESENT}, false, false},
	{"release", RELEASE, false, false},
	{"complete", {.verb = VERB_COMPLETE}, false, true},
	{"fail", {.verb = VERB_FAIL}, false, true},
	{"fail, final", {.verb = VERB_FAIL,.final = true}, false, true},
	{"offer", {.verb = VERB_OFFER}, false, false},
	{"break", {.verb = VERB_BREAK}, false, false},
	{"break with hold", {.verb = VERB_BREAK,.hold = HOLD_GRANTS}, false, false},
	{"break with new owner", {.verb = VERB_BREAK,.hand_over = true}, true, false},
	{"hold", HOLD, false, false},
	{"hold that stops", STOP, false, false},
	{"resume", {.verb = VERB_RESUME}, false, false},
	{"cancel", CANCEL, false, false},
	{"retry", {.verb = VERB_RETRY}, false, true},
	{"finalise (sweep)", {.verb = VERB_FINALISE}, false, true},
};

#define PASTS ((int) (sizeof(pasts) / sizeof(pasts[0])))
#define VERBS ((int) (sizeof(verbs) / sizeof(verbs[0])))

/* Ask one verb, with the token on record where it takes one. */
static LeaseOutcome
ask(LeaseRow *row, LeaseRequest request, const char *owner, int64_t now)
{
	GrantFacts	facts = {.generation = 1};
	LeaseDecision decision;

	request.owner.data = owner;
	request.owner.len = 1;
	request.fence = row->fence;
	rules_decide(row, &request, &policy, &facts, now, &decision);
	*row = decision.row;
	return decision.outcome;
}

static int64_t
reach(const Past *past, bool task, LeaseRow *row)
{
	int64_t		now = 1000;
	int			i;

	memset(row, 0, sizeof(*row));
	if (task)
		ask(row, offer, "A", now);
	for (i = 0; i < past->count; i++)
		ask(row, past->asked[i], "A", ++now);
	return now + past->later;
}

static const char *
word(LeaseOutcome outcome)
{
	if (outcome == OUTCOME_PASSED_OVER)
		return "";
	return outcome == OUTCOME_FINALISED ? "written down" : outcomes_name(outcome);
}

static void
cell(const Verb *verb, const Past *past, bool task)
{
	LeaseRow	row;
	int64_t		now = reach(past, task, &row);
	int64_t		fence = row.fence;
	LeaseOutcome before = rules_state(&row, &policy, now);
	LeaseOutcome told = ask(&row, verb->request, verb->by_another ? "B" : "A", now);
	LeaseOutcome after = rules_state(&row, &policy, now);

	printf(" %s", word(told));
	if (after != before || row.fence != fence)
		printf(" → %s", word(after));
	printf(" |");
}

static void
table(const char *title, bool task)
{
	int			i;
	int			j;

	printf("\n| %s |", title);
	for (j = 0; j < PASTS; j++)
	{
		if (task ? pasts[j].of_tasks : pasts[j].of_leases)
			printf(" %s |", pasts[j].title);
	}
	printf("\n|---|");
	for (j = 0; j < PASTS; j++)
	{
		if (task ? pasts[j].of_tasks : pasts[j].of_leases)
			printf("---|");
	}
	for (i = 0; i < VERBS; i++)
	{
		if (verbs[i].of_tasks && !task)
			continue;
		printf("\n| %s |", verbs[i].title);
		for (j = 0; j < PASTS; j++)
		{
			if (task ? pasts[j].of_tasks : pasts[j].of_leases)
				cell(&verbs[i], &pasts[j], task);
		}
	}
	putchar('\n');
}

int
main(void)
{
	table("a task", true);
	table("a plain lease", false);
	putchar('\n');
	return 0;
}
