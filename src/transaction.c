/*
 * transaction.c
 *		What a transaction has done that its end must know.
 *
 * Promises: a transaction in which lease state changed, or a token was
 * accepted, cannot be prepared, since it would outlive a promotion and commit
 * under a generation that is over; what was rolled back with a savepoint does
 * not count.  And a grant that was answered survives a crash.
 */
#include "lease.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "transaction.h"

/*
 * The least nesting level at which state changed, 0 where none did.  The least
 * is enough: an outer change outlives the rollback of an inner one.
 */
static int	changed_level = 0;

/* State has changed in the current subtransaction. */
void
transaction_changed(void)
{
	int			level = GetCurrentTransactionNestLevel();

	if (changed_level == 0 || level < changed_level)
		changed_level = level;
}

/*
 * Run a step in a subtransaction, which is kept where the step says so, and
 * otherwise undone with all its locks.  An error undoes it too and goes on: an
 * open subtransaction would be all that the server rolls back.
 */
bool
transaction_attempt(TransactionStep step, void *state)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner resources = CurrentResourceOwner;
	bool		keep = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		keep = step(state);
		if (keep)
		{
			transaction_changed();
			ReleaseCurrentSubTransaction();
		}
		else
			RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
		CurrentResourceOwner = resources;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(caller);
		CurrentResourceOwner = resources;
		ReThrowError(error);
	}
	PG_END_TRY();
	return keep;
}

/* The commit must be on disk when it is answered, whatever the caller set. */
void
transaction_force_flush(void)
{
	ForceSyncCommit();
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	(void) arg;
	switch (event)
	{
		case XACT_EVENT_PRE_PREPARE:
			if (changed_level > 0)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has changed a lease or was admitted under one"),
						 errdetail("It could commit after a failover, under a fence that is granted again.")));
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			changed_level = 0;
			break;
		default:
			break;
	}
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId mine,
						SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	(void) mine;
	(void) parent;
	(void) arg;
	if (changed_level < level)
		return;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		changed_level = level - 1;
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		changed_level = 0;
}

void
transaction_init(void)
{
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}
