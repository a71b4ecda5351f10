-- How the extension comes and goes.
CREATE EXTENSION lease;
SET lease.clock = '1000';
SELECT outcome, fence FROM lease_claim('job', 'A');

-- It can not be moved, nor created twice, nor over a schema that somebody else
-- has made.
\set VERBOSITY sqlstate
ALTER EXTENSION lease SET SCHEMA pg_catalog;
CREATE EXTENSION lease;
DROP EXTENSION lease;
SELECT nspname FROM pg_namespace WHERE nspname = 'lease_catalog';
CREATE SCHEMA lease_catalog;
CREATE EXTENSION lease;
DROP SCHEMA lease_catalog;

-- A plain role can not create it.
CREATE ROLE regress_lease_plain;
SELECT current_database() AS db, current_user AS me \gset
GRANT CREATE ON DATABASE :"db" TO regress_lease_plain;
SET ROLE regress_lease_plain;
CREATE EXTENSION lease;
RESET ROLE;
REVOKE CREATE ON DATABASE :"db" FROM regress_lease_plain;

-- Default privileges open nothing of what it makes, and close none of its functions,
-- views and types.
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO public, regress_lease_plain;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO public, regress_lease_plain;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO public, regress_lease_plain;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM public;
ALTER DEFAULT PRIVILEGES REVOKE USAGE ON TYPES FROM public;
CREATE EXTENSION lease;
SELECT nspname, acl.* FROM pg_namespace, LATERAL aclexplode(nspacl) acl
	WHERE nspname = 'lease_catalog' AND acl.grantee <> nspowner;
SELECT relname, acl.* FROM pg_class, LATERAL aclexplode(relacl) acl
	WHERE relnamespace = 'lease_catalog'::regnamespace AND acl.grantee <> relowner;
SELECT proname FROM pg_proc
	WHERE proname LIKE 'lease\_%' AND NOT has_function_privilege('regress_lease_plain', oid, 'EXECUTE');
SELECT relname FROM pg_class
	WHERE relkind = 'v' AND relname LIKE 'lease\_%' AND NOT has_table_privilege('regress_lease_plain', oid, 'SELECT');
-- Of a type of the answers a role writes functions, and keeps what it was told.
SET ROLE regress_lease_plain;
CREATE FUNCTION pg_temp.answer() RETURNS lease_result LANGUAGE sql AS 'SELECT lease_get(''job'')';
CREATE FUNCTION pg_temp.tasks() RETURNS SETOF lease_task LANGUAGE sql AS 'SELECT lease_poll(''A'')';
CREATE FUNCTION pg_temp.task() RETURNS lease_task_record LANGUAGE sql AS 'SELECT lease_task_get(''job'')';
CREATE TEMP TABLE told OF lease_result;
DROP TABLE told;
DROP FUNCTION pg_temp.answer, pg_temp.tasks, pg_temp.task;
RESET ROLE;
DROP EXTENSION lease;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM public, regress_lease_plain;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM public, regress_lease_plain;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM public, regress_lease_plain;
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO public;
ALTER DEFAULT PRIVILEGES GRANT USAGE ON TYPES TO public;
DROP ROLE regress_lease_plain;

-- Created anew in a session that has used it before: plans that were kept are
-- made again, for the new tables; this time in a schema of one's choice.
CREATE SCHEMA elsewhere;
CREATE EXTENSION lease SCHEMA elsewhere;
\set VERBOSITY default
SELECT outcome, fence FROM elsewhere.lease_claim('job', 'A');
SELECT outcome, version FROM elsewhere.lease_renew('job', 'A', 1);
SELECT outcome, fence FROM elsewhere.lease_release('job', 'A', 1);
SELECT outcome, fence FROM elsewhere.lease_claim('job', 'B');
SET lease.clock = '2000';
SELECT outcome, fence FROM elsewhere.lease_takeover('job', 'C', 2);
SELECT name, state, owner FROM elsewhere.lease_status;
SELECT elsewhere.lease_grant('default', 'public', 'use');
SELECT elsewhere.lease_revoke('default', 'public', 'use');

-- What it made is in its own two schemas, and goes with it.
SELECT DISTINCT identity.schema FROM pg_depend, LATERAL pg_identify_object(classid, objid, 0) identity
	WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'lease')
		AND deptype = 'e' AND identity.schema IS NOT NULL
	ORDER BY 1;
-- A transaction that drops it and fails leaves all as it was.
BEGIN;
DROP EXTENSION lease;
ROLLBACK;
SELECT outcome, version FROM elsewhere.lease_renew('job', 'C', 3);
DROP EXTENSION lease;
DROP SCHEMA elsewhere;
SELECT count(*) AS left_behind FROM pg_proc
	WHERE probin LIKE '%lease%' OR proname LIKE 'lease\_%';

-- The library outlives it in this session, and so do its settings: a prefix of
-- which nobody else may make one up.
\set VERBOSITY sqlstate
SHOW lease.lock_wait;
SET lease.made_up = 'x';
SET lease.lock_wait = '-1';
SET lease.lock_wait = '250 ms';
SHOW lease.lock_wait;
RESET lease.lock_wait;
CREATE FUNCTION without_tables(text, text DEFAULT 'default') RETURNS record AS '$libdir/lease', 'lease_get' LANGUAGE C;
SELECT without_tables('job');
DROP FUNCTION without_tables;
