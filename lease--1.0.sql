/* lease--1.0.sql */
\echo Use "CREATE EXTENSION lease" to load this file. \quit

-- The tables.  Plain CREATE SCHEMA: it fails where somebody else has made it,
-- and nobody but the extension's owner is granted anything in it.
CREATE SCHEMA lease_catalog;
REVOKE ALL ON SCHEMA lease_catalog FROM PUBLIC;

CREATE TYPE lease_result AS (
	ok boolean,
	outcome text,
	namespace text,
	name text,
	owner text,
	fence bigint,
	version bigint,
	expires_at timestamptz,
	remaining interval,
	ttl interval,
	server_time timestamptz,
	cancel_deadline timestamptz
);
COMMENT ON TYPE lease_result IS
'The answer of every verb: whether it succeeded, the outcome''s word (lease_outcomes()), and the facts on record after the call';

CREATE TYPE lease_task AS (
	ok boolean,
	outcome text,
	namespace text,
	name text,
	owner text,
	fence bigint,
	version bigint,
	expires_at timestamptz,
	remaining interval,
	ttl interval,
	server_time timestamptz,
	cancel_deadline timestamptz,
	attempt integer,
	priority integer,
	payload jsonb,
	checkpoint jsonb
);
COMMENT ON TYPE lease_task IS
'A task that a poll hands out: the columns of lease_result, and the work';

CREATE TYPE lease_task_record AS (
	ok boolean,
	outcome text,
	namespace text,
	name text,
	owner text,
	fence bigint,
	version bigint,
	expires_at timestamptz,
	remaining interval,
	ttl interval,
	server_time timestamptz,
	cancel_deadline timestamptz,
	attempt integer,
	priority integer,
	payload jsonb,
	checkpoint jsonb,
	max_attempts integer,
	due_at timestamptz,
	result jsonb,
	last_error text
);
COMMENT ON TYPE lease_task_record IS
'All that is on record of a task';

-- One row a name.  Read by column number in src/store.c.  Whatever a renewal
-- changes is in no index, so that renewals are heap-only updates; the
-- fillfactor leaves them room on the page.
CREATE TABLE lease_catalog.lease (
	namespace text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	fence bigint NOT NULL,
	version bigint NOT NULL,
	granted_at timestamptz,
	renewed_at timestamptz,
	expires_at timestamptz,
	ttl interval,
	hold_at_least interval,
	ended_at timestamptz,
	owner text COLLATE "C",
	ended_by text COLLATE "C",
	hold_at timestamptz,
	hold_length interval,
	hold_stop boolean,
	cancel_at timestamptz,
	cancel_length interval,
	task text COLLATE "C",
	attempts integer,
	max_attempts integer,
	priority integer,
	armed_at timestamptz,
	delay interval,
	PRIMARY KEY (namespace, name),
	CONSTRAINT lease_numbers CHECK (fence >= 0 AND version >= 0),
	CONSTRAINT lease_epoch_whole CHECK (
		pg_catalog.num_nulls(owner, granted_at, renewed_at, expires_at, ttl) IN (0, 5)
		AND owner <> ''),
	CONSTRAINT lease_end_whole CHECK (
		pg_catalog.num_nulls(ended_at, ended_by) IN (0, 2)),
	CONSTRAINT lease_end_of_epoch CHECK (ended_by IS NULL OR owner IS NOT NULL),
	CONSTRAINT lease_end_known CHECK (
		ended_by IN ('released', 'expired', 'broken', 'completed', 'failed', 'cancelled')),
	CONSTRAINT lease_hold_whole CHECK (
		pg_catalog.num_nulls(hold_at, hold_stop) IN (0, 2)
		AND (hold_length IS NULL OR hold_at IS NOT NULL)),
	CONSTRAINT lease_cancel_whole CHECK (
		pg_catalog.num_nulls(cancel_at, cancel_length) IN (0, 2)),
	CONSTRAINT lease_task_whole CHECK (
		pg_catalog.num_nulls(task, attempts, max_attempts, priority, armed_at, delay) IN (0, 6)
		AND attempts >= 0 AND max_attempts > 0 AND priority BETWEEN 0 AND 9),
	CONSTRAINT lease_task_known CHECK (task IN ('open', 'done', 'failed', 'cancelled')),
	CONSTRAINT lease_lengths CHECK (
		ttl > '0' AND hold_at_least > '0'
		AND hold_length > '0' AND cancel_length >= '0' AND delay >= '0'
		AND pg_catalog.date_trunc('month', ttl) = '0'
		AND pg_catalog.date_trunc('month', hold_at_least) = '0'
		AND pg_catalog.date_trunc('month', hold_length) = '0'
		AND pg_catalog.date_trunc('month', cancel_length) = '0'
		AND pg_catalog.date_trunc('month', delay) = '0'),
	CONSTRAINT lease_instants_finite CHECK (
		pg_catalog.isfinite(granted_at) AND pg_catalog.isfinite(renewed_at)
		AND pg_catalog.isfinite(expires_at) AND pg_catalog.isfinite(ended_at)
		AND pg_catalog.isfinite(hold_at) AND pg_catalog.isfinite(cancel_at)
		AND pg_catalog.isfinite(armed_at))
) WITH (
	fillfactor = 50,
	autovacuum_vacuum_scale_factor = 0.05,
	autovacuum_vacuum_cost_delay = 0
);
COMMENT ON TABLE lease_catalog.lease IS
'The lease of each name: its last epoch, current or not';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.lease', '');

-- A role is written down by name and by the OID that must agree with it (0 for
-- "public"), so that a dump restored elsewhere opens nothing.
CREATE TABLE lease_catalog.privilege (
	namespace text COLLATE "C" NOT NULL,
	role_name text COLLATE "C" NOT NULL,
	role_oid bigint NOT NULL,
	privilege text COLLATE "C" NOT NULL,
	PRIMARY KEY (namespace, role_name, privilege),
	CONSTRAINT privilege_known CHECK (privilege IN ('use', 'observe', 'operate'))
);
COMMENT ON TABLE lease_catalog.privilege IS
'What roles may do in a namespace';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.privilege', '');

-- What a namespace says; NULL is the default.  The namespace "default" is there
-- without a row until it is altered.
CREATE TABLE lease_catalog.namespace (
	namespace text COLLATE "C" PRIMARY KEY,
	min_ttl interval,
	default_ttl interval,
	max_ttl interval,
	max_hold interval,
	grace interval,
	max_leases bigint,
	history boolean,
	hold_at timestamptz,
	hold_length interval,
	hold_stop boolean,
	retry_base interval,
	retry_factor double precision,
	retry_cap interval,
	retry_jitter double precision,
	max_attempts integer,
	CONSTRAINT namespace_lengths CHECK (
		min_ttl > '0' AND default_ttl > '0' AND max_ttl > '0'
		AND max_hold >= '0' AND grace >= '0' AND max_leases >= 0
		AND hold_length > '0'),
	CONSTRAINT namespace_retries CHECK (
		retry_base > '0' AND retry_factor BETWEEN 1 AND 100 AND retry_cap > '0'
		AND retry_jitter BETWEEN 0 AND 1 AND max_attempts > 0),
	CONSTRAINT namespace_hold_whole CHECK (
		pg_catalog.num_nulls(hold_at, hold_stop) IN (0, 2)
		AND (hold_length IS NULL OR hold_at IS NOT NULL)
		AND pg_catalog.isfinite(hold_at))
);
COMMENT ON TABLE lease_catalog.namespace IS
'Namespaces and what they allow';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.namespace', '');

-- A floor or a generation is never changed: the highest row counts, so that
-- raising one makes nobody wait.
CREATE TABLE lease_catalog.floor (
	namespace text COLLATE "C" NOT NULL,
	fence bigint NOT NULL,
	at timestamptz NOT NULL
);
CREATE INDEX floor_highest ON lease_catalog.floor (namespace, fence);
-- Here and below: without a key, and yet a publication may have all its deletes.
ALTER TABLE lease_catalog.floor REPLICA IDENTITY FULL;
COMMENT ON TABLE lease_catalog.floor IS
'The highest fence of rows that are gone, by namespace; the empty one is all of them';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.floor', '');

-- As with floors the highest counts.  It is the guarded data's own: no foreign
-- key leads to the leases, which may be in another database or damaged.
CREATE TABLE lease_catalog.mark (
	namespace text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	fence bigint NOT NULL,
	at timestamptz NOT NULL
);
CREATE INDEX mark_highest ON lease_catalog.mark (namespace, name, fence);
ALTER TABLE lease_catalog.mark REPLICA IDENTITY FULL;
COMMENT ON TABLE lease_catalog.mark IS
'The highest fence under which each resource was written to';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.mark', '');

CREATE TABLE lease_catalog.generation (
	generation bigint NOT NULL,
	system_identifier bigint NOT NULL,
	timeline bigint NOT NULL,
	database_oid bigint NOT NULL,
	table_oid bigint NOT NULL,
	at timestamptz NOT NULL
);
CREATE INDEX generation_highest ON lease_catalog.generation (generation);
ALTER TABLE lease_catalog.generation REPLICA IDENTITY FULL;
COMMENT ON TABLE lease_catalog.generation IS
'The histories of this database that have granted leases, in order';
-- Where and when it was created, which no dump brings along: a history that finds
-- another place here is not the first, though no grant is on record.
INSERT INTO lease_catalog.generation
	SELECT 0, s.system_identifier,
		('x' OPERATOR(pg_catalog.||) pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::integer,
		d.oid::bigint, 'lease_catalog.lease'::regclass::oid::bigint, pg_catalog.clock_timestamp()
	FROM pg_catalog.pg_control_system() AS s, pg_catalog.pg_database AS d
	WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.generation', 'WHERE generation > 0');

CREATE TABLE lease_catalog.request (
	namespace text COLLATE "C" NOT NULL,
	verb text COLLATE "C" NOT NULL,
	owner text COLLATE "C" NOT NULL,
	request_id uuid NOT NULL,
	name text COLLATE "C" NOT NULL,
	fence bigint NOT NULL,
	at timestamptz NOT NULL,
	PRIMARY KEY (namespace, verb, owner, request_id)
);
CREATE INDEX request_at ON lease_catalog.request (at);
COMMENT ON TABLE lease_catalog.request IS
'What each request id was granted, for lease.request_retention';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.request', '');

-- What a poll with a request id was granted, one row a task.
CREATE TABLE lease_catalog.polled (
	namespace text COLLATE "C" NOT NULL,
	owner text COLLATE "C" NOT NULL,
	request_id uuid NOT NULL,
	name text COLLATE "C" NOT NULL,
	fence bigint NOT NULL,
	at timestamptz NOT NULL,
	PRIMARY KEY (namespace, owner, request_id, name)
);
CREATE INDEX polled_at ON lease_catalog.polled (at);
COMMENT ON TABLE lease_catalog.polled IS
'What each request id of a poll was granted, for lease.request_retention';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.polled', '');

-- What a task carries, off the row that renewals change.
CREATE TABLE lease_catalog.task (
	namespace text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	payload jsonb,
	checkpoint jsonb,
	result jsonb,
	last_error text,
	PRIMARY KEY (namespace, name)
);
COMMENT ON TABLE lease_catalog.task IS
'What each task carries: its payload, checkpoint, result and last error';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.task', '');

-- Where polls look.  Every task that is not over has at least one entry that is
-- due no later than the task; it may have more.  A renewal moves none, so an
-- entry may be due long before its task; whoever meets it there pushes it on.
CREATE TABLE lease_catalog.due (
	namespace text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	priority integer NOT NULL,
	due_at timestamptz NOT NULL,
	armed_at timestamptz NOT NULL
) WITH (
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX due_next ON lease_catalog.due (namespace, priority, due_at);
CREATE INDEX due_armed ON lease_catalog.due (namespace, armed_at);
CREATE INDEX due_name ON lease_catalog.due (namespace, name);
ALTER TABLE lease_catalog.due REPLICA IDENTITY FULL;
COMMENT ON TABLE lease_catalog.due IS
'When to look at each task that is not over';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.due', '');

-- No unique key: a row that says what has happened must never be the reason
-- for which something cannot happen.
CREATE TABLE lease_catalog.history (
	namespace text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	owner text COLLATE "C" NOT NULL,
	fence bigint NOT NULL,
	granted_at timestamptz NOT NULL,
	ended_at timestamptz NOT NULL,
	ended_by text COLLATE "C" NOT NULL,
	reason text,
	role_name text
);
CREATE INDEX history_epoch ON lease_catalog.history (namespace, name, fence);
CREATE INDEX history_ended_at ON lease_catalog.history (ended_at);
ALTER TABLE lease_catalog.history REPLICA IDENTITY FULL;
COMMENT ON TABLE lease_catalog.history IS
'The epochs that have ended, for lease.history_retention';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.history', '');

CREATE TABLE lease_catalog.intent (
	id bigint GENERATED ALWAYS AS IDENTITY,
	at timestamptz NOT NULL,
	role_name text NOT NULL,
	namespace text COLLATE "C" NOT NULL,
	name text COLLATE "C",
	fence bigint,
	intent text NOT NULL,
	reason text,
	detail jsonb,
	CONSTRAINT intent_pkey PRIMARY KEY (id)
);
COMMENT ON TABLE lease_catalog.intent IS
'What operators wanted, in order';
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.intent', '');
SELECT pg_catalog.pg_extension_config_dump('lease_catalog.intent_id_seq', '');

-- Whoever removes rows, and however, leaves their fences behind.
CREATE FUNCTION lease_catalog.keep_floor()
RETURNS trigger
AS 'MODULE_PATHNAME', 'lease_keep_floor'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.keep_floor() IS
'Keeps the fences of leases that are deleted';
CREATE TRIGGER keep_floor
	AFTER DELETE OR UPDATE OF namespace, name ON lease_catalog.lease
	FOR EACH ROW EXECUTE FUNCTION lease_catalog.keep_floor();
CREATE TRIGGER keep_floor_truncate
	BEFORE TRUNCATE ON lease_catalog.lease
	FOR EACH STATEMENT EXECUTE FUNCTION lease_catalog.keep_floor();
ALTER TABLE lease_catalog.lease ENABLE ALWAYS TRIGGER keep_floor;
ALTER TABLE lease_catalog.lease ENABLE ALWAYS TRIGGER keep_floor_truncate;

-- What sessions remember of privileges and namespaces goes when they change.
CREATE FUNCTION lease_catalog.forget_privileges()
RETURNS trigger
AS 'MODULE_PATHNAME', 'lease_forget_privileges'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.forget_privileges() IS
'Makes every session look privileges up anew';
CREATE TRIGGER forget_privileges
	AFTER INSERT OR UPDATE OR DELETE ON lease_catalog.privilege
	FOR EACH ROW EXECUTE FUNCTION lease_catalog.forget_privileges();
CREATE TRIGGER forget_privileges_truncate
	AFTER TRUNCATE ON lease_catalog.privilege
	FOR EACH STATEMENT EXECUTE FUNCTION lease_catalog.forget_privileges();
CREATE FUNCTION lease_catalog.forget_namespaces()
RETURNS trigger
AS 'MODULE_PATHNAME', 'lease_forget_namespaces'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.forget_namespaces() IS
'Makes every session look namespaces up anew';
CREATE TRIGGER forget_namespaces
	AFTER INSERT OR UPDATE OR DELETE ON lease_catalog.namespace
	FOR EACH ROW EXECUTE FUNCTION lease_catalog.forget_namespaces();
CREATE TRIGGER forget_namespaces_truncate
	AFTER TRUNCATE ON lease_catalog.namespace
	FOR EACH STATEMENT EXECUTE FUNCTION lease_catalog.forget_namespaces();
ALTER TABLE lease_catalog.namespace ENABLE ALWAYS TRIGGER forget_namespaces;
ALTER TABLE lease_catalog.namespace ENABLE ALWAYS TRIGGER forget_namespaces_truncate;
ALTER TABLE lease_catalog.privilege ENABLE ALWAYS TRIGGER forget_privileges;
ALTER TABLE lease_catalog.privilege ENABLE ALWAYS TRIGGER forget_privileges_truncate;

CREATE FUNCTION lease_claim(
	name text,
	owner text,
	ttl interval DEFAULT NULL,
	request_id uuid DEFAULT NULL,
	wait interval DEFAULT '0',
	hold_at_least interval DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_claim'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_claim(text, text, interval, uuid, interval, interval, text) IS
'Take a free or expired lease as its next epoch';

CREATE FUNCTION lease_takeover(
	name text,
	owner text,
	expected_fence bigint,
	ttl interval DEFAULT NULL,
	request_id uuid DEFAULT NULL,
	wait interval DEFAULT '0',
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_takeover'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_takeover(text, text, bigint, interval, uuid, interval, text) IS
'Take a lease as its next epoch, if the epoch observed is still on record and has lapsed';

CREATE FUNCTION lease_renew(
	name text,
	owner text,
	fence bigint,
	version bigint DEFAULT NULL,
	ttl interval DEFAULT NULL,
	checkpoint jsonb DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_renew'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_renew(text, text, bigint, bigint, interval, jsonb, text) IS
'Prolong exactly one epoch: the heartbeat; of a task, with how far it has come';

CREATE FUNCTION lease_renew_many(
	names text[],
	owner text,
	fences bigint[],
	versions bigint[] DEFAULT NULL,
	ttl interval DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS SETOF lease_result
AS 'MODULE_PATHNAME', 'lease_renew_many'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION lease_renew_many(text[], text, bigint[], bigint[], interval, text) IS
'Prolong many epochs of one owner; one answer for each place, in order';

CREATE FUNCTION lease_release(
	name text,
	owner text,
	fence bigint,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_release'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_release(text, text, bigint, text) IS
'End an epoch and free the lease';

CREATE FUNCTION lease_release_many(
	names text[],
	owner text,
	fences bigint[],
	namespace text DEFAULT 'default')
RETURNS SETOF lease_result
AS 'MODULE_PATHNAME', 'lease_release_many'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION lease_release_many(text[], text, bigint[], text) IS
'End many epochs of one owner; one answer for each place, in order';

CREATE FUNCTION lease_break(
	name text,
	expected_fence bigint,
	reason text,
	hold boolean DEFAULT false,
	new_owner text DEFAULT NULL,
	ttl interval DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_break'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_break(text, bigint, text, boolean, text, interval, text) IS
'End an epoch now, expired or not, and in the same act hold the lease or hand it over; for operators';

CREATE FUNCTION lease_hold(
	name text,
	reason text,
	until interval DEFAULT NULL,
	stop boolean DEFAULT false,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_hold'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_hold(text, text, interval, boolean, text) IS
'Let nobody be granted a lease, and with stop let its holder do no more; for operators';

CREATE FUNCTION lease_resume(
	name text,
	reason text DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_resume'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_resume(text, text, text) IS
'Take back the hold of a lease, and of a plain one the cancel; for operators';

CREATE FUNCTION lease_namespace_hold(
	namespace text,
	reason text,
	until interval DEFAULT NULL,
	stop boolean DEFAULT false)
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_namespace_hold'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_namespace_hold(text, text, interval, boolean) IS
'Let nobody be granted a lease of a namespace, and with stop let no holder do more; for operators';

CREATE FUNCTION lease_namespace_resume(
	namespace text,
	reason text DEFAULT NULL)
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_namespace_resume'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_namespace_resume(text, text) IS
'Take back the hold of a namespace; for operators';

CREATE FUNCTION lease_cancel(
	name text,
	reason text,
	deadline interval DEFAULT '1 min',
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_cancel'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_cancel(text, text, interval, text) IS
'Ask the holder of a lease to stop by a deadline, and grant nothing new; for operators';

CREATE FUNCTION lease_get(
	name text,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_get'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_get(text, text) IS
'The state of a lease as of now; changes nothing, works on a hot standby';

CREATE FUNCTION lease_present(
	name text,
	owner text,
	fence bigint,
	prove boolean DEFAULT true,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_present'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_present(text, text, bigint, boolean, text) IS
'Write to guarded tables under a token, to the end of the transaction; raises LE001 to LE009 where it is not current';

CREATE FUNCTION lease_present(token text)
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_present_text'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_present(text) IS
'As lease_present, for a token that lease_token made';

CREATE FUNCTION lease_token(
	namespace text,
	name text,
	owner text,
	fence bigint)
RETURNS text
AS 'MODULE_PATHNAME', 'lease_token'
LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION lease_token(text, text, text, bigint) IS
'One text of a token, for lease_present and the setting lease.token';

CREATE FUNCTION lease_fence_check()
RETURNS trigger
AS 'MODULE_PATHNAME', 'lease_fence_check'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_fence_check() IS
'The trigger of guarded tables: namespace, "one" or "per", name or column, fence column or nothing, mode, enforcement, replication';

CREATE FUNCTION lease_guard(
	target regclass,
	name text DEFAULT NULL,
	name_column name DEFAULT NULL,
	namespace text DEFAULT 'default',
	fence_column name DEFAULT NULL,
	mode text DEFAULT 'both',
	enforcement text DEFAULT 'enforce',
	replication text DEFAULT 'trust')
RETURNS void
AS 'MODULE_PATHNAME', 'lease_guard'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_guard(regclass, text, name, text, name, text, text, text) IS
'Let a table be written under the token of a lease alone; replaces the guard that it has; for the table''s owner';

CREATE FUNCTION lease_unguard(target regclass)
RETURNS boolean
AS 'MODULE_PATHNAME', 'lease_unguard'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_unguard(regclass) IS
'Remove a table''s guard; answers whether there was one; for the table''s owner';

CREATE FUNCTION lease_admit(
	resource text,
	fence bigint,
	namespace text DEFAULT 'default',
	OUT ok boolean,
	OUT outcome text,
	OUT high_water bigint)
RETURNS record
AS 'MODULE_PATHNAME', 'lease_admit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_admit(text, bigint, text) IS
'Admit a fence that is not below the highest that the resource has admitted';

CREATE FUNCTION lease_mark_reset(
	resource text,
	fence bigint,
	reason text,
	namespace text DEFAULT 'default')
RETURNS bigint
AS 'MODULE_PATHNAME', 'lease_mark_reset'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_mark_reset(text, bigint, text, text) IS
'Set a resource''s high-water mark, also down; answers what it was; for operators';
CREATE FUNCTION lease_offer(
	name text,
	payload jsonb DEFAULT NULL,
	priority integer DEFAULT 0,
	delay interval DEFAULT '0',
	max_attempts integer DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_offer'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_offer(text, jsonb, integer, interval, integer, text) IS
'Make a task: work under a name, to be handed out by lease_poll';

CREATE FUNCTION lease_poll(
	owner text,
	max_count integer DEFAULT 1,
	ttl interval DEFAULT NULL,
	wait interval DEFAULT '0',
	request_id uuid DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS SETOF lease_task
AS 'MODULE_PATHNAME', 'lease_poll'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION lease_poll(text, integer, interval, interval, uuid, text) IS
'Take tasks that are due, each as its next epoch and attempt';

CREATE FUNCTION lease_complete(
	name text,
	owner text,
	fence bigint,
	result jsonb DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_complete'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_complete(text, text, bigint, jsonb, text) IS
'End a task: it is done';

CREATE FUNCTION lease_fail(
	name text,
	owner text,
	fence bigint,
	error text,
	retry_in interval DEFAULT NULL,
	final boolean DEFAULT false,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_fail'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_fail(text, text, bigint, text, interval, boolean, text) IS
'End one attempt at a task, which waits for the next one or has failed';

CREATE FUNCTION lease_retry(
	name text,
	reason text DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
AS 'MODULE_PATHNAME', 'lease_retry'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_retry(text, text, text) IS
'Begin a task anew that is over; for operators';

CREATE FUNCTION lease_task_get(
	name text,
	namespace text DEFAULT 'default')
RETURNS lease_task_record
AS 'MODULE_PATHNAME', 'lease_task_get'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_task_get(text, text) IS
'The state of a task as of now, and all that it carries; changes nothing, works on a hot standby';

CREATE FUNCTION lease_outcomes(
	OUT verb text,
	OUT outcome text,
	OUT ok boolean,
	OUT meaning text,
	OUT advice text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_outcomes'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 170;
COMMENT ON FUNCTION lease_outcomes() IS
'Every outcome that each verb can answer with, what it means and what to do';

CREATE FUNCTION lease_grant(namespace text, role name, privilege text)
RETURNS void
AS 'MODULE_PATHNAME', 'lease_grant'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_grant(text, name, text) IS
'Let a role use, observe or operate the leases of a namespace; for the extension''s owner';

CREATE FUNCTION lease_revoke(namespace text, role name, privilege text)
RETURNS void
AS 'MODULE_PATHNAME', 'lease_revoke'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_revoke(text, name, text) IS
'Take back what lease_grant gave; for the extension''s owner';

CREATE FUNCTION lease_namespace_create(
	namespace text,
	min_ttl interval DEFAULT NULL,
	default_ttl interval DEFAULT NULL,
	max_ttl interval DEFAULT NULL,
	max_hold interval DEFAULT NULL,
	grace interval DEFAULT NULL,
	max_leases bigint DEFAULT NULL,
	history boolean DEFAULT NULL,
	retry_base interval DEFAULT NULL,
	retry_factor double precision DEFAULT NULL,
	retry_cap interval DEFAULT NULL,
	retry_jitter double precision DEFAULT NULL,
	max_attempts integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'lease_namespace_create'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_namespace_create(text, interval, interval, interval, interval, interval, bigint, boolean, interval, double precision, interval, double precision, integer) IS
'Make a namespace; what is NULL has its default; for the extension''s owner';

CREATE FUNCTION lease_namespace_alter(
	namespace text,
	min_ttl interval DEFAULT NULL,
	default_ttl interval DEFAULT NULL,
	max_ttl interval DEFAULT NULL,
	max_hold interval DEFAULT NULL,
	grace interval DEFAULT NULL,
	max_leases bigint DEFAULT NULL,
	history boolean DEFAULT NULL,
	retry_base interval DEFAULT NULL,
	retry_factor double precision DEFAULT NULL,
	retry_cap interval DEFAULT NULL,
	retry_jitter double precision DEFAULT NULL,
	max_attempts integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'lease_namespace_alter'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_namespace_alter(text, interval, interval, interval, interval, interval, bigint, boolean, interval, double precision, interval, double precision, integer) IS
'Change what a namespace allows; what is NULL stays; for the extension''s owner';

CREATE FUNCTION lease_namespace_drop(namespace text)
RETURNS void
AS 'MODULE_PATHNAME', 'lease_namespace_drop'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_namespace_drop(text) IS
'Drop a namespace that has no leases; for the extension''s owner';

CREATE FUNCTION lease_fences_advance(floor bigint DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'lease_fences_advance'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_fences_advance(bigint) IS
'Raise the fences of all names, also future ones, above a number, or past every history that may have been; for the extension''s owner';

CREATE FUNCTION lease_purge(
	idle interval,
	max integer DEFAULT 1000,
	namespace text DEFAULT 'default')
RETURNS bigint
AS 'MODULE_PATHNAME', 'lease_purge'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_purge(interval, integer, text) IS
'Remove leases that nobody has held for so long; answers how many; for operators';

CREATE FUNCTION lease_sweep(
	max integer DEFAULT 1000,
	OUT what text,
	OUT count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_sweep'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 5;
COMMENT ON FUNCTION lease_sweep(integer) IS
'Write down which tasks are over; remove history, request ids, floors and marks that are no longer needed, at most so many of each; for the extension''s owner';

-- Views are functions underneath, which read the latest state at every
-- isolation level and show a role what it may observe.
CREATE FUNCTION lease_catalog.status_rows(
	OUT namespace text,
	OUT name text,
	OUT state text,
	OUT owner text,
	OUT fence bigint,
	OUT version bigint,
	OUT granted_at timestamptz,
	OUT renewed_at timestamptz,
	OUT expires_at timestamptz,
	OUT remaining interval,
	OUT ttl interval,
	OUT cancel_deadline timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_status'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.status_rows() IS
'The rows of the view lease_status';

CREATE VIEW lease_status AS SELECT * FROM lease_catalog.status_rows();
COMMENT ON VIEW lease_status IS
'Every lease that the current role may observe, in its state as of now';
GRANT SELECT ON lease_status TO PUBLIC;

CREATE FUNCTION lease_catalog.history_rows(
	OUT namespace text,
	OUT name text,
	OUT owner text,
	OUT fence bigint,
	OUT granted_at timestamptz,
	OUT ended_at timestamptz,
	OUT ended_by text,
	OUT reason text,
	OUT role_name text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_history'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.history_rows() IS
'The rows of the view lease_history';

CREATE VIEW lease_history AS SELECT * FROM lease_catalog.history_rows();
COMMENT ON VIEW lease_history IS
'Every epoch that has ended, of the leases that the current role may observe';
GRANT SELECT ON lease_history TO PUBLIC;

CREATE FUNCTION lease_catalog.intent_rows(
	OUT id bigint,
	OUT at timestamptz,
	OUT role_name text,
	OUT namespace text,
	OUT name text,
	OUT fence bigint,
	OUT intent text,
	OUT reason text,
	OUT detail jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_intents'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.intent_rows() IS
'The rows of the view lease_intents';

CREATE VIEW lease_intents AS SELECT * FROM lease_catalog.intent_rows();
COMMENT ON VIEW lease_intents IS
'What operators wanted, in the namespaces that the current role may observe';
GRANT SELECT ON lease_intents TO PUBLIC;

CREATE FUNCTION lease_catalog.guard_rows(
	OUT target regclass,
	OUT name text,
	OUT name_column name,
	OUT namespace text,
	OUT fence_column name,
	OUT mode text,
	OUT enforcement text,
	OUT replication text,
	OUT open text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_guards'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION lease_catalog.guard_rows() IS
'The rows of the view lease_guards';

CREATE VIEW lease_guards AS SELECT * FROM lease_catalog.guard_rows();
COMMENT ON VIEW lease_guards IS
'Every guarded table, and what stands open in its guard';
GRANT SELECT ON lease_guards TO PUBLIC;

CREATE FUNCTION lease_explain(
	name text,
	namespace text DEFAULT 'default')
RETURNS SETOF text
AS 'MODULE_PATHNAME', 'lease_explain'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION lease_explain(text, text) IS
'A lease in plain sentences: who has it, what may happen next and when, and what is in the way; works on a hot standby';

CREATE FUNCTION lease_check(
	OUT severity text,
	OUT code text,
	OUT object text,
	OUT detail text,
	OUT hint text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'lease_check'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION lease_check() IS
'What is wrong with the leases or threatens to be; no row is healthy';

-- Whatever default privileges say, the tables are nobody's but the owner's, and
-- the functions are everybody's to call: they authorise their caller.  So are the
-- types of their answers, which functions of one's own may return.
DO $$
DECLARE
	grantee text;
BEGIN
	FOR grantee IN
		SELECT DISTINCT pg_catalog.quote_ident(role.rolname)
		FROM (SELECT (pg_catalog.aclexplode(relacl)).grantee, relowner AS owner
			FROM pg_catalog.pg_class
			WHERE relnamespace = 'lease_catalog'::pg_catalog.regnamespace
			UNION ALL
			SELECT (pg_catalog.aclexplode(nspacl)).grantee, nspowner
			FROM pg_catalog.pg_namespace
			WHERE nspname = 'lease_catalog') AS acl
		JOIN pg_catalog.pg_roles AS role ON role.oid = acl.grantee
		WHERE acl.grantee <> acl.owner
	LOOP
		EXECUTE 'REVOKE ALL ON ALL TABLES IN SCHEMA lease_catalog FROM ' || grantee;
		EXECUTE 'REVOKE ALL ON ALL SEQUENCES IN SCHEMA lease_catalog FROM ' || grantee;
		EXECUTE 'REVOKE ALL ON SCHEMA lease_catalog FROM ' || grantee;
	END LOOP;
END
$$;
REVOKE ALL ON ALL TABLES IN SCHEMA lease_catalog FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA lease_catalog FROM PUBLIC;
GRANT USAGE ON TYPE lease_result, lease_task, lease_task_record TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_claim(text, text, interval, uuid, interval, interval, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_takeover(text, text, bigint, interval, uuid, interval, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_renew(text, text, bigint, bigint, interval, jsonb, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_renew_many(text[], text, bigint[], bigint[], interval, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_release(text, text, bigint, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_release_many(text[], text, bigint[], text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_break(text, bigint, text, boolean, text, interval, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_hold(text, text, interval, boolean, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_resume(text, text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_namespace_hold(text, text, interval, boolean) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_namespace_resume(text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_cancel(text, text, interval, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_get(text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_offer(text, jsonb, integer, interval, integer, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_poll(text, integer, interval, interval, uuid, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_complete(text, text, bigint, jsonb, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_fail(text, text, bigint, text, interval, boolean, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_retry(text, text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_task_get(text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_outcomes() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_grant(text, name, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_revoke(text, name, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_namespace_create(text, interval, interval, interval, interval, interval, bigint, boolean, interval, double precision, interval, double precision, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_namespace_alter(text, interval, interval, interval, interval, interval, bigint, boolean, interval, double precision, interval, double precision, integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_namespace_drop(text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_fences_advance(bigint) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_purge(interval, integer, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_sweep(integer) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_catalog.status_rows() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_catalog.history_rows() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_catalog.intent_rows() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_explain(text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_check() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_present(text, text, bigint, boolean, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_present(text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_token(text, text, text, bigint) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_fence_check() TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_guard(regclass, text, name, text, name, text, text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_unguard(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_admit(text, bigint, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_mark_reset(text, bigint, text, text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION lease_catalog.guard_rows() TO PUBLIC;
