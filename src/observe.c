/*
 * observe.c
 *		Proves tokens for a guard that only observes.
 *
 * Promises: no error that the write would not have had; a refusal keeps no
 * lock.  It is remembered to the end of the statement, or each row would wait
 * for it anew; and no longer, since what it rests on may pass, by this
 * transaction's doing or by another's.  All that is in the way of a
 * transaction's tokens is waited for no longer than lease.lock_wait, and from
 * then on only tried: a trial run must not hold up what it watches.
 *
 * Locks: those of a proof, where it was accepted.
 */
#include "lease.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "clock.h"
#include "error.h"
#include "observe.h"
#include "settings.h"
#include "token.h"
#include "transaction.h"

/* What proves at once takes less: no more than that is no wait. */
#define NO_WAIT INT64CONST(1000)

/* How long this transaction has waited, and whether it was in vain. */
static int64 waited = 0;
static bool in_vain = false;

static void
at_transaction_event(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
	{
		waited = 0;
		in_vain = false;
	}
}

void
observe_init(void)
{
	RegisterXactCallback(at_transaction_event, NULL);
}

/* A token that was refused, though its writes pass. */
typedef struct Passed
{
	uint64		token;
	Refusal		refusal;
} Passed;

static Refusal
recall(const Observed *observed, const Token *token)
{
	ListCell   *cell;

	foreach(cell, observed->passed)
	{
		const Passed *passed = lfirst(cell);

		if (passed->token == token->id)
			return passed->refusal;
	}
	return REFUSAL_NONE;
}

static void
remember(Observed *observed, const Token *token, Refusal refusal)
{
	MemoryContext caller = MemoryContextSwitchTo(observed->context);
	Passed	   *passed = palloc(sizeof(Passed));

	passed->token = token->id;
	passed->refusal = refusal;
	observed->passed = lappend(observed->passed, passed);
	MemoryContextSwitchTo(caller);
}

/* What is taken into a subtransaction of its own. */
typedef struct Attempt
{
	Token	   *token;
	ProofMode	mode;
	Refused		refused;
} Attempt;

static bool
prove_step(void *state)
{
	Attempt    *attempt = state;
	int64		patience = in_vain ? 0 : Max(settings_lock_patience() - waited, 0);

	return proof_token(&attempt->token, attempt->mode, patience, &attempt->refused);
}

/* Prove a token; false, with the reason, where it may not be written under. */
bool
observe_token(Observed *observed, Token *token, ProofMode mode, Refused *refused)
{
	MemoryContext caller = CurrentMemoryContext;
	Attempt		attempt = {token, mode};
	volatile bool proved = false;
	int64		began;
	int64		length;

	memset(refused, 0, sizeof(Refused));
	refused->refusal = recall(observed, token);
	if (refused->refusal != REFUSAL_NONE)
		return false;
	began = clock_monotonic();
	PG_TRY();
	{
		proved = transaction_attempt(prove_step, &attempt);
		*refused = attempt.refused;
	}
	PG_CATCH();
	{
		if (geterrcode() != error_refused_code(REFUSAL_BUSY) &&
			geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		FlushErrorState();
		refused->refusal = REFUSAL_BUSY;
	}
	PG_END_TRY();
	length = clock_monotonic() - began;
	if (length > NO_WAIT)
		waited += length;
	if (proved)
		return true;
	in_vain = in_vain || refused->refusal == REFUSAL_BUSY;
	remember(observed, token, refused->refusal);
	return false;
}
