/*
 * contract.c
 *		The right answer to every question, told apart from the rules.
 *
 * For each verb a list of answers, in the order in which the contract tries
 * them; the first that is true is right.  A new outcome is a line at its place.
 */
#include <assert.h>

#include "walk.h"

int64_t
lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- What is on record ---- */

static bool
nowhere(const Ask *ask)
{
	return !ask->record->exists;
}

static bool
above(const Ask *ask)
{
	return ask->request.fence > ask->record->fence;
}

static bool
below(const Ask *ask)
{
	return ask->request.fence < ask->record->fence;
}

static bool
not_the_owner(const Ask *ask)
{
	return !ask->record->granted || ask->record->owner != ask->owner;
}

static bool
given_back(const Ask *ask)
{
	return ask->record->ended == END_RELEASED;
}

static bool
given_back_late(const Ask *ask)
{
	return ask->record->ended == END_EXPIRED;
}

static bool
broken(const Ask *ask)
{
	return ask->record->ended == END_BROKEN;
}

bool
contract_is_unended(const Ask *ask)
{
	return ask->record->granted && ask->record->ended == END_NONE;
}

static bool
free_of_all(const Ask *ask)
{
	return !contract_is_unended(ask);
}

bool
contract_is_held(const Ask *ask)
{
	return contract_is_unended(ask) && ask->state->now < ask->record->due;
}

bool
contract_is_lapsed(const Ask *ask)
{
	return contract_is_unended(ask) && ask->state->now >= ask->record->due;
}

static bool
in_grace(const Ask *ask)
{
	return contract_is_unended(ask) &&
		ask->state->now < ask->record->due + ask->policy->grace;
}

/*
 * No length is ever judged to be longer than it was made: where a clock was
 * set back past the beginning, what counts from there counts from now.
 */
static int64_t
begun(const Ask *ask)
{
	return lesser(ask->record->begun, ask->state->now);
}

/* By when it was asked to stop. */
int64_t
contract_deadline(const Ask *ask)
{
	return ask->record->cancel ?
		lesser(ask->record->cancel_begun, ask->state->now) + ask->record->cancel_length :
		INT64_MAX;
}

bool
contract_is_past_deadline(const Ask *ask)
{
	return ask->state->now >= contract_deadline(ask);
}

static int64_t
promised(const Ask *ask)
{
	return lesser(contract_deadline(ask),
				  lesser(ask->record->due, ask->state->now + ask->record->length));
}

static bool
not_due(const Ask *ask)
{
	return ask->record->task == TASK_OPEN &&
		ask->state->now < lesser(ask->record->armed, ask->state->now) + ask->record->delay;
}

static bool
cooling(const Ask *ask)
{
	return (ask->record->granted &&
			ask->state->now < begun(ask) + ask->record->hold_at_least) || not_due(ask);
}

/* ---- What operators have said, and what has become of a task ---- */

static bool
no_attempt_left(const Ask *ask)
{
	return ask->record->attempts >= ask->record->max_attempts;
}

/* A task that nobody is at. */
static bool
waits_open(const Ask *ask)
{
	return ask->record->task == TASK_OPEN && !contract_is_held(ask);
}

static bool
task_done(const Ask *ask)
{
	return ask->record->task == TASK_DONE;
}

static bool
task_cancelled(const Ask *ask)
{
	return ask->record->task == TASK_CANCELLED || (waits_open(ask) && ask->record->cancel);
}

static bool
task_failed(const Ask *ask)
{
	return ask->record->task == TASK_FAILED ||
		(waits_open(ask) && !ask->record->cancel && no_attempt_left(ask));
}

bool
contract_is_over(const Ask *ask)
{
	return task_done(ask) || task_failed(ask) || task_cancelled(ask);
}

static bool
own_hold(const Ask *ask, LeaseHold least)
{
	const Record *record = ask->record;

	return record->hold >= least &&
		(record->hold_length == 0 ||
		 ask->state->now < lesser(record->hold_begun, ask->state->now) + record->hold_length);
}

static bool
on_hold(const Ask *ask)
{
	return own_hold(ask, HOLD_GRANTS) || ask->policy->hold != HOLD_NONE;
}

bool
contract_stops(const Ask *ask)
{
	return own_hold(ask, HOLD_STOP) || ask->policy->hold == HOLD_STOP;
}

static bool
cancel_pending(const Ask *ask)
{
	return ask->record->cancel;
}

static bool
namespace_held(const Ask *ask)
{
	return ask->policy->hold != HOLD_NONE && !own_hold(ask, HOLD_GRANTS);
}

static bool
plain(const Ask *ask)
{
	return ask->record->task == TASK_NONE;
}

static bool
plain_checkpoint(const Ask *ask)
{
	return ask->request.checkpoint && plain(ask);
}

static bool
completed(const Ask *ask)
{
	return ask->record->ended == END_COMPLETED;
}

static bool
completed_for_good(const Ask *ask)
{
	return completed(ask) && ask->record->task == TASK_DONE;
}

static bool
failed(const Ask *ask)
{
	return ask->record->ended == END_FAILED;
}

static bool
failed_to_retry(const Ask *ask)
{
	return failed(ask) && ask->record->task == TASK_OPEN;
}

static bool
cancelled_end(const Ask *ask)
{
	return ask->record->ended == END_CANCELLED;
}

static bool
lapsed_by_itself(const Ask *ask)
{
	return contract_is_lapsed(ask) && !contract_is_past_deadline(ask);
}

static bool
hands_over_nothing(const Ask *ask)
{
	return ask->request.hand_over && ask->record->cancel;
}

static bool
hands_over_too_often(const Ask *ask)
{
	return ask->request.hand_over && !plain(ask) &&
		(ask->record->task == TASK_FAILED || no_attempt_left(ask));
}

static bool
hands_over_too_many(const Ask *ask)
{
	return ask->request.hand_over && ask->policy->max_leases > 0 &&
		ask->state->others >= ask->policy->max_leases;
}

static bool
hands_over(const Ask *ask)
{
	return ask->request.hand_over;
}

static bool
broken_hand_over_nothing(const Ask *ask)
{
	return ask->record->ended == END_BROKEN && hands_over_nothing(ask);
}

static bool
broken_hand_over_too_often(const Ask *ask)
{
	return ask->record->ended == END_BROKEN && hands_over_too_often(ask);
}

static bool
broken_hand_over_too_many(const Ask *ask)
{
	return ask->record->ended == END_BROKEN && hands_over_too_many(ask);
}

static bool
broken_hand_over(const Ask *ask)
{
	return ask->record->ended == END_BROKEN && hands_over(ask);
}

static bool
broken_hold(const Ask *ask)
{
	return ask->record->ended == END_BROKEN && ask->request.hold != HOLD_NONE;
}

static bool
nothing_to_resume(const Ask *ask)
{
	return ask->record->hold == HOLD_NONE && !(cancel_pending(ask) && plain(ask));
}

static bool
not_plain_or_held(const Ask *ask)
{
	return !plain(ask) || contract_is_held(ask);
}

static bool
last_failure(const Ask *ask)
{
	return ask->request.final || ask->record->cancel || no_attempt_left(ask);
}

static bool
not_offered(const Ask *ask)
{
	return plain(ask) || contract_is_held(ask) || contract_is_over(ask) ||
		on_hold(ask) || in_grace(ask) || cooling(ask);
}

static bool
reads_over(const Ask *ask)
{
	return ask->record->task == TASK_OPEN && contract_is_over(ask);
}

static bool
full(const Ask *ask)
{
	return ask->policy->max_leases > 0 &&
		ask->state->others >= ask->policy->max_leases;
}

/* The request id was granted something before. */
bool
contract_repeats(const Ask *ask)
{
	return ask->facts.asked_before;
}

static bool
repeats_current(const Ask *ask)
{
	return contract_repeats(ask) && contract_is_held(ask) &&
		ask->record->fence == ask->facts.granted_fence;
}

static bool
other_version(const Ask *ask)
{
	return ask->request.has_version &&
		ask->request.version != ask->record->version;
}

static int64_t
wished_ttl(const Ask *ask)
{
	int64_t		ttl = ask->request.has_ttl ? ask->request.ttl : ask->record->length;

	return greater(ttl, ask->policy->min_ttl);
}

/* When the epoch has been held for as long as any may be. */
static int64_t
hold_ends(const Ask *ask)
{
	return ask->policy->max_hold == 0 ? INT64_MAX :
		begun(ask) + ask->policy->max_hold;
}

/*
 * The hold is used up, or a policy altered since would take back some of what
 * is promised: refused, never shortened.
 */
static bool
at_ceiling(const Ask *ask)
{
	int64_t		wish = ask->state->now + wished_ttl(ask);
	int64_t		longest = ask->state->now + ask->policy->max_ttl;
	bool		cut_by_ttl = longest < wish;
	bool		cut_by_hold = hold_ends(ask) < lesser(wish, longest);

	return (cut_by_ttl && longest < promised(ask)) ||
		(cut_by_hold && hold_ends(ask) <= promised(ask));
}

static bool
always(const Ask *ask)
{
	(void) ask;
	return true;
}

static const Line contract[] = {
	{VERB_CLAIM, OUTCOME_REPLAYED, repeats_current, true, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_REPLAYED_ENDED, contract_repeats, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_DONE, task_done, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_FAILED, task_failed, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_CANCELLED, task_cancelled, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_ON_HOLD, on_hold, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_CANCELLED, cancel_pending, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_HELD, contract_is_held, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_IN_GRACE, in_grace, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_COOLING, cooling, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_FULL, full, false, EFFECT_NONE},
	{VERB_CLAIM, OUTCOME_TAKEN_OVER, contract_is_lapsed, true, EFFECT_GRANT},
	{VERB_CLAIM, OUTCOME_CLAIMED, always, true, EFFECT_GRANT},

	{VERB_TAKEOVER, OUTCOME_REPLAYED, repeats_current, true, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_REPLAYED_ENDED, contract_repeats, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_DONE, task_done, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_FAILED, task_failed, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_CANCELLED, task_cancelled, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_BROKEN, broken, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_RELEASED, free_of_all, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_ON_HOLD, on_hold, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_CANCELLED, cancel_pending, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_NOT_EXPIRED, contract_is_held, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_IN_GRACE, in_grace, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_COOLING, cooling, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_FULL, full, false, EFFECT_NONE},
	{VERB_TAKEOVER, OUTCOME_TAKEN_OVER, always, true, EFFECT_GRANT},

	{VERB_RENEW, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_NOT_OWNER, not_the_owner, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_BROKEN, broken, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_RELEASED, given_back, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_EXPIRED, given_back_late, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_DONE, completed, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_FAILED, failed, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_CANCELLED, cancelled_end, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_EXPIRED, lapsed_by_itself, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_ON_HOLD, contract_stops, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_CANCELLED, contract_is_past_deadline, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_NOT_A_TASK, plain_checkpoint, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_CEILING, at_ceiling, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_STALE_VERSION, other_version, false, EFFECT_NONE},
	{VERB_RENEW, OUTCOME_RENEWED, always, true, EFFECT_RENEWAL},

	{VERB_RELEASE, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_NOT_OWNER, not_the_owner, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_BROKEN, broken, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_ALREADY_RELEASED, given_back, true, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_EXPIRED, given_back_late, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_DONE, completed, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_FAILED, failed, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_CANCELLED, cancelled_end, false, EFFECT_NONE},
	{VERB_RELEASE, OUTCOME_EXPIRED, lapsed_by_itself, false, EFFECT_LATE_RELEASE},
	{VERB_RELEASE, OUTCOME_CANCELLED, contract_is_past_deadline, false, EFFECT_LATE_RELEASE},
	{VERB_RELEASE, OUTCOME_RELEASED, always, true, EFFECT_RELEASE},

	{VERB_BREAK, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_CANCELLED, broken_hand_over_nothing, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_FAILED, broken_hand_over_too_often, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_FULL, broken_hand_over_too_many, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_ALREADY_BROKEN, broken_hand_over, true, EFFECT_HAND_OVER},
	{VERB_BREAK, OUTCOME_ALREADY_BROKEN, broken_hold, true, EFFECT_HOLD},
	{VERB_BREAK, OUTCOME_ALREADY_BROKEN, broken, true, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_DONE, task_done, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_FAILED, task_failed, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_CANCELLED, task_cancelled, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_RELEASED, free_of_all, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_CANCELLED, hands_over_nothing, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_FAILED, hands_over_too_often, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_FULL, hands_over_too_many, false, EFFECT_NONE},
	{VERB_BREAK, OUTCOME_BROKEN, hands_over, true, EFFECT_HAND_OVER},
	{VERB_BREAK, OUTCOME_BROKEN, always, true, EFFECT_BREAK},

	{VERB_GET, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_GET, OUTCOME_HELD, contract_is_held, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_DONE, task_done, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_FAILED, task_failed, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_CANCELLED, task_cancelled, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_ON_HOLD, on_hold, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_CANCELLED, cancel_pending, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_IN_GRACE, in_grace, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_COOLING, cooling, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_FREE, free_of_all, true, EFFECT_NONE},
	{VERB_GET, OUTCOME_EXPIRED, always, true, EFFECT_NONE},

	{VERB_PRESENT, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_NOT_OWNER, not_the_owner, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_BROKEN, broken, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_RELEASED, given_back, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_EXPIRED, given_back_late, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_DONE, completed, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_FAILED, failed, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_CANCELLED, cancelled_end, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_EXPIRED, lapsed_by_itself, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_ON_HOLD, contract_stops, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_CANCELLED, contract_is_past_deadline, false, EFFECT_NONE},
	{VERB_PRESENT, OUTCOME_CURRENT, always, true, EFFECT_NONE},

	{VERB_HOLD, OUTCOME_HOLD_SET, always, true, EFFECT_HOLD},

	{VERB_RESUME, OUTCOME_RESUMED, nothing_to_resume, true, EFFECT_NONE},
	{VERB_RESUME, OUTCOME_RESUMED, always, true, EFFECT_RESUME},

	{VERB_CANCEL, OUTCOME_DONE, task_done, false, EFFECT_NONE},
	{VERB_CANCEL, OUTCOME_FAILED, task_failed, false, EFFECT_NONE},
	{VERB_CANCEL, OUTCOME_CANCELLED, task_cancelled, false, EFFECT_NONE},
	{VERB_CANCEL, OUTCOME_CANCEL_REQUESTED, cancel_pending, true, EFFECT_NONE},
	{VERB_CANCEL, OUTCOME_CANCEL_REQUESTED, always, true, EFFECT_CANCEL},

	{VERB_OFFER, OUTCOME_EXISTS, not_plain_or_held, false, EFFECT_NONE},
	{VERB_OFFER, OUTCOME_CANCELLED, cancel_pending, false, EFFECT_NONE},
	{VERB_OFFER, OUTCOME_OFFERED, always, true, EFFECT_OFFER},

	{VERB_POLL, OUTCOME_ON_HOLD, namespace_held, false, EFFECT_NONE},
	{VERB_POLL, OUTCOME_PASSED_OVER, not_offered, false, EFFECT_NONE},
	{VERB_POLL, OUTCOME_FULL, full, false, EFFECT_NONE},
	{VERB_POLL, OUTCOME_TAKEN_OVER, contract_is_lapsed, true, EFFECT_GRANT},
	{VERB_POLL, OUTCOME_CLAIMED, always, true, EFFECT_GRANT},

	{VERB_COMPLETE, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_NOT_OWNER, not_the_owner, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_BROKEN, broken, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_RELEASED, given_back, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_EXPIRED, given_back_late, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_COMPLETED, completed_for_good, true, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_REOPENED, completed, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_FAILED, failed, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_CANCELLED, cancelled_end, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_EXPIRED, lapsed_by_itself, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_ON_HOLD, contract_stops, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_CANCELLED, contract_is_past_deadline, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_NOT_A_TASK, plain, false, EFFECT_NONE},
	{VERB_COMPLETE, OUTCOME_COMPLETED, always, true, EFFECT_COMPLETE},

	{VERB_FAIL, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_UNKNOWN_FENCE, above, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_STALE_FENCE, below, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_NOT_OWNER, not_the_owner, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_BROKEN, broken, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_RELEASED, given_back, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_EXPIRED, given_back_late, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_DONE, completed, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_RETRY_SCHEDULED, failed_to_retry, true, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_FAILED, failed, true, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_CANCELLED, cancelled_end, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_EXPIRED, lapsed_by_itself, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_ON_HOLD, contract_stops, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_CANCELLED, contract_is_past_deadline, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_NOT_A_TASK, plain, false, EFFECT_NONE},
	{VERB_FAIL, OUTCOME_FAILED, last_failure, true, EFFECT_FAIL},
	{VERB_FAIL, OUTCOME_RETRY_SCHEDULED, always, true, EFFECT_FAIL},

	{VERB_RETRY, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_RETRY, OUTCOME_NOT_A_TASK, plain, false, EFFECT_NONE},
	{VERB_RETRY, OUTCOME_REOPENED, contract_is_over, true, EFFECT_REOPEN},
	{VERB_RETRY, OUTCOME_NOT_TERMINAL, always, false, EFFECT_NONE},

	{VERB_TASK_GET, OUTCOME_NOT_FOUND, nowhere, false, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_NOT_A_TASK, plain, false, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_HELD, contract_is_held, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_DONE, task_done, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_FAILED, task_failed, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_CANCELLED, task_cancelled, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_ON_HOLD, on_hold, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_IN_GRACE, in_grace, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_COOLING, cooling, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_FREE, free_of_all, true, EFFECT_NONE},
	{VERB_TASK_GET, OUTCOME_EXPIRED, always, true, EFFECT_NONE},

	{VERB_FINALISE, OUTCOME_FINALISED, reads_over, true, EFFECT_FINALISE},
	{VERB_FINALISE, OUTCOME_PASSED_OVER, always, false, EFFECT_NONE},

	{VERB_REBASE, OUTCOME_PASSED_OVER, always, false, EFFECT_NONE},
};

#define LINE_COUNT ((int) (sizeof(contract) / sizeof(contract[0])))

static bool said[LINE_COUNT];

/* What only the server can answer: it has locks, batches and marks. */
static bool
is_servers(LeaseVerb verb, LeaseOutcome outcome)
{
	if (verb == VERB_NAMESPACE_HOLD || verb == VERB_NAMESPACE_RESUME)
		return true;
	if (outcome == OUTCOME_BUSY)
		return verb != VERB_GET && verb != VERB_TASK_GET;
	if (verb == VERB_ADMIT)
		return outcome == OUTCOME_ADMITTED || outcome == OUTCOME_BELOW_HIGH_WATER;
	if (outcome == OUTCOME_PRESENTED)
		return verb == VERB_PRESENT;
	if (outcome == OUTCOME_REPLAYED || outcome == OUTCOME_REPLAYED_ENDED)
		return verb == VERB_POLL;
	return outcome == OUTCOME_INVALID &&
		(verb == VERB_RENEW || verb == VERB_RELEASE);
}

/* Of those the ones that are good news. */
static bool
is_good_word(LeaseOutcome outcome)
{
	return outcome == OUTCOME_ADMITTED || outcome == OUTCOME_PRESENTED ||
		outcome == OUTCOME_REPLAYED || outcome == OUTCOME_HOLD_SET ||
		outcome == OUTCOME_RESUMED;
}

/* What is never told. */
static bool
is_inner(const Line *line)
{
	return line->outcome == OUTCOME_PASSED_OVER || line->outcome == OUTCOME_FINALISED;
}

/* The line that is right. */
const Line *
contract_line(const Ask *ask)
{
	static const Line *first[LEASE_VERBS];
	const Line *line = first[ask->request.verb];

	if (!line)
	{
		line = contract;
		while (line->verb != ask->request.verb)
			line++;
		first[ask->request.verb] = line;
	}
	while (!line->when(ask))
	{
		line++;
		assert(line->verb == ask->request.verb);
	}
	return line;
}

/* The line whose word was said: the right one if it has that word. */
const Line *
contract_line_told(const Line *right, LeaseOutcome outcome)
{
	const Line *line = contract;

	if (right->outcome == outcome)
		line = right;
	while (line < contract + LINE_COUNT &&
		   (line->verb != right->verb || line->outcome != outcome))
		line++;
	if (line == contract + LINE_COUNT)
		return NULL;
	said[line - contract] = true;
	return line;
}

/*
 * Hold the list of outcomes against the contract: the first word that only one
 * of them has, or that they judge differently, or NULL.
 */
const char *
contract_wrong_word(void)
{
	int			i;
	int			j;

	for (i = 0; i < LINE_COUNT; i++)
	{
		const Line *line = &contract[i];

		for (j = 0; j < outcomes_count; j++)
		{
			if (outcomes_list[j].verb == line->verb &&
				outcomes_list[j].outcome == line->outcome)
				break;
		}
		if ((j == outcomes_count) != is_inner(line) || is_servers(line->verb, line->outcome) ||
			outcomes_ok(line->verb, line->outcome) != line->ok)
			return outcomes_name(line->outcome);
	}
	for (j = 0; j < outcomes_count; j++)
	{
		LeaseVerb	verb = outcomes_list[j].verb;
		LeaseOutcome outcome = outcomes_list[j].outcome;

		for (i = 0; i < LINE_COUNT; i++)
		{
			if (contract[i].verb == verb && contract[i].outcome == outcome)
				break;
		}
		if (i == LINE_COUNT && (!is_servers(verb, outcome) ||
								outcomes_ok(verb, outcome) != is_good_word(outcome)))
			return outcomes_name(outcome);
	}
	return NULL;
}

/* The first word of the contract that no answer was, or NULL. */
const char *
contract_unsaid_word(void)
{
	int			i;

	for (i = 0; i < LINE_COUNT; i++)
	{
		if (!said[i])
			return outcomes_name(contract[i].outcome);
	}
	return NULL;
}

/*
 * Whether the question meets an instant that only a clock set back since can
 * have made, and is one that writes that down.  A repeated request is not: it
 * is answered for the first one.  Who counts leases does so only where that
 * makes one last.
 */
bool
contract_rebases(const Ask *ask)
{
	const Record *record = ask->record;
	int64_t		now = ask->state->now;
	bool		lasts = contract_is_held(ask) && promised(ask) < record->due;

	return (ask->request.verb == VERB_CLAIM || ask->request.verb == VERB_TAKEOVER ||
			ask->request.verb == VERB_POLL || (ask->request.verb == VERB_REBASE && lasts)) &&
		!contract_repeats(ask) &&
		((record->granted &&
		  (begun(ask) < record->begun || lasts)) ||
		 (record->hold != HOLD_NONE && record->hold_begun > now) ||
		 (record->cancel && record->cancel_begun > now) ||
		 (record->task == TASK_OPEN && record->armed > now));
}

/* Whether it is refused to a holder because of such a hold: that is written down. */
bool
contract_rebases_hold(const Ask *ask)
{
	return ask->record->hold == HOLD_STOP &&
		ask->record->hold_begun > ask->state->now &&
		(ask->request.verb == VERB_RENEW || ask->request.verb == VERB_COMPLETE ||
		 ask->request.verb == VERB_FAIL) &&
		contract_line(ask)->outcome == OUTCOME_ON_HOLD;
}

/* Until when a grant or a renewal would promise if nobody were asked to stop. */
static int64_t
until_uncut(const Ask *ask, Effect effect)
{
	const LeasePolicy *policy = ask->policy;
	int64_t		now = ask->state->now;
	int64_t		ttl = wished_ttl(ask);
	int64_t		ends = hold_ends(ask);

	if (effect != EFFECT_RENEWAL)
	{
		if (!ask->request.has_ttl)
			ttl = policy->default_ttl;
		if (policy->max_hold > 0)
			ends = now + policy->max_hold;
	}
	return lesser(now + lesser(ttl, policy->max_ttl), ends);
}

/* Until when it promises. */
int64_t
contract_until(const Ask *ask, Effect effect)
{
	return lesser(until_uncut(ask, effect), contract_deadline(ask));
}

/* And the length that the next renewal goes by, which a cancel does not cut. */
int64_t
contract_length(const Ask *ask, Effect effect)
{
	return until_uncut(ask, effect) - ask->state->now;
}

int64_t
contract_fence(const Ask *ask)
{
	int64_t		base = (ask->state->generation - 1) * (INT64_C(1) << 16);
	int64_t		last = greater(ask->record->fence, ask->state->here.floor);

	return greater(last, base) + 1;
}
