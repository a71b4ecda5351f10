/*
 * privilege.c
 *		What a role may do in a namespace, looked up once and remembered.
 *
 * Promises: a grant counts for a role only while the name and the OID on
 * record still mean the same role, so that a dump restored elsewhere, or a
 * role dropped and made anew, opens nothing.  What is remembered is forgotten
 * as the server forgets its own catalogues: when a row of the table, a role,
 * a membership, the table's owner or the database's (pg_database_owner)
 * changes, in whatever session and by whatever means, before a command that
 * begins after that change has committed.
 *
 * A row's change tells the other sessions by the trigger
 * lease_forget_privileges, which is always enabled; a change that is rolled
 * back is forgotten likewise.
 */
#include "lease.h"

#include "access/xact.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "error.h"
#include "memo.h"
#include "privilege.h"
#include "rows.h"

PG_FUNCTION_INFO_V1(lease_forget_privileges);

/* Columns of lease_catalog.privilege. */
enum
{
	PRIVILEGE_NAMESPACE = 1,
	PRIVILEGE_ROLE_NAME,
	PRIVILEGE_ROLE_OID,
	PRIVILEGE_PRIVILEGE
};

static const struct
{
	const char *name;
	LeasePrivilege privilege;
	int			implies;
}			privileges[] = {
	{"use", PRIVILEGE_USE, PRIVILEGE_USE},
	{"observe", PRIVILEGE_OBSERVE, PRIVILEGE_OBSERVE},
	{"operate", PRIVILEGE_OPERATE, PRIVILEGE_ALL}
};

static Memo memo = {"lease privileges", sizeof(int)};

static void
forget_for_relation(Datum arg, Oid relation)
{
	(void) arg;
	if (!OidIsValid(relation) || rows_is_privilege_source(relation))
		memo_forget(&memo);
}

static void
forget_for_role(Datum arg, int cache, uint32 hash)
{
	(void) arg;
	(void) cache;
	(void) hash;
	memo_forget(&memo);
}

void
privilege_init(void)
{
	CacheRegisterRelcacheCallback(forget_for_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, forget_for_role, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_for_role, (Datum) 0);
	CacheRegisterSyscacheCallback(DATABASEOID, forget_for_role, (Datum) 0);
}

/* AFTER every change of lease_catalog.privilege: tell all sessions. */
Datum
lease_forget_privileges(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		error_no_trigger("lease_forget_privileges");
	CacheInvalidateRelcache(trigger->tg_relation);
	return PointerGetDatum(NULL);
}

/* Whether the pair on record still means one role, or everybody. */
static bool
names_one_role(const char *name, int64 oid)
{
	Oid			role;

	if (strcmp(name, "public") == 0)
		return oid == ACL_ID_PUBLIC;
	role = get_role_oid(name, true);
	return OidIsValid(role) && oid == (int64) role;
}

static int
granted_by(TupleTableSlot *slot, Oid role)
{
	const char *role_name = rows_text(slot, PRIVILEGE_ROLE_NAME).data;
	const char *privilege = rows_text(slot, PRIVILEGE_PRIVILEGE).data;
	int64		oid = rows_int64(slot, PRIVILEGE_ROLE_OID);
	int			i;

	if (!names_one_role(role_name, oid))
		return 0;
	if (oid != ACL_ID_PUBLIC && !has_privs_of_role(role, (Oid) oid))
		return 0;
	for (i = 0; i < lengthof(privileges); i++)
	{
		if (strcmp(privilege, privileges[i].name) == 0)
			return privileges[i].implies;
	}
	return 0;
}

/* Whether a role has the rights of the extension's owner. */
bool
privilege_is_owner(Oid role)
{
	return superuser_arg(role) || has_privs_of_role(role, rows_owner());
}

static int
look_up(Oid role, const text *namespace)
{
	ScanKeyData key;
	TupleTableSlot *slot;
	RowsScan	scan;
	Rows		rows;
	int			granted = 0;

	if (privilege_is_owner(role))
		return PRIVILEGE_ALL;
	rows_key_text(&key, 1, namespace);
	rows_open(&rows, "privilege", AccessShareLock);
	rows_scan_begin(&rows, &scan, &key, 1, ForwardScanDirection);
	while (granted != PRIVILEGE_ALL && (slot = rows_scan_next(&scan)) != NULL)
		granted |= granted_by(slot, role);
	rows_scan_end(&scan);
	rows_close(&rows);
	return granted;
}

/* What a role may do in a namespace, as a set of LeasePrivilege. */
int
privilege_of(Oid role, const text *namespace)
{
	uint64		forgotten;
	const int  *remembered;
	int			granted;

	AcceptInvalidationMessages();
	remembered = memo_find(&memo, role, namespace);
	if (remembered != NULL)
		return *remembered;
	forgotten = memo.forgotten;
	granted = look_up(role, namespace);
	memo_keep(&memo, forgotten, role, namespace, &granted);
	return granted;
}

/* The name of the first of some privileges. */
const char *
privilege_name(int privilege)
{
	int			i;

	for (i = 0; i < lengthof(privileges); i++)
	{
		if (privileges[i].privilege & privilege)
			return privileges[i].name;
	}
	elog(ERROR, "unknown privilege %d", privilege);
}

/* Whether a name is a privilege's; *known is how it is written down. */
bool
privilege_from_name(const char *name, const char **known)
{
	int			i;

	for (i = 0; i < lengthof(privileges); i++)
	{
		if (strcmp(name, privileges[i].name) == 0)
		{
			*known = privileges[i].name;
			return true;
		}
	}
	return false;
}
