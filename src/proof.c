/*
 * proof.c
 *		Proves that a token may be written under.
 *
 * Promises (I7): a token that is proved current was so at an instant at which
 * the lock that keeps the next epoch from beginning was held, and the lock
 * stays to the end of the (sub)transaction; a proof is asked for once, and
 * what it found belongs to the same subtransaction (token.c).  A refusal is an
 * answer here, but where the server's own wait has run out; who asked raises
 * it, or lets the write through.
 *
 * The order: look; lock FOR KEY SHARE, which heartbeats and other writers of
 * the epoch do not mind; where what is locked may have been superseded, look
 * again at a fresh snapshot; read the clock, judge.  A refusal may leave the
 * lock to the end of the subtransaction: who goes on after one has one of his
 * own.
 */
#include "lease.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "marks.h"
#include "outcomes.h"
#include "privilege.h"
#include "proof.h"
#include "store.h"
#include "transaction.h"
#include "wait.h"

static Refusal
refusal_of(LeaseOutcome outcome)
{
	switch (outcome)
	{
		case OUTCOME_CURRENT:
			return REFUSAL_NONE;
		case OUTCOME_STALE_FENCE:
			return REFUSAL_STALE_FENCE;
		case OUTCOME_EXPIRED:
			return REFUSAL_EXPIRED;
		case OUTCOME_NOT_OWNER:
			return REFUSAL_NOT_OWNER;
		case OUTCOME_UNKNOWN_FENCE:
			return REFUSAL_UNKNOWN_FENCE;
		case OUTCOME_NOT_FOUND:
			return REFUSAL_NOT_FOUND;
		case OUTCOME_BUSY:
			return REFUSAL_BUSY;
		case OUTCOME_ON_HOLD:
			return REFUSAL_ON_HOLD;
		case OUTCOME_CANCELLED:
			return REFUSAL_CANCELLED;
		default:
			return REFUSAL_ENDED;
	}
}

static void
look_again(Rows *rows, const LeaseCall *call, LeaseAnswer *answer)
{
	LockTupleMode mode;
	FoundRow	found;

	(void) protocol_look(rows, call, &found, answer, &mode);
	store_forget(&found);
}

/*
 * Lock the row, or find it busy.  Where the server's own wait for a version in
 * flight has run out (rows.c) there is nothing to go on with: raised as it is
 * refused.
 */
static RowLock
lock_row(Rows *rows, const LeaseCall *call, const FoundRow *found,
		 LockedRow *locked, Refused *refused)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile RowLock lock = ROW_BUSY;

	PG_TRY();
	{
		lock = store_lock(rows, &call->key, found, LockTupleKeyShare, locked);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		FlushErrorState();
		refused->refusal = REFUSAL_BUSY;
		error_refused(refused);
	}
	PG_END_TRY();
	return lock;
}

/* Judge what was locked, or where that may not be all, what is on record. */
static void
judge_locked(Rows *rows, const LeaseCall *call, RowLock lock,
			 const LockedRow *locked, LeaseAnswer *answer)
{
	LeaseDecision decision;

	if (lock == ROW_LOCKED && rows_is_latest(locked->slot))
		protocol_judge(call, &locked->row, &decision, answer);
	else
		look_again(rows, call, answer);
}

/* Look, lock, judge. */
static void
prove_once(const LeaseCall *call, int64 patience, LeaseAnswer *answer,
		   Refused *refused)
{
	LockTupleMode mode;
	RowLock		lock;
	FoundRow	found;
	LockedRow	locked;
	Rows		rows;

	rows_open(&rows, "lease", RowShareLock);
	rows.patience = patience;
	if (protocol_look(&rows, call, &found, answer, &mode))
	{
		store_forget(&found);
		rows_close(&rows);
		return;
	}
	lock = lock_row(&rows, call, &found, &locked, refused);
	store_forget(&found);
	if (lock == ROW_BUSY)
		answer->outcome = OUTCOME_BUSY;
	else
	{
		judge_locked(&rows, call, lock, &locked, answer);

		/* a renewal that was decided in time may be about to commit, or have */
		if (answer->outcome == OUTCOME_EXPIRED)
		{
			if (store_is_being_written(&rows, &call->key))
				answer->outcome = OUTCOME_BUSY;
			else
				look_again(&rows, call, answer);
		}
	}
	store_unpin(&locked);
	rows_close_changed(&rows);
}

/* Fill in the call that a token's proof is. */
static void
make_call(const Token *token, LeaseCall *call)
{
	*call = protocol_call(VERB_PRESENT, PRIVILEGE_USE);
	call->key = token->key;
	call->request.owner = token->owner;
	call->request.fence = token->fence;
}

/*
 * Whether a refusal must not name a lease: the role that will read it has no
 * privilege in the namespace.  That is the one which login or SET ROLE made the
 * current one, also where a SECURITY DEFINER function or the action of a
 * foreign key does the writing.
 */
bool
proof_conceals(const LeaseKey *key)
{
	return privilege_of(GetOuterUserId(), key->namespace) == 0;
}

/* Fill in a refusal, but for the table, which the caller knows. */
static void
refuse(const Token *token, Refusal refusal, Refused *refused)
{
	const char *table = refused->table;
	bool		own = !token->presented || token->role == GetOuterUserId();

	memset(refused, 0, sizeof(Refused));
	refused->refusal = refusal;
	refused->table = table;
	refused->key = &token->key;
	refused->concealed = !own && proof_conceals(&token->key);
	refused->has_fence = true;
	refused->fence = token->fence;
}

/* What the role that presents a token may do now. */
static int
privileges_of(const Token *token)
{
	return privilege_of(token->role, token->key.namespace);
}

/*
 * Prove that a token is the current epoch's, for the role that presents it,
 * which must not lose the right to it while it waits.  False, with the reason,
 * where it is not; *answer is what was found.  *token is then the entry that
 * knows it.  What is refused is so for the table of *refused, or NULL.
 */
bool
proof_call(Token **token, int64 patience, LeaseCall *call,
		   LeaseAnswer *answer, Refused *refused)
{
	Wait		wait;

	make_call(*token, call);
	refuse(*token, REFUSAL_NO_PRIVILEGE, refused);
	wait_begin(&wait, patience);
	for (;;)
	{
		answer->privileges = privileges_of(*token);
		if (!(answer->privileges & PRIVILEGE_USE))
			break;
		prove_once(call, wait_left(&wait), answer, refused);
		if (answer->outcome != OUTCOME_BUSY ||
			!wait_nap(&wait, WAIT_LOCKED, WAIT_LOCKED))
			break;
	}
	wait_end(&wait);
	if (!(answer->privileges & PRIVILEGE_USE))
		return false;
	refused->refusal = refusal_of(answer->outcome);
	refused->how = outcomes_name(answer->outcome);
	refused->has_current = answer->row.exists && answer->row.fence != (*token)->fence;
	refused->current = answer->row.fence;
	if (refused->refusal != REFUSAL_NONE)
		return false;
	*token = token_own(*token);
	(*token)->proved = true;
	transaction_changed();
	return true;
}

/* Hold a token against the resource's mark, as proof_call() does with the lease. */
static bool
prove_mark(Token **token, ProofMode mode, int64 patience, Refused *refused)
{
	const LeaseKey *key = &(*token)->key;
	int64		fence = (*token)->fence;
	MarkAnswer	answer;
	int64		mark;

	refuse(*token, REFUSAL_NO_PRIVILEGE, refused);
	if (mode == PROOF_HIGH_WATER && !(privileges_of(*token) & PRIVILEGE_USE))
		return false;
	answer = mode == PROOF_BOTH ?
		marks_raise(key, fence, patience, &mark) :
		marks_enter(key, fence, patience, &mark);

	/* who gets in or raises the mark may have waited since */
	if ((mode == PROOF_HIGH_WATER || fence > mark) &&
		!(privileges_of(*token) & PRIVILEGE_USE))
		return false;
	refused->refusal = answer == MARK_ADMITTED ? REFUSAL_NONE :
		answer == MARK_BELOW ? REFUSAL_BELOW_MARK : REFUSAL_BUSY;
	refused->how = NULL;
	refused->has_current = answer == MARK_BELOW;
	refused->current = mark;
	if (answer != MARK_ADMITTED)
		return false;
	*token = token_own(*token);
	(*token)->marked = true;
	if (mode == PROOF_HIGH_WATER)
		(*token)->entered = true;
	transaction_changed();
	return true;
}

/*
 * Whether a resource would admit a token, as far as can be told without getting
 * in: somebody else may be.
 */
bool
proof_may_enter(const Token *token)
{
	return !XactReadOnly &&
		(privileges_of(token) & PRIVILEGE_USE) &&
		token->fence >= marks_read(&token->key);
}

/* Whether all that the mode wants has been proved. */
bool
proof_holds(const Token *token, ProofMode mode)
{
	switch (mode)
	{
		case PROOF_CURRENT:
			return token->proved;
		case PROOF_HIGH_WATER:
			return token->entered;
		case PROOF_BOTH:
			return token->proved && token->marked;
	}
	return false;
}

/*
 * Prove a token as far as the mode wants it and it has not been proved yet.
 * False, with the reason, where it may not be written under.  *token is then
 * the entry that knows what was found, and *refused has the table, or NULL.
 */
bool
proof_token(Token **token, ProofMode mode, int64 patience, Refused *refused)
{
	if (proof_holds(*token, mode))
		return true;

	/* a temporary table can be written in a read-only transaction */
	if (XactReadOnly)
	{
		refuse(*token, REFUSAL_READ_ONLY, refused);
		return false;
	}
	if (mode != PROOF_HIGH_WATER && !(*token)->proved)
	{
		LeaseCall	call;
		LeaseAnswer answer;

		if (!proof_call(token, patience, &call, &answer, refused))
			return false;
	}
	return proof_holds(*token, mode) || prove_mark(token, mode, patience, refused);
}
