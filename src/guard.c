/*
 * guard.c
 *		The trigger that lets a row of a guarded table be written.
 *
 * Promises: a write that gets past it was made under a token that was proved
 * (proof.c) in this transaction, for the lease of the row as it is finally
 * stored, and for an UPDATE or DELETE of the row as it was; what has no token,
 * or a NULL where the lease's name should be, is refused.  A column of the row
 * is never taken for a proof: where the fence is stamped, it is written here
 * and then compared with what was stored.
 *
 * What follows for rows of the same lease is a comparison in memory.
 *
 * Locks: what a proof takes, to the end of the transaction.
 */
#include "lease.h"

#include "access/sysattr.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "arguments.h"
#include "error.h"
#include "guard_terms.h"
#include "observe.h"
#include "proof.h"
#include "settings.h"
#include "token.h"

PG_FUNCTION_INFO_V1(lease_fence_check);

/* A guard as its trigger knows it, for the length of a statement. */
typedef struct Guard
{
	GuardTerms	terms;
	Oid			table;
	text	   *namespace;
	text	   *name;			/* of the one lease */
	GuardFault	fault;			/* why nothing can be judged */
	bool		resolved;		/* what follows is known */
	AttrNumber	name_column;	/* of the lease's name, or 0 */
	bool		name_is_text;
	FmgrInfo	name_output;	/* where it is not */
	int			fence_column;	/* or 0 */
	bool		judged_after;	/* what this trigger stamps */
	Observed	observed;
	uint32		logged;			/* refusals that were let through, as bits */
} Guard;

/* One firing of the trigger. */
typedef struct Firing
{
	Guard	   *guard;
	TriggerData *trigger;
	bool		later;			/* another trigger proves the token */
	bool		judged_again;	/* the row, once it is stored */
	LeaseKey	key;			/* accepted, and under which fence */
	int64		fence;
} Firing;

/*
 * Whether the same guard judges every row that is stored, whatever
 * happens.  The statement may have dropped the table's triggers since it
 * began: there are none then, though this one fires.
 */
static bool
is_judged_after(const TriggerData *trigger)
{
	const Trigger *mine = trigger->tg_trigger;
	const		TriggerDesc *all = trigger->tg_relation->trigdesc;
	int			i;

	for (i = 0; all != NULL && i < all->numtriggers; i++)
	{
		const Trigger *other = &all->triggers[i];

		if (other->tgfoid == mine->tgfoid &&
			other->tgenabled == TRIGGER_FIRES_ALWAYS &&
			TRIGGER_FOR_ROW(other->tgtype) && TRIGGER_FOR_AFTER(other->tgtype) &&
			TRIGGER_FOR_INSERT(other->tgtype) && TRIGGER_FOR_UPDATE(other->tgtype) &&
			other->tgqual == NULL && other->tgnattr == 0 &&
			!other->tgdeferrable &&
			guard_terms_same(mine->tgargs, mine->tgnargs, other->tgargs, other->tgnargs))
			return true;
	}
	return false;
}

/* The guard of a trigger, read once a statement. */
static Guard *
get_guard(FunctionCallInfo fcinfo, TriggerData *trigger)
{
	Guard	   *guard = fcinfo->flinfo->fn_extra;
	MemoryContext caller;

	if (guard != NULL && guard->table == RelationGetRelid(trigger->tg_relation))
		return guard;
	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	guard = palloc0(sizeof(Guard));
	guard->table = RelationGetRelid(trigger->tg_relation);
	guard->observed.context = CurrentMemoryContext;
	if (guard_terms_read(trigger->tg_trigger->tgargs, trigger->tg_trigger->tgnargs,
						 &guard->terms, &guard->fault))
	{
		guard->namespace = cstring_to_text(guard->terms.namespace);
		if (!guard->terms.per_value)
			guard->name = cstring_to_text(guard->terms.subject);
	}
	MemoryContextSwitchTo(caller);
	fcinfo->flinfo->fn_extra = guard;
	return guard;
}

static void
find_columns(Guard *guard)
{
	AttrNumber	fence_column;
	Oid			output;
	Oid			type;
	bool		varlena;

	if (guard->terms.fence_column != NULL)
	{
		if (!guard_terms_find_column(guard->table, &guard->terms, true, &fence_column, &guard->fault))
			return;
		guard->fence_column = fence_column;
	}
	if (!guard->terms.per_value ||
		!guard_terms_find_column(guard->table, &guard->terms, false, &guard->name_column, &guard->fault))
		return;
	type = getBaseType(get_atttype(guard->table, guard->name_column));
	guard->name_is_text = type == TEXTOID || type == VARCHAROID;
	getTypeOutputInfo(type, &output, &varlena);
	fmgr_info_cxt(output, &guard->name_output, CurrentMemoryContext);
}

/*
 * Look at the table, once a statement, and not before something is to be
 * judged: a guard that is off must not fail over a column that is gone.
 */
static void
resolve(Guard *guard, TriggerData *trigger, MemoryContext statement)
{
	MemoryContext caller = MemoryContextSwitchTo(statement);

	find_columns(guard);
	guard->judged_after = is_judged_after(trigger);
	guard->resolved = true;
	if (guard->terms.per_value && TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event) &&
		!TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
	{
		guard->fault.code = ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED;
		guard->fault.message = "a guard of one lease a value must fire for each row";
		guard->fault.detail = NULL;
		guard->fault.hint = "lease_guard() makes the triggers that a guard needs.";
	}
	MemoryContextSwitchTo(caller);
}

/* What the guard and the server's setting leave of its strictness. */
static Enforcement
enforcement_of(const Guard *guard)
{
	return Max(guard->terms.enforcement, settings_enforcement);
}

/*
 * Say once a statement that a write was let through which would be refused.
 * Leases, owners and values stay out of the log.
 */
static void
log_passed(Firing *firing, int bit, int code, const char *message)
{
	Guard	   *guard = firing->guard;

	if (firing->judged_again || (guard->logged & (1U << bit)) != 0)
		return;
	guard->logged |= 1U << bit;
	ereport(LOG,
			(errcode(code),
			 errmsg("a guard that enforces would refuse this write to table \"%s\": %s",
					RelationGetRelationName(firing->trigger->tg_relation), message)));
}

/* Refuse a write, or where the guard only observes let it through. */
static void
refuse(Firing *firing, Refused *refused)
{
	refused->table = RelationGetRelationName(firing->trigger->tg_relation);
	if (enforcement_of(firing->guard) == ENFORCEMENT_ENFORCE)
		error_refused(refused);
	log_passed(firing, refused->refusal, error_refused_code(refused->refusal),
			   error_refused_message(refused->refusal));
}

/* The same where no token is at fault, but the guard itself. */
static void
refuse_unjudged(Firing *firing)
{
	const GuardFault *fault = &firing->guard->fault;

	if (enforcement_of(firing->guard) == ENFORCEMENT_ENFORCE)
		guard_terms_raise(fault);
	log_passed(firing, REFUSAL_NONE, fault->code, fault->message);
}

static void
refuse_for(Firing *firing, Refusal refusal, const LeaseKey *key, const char *how)
{
	Refused		refused = {
		.refusal = refusal,
		.key = key,
		.concealed = key != NULL && proof_conceals(key),
		.how = how
	};

	refuse(firing, &refused);
}

/* Judge a write under a lease; true where it was accepted under a fence. */
static bool
judge(Firing *firing, text *name)
{
	Guard	   *guard = firing->guard;
	const char *unreadable = NULL;
	ProofMode	mode = guard->terms.mode;
	LeaseKey	key = {guard->namespace, name};
	Token	   *token = token_find(&key, &unreadable);
	Refused		refused = {.table = RelationGetRelationName(firing->trigger->tg_relation)};

	if (token == NULL)
	{
		if (unreadable != NULL)
			refuse_for(firing, REFUSAL_MALFORMED, NULL, unreadable);
		else if (arguments_fault(name, LEASE_NAME_MAX) == NULL)
			refuse_for(firing, REFUSAL_NO_TOKEN, &key, NULL);
		else
			refuse_for(firing, REFUSAL_NO_NAME, NULL, "the value is no name that a lease can have");
		return false;
	}
	firing->key = key;
	firing->fence = token->fence;
	if (enforcement_of(guard) == ENFORCEMENT_ENFORCE)
	{
		if (!firing->later &&
			!proof_token(&token, mode, settings_lock_patience(), &refused))
			refuse(firing, &refused);
		return true;
	}
	if (proof_holds(token, mode))
		return true;
	if (firing->later)
		return proof_may_enter(token);
	if (observe_token(&guard->observed, token, mode, &refused))
		return true;
	refused.key = &key;
	refuse(firing, &refused);
	return false;
}

/* The name of the lease that a row belongs to; NULL where it has none. */
static text *
row_name(Guard *guard, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value;

	if (!guard->terms.per_value)
		return guard->name;
	value = slot_getattr(slot, guard->name_column, &isnull);
	if (isnull)
		return NULL;
	if (guard->name_is_text)
		return DatumGetTextPP(value);
	return cstring_to_text(OutputFunctionCall(&guard->name_output, value));
}

static bool
judge_row(Firing *firing, TupleTableSlot *slot)
{
	text	   *name = row_name(firing->guard, slot);

	if (name == NULL)
	{
		refuse_for(firing, REFUSAL_NO_NAME, NULL, "its name is NULL");
		return false;
	}
	return judge(firing, name);
}

/* Whether the row was stored with the fence that was stamped. */
static void
check_stamp(Firing *firing, TupleTableSlot *slot)
{
	Guard	   *guard = firing->guard;
	bool		isnull;
	Datum		value;

	if (guard->fence_column == 0)
		return;
	value = slot_getattr(slot, guard->fence_column, &isnull);
	if (isnull || DatumGetInt64(value) != firing->fence)
	{
		Refused		refused = {
			.refusal = REFUSAL_STAMP_CHANGED,
			.key = &firing->key,
			.concealed = proof_conceals(&firing->key),
			.has_fence = true,
			.fence = firing->fence,
			.how = psprintf("column \"%s\" has another", guard->terms.fence_column)
		};

		refuse(firing, &refused);
	}
}

static void
judge_after(Firing *firing)
{
	TriggerData *trigger = firing->trigger;
	TupleTableSlot *old = trigger->tg_trigslot;
	TupleTableSlot *final = old;

	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
	{
		final = trigger->tg_newslot;
		if (firing->guard->terms.per_value)
			(void) judge_row(firing, old);
	}
	if (judge_row(firing, final) && !TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		check_stamp(firing, final);
}

/*
 * Judge a row before it is stored, and stamp it.  A high-water mark must not
 * rise for a row that is not stored in the end, so that is left to the trigger
 * which comes after, and so is what an observing guard says.
 */
static HeapTuple
judge_before(Firing *firing)
{
	TriggerData *trigger = firing->trigger;
	Guard	   *guard = firing->guard;
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event);
	HeapTuple	row = update ? trigger->tg_newtuple : trigger->tg_trigtuple;
	Datum		fence;
	bool		isnull = false;

	firing->later = firing->judged_again && guard->terms.mode == PROOF_HIGH_WATER;
	if (!judge_row(firing, update ? trigger->tg_newslot : trigger->tg_trigslot) ||
		guard->fence_column == 0 || TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		return row;
	fence = Int64GetDatum(firing->fence);
	return heap_modify_tuple_by_cols(row, RelationGetDescr(trigger->tg_relation),
									 1, &guard->fence_column, &fence, &isnull);
}

static void
judge_statement(Firing *firing)
{
	if (!firing->guard->terms.per_value)
		(void) judge(firing, firing->guard->name);
	else
		refuse_for(firing, REFUSAL_TRUNCATE, NULL, "TRUNCATE names no lease, and each row may have another");
}

static void
check_protocol(FunctionCallInfo fcinfo, const TriggerData *trigger)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		error_no_trigger("lease_fence_check");
	if (TRIGGER_FIRED_INSTEAD(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" cannot be an INSTEAD OF trigger", "lease_fence_check"),
				 errhint("Guard the tables beneath the view.")));
}

/* Whether a row that replication applies is none of the guard's business. */
static bool
is_trusted(Firing *firing)
{
	Guard	   *guard = firing->guard;
	LeaseKey	key = {guard->namespace, guard->name};

	if (!IsLogicalWorker())
		return false;
	if (guard->terms.refuse_replication)
		refuse_for(firing, REFUSAL_REPLICATED, guard->name == NULL ? NULL : &key, "it comes from replication, which the guard refuses");
	return true;
}

/* Whether a row is about to be stored. */
static bool
is_stored_later(TriggerEvent event)
{
	return TRIGGER_FIRED_FOR_ROW(event) && TRIGGER_FIRED_BEFORE(event) &&
		!TRIGGER_FIRED_BY_DELETE(event);
}

/* Whether there is something to judge, and nothing in the way of it. */
static bool
is_to_be_judged(Firing *firing, MemoryContext statement)
{
	Guard	   *guard = firing->guard;

	if (enforcement_of(guard) == ENFORCEMENT_OFF)
		return false;
	if (!guard_terms_broken(&guard->fault))
	{
		if (is_trusted(firing))
			return false;
		if (!guard->resolved)
			resolve(guard, firing->trigger, statement);
	}
	firing->judged_again = guard->judged_after && is_stored_later(firing->trigger->tg_event);
	if (guard_terms_broken(&guard->fault))
	{
		refuse_unjudged(firing);
		return false;
	}
	return true;
}

/*
 * The guard's trigger, in whatever place lease_guard() or a user has put it.
 * Arguments: namespace, 'one' or 'per', name or column, fence column or '',
 * mode, enforcement, replication.
 */
Datum
lease_fence_check(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Firing		firing = {.trigger = trigger};
	HeapTuple	row;

	check_protocol(fcinfo, trigger);
	firing.guard = get_guard(fcinfo, trigger);
	row = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ?
		trigger->tg_newtuple : trigger->tg_trigtuple;
	if (!is_to_be_judged(&firing, fcinfo->flinfo->fn_mcxt))
		return PointerGetDatum(TRIGGER_FIRED_BEFORE(trigger->tg_event) ? row : NULL);

	if (TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event))
	{
		judge_statement(&firing);
		return PointerGetDatum(NULL);
	}
	if (TRIGGER_FIRED_BEFORE(trigger->tg_event))
		return PointerGetDatum(judge_before(&firing));
	judge_after(&firing);
	return PointerGetDatum(NULL);
}
