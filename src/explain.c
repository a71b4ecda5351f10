/*
 * explain.c
 *		One lease in plain sentences: who has it and since when, what may happen
 *		next and when, and what is in the way.
 *
 * Promises: what may happen next is not worked out here but asked of the
 * rules, which decide it when it happens; nothing is changed, so it works on
 * a hot standby; who may not observe the namespace is told neither owners nor
 * who ended an epoch, held or cancelled it, nor why.
 *
 * Every instant is shown in the session's TimeZone, with its distance from
 * now.  The sentences are for people: nothing is to be parsed out of them.
 */
#include "lease.h"

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/namespace.h"
#include "common/int.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "arguments.h"
#include "clock.h"
#include "ledger.h"
#include "lockers.h"
#include "outcomes.h"
#include "policy.h"
#include "rows.h"
#include "statement.h"
#include "store.h"

PG_FUNCTION_INFO_V1(lease_explain);

/* An end that history has on record. */
typedef struct EpochEnd
{
	bool		found;
	int64		fence;
	const char *owner;
	const char *ended_by;
	TimestampTz ended_at;
	const char *reason;			/* NULL where none was given */
	const char *role_name;		/* NULL where nobody ended it */
} EpochEnd;

/* All that is known of the lease. */
typedef struct Facts
{
	ReturnSetInfo *set;
	MemoryContext context;		/* lives as long as the call */
	LeaseKey	key;
	bool		observes;
	NamespacePolicy policy;
	GrantFacts	grant;
	LeaseRow	row;
	TimestampTz now;
	LeaseOutcome state;
	EpochEnd	last;			/* the end with the highest fence */
	List	   *lockers;
} Facts;

/* Add a sentence. */
static void say(const Facts *facts, const char *format,...) pg_attribute_printf(2, 3);

static void
say(const Facts *facts, const char *format,...)
{
	bool		nulls[1] = {false};
	Datum		values[1];
	StringInfoData sentence;
	va_list		args;
	int			needed;

	initStringInfo(&sentence);
	for (;;)
	{
		va_start(args, format);
		needed = appendStringInfoVA(&sentence, format, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&sentence, needed);
	}
	values[0] = CStringGetTextDatum(sentence.data);
	tuplestore_putvalues(facts->set->setResult, facts->set->setDesc, values, nulls);
}

static const char *
length(int64 microseconds)
{
	return DatumGetCString(DirectFunctionCall1(interval_out,
											   clock_interval_datum(microseconds)));
}

/* An instant as part of a sentence, in the session's TimeZone. */
static const char *
at(TimestampTz instant)
{
	/* what a damaged row has may be no timestamptz */
	if (!IS_VALID_TIMESTAMP(instant))
		instant = instant < 0 ? DT_NOBEGIN : DT_NOEND;
	return psprintf("at %s",
					DatumGetCString(DirectFunctionCall1(timestamptz_out,
														TimestampTzGetDatum(instant))));
}

/* When something is to be, and how far that is from now. */
static const char *
due(TimestampTz instant, TimestampTz now)
{
	if (!IS_VALID_TIMESTAMP(instant))
		return at(instant);
	return psprintf("%s, in %s", at(instant), length(instant - now));
}

/* When something was, and how far that is from now. */
static const char *
since(TimestampTz instant, TimestampTz now)
{
	if (!IS_VALID_TIMESTAMP(instant))
		return at(instant);
	if (instant > now)
		return psprintf("%s, which is %s ahead of now", at(instant), length(instant - now));
	if (instant == now)
		return psprintf("%s, just now", at(instant));
	return psprintf("%s, %s ago", at(instant), length(now - instant));
}

static TimestampTz
after(TimestampTz instant, int64 microseconds)
{
	TimestampTz result;

	return pg_add_s64_overflow(instant, microseconds, &result) ? DT_NOEND : result;
}

static const char *
whose(const Facts *facts, const char *owner)
{
	return facts->observes ? psprintf("owner \"%s\"", owner) : "another owner";
}

/* How an epoch ended, as the end of a sentence without its point. */
static const char *
ending(const Facts *facts, const char *ended_by, TimestampTz ended_at,
	   const char *role_name, const char *reason)
{
	StringInfoData text;

	initStringInfo(&text);
	if (strcmp(ended_by, outcomes_end_name(END_EXPIRED)) == 0)
		appendStringInfo(&text, "lapsed %s", since(ended_at, facts->now));
	else
	{
		appendStringInfo(&text, "was %s ", ended_by);
		if (facts->observes && role_name != NULL)
			appendStringInfo(&text, "by role \"%s\" ", role_name);
		appendStringInfoString(&text, since(ended_at, facts->now));
	}
	if (facts->observes && reason != NULL)
		appendStringInfo(&text, ", for the reason \"%s\"", reason);
	return text.data;
}

/* What a lease is that nobody holds. */
static const char *
standing(const Facts *facts)
{
	switch (facts->state)
	{
		case OUTCOME_FREE:
			return "is free";
		case OUTCOME_DONE:
			return "is done";
		case OUTCOME_FAILED:
			return "has failed";
		case OUTCOME_CANCELLED:
			return "is cancelled";
		default:
			return "is held by nobody";
	}
}

/* The name of a verb, as the caller can type it. */
static const char *
verb(const char *name)
{
	Oid			schema = rows_extension_schema();

	return list_member_oid(fetch_search_path(false), schema) ? name :
		quote_qualified_identifier(get_namespace_name(schema), name);
}

/* A standby speaks of what was, and that may be long ago. */
static void
say_replayed(const Facts *facts)
{
	TimestampTz last = GetLatestXTime();

	if (!RecoveryInProgress())
		return;
	say(facts, "This server is a standby, and knows nothing of what the primary server has done since %s.",
		last == 0 ? "it was copied" :
		psprintf("a transaction that ended %s", since(last, clock_wall())));
}

/* Which epoch is on record, and whether somebody has it. */
static void
say_state(const Facts *facts)
{
	const LeaseRow *row = &facts->row;
	const EpochEnd *last = &facts->last;
	const char *lease = psprintf("\"%s\" of namespace \"%s\"",
								 text_to_cstring(facts->key.name),
								 text_to_cstring(facts->key.namespace));
	const char *epoch = psprintf("fence " INT64_FORMAT " of %s, version " INT64_FORMAT,
								 row->fence,
								 row->granted ? whose(facts, row->owner.data) : "nobody",
								 row->version);
	bool		same = last->found && last->fence == row->fence;

	if (!row->exists)
		say(facts, "There is no lease %s.", lease);
	else if (!row->granted)
		say(facts, "Lease %s %s; it has not been granted since its row was made.", lease,
			standing(facts));
	else if (row->ended != END_NONE)
		say(facts, "Lease %s %s: its last epoch, %s, %s.", lease, standing(facts), epoch,
			ending(facts, outcomes_end_name(row->ended), row->ended_at,
				   same ? last->role_name : NULL, same ? last->reason : NULL));
	else if (facts->state == OUTCOME_HELD)
		say(facts, "Lease %s is held by %s under fence " INT64_FORMAT ", version " INT64_FORMAT ".",
			lease, whose(facts, row->owner.data), row->fence, row->version);
	else
		say(facts, "Lease %s %s: its last epoch, %s, lapsed %s.", lease, standing(facts),
			epoch, since(rules_expiry(row, facts->now), facts->now));
}

/* How the epoch on record went. */
static void
say_course(const Facts *facts)
{
	const LeaseRow *row = &facts->row;
	bool		held = facts->state == OUTCOME_HELD;
	TimestampTz expiry = rules_expiry(row, facts->now);

	if (!row->exists || !row->granted)
		return;
	say(facts, "It was granted %s%s.", since(row->granted_at, facts->now),
		row->renewed_at == row->granted_at ? ", and never renewed" :
		psprintf(", and last renewed %s", since(row->renewed_at, facts->now)));
	if (held)
		say(facts, "It expires %s; its ttl is %s.", due(expiry, facts->now),
			length(row->ttl));
	if (held && expiry != row->expires_at)
		say(facts, "The expiry on record lies further ahead than that, since the clock was set back.");
}

/* What history has to say, where the row does not say it. */
static void
say_last_end(const Facts *facts)
{
	const LeaseRow *row = &facts->row;
	const EpochEnd *last = &facts->last;
	const char *epoch;
	const char *end;

	if (!last->found)
		return;
	epoch = psprintf("fence " INT64_FORMAT " of %s", last->fence, whose(facts, last->owner));
	end = ending(facts, last->ended_by, last->ended_at, last->role_name, last->reason);
	if (!row->exists || !row->granted)
		say(facts, "The last epoch of that name in history, %s, %s.", epoch, end);
	else if (last->fence < row->fence)
		say(facts, "The last epoch before it in history, %s, %s.", epoch, end);
	else if (last->fence > row->fence || row->ended == END_NONE)
		say(facts, "History contradicts that: %s %s. Something else than this extension has written the row; see lease_check().",
			epoch, end);
}

/* Ask the rules what a claim would be answered at an instant. */
static void
ask_claim(const Facts *facts, const LeaseRow *row, TimestampTz instant,
		  LeaseDecision *decision)
{
	LeaseRequest request = {.verb = VERB_CLAIM,.owner = {"", 0}};

	rules_decide(row, &request, &facts->policy.rules, &facts->grant, instant, decision);
}

/* Who stands behind a choice, and why; as much of that as may be told. */
typedef struct Operator
{
	MemoryContext context;
	const char *who;			/* as the beginning of a sentence */
	const char *why;			/* as the end of a clause */
} Operator;

static void
keep_operator(const Datum *values, const bool *nulls, void *state)
{
	Operator   *operator = state;
	MemoryContext caller = MemoryContextSwitchTo(operator->context);

	operator->who = psprintf("Role \"%s\"", TextDatumGetCString(values[0]));
	if (!nulls[1])
		operator->why = psprintf(", for the reason \"%s\"", TextDatumGetCString(values[1]));
	MemoryContextSwitchTo(caller);
}

/* The last who wanted that, of the lease or with no name of its namespace. */
static Operator
operator_behind(const Facts *facts, const char *intent, text *name)
{
	Operator	operator = {CurrentMemoryContext, "An operator", ""};
	bool		nulls[3] = {false, name == NULL, false};
	Datum		values[3] = {
		PointerGetDatum(facts->key.namespace),
		PointerGetDatum(name),
		CStringGetTextDatum(intent)
	};

	if (facts->observes)
		statement_query(STATEMENT_INTENT_LAST, values, nulls, keep_operator, &operator);
	return operator;
}

/* What operators have said, of the lease and of its namespace. */
static void
say_choices(const Facts *facts)
{
	const LeaseRow *row = &facts->row;
	const LeasePolicy *rules = &facts->policy.rules;
	TimestampTz own_end = rules_hold_end(row->hold, row->hold_at, row->hold_length, facts->now);
	TimestampTz all_end = rules_hold_end(rules->hold, rules->hold_at, rules->hold_length, facts->now);
	Operator	by;

	if (facts->now < own_end)
	{
		by = operator_behind(facts, "hold", facts->key.name);
		say(facts, "%s put it on hold %s%s: nothing new is granted%s until %s.",
			by.who, since(row->hold_at, facts->now), by.why,
			row->hold == HOLD_STOP ? ", and the holder may do no more than give it back," : "",
			own_end == PG_INT64_MAX ? "lease_resume()" :
			psprintf("lease_resume(), or %s", due(own_end, facts->now)));
	}
	if (facts->now < all_end)
	{
		by = operator_behind(facts, "namespace_hold", NULL);
		say(facts, "%s put its whole namespace on hold %s%s: nothing new is granted%s until %s.",
			by.who, since(rules->hold_at, facts->now), by.why,
			rules->hold == HOLD_STOP ? ", and holders may do no more than give back," : "",
			all_end == PG_INT64_MAX ? "lease_namespace_resume()" :
			psprintf("lease_namespace_resume(), or %s", due(all_end, facts->now)));
	}
	if (row->cancel)
	{
		by = operator_behind(facts, "cancel", facts->key.name);
		say(facts, "%s cancelled it %s%s, with a deadline %s.",
			by.who, since(row->cancel_at, facts->now), by.why,
			at(rules_cancel_deadline(row, facts->now)));
	}
}

/* What has become of a task. */
static void
say_task(const Facts *facts)
{
	const LeaseRow *row = &facts->row;
	TaskState	task = rules_task(row, facts->now);

	if (task == TASK_NONE)
		return;
	say(facts, "It is a task of priority %d, with %d of %d attempts used; %s.",
		row->priority, row->attempts, row->max_attempts,
		task == TASK_OPEN ? "it is not over" :
		psprintf("it is over: %s", outcomes_task_name(task)));
	if (task != TASK_OPEN)
		say(facts, "An operator can begin it anew: SELECT * FROM %s(%s, 'reason', namespace => %s);",
			verb("lease_retry"),
			quote_literal_cstr(text_to_cstring(facts->key.name)),
			quote_literal_cstr(text_to_cstring(facts->key.namespace)));
}

/* What is over then: the rules say why a claim is refused just before. */
static const char *
why_until(const Facts *facts, const LeaseRow *row, TimestampTz grantable)
{
	LeaseDecision before;

	ask_claim(facts, row, grantable - 1, &before);
	switch (before.outcome)
	{
		case OUTCOME_ON_HOLD:
			return "when the hold is over";
		case OUTCOME_HELD:
			return "when it expires";
		case OUTCOME_IN_GRACE:
			return psprintf("when the namespace's grace of %s is over",
							length(facts->policy.rules.grace));
		default:
			return row->task == TASK_OPEN ? "when the task is due" :
				psprintf("when the hold_at_least of %s that was asked for is over",
						 length(row->hold_at_least));
	}
}

/* From when on somebody else can have it, and under which fence. */
static void
say_next(Facts *facts)
{
	const LeaseRow *row = &facts->row;
	const LeasePolicy *rules = &facts->policy.rules;
	const char *verbs = rules_is_free(row) ? "a claim" : "a claim or takeover";
	TimestampTz grantable = rules_grantable_at(row, rules, facts->now);
	const char *prospect = "Now";
	LeaseDecision now;
	LeaseDecision then;

	if (grantable == PG_INT64_MAX)
	{
		say(facts, "Time alone does not make it grantable.");
		return;
	}

	/* a refusal of now also says as which row it is read from now on */
	ask_claim(facts, row, facts->now, &now);
	then = now;
	if (now.write != WRITE_GRANT && !now.exhausted)
		ask_claim(facts, &now.row, grantable, &then);
	if (then.outcome == OUTCOME_FULL)
	{
		say(facts, "The namespace has as many current leases as its max_leases of " INT64_FORMAT " allows: nothing is granted until one of them has ended.",
			rules->max_leases);
		prospect = "Then";
		facts->grant.others = 0;
		ask_claim(facts, &now.row, grantable, &then);
	}
	if (then.exhausted)
		say(facts, "Nothing can be granted under this name any more: its fence or version has reached the end of bigint.");
	else if (then.write == WRITE_GRANT && grantable > facts->now)
		say(facts, "If nothing happens before, %s can be granted %s, under fence " INT64_FORMAT " at least: %s.",
			verbs, due(grantable, facts->now), then.row.fence, why_until(facts, &now.row, grantable));
	else if (then.write == WRITE_GRANT && facts->lockers != NIL)
		say(facts, "Once nobody has its row locked or changed any more, %s can be granted, under fence " INT64_FORMAT " at least; until then whoever else asks is answered busy.",
			verbs, then.row.fence);
	else if (then.write == WRITE_GRANT)
		say(facts, "%s %s can be granted, under fence " INT64_FORMAT " at least.",
			prospect, verbs, then.row.fence);
}

/* What the namespace lets the holder do. */
static void
say_ceilings(const Facts *facts)
{
	const LeaseRow *row = &facts->row;
	const LeasePolicy *rules = &facts->policy.rules;
	LeaseRequest request = {.verb = VERB_RENEW,.owner = row->owner,.fence = row->fence};
	LeaseDecision decision;

	if (facts->state != OUTCOME_HELD)
		return;
	rules_decide(row, &request, rules, &facts->grant, facts->now, &decision);
	if (decision.exhausted)
		say(facts, "It cannot be renewed, since its version has reached the end of bigint.");
	else if (decision.outcome == OUTCOME_ON_HOLD)
		say(facts, "A renewal is refused now (on_hold); resumed before it expires, it goes on.");
	else if (decision.outcome == OUTCOME_CEILING)
		say(facts, "A renewal is refused now (ceiling): the namespace allows no more than is promised already.");
	else
		say(facts, "Its holder can renew it until it expires.");
	if (rules->max_hold > 0)
		say(facts, "The namespace's max_hold of %s lets no renewal go further: it is used up %s.",
			length(rules->max_hold),
			due(after(Min(row->granted_at, facts->now), rules->max_hold), facts->now));
	if (row->ttl > rules->max_ttl)
		say(facts, "The namespace's max_ttl is %s, less than its ttl.", length(rules->max_ttl));
}

/* How an operator can end the epoch that is in the way. */
static void
say_break(const Facts *facts)
{
	const LeaseRow *row = &facts->row;

	if (facts->state != OUTCOME_HELD && facts->state != OUTCOME_IN_GRACE)
		return;
	say(facts, "An operator can end it at once: SELECT * FROM %s(%s, " INT64_FORMAT ", 'reason', namespace => %s);",
		verb("lease_break"),
		quote_literal_cstr(text_to_cstring(facts->key.name)), row->fence,
		quote_literal_cstr(text_to_cstring(facts->key.namespace)));
}

/* A prepared transaction's name, and since when it has been one. */
typedef struct Prepared
{
	MemoryContext context;
	char	   *gid;
	TimestampTz at;
} Prepared;

static void
keep_prepared(const Datum *values, const bool *nulls, void *state)
{
	Prepared   *prepared = state;
	MemoryContext caller = MemoryContextSwitchTo(prepared->context);

	prepared->gid = TextDatumGetCString(values[0]);
	prepared->at = DatumGetTimestampTz(values[1]);
	MemoryContextSwitchTo(caller);
}

/* What a locker does to the row, and to those who come after it. */
static void
say_locks(const Facts *facts, const Locker *locker, const char *who)
{
	static const char *const modes[] = {
		[LockTupleKeyShare] = "KEY SHARE",
		[LockTupleShare] = "SHARE",
		[LockTupleNoKeyExclusive] = "NO KEY UPDATE",
		[LockTupleExclusive] = "UPDATE"
	};

	say(facts, "%s %s: %s.", who,
		!locker->writes ? psprintf("has the row locked FOR %s", modes[locker->mode]) :
		facts->row.exists ? "has changed the row and not committed" :
		"has made the row and not committed",
		locker->mode == LockTupleKeyShare ?
		"until it ends nothing new is granted, while the holder can renew and release" :
		"until it ends others who would change the lease are answered busy");
}

static void
say_locker(const Facts *facts, const Locker *locker)
{
	Datum		values[1] = {TransactionIdGetDatum(locker->xid)};
	Prepared	prepared = {CurrentMemoryContext};
	TimestampTz now = clock_wall();

	if (locker->ours)
		say_locks(facts, locker, "This session's own transaction");
	else if (locker->pid != 0)
	{
		say_locks(facts, locker, psprintf("Backend %d%s", locker->pid,
										  locker->began == 0 ? "" :
										  psprintf(", in a transaction that began %s,",
												   since(locker->began, now))));
		say(facts, "An operator can end it: SELECT pg_terminate_backend(%d);", locker->pid);
	}
	else if (RecoveryInProgress())
	{
		say_locks(facts, locker, psprintf("Transaction %u of the primary server", locker->xid));
		say(facts, "lease_explain() on the primary server says who runs it.");
	}
	else
	{
		statement_query(STATEMENT_PREPARED_TRANSACTION, values, NULL, keep_prepared, &prepared);
		if (prepared.gid == NULL)
			return;				/* it has ended */
		say_locks(facts, locker, psprintf("Prepared transaction \"%s\", prepared %s,",
										  prepared.gid, since(prepared.at, now)));
		say(facts, "An operator can end it: ROLLBACK PREPARED %s;",
			quote_literal_cstr(prepared.gid));
	}
}

static void
say_lockers(const Facts *facts)
{
	ListCell   *cell;

	if (facts->lockers == NIL)
		say(facts, RecoveryInProgress() ? "No transaction has its row locked, as far as that goes." :
			"No transaction has its row locked.");
	foreach(cell, facts->lockers)
		say_locker(facts, lfirst(cell));
}

/* Columns of STATEMENT_HISTORY_LAST. */
static void
keep_end(const Datum *values, const bool *nulls, void *state)
{
	Facts	   *facts = state;
	MemoryContext caller = MemoryContextSwitchTo(facts->context);
	EpochEnd   *last = &facts->last;

	last->found = true;
	last->fence = DatumGetInt64(values[0]);
	last->owner = TextDatumGetCString(values[1]);
	last->ended_by = TextDatumGetCString(values[2]);
	last->ended_at = DatumGetTimestampTz(values[3]);
	last->reason = nulls[4] ? NULL : TextDatumGetCString(values[4]);
	last->role_name = nulls[5] ? NULL : TextDatumGetCString(values[5]);
	MemoryContextSwitchTo(caller);
}

static void
keep_int64(const Datum *values, const bool *nulls, void *state)
{
	int64	   *value = state;

	if (!nulls[0])
		*value = DatumGetInt64(values[0]);
}

/*
 * Read all that is told of.  History comes before the row: an end that commits
 * in between must not seem to contradict it.
 */
static void
collect(Facts *facts)
{
	Datum		key[2] = {
		PointerGetDatum(facts->key.namespace),
		PointerGetDatum(facts->key.name)
	};
	ScanKeyData keys[2];
	FoundRow	found;
	Rows		rows;
	bool		ahead;

	policy_read(facts->key.namespace, &facts->policy);
	statement_query(STATEMENT_HISTORY_LAST, key, NULL, keep_end, facts);
	statement_query(STATEMENT_GENERATION_LAST, NULL, NULL, keep_int64,
					&facts->grant.generation);
	facts->grant.floor = ledger_floor(facts->key.namespace);

	rows_open(&rows, "lease", AccessShareLock);
	store_find(&rows, &facts->key, &found);
	store_forget(&found);
	rows_keys_lease(keys, &facts->key);
	facts->lockers = lockers_find(&rows, keys, 2);
	rows_close(&rows);

	facts->row = found.row;
	facts->now = clock_now();
	facts->state = rules_state(&facts->row, &facts->policy.rules, facts->now);
	if (facts->policy.rules.max_leases > 0)
		facts->grant.others = store_count_others(&facts->key, PG_INT64_MAX, facts->now, &ahead);
}

/* (name, namespace) */
Datum
lease_explain(PG_FUNCTION_ARGS)
{
	Facts		facts = {(ReturnSetInfo *) fcinfo->resultinfo, CurrentMemoryContext};

	arguments_key(fcinfo, 0, 1, &facts.key);
	facts.observes = policy_authorize(facts.key.namespace, PRIVILEGE_USE | PRIVILEGE_OBSERVE) &
		PRIVILEGE_OBSERVE;
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);

	collect(&facts);
	say_replayed(&facts);
	say_state(&facts);
	say_course(&facts);
	say_choices(&facts);
	say_task(&facts);
	say_ceilings(&facts);
	say_next(&facts);
	say_break(&facts);
	say_last_end(&facts);
	say_lockers(&facts);
	return (Datum) 0;
}
