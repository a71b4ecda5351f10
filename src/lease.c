/*
 * lease.c
 *		Module entry: the magic block and what is done once per process.
 */
#include "lease.h"

#include "fmgr.h"

#include "clock.h"
#include "observe.h"
#include "compat.h"
#include "policy.h"
#include "privilege.h"
#include "rows.h"
#include "settings.h"
#include "token.h"
#include "transaction.h"

PG_MODULE_MAGIC;

void
_PG_init(void)
{
	clock_init();
	settings_define();
	rows_init();
	privilege_init();
	policy_init();
	transaction_init();
	token_init();
	observe_init();
}
