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
	VERB_ADMIT					/* decided by a mark, not by a row */
} LeaseVerb;

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
	OUTCOME_BELOW_HIGH_WATER
} LeaseOutcome;

/* How the epoch on record ended; END_NONE while it is held or has lapsed. */
typedef enum LeaseEnd
{
	END_NONE,
	END_RELEASED,
	END_EXPIRED,
	END_BROKEN
} LeaseEnd;

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
} LeasePolicy;

/* What else is on record when a grant is decided. */
typedef struct GrantFacts
{
	int64_t		floor;			/* fences left behind by rows that are gone */
	int64_t		generation;		/* of this history; the first is 1 */
	int64_t		others;			/* other names with a current epoch */
	bool		asked_before;	/* the request id is known */
	int64_t		granted_fence;	/* and this is what it was granted */
} GrantFacts;

/* What has to be written for a decision to be true. */
typedef enum LeaseWrite
{
	WRITE_NOTHING,
	WRITE_GRANT,				/* a new epoch */
	WRITE_RENEWAL,				/* another expiry of the same epoch */
	WRITE_END,					/* the epoch's end */
	WRITE_REBASE				/* instants that a clock set back left ahead */
} LeaseWrite;

typedef struct LeaseDecision
{
	LeaseOutcome outcome;
	LeaseWrite	write;
	bool		exhausted;		/* a number has reached the end of bigint */
	bool		lapsed;			/* refused for what a commit under way may
								 * change */
	LeaseRow	row;			/* on record once written; else as it was */
} LeaseDecision;

extern bool rules_text_equal(RuleText a, RuleText b);
extern bool rules_is_current(const LeaseRow *row, int64_t now);
extern bool rules_is_free(const LeaseRow *row);
extern int64_t rules_expiry(const LeaseRow *row, int64_t now);
extern int64_t rules_grantable_at(const LeaseRow *row, const LeasePolicy *policy,
								  int64_t now);
extern LeaseOutcome rules_state(const LeaseRow *row, const LeasePolicy *policy,
								int64_t now);
extern bool rules_is_final_unlocked(const LeaseDecision *decision);
extern void rules_decide(const LeaseRow *row, const LeaseRequest *request,
						 const LeasePolicy *policy, const GrantFacts *facts,
						 int64_t now, LeaseDecision *decision);

#endif							/* LEASE_RULES_H */
