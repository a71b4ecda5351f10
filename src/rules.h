/*
 * rules.h
 *		The decisions of the lease protocol, without a server.
 *
 * A rule takes the row on record, what was asked, the instant at which it is
 * decided and the policy of the namespace, and answers with an outcome and
 * the row that is to be on record next.  It reads no clock, takes no lock,
 * allocates nothing and calls nobody: the caller holds the lock, reads the
 * row again and then the clock, and only then asks.  So the file that the
 * server runs is the file that the unit tests walk.
 *
 * Instants and lengths are microseconds in int64; an instant's origin is the
 * caller's business.
 */
#ifndef LEASE_RULES_H
#define LEASE_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* A generation begins this many bits above the one before. */
#define RULES_GENERATION_BITS 16

/* Bytes that somebody else owns; data is NULL where SQL says NULL. */
typedef struct RuleText
{
	const char *data;
	int32_t		len;
} RuleText;

typedef enum LeaseVerb
{
	VERB_CLAIM,
	VERB_TAKEOVER,
	VERB_RENEW,
	VERB_RELEASE,
	VERB_BREAK,
	VERB_GET,
	VERB_PRESENT,
	VERB_ADMIT,					/* decided by a mark, not by a row */
	VERB_HOLD,
	VERB_RESUME,
	VERB_CANCEL,
	VERB_NAMESPACE_HOLD,
	VERB_NAMESPACE_RESUME,
	VERB_OFFER,
	VERB_POLL,
	VERB_COMPLETE,
	VERB_FAIL,
	VERB_RETRY,
	VERB_TASK_GET,
	VERB_FINALISE,				/* the sweep's, of one task */
	VERB_REBASE					/* a full namespace's, of one of its leases;
								 * the last */
} LeaseVerb;

#define LEASE_VERBS (VERB_REBASE + 1)

/* Every word that a verb can answer with; outcomes_name() spells it. */
typedef enum LeaseOutcome
{
	OUTCOME_CLAIMED,
	OUTCOME_TAKEN_OVER,
	OUTCOME_RENEWED,
	OUTCOME_RELEASED,
	OUTCOME_ALREADY_RELEASED,
	OUTCOME_BROKEN,
	OUTCOME_ALREADY_BROKEN,
	OUTCOME_REPLAYED,
	OUTCOME_REPLAYED_ENDED,
	OUTCOME_INVALID,
	OUTCOME_BUSY,
	OUTCOME_NOT_FOUND,
	OUTCOME_UNKNOWN_FENCE,
	OUTCOME_STALE_FENCE,
	OUTCOME_NOT_OWNER,
	OUTCOME_EXPIRED,
	OUTCOME_CEILING,
	OUTCOME_STALE_VERSION,
	OUTCOME_HELD,
	OUTCOME_NOT_EXPIRED,
	OUTCOME_IN_GRACE,
	OUTCOME_COOLING,
	OUTCOME_FULL,
	OUTCOME_FREE,
	OUTCOME_CURRENT,
	OUTCOME_PRESENTED,
	OUTCOME_ADMITTED,
	OUTCOME_BELOW_HIGH_WATER,
	OUTCOME_ON_HOLD,
	OUTCOME_CANCELLED,
	OUTCOME_HOLD_SET,
	OUTCOME_RESUMED,
	OUTCOME_CANCEL_REQUESTED,
	OUTCOME_OFFERED,
	OUTCOME_EXISTS,
	OUTCOME_NOT_A_TASK,
	OUTCOME_COMPLETED,
	OUTCOME_RETRY_SCHEDULED,
	OUTCOME_REOPENED,
	OUTCOME_NOT_TERMINAL,
	OUTCOME_DONE,
	OUTCOME_FAILED,
	OUTCOME_FINALISED,			/* not told: of the sweep, */
	OUTCOME_PASSED_OVER			/* and of a row that a poll does not offer, or
								 * that takes a place */
} LeaseOutcome;

/* How the epoch on record ended; END_NONE while it is held or has lapsed. */
typedef enum LeaseEnd
{
	END_NONE,
	END_RELEASED,
	END_EXPIRED,
	END_BROKEN,
	END_COMPLETED,
	END_FAILED,
	END_CANCELLED
} LeaseEnd;

/* What an operator's hold holds up; HOLD_STOP also what the holder does. */
typedef enum LeaseHold
{
	HOLD_NONE,
	HOLD_GRANTS,
	HOLD_STOP
} LeaseHold;

/* TASK_NONE is a plain lease; the last three are terminal. */
typedef enum TaskState
{
	TASK_NONE,
	TASK_OPEN,
	TASK_DONE,
	TASK_FAILED,
	TASK_CANCELLED
} TaskState;

/*
 * The row of one name.  Where granted is false nobody ever held it, and owner
 * and the instants mean nothing.  An ended epoch keeps its owner, so that a
 * repeated release can still be told apart from somebody else's.
 */
typedef struct LeaseRow
{
	bool		exists;
	bool		granted;
	RuleText	owner;
	int64_t		fence;
	int64_t		version;
	int64_t		granted_at;
	int64_t		renewed_at;
	int64_t		expires_at;
	int64_t		ttl;
	int64_t		hold_at_least;	/* from granted_at on nobody else may begin */
	LeaseEnd	ended;
	int64_t		ended_at;
	LeaseHold	hold;
	int64_t		hold_at;
	int64_t		hold_length;	/* 0: until it is resumed */
	bool		cancel;			/* it was asked to stop, and not resumed */
	int64_t		cancel_at;
	int64_t		cancel_length;	/* until the deadline */
	TaskState	task;
	int32_t		attempts;		/* epochs begun since it was offered */
	int32_t		max_attempts;
	int32_t		priority;
	int64_t		armed_at;		/* from armed_at + delay on it is due */
	int64_t		delay;
} LeaseRow;

/* What a verb asks.  Fields that the verb does not take are ignored. */
typedef struct LeaseRequest
{
	LeaseVerb	verb;
	RuleText	owner;
	int64_t		fence;			/* the token's, or the one observed */
	bool		has_version;
	int64_t		version;
	bool		has_ttl;
	int64_t		ttl;
	int64_t		hold_at_least;	/* 0 where nothing is asked */
	LeaseHold	hold;			/* of a hold, and of a break that holds */
	int64_t		hold_length;	/* 0: until it is resumed */
	bool		hand_over;		/* a break that grants to "owner" */
	int64_t		deadline;		/* of a cancel, from now */
	bool		checkpoint;		/* a renewal that brings one */
	bool		final;			/* a failure that is not to be retried */
	bool		has_retry_in;
	int64_t		retry_in;
	int32_t		priority;		/* of an offer, as the three below */
	int64_t		delay;
	bool		has_max_attempts;
	int32_t		max_attempts;
} LeaseRequest;

/* What the namespace allows; lengths of 0 say none. */
typedef struct LeasePolicy
{
	int64_t		min_ttl;
	int64_t		default_ttl;
	int64_t		max_ttl;
	int64_t		max_hold;		/* of one epoch, renewals included */
	int64_t		grace;			/* between a lapse and the next epoch */
	int64_t		max_leases;		/* current at once; 0 is no limit */
	LeaseHold	hold;			/* of the whole namespace */
	int64_t		hold_at;
	int64_t		hold_length;	/* 0: until it is resumed */
	int64_t		retry_base;
	double		retry_factor;
	int64_t		retry_cap;
	double		retry_jitter;	/* the part of a delay that is left to chance */
	int32_t		max_attempts;
} LeasePolicy;

/* What else is on record when a grant is decided. */
typedef struct GrantFacts
{
	int64_t		floor;			/* fences left behind by rows that are gone */
	int64_t		generation;		/* of this history; the first is 1 */
	int64_t		others;			/* other names with a current epoch */
	bool		asked_before;	/* the request id is known */
	int64_t		granted_fence;	/* and this is what it was granted */
	double		random;			/* from 0 to 1 */
} GrantFacts;

/* What has to be written for a decision to be true. */
typedef enum LeaseWrite
{
	WRITE_NOTHING,
	WRITE_GRANT,				/* a new epoch */
	WRITE_RENEWAL,				/* another expiry of the same epoch */
	WRITE_END,					/* the epoch's end */
	WRITE_REBASE,				/* instants that a clock set back left ahead */
	WRITE_STATE					/* a hold, a cancel, what becomes of a task */
} LeaseWrite;

typedef struct LeaseDecision
{
	LeaseOutcome outcome;
	LeaseWrite	write;
	bool		exhausted;		/* a number has reached the end of bigint */
	bool		lapsed;			/* refused for what a commit under way may
								 * change */
	LeaseEnd	closes;			/* how the epoch ended that was on record, and
								 * is not any more or is found ended; END_NONE
								 * where that is still open, or was known */
	int64_t		closed_at;
	LeaseRow	row;			/* on record once written; else as it was */
} LeaseDecision;

extern bool rules_text_equal(RuleText a, RuleText b);
extern bool rules_is_current(const LeaseRow *row, int64_t now);
extern bool rules_is_promised_ahead(const LeaseRow *row, int64_t now);
extern bool rules_is_free(const LeaseRow *row);
extern int64_t rules_expiry(const LeaseRow *row, int64_t now);
extern int64_t rules_grantable_at(const LeaseRow *row, const LeasePolicy *policy,
								  int64_t now);
extern LeaseOutcome rules_state(const LeaseRow *row, const LeasePolicy *policy,
								int64_t now);
extern int64_t rules_due_at(const LeaseRow *row, const LeasePolicy *policy,
							int64_t now);
extern bool rules_is_held_up(const LeaseRow *row, const LeasePolicy *policy,
							 LeaseHold least, int64_t now);
extern int64_t rules_hold_end(LeaseHold hold, int64_t at, int64_t length,
							  int64_t now);
extern int64_t rules_cancel_deadline(const LeaseRow *row, int64_t now);
extern TaskState rules_task(const LeaseRow *row, int64_t now);
extern int64_t rules_backoff(const LeasePolicy *policy, int32_t attempts,
							 double random);
extern bool rules_is_final_unlocked(const LeaseDecision *decision);
extern void rules_decide(const LeaseRow *row, const LeaseRequest *request,
						 const LeasePolicy *policy, const GrantFacts *facts,
						 int64_t now, LeaseDecision *decision);

#endif							/* LEASE_RULES_H */
