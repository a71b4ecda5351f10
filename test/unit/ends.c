/*
 * ends.c
 *		The ends of the numbers, and the words: what no small world has.
 *
 * What sums should come to is computed in 128 bits.
 */
#include <string.h>

#include "walk.h"

/* Ends a test with what was wrong. */
#define REQUIRE(condition) \
	do { if (!(condition)) return #condition; } while (0)

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

typedef __int128 Wide;

static const LeasePolicy any_length = {
	.min_ttl = 1,.default_ttl = 3,.max_ttl = INT64_MAX
};
static const RuleText somebody = {"A1", 2};
static const RuleText another = {"A2", 2};

static LeaseRow
row_of(int64_t fence, int64_t version, int64_t expires_at, LeaseEnd ended)
{
	LeaseRow	row;

	memset(&row, 0, sizeof(row));
	row.exists = true;
	row.granted = true;
	row.owner = somebody;
	row.fence = fence;
	row.version = version;
	row.granted_at = 1;
	row.renewed_at = 1;
	row.expires_at = expires_at;
	row.ttl = expires_at - 1;
	row.ended = ended;
	row.ended_at = ended == END_NONE ? 0 : 2;
	return row;
}

static LeaseDecision
decide(const LeaseRow *row, LeaseVerb verb, GrantFacts facts, int64_t now)
{
	LeaseRequest request;
	LeaseDecision decision;

	memset(&request, 0, sizeof(request));
	request.verb = verb;
	request.owner = somebody;
	request.fence = row->fence;
	rules_decide(row, &request, &any_length, &facts, now, &decision);
	return decision;
}

/* Refused for want of numbers: said so, and nothing touched. */
static bool
is_exhausted(const LeaseRow *row, LeaseVerb verb, GrantFacts facts, int64_t now)
{
	LeaseDecision decision = decide(row, verb, facts, now);

	return decision.exhausted && decision.write == WRITE_NOTHING &&
		!rules_is_final_unlocked(&decision) &&
		state_same_row(&decision.row, row);
}

static bool
gets_fence(const LeaseRow *row, LeaseVerb verb, GrantFacts facts, int64_t fence)
{
	LeaseDecision decision = decide(row, verb, facts, 10);

	return !decision.exhausted && decision.write == WRITE_GRANT &&
		decision.row.fence == fence;
}

static const char *
end_of_fences(void)
{
	const GrantFacts none = {.generation = 1};
	const GrantFacts full = {.floor = INT64_MAX,.generation = 1};
	const LeaseRow nothing = {0};
	LeaseRow	lapsed = row_of(INT64_MAX, 5, 10, END_NONE);
	LeaseRow	released = row_of(INT64_MAX, 5, 10, END_RELEASED);
	LeaseRow	low = row_of(1, 5, 10, END_NONE);
	LeaseDecision decision;

	REQUIRE(is_exhausted(&lapsed, VERB_CLAIM, none, 10));
	REQUIRE(is_exhausted(&lapsed, VERB_TAKEOVER, none, 10));
	REQUIRE(is_exhausted(&released, VERB_CLAIM, none, 10));
	REQUIRE(is_exhausted(&nothing, VERB_CLAIM, full, 10));
	REQUIRE(is_exhausted(&low, VERB_CLAIM, full, 10));

	decision = decide(&lapsed, VERB_CLAIM, none, 9);
	REQUIRE(decision.outcome == OUTCOME_HELD && !decision.exhausted);
	decision = decide(&lapsed, VERB_RENEW, none, 9);
	REQUIRE(decision.outcome == OUTCOME_RENEWED && !decision.exhausted);
	REQUIRE(decision.row.fence == INT64_MAX);
	decision = decide(&lapsed, VERB_RELEASE, none, 9);
	REQUIRE(decision.outcome == OUTCOME_RELEASED && !decision.exhausted);
	decision = decide(&lapsed, VERB_RELEASE, none, 10);
	REQUIRE(decision.outcome == OUTCOME_EXPIRED && decision.write == WRITE_END);

	lapsed.fence = INT64_MAX - 1;
	REQUIRE(gets_fence(&lapsed, VERB_CLAIM, none, INT64_MAX));
	REQUIRE(gets_fence(&lapsed, VERB_TAKEOVER, none, INT64_MAX));
	return NULL;
}

static const char *
end_of_generations(void)
{
	const int64_t last = INT64_MAX >> 16;
	const LeaseRow nothing = {0};
	LeaseRow	lapsed = row_of(7, 5, 10, END_NONE);
	GrantFacts	facts = {.generation = 1};

	REQUIRE(gets_fence(&lapsed, VERB_CLAIM, facts, 8));
	facts.generation = 2;
	REQUIRE(gets_fence(&lapsed, VERB_CLAIM, facts, (INT64_C(1) << 16) + 1));
	facts.generation = last;
	REQUIRE(gets_fence(&nothing, VERB_CLAIM, facts, ((last - 1) << 16) + 1));
	facts.generation = last + 2;
	REQUIRE(is_exhausted(&nothing, VERB_CLAIM, facts, 10));
	facts.generation = INT64_MAX;
	REQUIRE(is_exhausted(&lapsed, VERB_TAKEOVER, facts, 10));
	return NULL;
}

static const char *
end_of_versions(void)
{
	const GrantFacts none = {.generation = 1};
	LeaseRow	full = row_of(7, INT64_MAX, 10, END_NONE);
	LeaseRow	released = row_of(7, INT64_MAX, 10, END_RELEASED);
	LeaseDecision decision;

	REQUIRE(is_exhausted(&full, VERB_RENEW, none, 9));

	REQUIRE(is_exhausted(&full, VERB_CLAIM, none, 10));
	REQUIRE(is_exhausted(&full, VERB_TAKEOVER, none, 10));
	REQUIRE(is_exhausted(&released, VERB_CLAIM, none, 10));

	decision = decide(&full, VERB_RENEW, none, 10);
	REQUIRE(decision.outcome == OUTCOME_EXPIRED && !decision.exhausted);
	decision = decide(&released, VERB_RELEASE, none, 9);
	REQUIRE(decision.outcome == OUTCOME_ALREADY_RELEASED && !decision.exhausted);

	decision = decide(&full, VERB_RELEASE, none, 9);
	REQUIRE(decision.outcome == OUTCOME_RELEASED && decision.write == WRITE_END);
	REQUIRE(decision.row.ended == END_RELEASED && decision.row.version == INT64_MAX);
	decision = decide(&full, VERB_BREAK, none, 10);
	REQUIRE(decision.outcome == OUTCOME_BROKEN && decision.write == WRITE_END);
	REQUIRE(decision.row.ended == END_BROKEN && decision.row.version == INT64_MAX);

	full.version--;
	decision = decide(&full, VERB_RENEW, none, 9);
	REQUIRE(!decision.exhausted && decision.row.version == INT64_MAX);
	decision = decide(&full, VERB_CLAIM, none, 10);
	REQUIRE(!decision.exhausted && decision.row.version == INT64_MAX);
	return NULL;
}

static const int64_t extremes[] = {
	INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, -1, 0, 1, INT64_MAX / 2,
	INT64_MAX - 1, INT64_MAX
};

static int64_t
sum(int64_t a, int64_t b)
{
	Wide		wide = (Wide) a + b;

	return wide > INT64_MAX ? INT64_MAX :
		wide < INT64_MIN ? INT64_MIN : (int64_t) wide;
}

static const char *
end_of_instants(void)
{
	const GrantFacts none = {.generation = 1};
	LeaseRow	row = row_of(7, 5, 10, END_NONE);
	int			n;
	int			e;
	int			l;

	for (n = 0; n < COUNT(extremes); n++)
		for (e = 0; e < COUNT(extremes); e++)
			for (l = 0; l < COUNT(extremes); l++)
			{
				int64_t		now = extremes[n];
				int64_t		latest = sum(now, extremes[l]);
				LeaseDecision decision;

				row.expires_at = extremes[e];
				row.ttl = extremes[l];
				REQUIRE(rules_expiry(&row, now) ==
						(row.expires_at < latest ? row.expires_at : latest));
				REQUIRE(rules_is_current(&row, now) ==
						(now < row.expires_at && now < latest));

				decision = decide(&row, VERB_RENEW, none, now);
				if (!rules_is_current(&row, now))
					REQUIRE(decision.outcome == OUTCOME_EXPIRED);
				else
					REQUIRE(decision.row.expires_at == latest);
				decision = decide(&row, VERB_CLAIM, none, now);
				if (!rules_is_current(&row, now))
					REQUIRE(decision.row.expires_at == sum(now, any_length.default_ttl));
				else
					REQUIRE(decision.outcome == OUTCOME_HELD);
			}
	return NULL;
}

static const char *
end_of_lengths(void)
{
	const GrantFacts none = {.generation = 1};
	const LeasePolicy narrow = {.min_ttl = 100,.default_ttl = 300,.max_ttl = 1000};
	const LeaseRow nothing = {0};
	int			n;
	int			l;

	for (n = 0; n < COUNT(extremes); n++)
		for (l = 0; l < COUNT(extremes); l++)
		{
			int64_t		asked = extremes[l];
			int64_t		ttl = asked < 100 ? 100 : 1000;
			LeaseRequest request = {.verb = VERB_CLAIM,.has_ttl = true};
			LeaseDecision decision;

			request.owner = somebody;
			request.ttl = asked;
			rules_decide(&nothing, &request, &narrow, &none, extremes[n], &decision);
			REQUIRE(decision.row.ttl == ttl);
			REQUIRE(decision.row.expires_at == sum(extremes[n], ttl));

			rules_decide(&nothing, &request, &any_length, &none, extremes[n], &decision);
			REQUIRE(decision.row.ttl == (asked < 1 ? 1 : asked));
			REQUIRE(decision.row.expires_at == sum(extremes[n], decision.row.ttl));
		}
	return NULL;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What counts from the beginning, and what comes after the expiry. */
static const char *
end_of_policies(void)
{
	const GrantFacts none = {.generation = 1};
	int			n;
	int			b;
	int			l;

	for (n = 0; n < COUNT(extremes); n++)
		for (b = 0; b < COUNT(extremes); b++)
			for (l = 0; l < COUNT(extremes); l++)
			{
				int64_t		now = extremes[n];
				int64_t		length = extremes[l];
				int64_t		begun = least(extremes[b], now);
				int64_t		wish = sum(now, 10);
				int64_t		ends = sum(begun, length);
				LeaseRow	row = row_of(7, 5, wish, END_NONE);
				LeasePolicy policy = any_length;
				LeaseRequest renew = {.verb = VERB_RENEW,.fence = 7};
				LeaseDecision decision;
				int64_t		after_grace;

				if (length <= 0 || now == INT64_MAX)
					continue;
				row.ttl = 10;
				row.granted_at = extremes[b];
				row.hold_at_least = length;
				policy.grace = length;
				policy.max_hold = length;

				after_grace = sum(wish, length);
				REQUIRE(rules_grantable_at(&row, &policy, now) ==
						(after_grace > ends ? after_grace : ends));
				row.ended = END_RELEASED;
				REQUIRE(rules_grantable_at(&row, &policy, now) ==
						(now > ends ? now : ends));
				REQUIRE(rules_state(&row, &policy, now) ==
						(now < ends ? OUTCOME_COOLING : OUTCOME_FREE));
				row.ended = END_NONE;

				renew.owner = somebody;
				rules_decide(&row, &renew, &policy, &none, now, &decision);
				if (ends < wish)
					REQUIRE(decision.outcome == OUTCOME_CEILING);
				else
					REQUIRE(decision.outcome == OUTCOME_RENEWED && decision.row.expires_at == wish);
			}
	return NULL;
}

static const char *
texts(void)
{
	const RuleText same = {(char[]) {'A', '1'}, 2};
	const RuleText longer = {"A1 ", 3};
	const RuleText shorter = {"A1", 1};
	const RuleText empty = {"", 0};
	const RuleText missing = {NULL, 0};
	const RuleText zero_one = {"\0001", 2};
	const RuleText zero_two = {"\0002", 2};

	REQUIRE(rules_text_equal(somebody, same));
	REQUIRE(rules_text_equal(empty, empty));
	REQUIRE(rules_text_equal(zero_one, zero_one));
	REQUIRE(!rules_text_equal(somebody, another));
	REQUIRE(!rules_text_equal(somebody, longer));
	REQUIRE(!rules_text_equal(longer, somebody));
	REQUIRE(!rules_text_equal(somebody, shorter));
	REQUIRE(!rules_text_equal(zero_one, zero_two));
	REQUIRE(!rules_text_equal(missing, missing));
	REQUIRE(!rules_text_equal(missing, empty));
	REQUIRE(!rules_text_equal(empty, missing));
	return NULL;
}

static RuleText
text_of(const char *data, size_t len)
{
	RuleText text = {data, (int32_t) len};

	return text;
}

/* Every end that is one has a name of its own, and is found again by it alone. */
static const char *
names_of_ends(void)
{
	const LeaseEnd untouched = (LeaseEnd) 77;
	const char *unknown[] = {"", "Released", "released ", "held", "lapsed"};
	LeaseEnd	end;
	LeaseEnd	found = untouched;
	int			i;

	for (end = END_NONE + 1; outcomes_end_name(end)[0] != '\0'; end++)
	{
		const char *name = outcomes_end_name(end);

		REQUIRE(outcomes_end_from_name(text_of(name, strlen(name)), &found));
		REQUIRE(found == end);
		found = untouched;
		REQUIRE(!outcomes_end_from_name(text_of(name, strlen(name) - 1), &found));
		REQUIRE(!outcomes_end_from_name(text_of(name, strlen(name) + 1), &found));
		REQUIRE(found == untouched);
	}
	REQUIRE(end > END_BROKEN);
	for (i = 0; i < COUNT(unknown); i++)
		REQUIRE(!outcomes_end_from_name(text_of(unknown[i], strlen(unknown[i])), &found));
	REQUIRE(!outcomes_end_from_name(text_of(NULL, 0), &found));
	REQUIRE(found == untouched);
	return NULL;
}

static const char *
names_of_tasks(void)
{
	TaskState	task;
	TaskState	found;

	for (task = TASK_OPEN; outcomes_task_name(task)[0] != '\0'; task++)
	{
		const char *name = outcomes_task_name(task);

		found = TASK_NONE;
		REQUIRE(outcomes_task_from_name(text_of(name, strlen(name)), &found));
		REQUIRE(found == task);
		REQUIRE(!outcomes_task_from_name(text_of(name, strlen(name) - 1), &found));
	}
	REQUIRE(task > TASK_CANCELLED);
	REQUIRE(!outcomes_task_from_name(text_of("", 0), &found));
	REQUIRE(!outcomes_task_from_name(text_of(NULL, 0), &found));
	return NULL;
}

/* The delays grow to the cap, and chance only shortens them. */
static const char *
backoff(void)
{
	LeasePolicy policy = {.retry_base = 100,.retry_factor = 2,.retry_cap = 1000};
	int			n;

	REQUIRE(rules_backoff(&policy, 0, 0) == 100);
	REQUIRE(rules_backoff(&policy, 1, 0) == 100);
	REQUIRE(rules_backoff(&policy, 2, 0) == 200);
	REQUIRE(rules_backoff(&policy, 4, 0) == 800);
	REQUIRE(rules_backoff(&policy, 5, 0) == 1000);
	REQUIRE(rules_backoff(&policy, INT32_MAX, 0) == 1000);
	policy.retry_jitter = 0.5;
	for (n = 0; n <= 10; n++)
		REQUIRE(rules_backoff(&policy, 3, n / 10.0) == 400 - n * 20);
	policy.retry_factor = 1;
	REQUIRE(rules_backoff(&policy, INT32_MAX, 0) == 100);
	policy.retry_cap = 10;
	REQUIRE(rules_backoff(&policy, 1, 0) == 10);
	policy.retry_base = policy.retry_cap = INT64_C(100) * 365 * 86400 * 1000000;
	policy.retry_factor = 100;
	REQUIRE(rules_backoff(&policy, 9, 0) == policy.retry_cap);
	return NULL;
}

/* A sentence, or several. */
static bool
is_prose(const char *text)
{
	size_t		len = strlen(text);

	return len > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[len - 1] == '.';
}

static const char *
list_of_outcomes(void)
{
	int			i;
	int			j;

	for (i = 0; i < outcomes_count; i++)
	{
		const OutcomeInfo *info = &outcomes_list[i];

		REQUIRE(strncmp(outcomes_verb_name(info->verb), "lease_", 6) == 0);
		REQUIRE(outcomes_name(info->outcome)[0] != '\0');
		REQUIRE(is_prose(info->meaning));
		REQUIRE(is_prose(info->advice));
		for (j = 0; j < i; j++)
		{
			const OutcomeInfo *other = &outcomes_list[j];

			REQUIRE(info->verb != other->verb || info->outcome != other->outcome);
			REQUIRE((info->verb == other->verb) ==
					(strcmp(outcomes_verb_name(info->verb),
							outcomes_verb_name(other->verb)) == 0));
			REQUIRE((info->outcome == other->outcome) ==
					(strcmp(outcomes_name(info->outcome),
							outcomes_name(other->outcome)) == 0));
		}
	}
	return NULL;
}

const EndTest end_tests[] = {
	{"end-of-fences", "a fence never passes the end of bigint, and its holder goes on", end_of_fences},
	{"end-of-generations", "nor does a generation's base", end_of_generations},
	{"end-of-versions", "a version never passes the end of bigint", end_of_versions},
	{"end-of-instants", "an instant never wraps", end_of_instants},
	{"end-of-lengths", "a ttl of any size is held within the policy, and never wraps", end_of_lengths},
	{"end-of-policies", "nor does what counts from a beginning or an expiry", end_of_policies},
	{"texts", "texts are compared byte by byte, and a missing one equals none", texts},
	{"names-of-ends", "an end is found by its name, and by no other", names_of_ends},
	{"names-of-tasks", "so is what a task has come to", names_of_tasks},
	{"backoff", "delays grow to their cap, and chance only shortens them", backoff},
	{"outcomes", "no answer is listed twice, and each is explained", list_of_outcomes},
};

const int	end_test_count = COUNT(end_tests);
