/*
 * statement.c
 *		The statements that the extension runs: the only SQL text, the only SPI.
 *
 * Promises: no text is made at run time; every name and operator in it is
 * qualified, since a kept plan is analysed again when the caller changes his
 * search_path; each is prepared once a backend, kept, and run at the latest
 * snapshot whatever the isolation level.
 *
 * Identity is the extension's owner's while a statement is prepared and run,
 * and at no other time; whoever calls has authorised his caller.  A row that
 * is written by its ctid has been locked in this (sub)transaction (rows.c).
 */
#include "lease.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "owner.h"
#include "rows.h"
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
		" (namespace, name, fence, version, granted_at, renewed_at, expires_at,"
		" ttl, hold_at_least, ended_at, owner, ended_by, hold_at, hold_length, hold_stop,"
		" cancel_at, cancel_length, task, attempts, max_attempts, priority, armed_at, delay)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
		" $16, $17, $18, $19, $20, $21, $22, $23)",
		SPI_OK_INSERT, 23,
		{TEXTOID, TEXTOID, INT8OID, INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID,
			INTERVALOID, INTERVALOID, TIMESTAMPTZOID, TEXTOID, TEXTOID,
			TIMESTAMPTZOID, INTERVALOID, BOOLOID, TIMESTAMPTZOID, INTERVALOID,
		TEXTOID, INT4OID, INT4OID, INT4OID, TIMESTAMPTZOID, INTERVALOID}
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
		/*
		 * a logical replica that takes over has the rows, and a sequence that
		 * is behind
		 */
		"INSERT INTO lease_catalog.intent"
		" (id, at, role_name, namespace, name, fence, intent, reason, detail)"
		" OVERRIDING SYSTEM VALUE"
		" SELECT CASE WHEN n.id OPERATOR(pg_catalog.>) m.id THEN n.id"
		" ELSE pg_catalog.setval('lease_catalog.intent_id_seq'::pg_catalog.regclass,"
		" m.id OPERATOR(pg_catalog.+) 1) END, $1, $2, $3, $4, $5, $6, $7, $8"
		" FROM (SELECT pg_catalog.nextval('lease_catalog.intent_id_seq'::pg_catalog.regclass) AS id) AS n,"
		" (SELECT COALESCE(pg_catalog.max(i.id), 0) AS id FROM lease_catalog.intent AS i) AS m",
		SPI_OK_INSERT, 8,
		{TIMESTAMPTZOID, TEXTOID, TEXTOID, TEXTOID, INT8OID, TEXTOID, TEXTOID, JSONBOID}
	},
	[STATEMENT_REQUEST_INSERT] = {
		"INSERT INTO lease_catalog.request"
		" (namespace, verb, owner, request_id, name, fence, at)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7)",
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
	[STATEMENT_POLLED_INSERT] = {
		"INSERT INTO lease_catalog.polled (namespace, owner, request_id, name, fence, at)"
		" VALUES ($1, $2, $3, $4, $5, $6)"
		" ON CONFLICT (namespace, owner, request_id, name)"
		" DO UPDATE SET fence = EXCLUDED.fence, at = EXCLUDED.at",
		SPI_OK_INSERT, 6,
		{TEXTOID, TEXTOID, UUIDOID, TEXTOID, INT8OID, TIMESTAMPTZOID}
	},
	[STATEMENT_POLLED_PRUNE] = {
		"DELETE FROM lease_catalog.polled WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
		"SELECT ctid FROM lease_catalog.polled"
		" WHERE at OPERATOR(pg_catalog.<) $1"
		" ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))",
		SPI_OK_DELETE, 2,
		{TIMESTAMPTZOID, INT8OID}
	},

	/* whoever writes what a task carries has the lease's row locked */
	[STATEMENT_TASK_OFFER] = {
		"INSERT INTO lease_catalog.task (namespace, name, payload) VALUES ($1, $2, $3)"
		" ON CONFLICT (namespace, name) DO UPDATE SET payload = EXCLUDED.payload,"
		" checkpoint = NULL, result = NULL, last_error = NULL",
		SPI_OK_INSERT, 3,
		{TEXTOID, TEXTOID, JSONBOID}
	},
	[STATEMENT_TASK_CHECKPOINT] = {
		"UPDATE lease_catalog.task SET checkpoint = $3"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2",
		SPI_OK_UPDATE, 3,
		{TEXTOID, TEXTOID, JSONBOID}
	},
	[STATEMENT_TASK_RESULT] = {
		"UPDATE lease_catalog.task SET result = $3"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2",
		SPI_OK_UPDATE, 3,
		{TEXTOID, TEXTOID, JSONBOID}
	},
	[STATEMENT_TASK_ERROR] = {
		"UPDATE lease_catalog.task SET last_error = $3"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2",
		SPI_OK_UPDATE, 3,
		{TEXTOID, TEXTOID, TEXTOID}
	},
	[STATEMENT_TASK_REOPEN] = {
		"UPDATE lease_catalog.task SET result = NULL"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2",
		SPI_OK_UPDATE, 2,
		{TEXTOID, TEXTOID}
	},
	[STATEMENT_TASK_DELETE] = {
		"DELETE FROM lease_catalog.task"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2",
		SPI_OK_DELETE, 2,
		{TEXTOID, TEXTOID}
	},

	/* Tasks that are over and may not say so; whoever asks looks again. */
	[STATEMENT_TASK_OVER] = {
		"SELECT namespace, name FROM lease_catalog.lease"
		" WHERE task OPERATOR(pg_catalog.=) 'open' AND ended_by IS NULL"
		" AND (cancel_at IS NOT NULL OR attempts OPERATOR(pg_catalog.>=) max_attempts)"
		" AND expires_at OPERATOR(pg_catalog.<=) $1"
		" ORDER BY namespace, name LIMIT $2",
		SPI_OK_SELECT, 2,
		{TIMESTAMPTZOID, INT8OID}
	},
	[STATEMENT_DUE_INSERT] = {
		"INSERT INTO lease_catalog.due (namespace, name, priority, due_at, armed_at)"
		" VALUES ($1, $2, $3, $4, $5)",
		SPI_OK_INSERT, 5,
		{TEXTOID, TEXTOID, INT4OID, TIMESTAMPTZOID, TIMESTAMPTZOID}
	},
	[STATEMENT_DUE_DELETE] = {
		"DELETE FROM lease_catalog.due WHERE ctid OPERATOR(pg_catalog.=) $1",
		SPI_OK_DELETE, 1,
		{TIDOID}
	},
	[STATEMENT_FLOOR_INSERT] = {
		"INSERT INTO lease_catalog.floor (namespace, fence, at) VALUES ($1, $2, $3)",
		SPI_OK_INSERT, 3,
		{TEXTOID, INT8OID, TIMESTAMPTZOID}
	},
	[STATEMENT_FLOOR_FROM_LEASES] = {
		"INSERT INTO lease_catalog.floor (namespace, fence, at)"
		/* a damaged row may have lost either */
		" SELECT COALESCE(namespace, ''), pg_catalog.max(fence), $1"
		" FROM lease_catalog.lease WHERE fence IS NOT NULL GROUP BY COALESCE(namespace, '')",
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
	[STATEMENT_MARK_INSERT] = {
		"INSERT INTO lease_catalog.mark (namespace, name, fence, at) VALUES ($1, $2, $3, $4)",
		SPI_OK_INSERT, 4,
		{TEXTOID, TEXTOID, INT8OID, TIMESTAMPTZOID}
	},
	[STATEMENT_MARK_DELETE] = {
		"DELETE FROM lease_catalog.mark"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2",
		SPI_OK_DELETE, 2,
		{TEXTOID, TEXTOID}
	},
	[STATEMENT_MARK_PRUNE] = {
		"DELETE FROM lease_catalog.mark WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
		"SELECT low.ctid FROM lease_catalog.mark AS low"
		" WHERE EXISTS (SELECT FROM lease_catalog.mark AS high"
		" WHERE high.namespace OPERATOR(pg_catalog.=) low.namespace"
		" AND high.name OPERATOR(pg_catalog.=) low.name"
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
		" (namespace, min_ttl, default_ttl, max_ttl, max_hold, grace, max_leases, history,"
		" retry_base, retry_factor, retry_cap, retry_jitter, max_attempts)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
		" ON CONFLICT (namespace) DO NOTHING",
		SPI_OK_INSERT, 13,
		{TEXTOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID,
		INT8OID, BOOLOID, INTERVALOID, FLOAT8OID, INTERVALOID, FLOAT8OID, INT4OID}
	},
	[STATEMENT_NAMESPACE_UPDATE] = {
		"UPDATE lease_catalog.namespace SET"
		" min_ttl = COALESCE($2, min_ttl),"
		" default_ttl = COALESCE($3, default_ttl),"
		" max_ttl = COALESCE($4, max_ttl),"
		" max_hold = COALESCE($5, max_hold),"
		" grace = COALESCE($6, grace),"
		" max_leases = COALESCE($7, max_leases),"
		" history = COALESCE($8, history),"
		" retry_base = COALESCE($9, retry_base),"
		" retry_factor = COALESCE($10, retry_factor),"
		" retry_cap = COALESCE($11, retry_cap),"
		" retry_jitter = COALESCE($12, retry_jitter),"
		" max_attempts = COALESCE($13, max_attempts)"
		" WHERE namespace OPERATOR(pg_catalog.=) $1",
		SPI_OK_UPDATE, 13,
		{TEXTOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID, INTERVALOID,
		INT8OID, BOOLOID, INTERVALOID, FLOAT8OID, INTERVALOID, FLOAT8OID, INT4OID}
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
	[STATEMENT_PRIVILEGE_NAMESPACES] = {
		"SELECT DISTINCT namespace FROM lease_catalog.privilege",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_HISTORY_LAST] = {
		"SELECT fence, owner, ended_by, ended_at, reason, role_name"
		" FROM lease_catalog.history"
		" WHERE namespace OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2"
		" ORDER BY fence DESC, ended_at DESC LIMIT 1",
		SPI_OK_SELECT, 2,
		{TEXTOID, TEXTOID}
	},

	/* of a lease, or with no name of its namespace */
	[STATEMENT_INTENT_LAST] = {
		"SELECT i.role_name, i.reason FROM lease_catalog.intent AS i"
		" WHERE i.namespace OPERATOR(pg_catalog.=) $1"
		" AND CASE WHEN $2 IS NULL THEN i.name IS NULL ELSE i.name OPERATOR(pg_catalog.=) $2 END"
		" AND (i.intent OPERATOR(pg_catalog.=) $3 OR (i.intent OPERATOR(pg_catalog.=) 'break'"
		" AND $3 OPERATOR(pg_catalog.=) 'hold'"
		" AND i.detail OPERATOR(pg_catalog.@>) '{\"hold\": true}'::pg_catalog.jsonb))"
		" AND (i.detail OPERATOR(pg_catalog.@>) '{\"changed\": false}'::pg_catalog.jsonb) IS NOT TRUE"
		" ORDER BY i.id DESC LIMIT 1",
		SPI_OK_SELECT, 3,
		{TEXTOID, TEXTOID, TEXTOID}
	},
	[STATEMENT_GENERATION_LAST] = {
		"SELECT pg_catalog.max(generation) FROM lease_catalog.generation",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_PREPARED_TRANSACTION] = {
		"SELECT p.gid, p.prepared FROM pg_catalog.pg_prepared_xacts AS p"
		" WHERE p.transaction OPERATOR(pg_catalog.=) $1",
		SPI_OK_SELECT, 1,
		{XIDOID}
	},

	/*
	 * The checks: a row (object, detail) a finding.  Those about leases take
	 * the namespaces that are looked at, NULL for all, and the clock's now.
	 * What they read may be damaged, and no sum of instants may overflow:
	 * none that a verb wrote is later than the last.
	 */
#define LAST_INSTANT "'11000-01-01 00:00:00+00'::pg_catalog.timestamptz"
#define LEASE_OBJECT "pg_catalog.format('lease \"%s\" of namespace \"%s\"', l.name, l.namespace)"
#define LEASE_IN_SIGHT "($1 IS NULL OR l.namespace OPERATOR(pg_catalog.=) ANY ($1))"
	[STATEMENT_CHECK_FENCE_ENDED] = {
		"SELECT " LEASE_OBJECT ", pg_catalog.format("
		"'Fence %s of owner \"%s\" is on record (%s), but history has fence %s of owner \"%s\", %s at %s.',"
		" l.fence, l.owner, COALESCE(l.ended_by, 'not ended'),"
		" h.fence, h.owner, h.ended_by, h.ended_at)"
		" FROM lease_catalog.lease AS l CROSS JOIN LATERAL ("
		"SELECT h.fence, h.owner, h.ended_by, h.ended_at FROM lease_catalog.history AS h"
		" WHERE h.namespace OPERATOR(pg_catalog.=) l.namespace"
		" AND h.name OPERATOR(pg_catalog.=) l.name"
		" AND h.fence OPERATOR(pg_catalog.>=) l.fence"
		" AND (l.ended_by IS NULL OR h.fence OPERATOR(pg_catalog.>) l.fence)"
		" ORDER BY h.fence DESC, h.ended_at DESC LIMIT 1) AS h"
		" WHERE l.owner IS NOT NULL AND " LEASE_IN_SIGHT,
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},
	[STATEMENT_CHECK_FENCE_BELOW_REQUEST] = {
		"SELECT " LEASE_OBJECT ", pg_catalog.format("
		"'Fence %s is on record, but a request was granted fence %s.',"
		" l.fence, pg_catalog.max(r.fence))"
		" FROM lease_catalog.lease AS l JOIN lease_catalog.request AS r"
		" ON r.namespace OPERATOR(pg_catalog.=) l.namespace"
		" AND r.name OPERATOR(pg_catalog.=) l.name"
		" AND r.fence OPERATOR(pg_catalog.>) l.fence"
		" WHERE " LEASE_IN_SIGHT
		" GROUP BY l.namespace, l.name, l.fence",
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},

	/*
	 * Floors rise with time, so the lowest that is not below a fence is the
	 * oldest.  A grant that does not see a floor yet may come later by the
	 * clock than it, by as long as the transaction is open that raises it.
	 */
	[STATEMENT_CHECK_FENCE_UNDER_FLOOR] = {
		"SELECT " LEASE_OBJECT ", pg_catalog.format("
		"'Fence %s was granted at %s, but the floor of %s was raised to %s at %s.',"
		" l.fence, l.granted_at, s.whose, f.fence, f.at)"
		" FROM lease_catalog.lease AS l"
		" CROSS JOIN LATERAL (VALUES (l.namespace, 'its namespace'), ('', 'all namespaces'))"
		" AS s (namespace, whose)"
		" CROSS JOIN LATERAL (SELECT f.fence, f.at FROM lease_catalog.floor AS f"
		" WHERE f.namespace OPERATOR(pg_catalog.=) s.namespace"
		" AND f.fence OPERATOR(pg_catalog.>=) l.fence"
		" ORDER BY f.fence LIMIT 1) AS f"
		/* what lies ahead was granted before the clock was set back */
		" WHERE l.granted_at OPERATOR(pg_catalog.<=) $2"
		" AND (LEAST(f.at, " LAST_INSTANT ") OPERATOR(pg_catalog.+) '10 min'::pg_catalog.interval)"
		" OPERATOR(pg_catalog.<) l.granted_at"
		" AND " LEASE_IN_SIGHT,
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},
	[STATEMENT_CHECK_DUPLICATE] = {
		"SELECT " LEASE_OBJECT ", pg_catalog.format('It has %s rows.', pg_catalog.count(*))"
		" FROM lease_catalog.lease AS l WHERE " LEASE_IN_SIGHT
		" GROUP BY l.namespace, l.name HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1",
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},
	[STATEMENT_CHECK_HALF_STATE] = {
		"SELECT " LEASE_OBJECT ", l.faults"
		" FROM (SELECT l.namespace, l.name, pg_catalog.concat_ws(' ',"
		" CASE WHEN l.namespace IS NULL OR l.name IS NULL THEN 'It has no name.' END,"
		" CASE WHEN l.fence IS NULL OR l.version IS NULL OR l.fence OPERATOR(pg_catalog.<) 0"
		" OR l.version OPERATOR(pg_catalog.<) 0 THEN 'Its fence or version is missing or negative.' END,"
		" CASE WHEN pg_catalog.num_nulls(l.owner, l.granted_at, l.renewed_at, l.expires_at, l.ttl)"
		" OPERATOR(pg_catalog.<>) ALL (ARRAY[0, 5])"
		" THEN 'Of owner, granted_at, renewed_at, expires_at and ttl some are there and some are not.' END,"
		" CASE WHEN l.owner OPERATOR(pg_catalog.=) '' THEN 'Its owner has no name.' END,"
		" CASE WHEN pg_catalog.num_nulls(l.ended_at, l.ended_by) OPERATOR(pg_catalog.=) 1"
		" THEN 'Of ended_at and ended_by one is there and one is not.' END,"
		" CASE WHEN l.ended_by IS NOT NULL AND l.owner IS NULL"
		" THEN 'An epoch has ended that nobody had.' END,"
		" CASE WHEN l.ended_by OPERATOR(pg_catalog.<>) ALL (ARRAY['released', 'expired', 'broken',"
		" 'completed', 'failed', 'cancelled'])"
		" THEN 'It has ended in a way that there is not.' END,"
		" CASE WHEN pg_catalog.num_nulls(l.hold_at, l.hold_stop) OPERATOR(pg_catalog.=) 1"
		" OR (l.hold_at IS NULL AND l.hold_length IS NOT NULL)"
		" OR pg_catalog.num_nulls(l.cancel_at, l.cancel_length) OPERATOR(pg_catalog.=) 1"
		" THEN 'Half of a hold or of a cancel is there.' END,"
		" CASE WHEN pg_catalog.num_nulls(l.task, l.attempts, l.max_attempts, l.priority, l.armed_at, l.delay)"
		" OPERATOR(pg_catalog.<>) ALL (ARRAY[0, 6])"
		" OR l.task OPERATOR(pg_catalog.<>) ALL (ARRAY['open', 'done', 'failed', 'cancelled'])"
		" THEN 'Half of a task is there, or a state that there is not.' END,"
		" CASE WHEN l.attempts OPERATOR(pg_catalog.<) 0 OR l.max_attempts OPERATOR(pg_catalog.<=) 0"
		" OR l.priority OPERATOR(pg_catalog.<) 0 OR l.priority OPERATOR(pg_catalog.>) 9"
		" THEN 'Its attempts, max_attempts or priority is out of range.' END,"
		" (SELECT pg_catalog.format('Its %s is too short, or counts months.', pg_catalog.string_agg(e.name, ', '))"
		" FROM (VALUES ('ttl', l.ttl, '1 us'::pg_catalog.interval), ('hold_at_least', l.hold_at_least, '1 us'),"
		" ('hold_length', l.hold_length, '1 us'), ('cancel_length', l.cancel_length, '0'), ('delay', l.delay, '0'))"
		" AS e (name, length, least)"
		" WHERE e.length OPERATOR(pg_catalog.<) e.least"
		" OR pg_catalog.date_trunc('month', e.length) OPERATOR(pg_catalog.<>) '0'::pg_catalog.interval"
		" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0),"
		" CASE WHEN NOT (pg_catalog.isfinite(l.granted_at) AND pg_catalog.isfinite(l.renewed_at)"
		" AND pg_catalog.isfinite(l.expires_at) AND pg_catalog.isfinite(l.ended_at)"
		" AND pg_catalog.isfinite(l.hold_at) AND pg_catalog.isfinite(l.cancel_at)"
		" AND pg_catalog.isfinite(l.armed_at)) THEN 'One of its instants is not finite.' END,"
		" CASE WHEN l.renewed_at OPERATOR(pg_catalog.<) l.granted_at"
		" OR l.expires_at OPERATOR(pg_catalog.<=) l.renewed_at"
		" THEN 'Its granted_at, renewed_at and expires_at are not in this order.' END) AS faults"
		" FROM lease_catalog.lease AS l WHERE " LEASE_IN_SIGHT ") AS l"
		" WHERE l.faults OPERATOR(pg_catalog.<>) ''",
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},
	[STATEMENT_CHECK_PROMISE_TOO_LONG] = {
		"SELECT " LEASE_OBJECT ", pg_catalog.format("
		"'It was renewed at %s for %s, but expires at %s.', l.renewed_at, l.ttl, l.expires_at)"
		" FROM lease_catalog.lease AS l"
		" WHERE l.ended_by IS NULL AND l.cancel_at IS NULL"
		" AND CASE WHEN l.expires_at OPERATOR(pg_catalog.<=) l.renewed_at THEN false"
		" WHEN l.expires_at OPERATOR(pg_catalog.>) " LAST_INSTANT " THEN true"
		" ELSE (l.expires_at OPERATOR(pg_catalog.-) l.renewed_at) OPERATOR(pg_catalog.>) l.ttl END"
		" AND " LEASE_IN_SIGHT,
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},
	[STATEMENT_CHECK_ORPHANED] = {
		"SELECT " LEASE_OBJECT ", 'Its namespace does not exist.'"
		" FROM lease_catalog.lease AS l"
		" WHERE l.namespace OPERATOR(pg_catalog.<>) 'default'"
		" AND NOT EXISTS (SELECT FROM lease_catalog.namespace AS n"
		" WHERE n.namespace OPERATOR(pg_catalog.=) l.namespace)"
		" AND " LEASE_IN_SIGHT,
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},

	/* a second's grace for those who wrote between $2 and the snapshot */
	[STATEMENT_CHECK_CLOCK_SET_BACK] = {
		"SELECT 'the clock', pg_catalog.format("
		"'Leases that were granted or renewed later than now: %s, the latest by %s.',"
		" pg_catalog.count(*), pg_catalog.max(ahead.latest) OPERATOR(pg_catalog.-) $2)"
		" FROM (SELECT LEAST(GREATEST(l.granted_at, l.renewed_at), " LAST_INSTANT ") AS latest"
		" FROM lease_catalog.lease AS l WHERE l.granted_at IS NOT NULL AND " LEASE_IN_SIGHT ") AS ahead"
		" WHERE ahead.latest OPERATOR(pg_catalog.>) ($2 OPERATOR(pg_catalog.+) '1 s'::pg_catalog.interval)"
		" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0",
		SPI_OK_SELECT, 2,
		{TEXTARRAYOID, TIMESTAMPTZOID}
	},
	[STATEMENT_CHECK_CONSTRAINTS] = {
		"SELECT pg_catalog.format('constraint \"%s\" of table lease_catalog.%s', e.name, e.on_table),"
		" CASE WHEN c.oid IS NULL THEN 'It is missing.' ELSE 'It is not validated.' END"
		" FROM (VALUES"
		" ('lease', 'lease_numbers'),"
		" ('lease', 'lease_epoch_whole'),"
		" ('lease', 'lease_end_whole'),"
		" ('lease', 'lease_end_of_epoch'),"
		" ('lease', 'lease_end_known'),"
		" ('lease', 'lease_hold_whole'),"
		" ('lease', 'lease_cancel_whole'),"
		" ('lease', 'lease_task_whole'),"
		" ('lease', 'lease_task_known'),"
		" ('lease', 'lease_lengths'),"
		" ('lease', 'lease_instants_finite'),"
		" ('privilege', 'privilege_known'),"
		" ('namespace', 'namespace_lengths'),"
		" ('namespace', 'namespace_retries'),"
		" ('namespace', 'namespace_hold_whole')"
		") AS e (on_table, name) LEFT JOIN pg_catalog.pg_constraint AS c"
		" ON c.conname OPERATOR(pg_catalog.=) e.name::pg_catalog.name"
		" AND c.contype OPERATOR(pg_catalog.=) 'c'"
		" AND c.conrelid OPERATOR(pg_catalog.=)"
		" pg_catalog.to_regclass(pg_catalog.concat('lease_catalog.', e.on_table))"
		" WHERE c.oid IS NULL OR NOT c.convalidated",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_INDEXES] = {
		"SELECT pg_catalog.format('%s of table lease_catalog.%s',"
		" CASE WHEN e.name IS NULL THEN 'primary key' ELSE pg_catalog.format('index \"%s\"', e.name) END,"
		" e.on_table),"
		" CASE WHEN i.indexrelid IS NULL THEN 'It is missing.' ELSE 'It is not valid.' END"
		" FROM (VALUES"
		" ('lease', NULL),"
		" ('privilege', NULL),"
		" ('namespace', NULL),"
		" ('request', NULL),"
		" ('intent', NULL),"
		" ('floor', 'floor_highest'),"
		" ('mark', 'mark_highest'),"
		" ('generation', 'generation_highest'),"
		" ('request', 'request_at'),"
		" ('polled', NULL),"
		" ('polled', 'polled_at'),"
		" ('task', NULL),"
		" ('due', 'due_next'),"
		" ('due', 'due_armed'),"
		" ('due', 'due_name'),"
		" ('history', 'history_epoch'),"
		" ('history', 'history_ended_at')"
		") AS e (on_table, name) LEFT JOIN pg_catalog.pg_index AS i"
		" ON i.indrelid OPERATOR(pg_catalog.=)"
		" pg_catalog.to_regclass(pg_catalog.concat('lease_catalog.', e.on_table))"
		" AND CASE WHEN e.name IS NULL THEN i.indisprimary"
		" ELSE i.indexrelid OPERATOR(pg_catalog.=)"
		" pg_catalog.to_regclass(pg_catalog.concat('lease_catalog.', e.name)) END"
		" WHERE i.indexrelid IS NULL OR NOT (i.indisvalid AND i.indisready AND i.indislive)",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_TRIGGERS] = {
		"SELECT pg_catalog.format('trigger \"%s\" of table lease_catalog.%s', e.name, e.on_table),"
		" CASE WHEN t.oid IS NULL THEN 'It is missing.' ELSE 'It is not ENABLE ALWAYS.' END,"
		" pg_catalog.format('%sALTER TABLE lease_catalog.%s ENABLE ALWAYS TRIGGER %s. %s',"
		" CASE WHEN t.oid IS NULL THEN 'Create it as the extension''s install script has it, and ' END,"
		" e.on_table, e.name, CASE"
		" WHEN e.on_table OPERATOR(pg_catalog.=) 'lease' THEN 'Rows that were removed meanwhile left no fence behind: raise all fences with lease_fences_advance().'"
		" WHEN e.on_table OPERATOR(pg_catalog.=) 'namespace' THEN 'That makes all sessions look namespaces up anew; until then each goes by the policies that it"
		" remembers, also of a namespace that was changed or dropped.'"
		" ELSE 'That makes all sessions look privileges up anew; until then each goes by those that it remembers, also one that"
		" was revoked: find out what was done under it.' END)"
		" FROM (VALUES"
		" ('lease', 'keep_floor', 'keep_floor'),"
		" ('lease', 'keep_floor_truncate', 'keep_floor'),"
		" ('namespace', 'forget_namespaces', 'forget_namespaces'),"
		" ('namespace', 'forget_namespaces_truncate', 'forget_namespaces'),"
		" ('privilege', 'forget_privileges', 'forget_privileges'),"
		" ('privilege', 'forget_privileges_truncate', 'forget_privileges')"
		") AS e (on_table, name, calls)"
		" LEFT JOIN pg_catalog.pg_trigger AS t"
		" ON t.tgname OPERATOR(pg_catalog.=) e.name::pg_catalog.name"
		" AND t.tgrelid OPERATOR(pg_catalog.=)"
		" pg_catalog.to_regclass(pg_catalog.concat('lease_catalog.', e.on_table))"
		" AND t.tgfoid OPERATOR(pg_catalog.=)"
		" pg_catalog.to_regproc(pg_catalog.concat('lease_catalog.', e.calls))"
		" WHERE t.oid IS NULL OR t.tgenabled OPERATOR(pg_catalog.<>) 'A'",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_GRANTS] = {
		"SELECT g.object, pg_catalog.format('%s has %s on it.',"
		" CASE WHEN g.grantee OPERATOR(pg_catalog.=) 0 THEN 'Everybody'"
		" ELSE pg_catalog.format('Role \"%s\"', pg_catalog.pg_get_userbyid(g.grantee)) END,"
		" pg_catalog.string_agg(g.privilege, ', ' ORDER BY g.privilege)),"
		" pg_catalog.format('Nobody but the extension''s owner needs that, and it leads past every check that the functions make:"
		" REVOKE ALL %s FROM %s CASCADE. Find out what was written meanwhile.', g.what,"
		" CASE WHEN g.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC'"
		" ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(g.grantee)::pg_catalog.text) END)"
		" FROM (SELECT 'schema lease_catalog' AS object, 'ON SCHEMA lease_catalog' AS what,"
		" a.grantee, a.privilege_type AS privilege, n.nspowner AS owner"
		" FROM pg_catalog.pg_namespace AS n CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) AS a"
		" WHERE n.nspname OPERATOR(pg_catalog.=) 'lease_catalog'"
		" UNION ALL"
		" SELECT pg_catalog.format('%s lease_catalog.%I', k.kind, c.relname),"
		" pg_catalog.format('ON %s lease_catalog.%I', pg_catalog.upper(k.kind), c.relname),"
		" a.grantee, a.privilege_type, c.relowner"
		" FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL (SELECT"
		" CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'S' THEN 'sequence' ELSE 'table' END AS kind) AS k"
		" CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a"
		" WHERE c.relnamespace OPERATOR(pg_catalog.=) pg_catalog.to_regnamespace('lease_catalog')"
		" UNION ALL"
		" SELECT pg_catalog.format('column \"%s\" of table lease_catalog.%I', t.attname, c.relname),"
		" pg_catalog.format('(%I) ON TABLE lease_catalog.%I', t.attname, c.relname),"
		" a.grantee, a.privilege_type, c.relowner"
		" FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS t"
		" ON t.attrelid OPERATOR(pg_catalog.=) c.oid"
		" CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a"
		" WHERE c.relnamespace OPERATOR(pg_catalog.=) pg_catalog.to_regnamespace('lease_catalog')"
		") AS g WHERE g.grantee OPERATOR(pg_catalog.<>) g.owner"
		" GROUP BY g.object, g.what, g.grantee",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_UNLOGGED] = {
		"SELECT pg_catalog.format('table lease_catalog.%I', c.relname),"
		" 'It is unlogged: a crash of the server empties it, and a standby has nothing of it.',"
		" pg_catalog.format('ALTER TABLE lease_catalog.%I SET LOGGED. If the server has crashed meanwhile,"
		" raise all fences above every one that was granted with lease_fences_advance(), and marks with lease_mark_reset().', c.relname)"
		" FROM pg_catalog.pg_class AS c"
		" WHERE c.relnamespace OPERATOR(pg_catalog.=) pg_catalog.to_regnamespace('lease_catalog')"
		" AND c.relkind OPERATOR(pg_catalog.=) 'r' AND c.relpersistence OPERATOR(pg_catalog.=) 'u'",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_CLOCK_REPLACED] = {
		"SELECT 'this session', pg_catalog.format('lease.clock is \"%s\".', s.setting)"
		" FROM pg_catalog.pg_settings AS s"
		" WHERE s.name OPERATOR(pg_catalog.=) 'lease.clock' AND s.setting OPERATOR(pg_catalog.<>) ''"
		" UNION ALL"
		" SELECT pg_catalog.format('settings of %s in %s',"
		" COALESCE('role ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(r.rolname), 'all roles'),"
		" COALESCE('database ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(d.datname), 'all databases')),"
		" pg_catalog.format('They have %s.', c.entry)"
		" FROM pg_catalog.pg_db_role_setting AS s"
		" CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c (entry)"
		" LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) s.setrole"
		" LEFT JOIN pg_catalog.pg_database AS d ON d.oid OPERATOR(pg_catalog.=) s.setdatabase"
		" WHERE pg_catalog.starts_with(pg_catalog.lower(c.entry), 'lease.clock=')"
		" AND pg_catalog.lower(c.entry) OPERATOR(pg_catalog.<>) 'lease.clock='",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_CLOCK_IN_FILE] = {
		"SELECT pg_catalog.format('line %s of %s', f.sourceline, f.sourcefile),"
		" pg_catalog.format('It sets lease.clock to \"%s\".', f.setting)"
		" FROM pg_catalog.pg_file_settings AS f"
		" WHERE f.applied AND pg_catalog.lower(f.name) OPERATOR(pg_catalog.=) 'lease.clock'"
		" AND f.setting OPERATOR(pg_catalog.<>) ''",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_RISKY_SETTING] = {
		"SELECT pg_catalog.format('setting \"%s\"', s.name),"
		" pg_catalog.format('It is %s: %s.', s.setting, e.risk)"
		" FROM (VALUES"
		" ('fsync', 'on', 'a crash of the machine can lose grants that were answered, and their fences are granted again'),"
		" ('full_page_writes', 'on', 'a crash of the machine can leave torn pages, and leases lost with them'),"
		" ('zero_damaged_pages', 'off', 'leases on a damaged page vanish, and leave no fence behind')"
		") AS e (name, safe, risk) JOIN pg_catalog.pg_settings AS s"
		" ON s.name OPERATOR(pg_catalog.=) e.name"
		" WHERE s.setting OPERATOR(pg_catalog.<>) e.safe",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_PLANTED_OVERLOAD] = {
		"SELECT pg_catalog.format('function %s', p.oid::pg_catalog.regprocedure),"
		" pg_catalog.format('It is no part of the extension; role \"%s\" owns it.',"
		" pg_catalog.pg_get_userbyid(p.proowner))"
		" FROM pg_catalog.pg_proc AS p"
		" WHERE pg_catalog.starts_with(p.proname::pg_catalog.text, 'lease_')"
		" AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d"
		" JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid"
		" WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"
		" AND d.objid OPERATOR(pg_catalog.=) p.oid"
		" AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass"
		" AND d.deptype OPERATOR(pg_catalog.=) 'e'"
		" AND e.extname OPERATOR(pg_catalog.=) 'lease'::pg_catalog.name)",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_MULTIXACT_AGE] = {
		"SELECT 'table lease_catalog.lease', pg_catalog.format("
		"'Its oldest multixact is %s old, and at %s a vacuum is forced.', age.now, age.most)"
		" FROM (SELECT pg_catalog.mxid_age(c.relminmxid) AS now,"
		" pg_catalog.current_setting('autovacuum_multixact_freeze_max_age')::pg_catalog.int4 AS most"
		" FROM pg_catalog.pg_class AS c"
		" WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('lease_catalog.lease')) AS age"
		" WHERE age.now OPERATOR(pg_catalog.>) (age.most OPERATOR(pg_catalog./) 2)",
		SPI_OK_SELECT, 0
	},
	[STATEMENT_CHECK_INERT_GRANT] = {
		"SELECT pg_catalog.format('grant of %s on namespace \"%s\" to role \"%s\"',"
		" p.privilege, p.namespace, p.role_name),"
		" pg_catalog.format('It gives nothing: the name and OID %s on record are not one role.', p.role_oid)"
		" FROM lease_catalog.privilege AS p"
		" WHERE NOT (p.role_name OPERATOR(pg_catalog.=) 'public' AND p.role_oid OPERATOR(pg_catalog.=) 0)"
		" AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r"
		" WHERE r.rolname OPERATOR(pg_catalog.=) p.role_name::pg_catalog.name"
		" AND r.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) p.role_oid)",
		SPI_OK_SELECT, 0
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

static void
mark_nulls(StatementId id, const bool *nulls, char *spi_nulls)
{
	int			i;

	for (i = 0; i < statements[id].nargs; i++)
		spi_nulls[i] = nulls != NULL && nulls[i] ? 'n' : ' ';
}

/*
 * Run a statement and answer how many rows it touched.  "nulls" may be NULL
 * where no argument is.
 */
uint64
statement_run(StatementId id, Datum *values, const bool *nulls)
{
	char		spi_nulls[STATEMENT_MAX_ARGUMENTS];
	OwnerScope	scope;
	Snapshot	snapshot;
	uint64		processed;
	int			result;

	mark_nulls(id, nulls, spi_nulls);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	owner_enter(rows_owner(), &scope);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	result = SPI_execute_snapshot(prepared(id), values, spi_nulls, snapshot,
								  InvalidSnapshot, false, true, 0);
	UnregisterSnapshot(snapshot);
	owner_leave(&scope);
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

#define QUERY_BATCH 100

static void
visit_tuple(HeapTuple tuple, TupleDesc columns, StatementVisitor visit, void *state)
{
	Datum	   *values = palloc(columns->natts * sizeof(Datum));
	bool	   *nulls = palloc(columns->natts * sizeof(bool));

	heap_deform_tuple(tuple, columns, values, nulls);
	visit(values, nulls, state);
}

/*
 * Run a query and hand each row to the visitor, who is the caller again.  What the visitor is given
 * lives until it returns, and so does the memory context that it is called in.
 */
void
statement_query(StatementId id, Datum *values, const bool *nulls,
				StatementVisitor visit, void *state)
{
	char		spi_nulls[STATEMENT_MAX_ARGUMENTS];
	Oid			owner = rows_owner();
	OwnerScope	scope;
	MemoryContext batch;
	MemoryContext spi;
	Portal		portal;
	uint64		i;

	mark_nulls(id, nulls, spi_nulls);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	owner_enter(owner, &scope);
	PushActiveSnapshot(GetLatestSnapshot());
	portal = SPI_cursor_open(NULL, prepared(id), values, spi_nulls, true);
	PopActiveSnapshot();
	owner_leave(&scope);
	batch = AllocSetContextCreate(CurrentMemoryContext, "lease query",
								  ALLOCSET_SMALL_SIZES);
	for (;;)
	{
		SPITupleTable *rows;
		uint64		nrows;

		owner_enter(owner, &scope);
		SPI_cursor_fetch(portal, true, QUERY_BATCH);
		owner_leave(&scope);
		rows = SPI_tuptable;
		nrows = SPI_processed;
		if (nrows == 0)
			break;
		spi = MemoryContextSwitchTo(batch);
		for (i = 0; i < nrows; i++)
			visit_tuple(rows->vals[i], rows->tupdesc, visit, state);
		MemoryContextSwitchTo(spi);
		MemoryContextReset(batch);
		SPI_freetuptable(rows);
	}
	SPI_cursor_close(portal);
	SPI_finish();
}
