/*
 * statement.c
 *		The statements that the extension runs: the only SQL text, the only SPI.
 *
 * Promises: no text is made at run time; every name and operator in it is
 * qualified, since a kept plan is analysed again when the caller changes his
 * search_path; each is prepared once a backend, kept, and run at the latest
 * snapshot whatever the isolation level.
 *
 * Callers are the extension's owner at that moment (owner.c).  A row that is
 * written by its ctid has been locked in this (sub)transaction (rows.c).
 */
#include "lease.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "statement.h"

typedef struct Statement
{
	const char *text;
	int			result;			/* what SPI answers on success */
	int			nargs;
	Oid			argtypes[STATEMENT_MAX_ARGUMENTS];
} Statement;

/* *INDENT-OFF* */
static const Statement statements[STATEMENT_COUNT] = {
	[STATEMENT_LEASE_INSERT] = {
		"INSERT INTO lease_catalog.lease"
		" (namespace, name, owner, fence, version,"
		" granted_at, renewed_at, expires_at, ttl, hold_at_least)"
		" VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)",
		SPI_OK_INSERT, 9,
		{TEXTOID, TEXTOID, TEXTOID, INT8OID, INT8OID,
		TIMESTAMPTZOID, TIMESTAMPTZOID, INTERVALOID, INTERVALOID}
	},
	[STATEMENT_LEASE_DELETE] = {
		"DELETE FROM lease_catalog.lease WHERE ctid OPERATOR(pg_catalog.=) $1",
		SPI_OK_DELETE, 1,
		{TIDOID}
	},
	[STATEMENT_HISTORY_INSERT] = {
		"INSERT INTO lease_catalog.history"
		" (namespace, name, owner, fence, granted_at, ended_at, ended_by, reason, role_name)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		SPI_OK_INSERT, 9,
		{TEXTOID, TEXTOID, TEXTOID, INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID,
		TEXTOID, TEXTOID, TEXTOID}
	},
	[STATEMENT_HISTORY_PRUNE] = {
		"DELETE FROM lease_catalog.history WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
		"SELECT ctid FROM lease_catalog.history"
		" WHERE ended_at OPERATOR(pg_catalog.<) $1"
		" ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED))",
		SPI_OK_DELETE, 2,
		{TIMESTAMPTZOID, INT8OID}
	},
	[STATEMENT_INTENT_INSERT] = {
		"INSERT INTO lease_catalog.intent"
		" (at, role_name, namespace, name, fence, intent, reason)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7)",
		SPI_OK_INSERT, 7,
		{TIMESTAMPTZOID, TEXTOID, TEXTOID, TEXTOID, INT8OID, TEXTOID, TEXTOID}
	},
	[STATEMENT_REQUEST_INSERT] = {
		"INSERT INTO lease_catalog.request"
		" (namespace, verb, owner, request_id, name, fence, at)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7)"
		" ON CONFLICT (namespace, verb, owner, request_id)"
		" DO UPDATE SET name = EXCLUDED.name, fence = EXCLUDED.fence, at = EXCLUDED.at",
		SPI_OK_INSERT, 7,
		{TEXTOID, TEXTOID, TEXTOID, UUIDOID, TEXTOID, INT8OID, TIMESTAMPTZOID}
	},
	[STATEMENT_REQUEST_PRUNE] = {
		"DELETE FROM lease_catalog.request WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
		"SELECT ctid FROM lease_catalog.request"
		" WHERE at OPERATOR(pg_catalog.<) $1"
		" ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))",
		SPI_OK_DELETE, 2,
		{TIMESTAMPTZOID, INT8OID}
	},
	[STATEMENT_FLOOR_INSERT] = {
		"INSERT INTO lease_catalog.floor (namespace, fence, at) VALUES ($1, $2, $3)",
		SPI_OK_INSERT, 3,
		{TEXTOID, INT8OID, TIMESTAMPTZOID}
	},
	[STATEMENT_FLOOR_FROM_LEASES] = {
		"INSERT INTO lease_catalog.floor (namespace, fence, at)"
		" SELECT namespace, pg_catalog.max(fence), $1"
		" FROM lease_catalog.lease GROUP BY namespace",
		SPI_OK_INSERT, 1,
		{TIMESTAMPTZOID}
	},
	[STATEMENT_FLOOR_PRUNE] = {
		"DELETE FROM lease_catalog.floor WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
		"SELECT low.ctid FROM lease_catalog.floor AS low"
		" WHERE EXISTS (SELECT FROM lease_catalog.floor AS high"
		" WHERE high.namespace OPERATOR(pg_catalog.=) low.namespace"
		" AND high.fence OPERATOR(pg_catalog.>) low.fence)"
		" LIMIT $1 FOR UPDATE OF low SKIP LOCKED))",
		SPI_OK_DELETE, 1,
		{INT8OID}
	},
	[STATEMENT_GENERATION_INSERT] = {
		"INSERT INTO lease_catalog.generation"
		" (generation, system_identifier, timeline, database_oid, table_oid, at)"
		" VALUES ($1, $2, $3, $4, $5, $6)",
		SPI_OK_INSERT, 6,
		{INT8OID, INT8OID, INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID}
	},
	[STATEMENT_NAMESPACE_INSERT] = {
		"INSERT INTO lease_catalog.namespace"
		" (namespace, min_ttl, default_ttl, max_ttl, max_hold, grace, max_leases, history)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (namespace) DO NOTHING",
		SPI_OK_INSERT, 8,
		{TEXTOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID,
		INT8OID, BOOLOID}
	},
	[STATEMENT_NAMESPACE_UPDATE] = {
		"UPDATE lease_catalog.namespace SET"
		" min_ttl = COALESCE($2, min_ttl),"
		" default_ttl = COALESCE($3, default_ttl),"
		" max_ttl = COALESCE($4, max_ttl),"
		" max_hold = COALESCE($5, max_hold),"
		" grace = COALESCE($6, grace),"
		" max_leases = COALESCE($7, max_leases),"
		" history = COALESCE($8, history)"
		" WHERE namespace OPERATOR(pg_catalog.=) $1",
		SPI_OK_UPDATE, 8,
		{TEXTOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID,
		INT8OID, BOOLOID}
	},
	[STATEMENT_NAMESPACE_DELETE] = {
		"DELETE FROM lease_catalog.namespace WHERE namespace OPERATOR(pg_catalog.=) $1",
		SPI_OK_DELETE, 1,
		{TEXTOID}
	},
	[STATEMENT_PRIVILEGE_SET] = {
		"INSERT INTO lease_catalog.privilege (namespace, role_name, role_oid, privilege)"
		" VALUES ($1, $2, $3, $4)"
		" ON CONFLICT (namespace, role_name, privilege)"
		" DO UPDATE SET role_oid = EXCLUDED.role_oid",
		SPI_OK_INSERT, 4,
		{TEXTOID, TEXTOID, INT8OID, TEXTOID}
	},
	[STATEMENT_PRIVILEGE_UNSET] = {
		"DELETE FROM lease_catalog.privilege"
		" WHERE namespace OPERATOR(pg_catalog.=) $1"
		" AND role_name OPERATOR(pg_catalog.=) $2"
		" AND privilege OPERATOR(pg_catalog.=) $3",
		SPI_OK_DELETE, 3,
		{TEXTOID, TEXTOID, TEXTOID}
	},
	[STATEMENT_PRIVILEGE_UNSET_ALL] = {
		"DELETE FROM lease_catalog.privilege WHERE namespace OPERATOR(pg_catalog.=) $1",
		SPI_OK_DELETE, 1,
		{TEXTOID}
	},
};

/* *INDENT-ON* */

/* Kept for the life of the backend; the plan cache revalidates them. */
static SPIPlanPtr plans[STATEMENT_COUNT];

static SPIPlanPtr
prepared(StatementId id)
{
	const Statement *statement = &statements[id];
	SPIPlanPtr	plan;

	if (plans[id] != NULL)
		return plans[id];
	plan = SPI_prepare_cursor(statement->text, statement->nargs,
							  (Oid *) statement->argtypes,
							  CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "could not prepare statement %d: %s", id,
			 SPI_result_code_string(SPI_result));
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "could not keep the plan of statement %d", id);
	plans[id] = plan;
	return plan;
}

/*
 * Run a statement and answer how many rows it touched.  "nulls" may be NULL
 * where no argument is.
 */
uint64
statement_run(StatementId id, Datum *values, const bool *nulls)
{
	char		spi_nulls[STATEMENT_MAX_ARGUMENTS];
	Snapshot	snapshot;
	uint64		processed;
	int			result;
	int			i;

	for (i = 0; i < statements[id].nargs; i++)
		spi_nulls[i] = nulls != NULL && nulls[i] ? 'n' : ' ';
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	result = SPI_execute_snapshot(prepared(id), values, spi_nulls, snapshot,
								  InvalidSnapshot, false, true, 0);
	UnregisterSnapshot(snapshot);
	if (result != statements[id].result)
		elog(ERROR, "statement %d: unexpected result %s", id,
			 SPI_result_code_string(result));
	processed = SPI_processed;
	SPI_finish();
	return processed;
}

/* Run a statement that touches one row; that it did not means corruption. */
void
statement_run_one(StatementId id, Datum *values, const bool *nulls)
{
	uint64		processed = statement_run(id, values, nulls);

	if (processed != 1)
		elog(ERROR, "statement %d touched " UINT64_FORMAT " rows instead of one",
			 id, processed);
}

Datum
statement_text(RuleText value)
{
	return PointerGetDatum(cstring_to_text_with_len(value.data, value.len));
}
