-- lease_check finds what is wrong with the leases, or threatens to be, and nothing
-- where nothing is.  A finding that the server has anyway, like fsync = off on a
-- server for tests, is none of this file's: findings are compared with those from
-- before.  clock_stepped needs a clock that steps, and is not provoked here.
CREATE ROLE regress_lease_root SUPERUSER;
SET ROLE regress_lease_root;
CREATE EXTENSION lease;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET lease.clock = '1000';
\pset format unaligned
\pset tuples_only on

-- A line a finding, without what differs from server to server.
CREATE FUNCTION findings() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s %s: %s: %s', severity, code, object,
			regexp_replace(regexp_replace(detail, 'OID \d+', 'OID N'), 'is \d+ old, and at \d+', 'is N old, and at N'))
		FROM lease_check() ORDER BY code COLLATE "C", object COLLATE "C", detail COLLATE "C" $$;
-- What is found more after a tampering, which is undone.
CREATE FUNCTION provoked(VARIADIC tampering text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	usual text[] := ARRAY(SELECT findings());
	found text[];
	statement text;
BEGIN
	FOREACH statement IN ARRAY tampering LOOP
		EXECUTE statement;
	END LOOP;
	found := ARRAY(SELECT f FROM findings() f WHERE f <> ALL (usual));
	RAISE EXCEPTION 'undo';
EXCEPTION
	WHEN raise_exception THEN
		RETURN QUERY SELECT * FROM unnest(coalesce(nullif(found, '{}'), ARRAY['nothing']));
END $$;
\set healthy 'SELECT count(*) = 0 AS healthy FROM lease_check() WHERE severity = \'error\' OR code NOT IN (\'clock_replaced\', \'risky_setting\', \'multixact_age\', \'clock_stepped\')'
:healthy;

-- The late heartbeat of the demonstration, which knows nothing of fences: A claims
-- at 1000 for a minute, B takes over at 1070, and at 1075 A's copy is written back
-- over B's epoch.
SELECT outcome, fence, version FROM lease_claim('job', 'A', ttl => '60 s');
SET lease.clock = '1070';
SELECT outcome, fence, version FROM lease_takeover('job', 'B', 1, ttl => '60 s');
:healthy;
SET lease.clock = '1075';
UPDATE lease_catalog.lease SET owner = 'A', fence = 1, version = 1 + 1, granted_at = to_timestamp(1000),
	renewed_at = to_timestamp(1075), expires_at = to_timestamp(1135), ttl = '60 s' WHERE name = 'job';
SELECT outcome, owner, fence FROM lease_get('job');
SELECT severity, code, object, detail, hint FROM lease_check() WHERE severity = 'error';
-- Mended as the hint says, no fence is granted twice.
SELECT outcome FROM lease_break('job', 1, 'written over');
SELECT lease_fences_advance(2);
:healthy;
SELECT outcome, fence FROM lease_claim('job', 'C', ttl => '1 h');
:healthy;

-- Nothing is wrong after whatever the verbs can do.
SET lease.clock = '2000';
SELECT lease_namespace_create('tenant', grace => '10 s', max_hold => '2 min');
CREATE ROLE regress_lease_worker;
SELECT lease_grant('default', 'regress_lease_worker', 'use'), lease_grant('tenant', 'public', 'observe');
SELECT outcome FROM lease_claim('held', 'A', ttl => '1 h', request_id => 'aaaaaaaa-0000-0000-0000-000000000001');
SELECT outcome FROM lease_claim('lapsed', 'A', ttl => '1 s');
SELECT outcome FROM lease_claim('released', 'A', hold_at_least => '10 s');
SELECT outcome FROM lease_claim('broken', 'A');
SELECT outcome FROM lease_claim('purged', 'A', ttl => '1 s', request_id => 'aaaaaaaa-0000-0000-0000-000000000002');
SELECT outcome FROM lease_claim('held', 'A', namespace => 'tenant');
SET lease.clock = '2010';
SELECT outcome FROM lease_renew('held', 'A', 3);
SELECT outcome FROM lease_renew('held', 'A', 3, namespace => 'tenant');
SELECT outcome FROM lease_release('released', 'A', 3);
SELECT outcome FROM lease_break('broken', 3, 'why');
SELECT outcome FROM lease_takeover('lapsed', 'B', 3, ttl => '1 s');
SET lease.clock = '3000';
SELECT outcome FROM lease_release('lapsed', 'B', 4);
DELETE FROM lease_catalog.lease WHERE name = 'purged';
SELECT outcome, fence FROM lease_claim('purged', 'A', ttl => '1 h');
SELECT lease_fences_advance(10);
SELECT outcome, fence FROM lease_claim('released', 'B', ttl => '1 h');
SELECT outcome, fence FROM lease_claim('held', 'B', namespace => 'tenant');
SELECT outcome, fence FROM lease_release('released', 'B', 11);
:healthy;

-- Other fences that fell: below an epoch that has ended, whatever became of the
-- one on record; below what a request was granted, also where no history is kept.
SELECT provoked('UPDATE lease_catalog.lease SET fence = 1 WHERE name = ''released''');
SELECT provoked('UPDATE lease_catalog.lease SET fence = 2, ended_by = NULL, ended_at = NULL WHERE name = ''released''');
SELECT provoked('UPDATE lease_catalog.lease SET ended_by = NULL, ended_at = NULL WHERE name = ''released''');
SELECT provoked('UPDATE lease_catalog.lease SET fence = 0 WHERE name = ''held'' AND namespace = ''default''');
SELECT provoked('UPDATE lease_catalog.lease SET fence = 7 WHERE name = ''held'' AND namespace = ''default''');

-- A fence under a floor that was raised well before its grant.  One that was
-- raised about then may not have been there to be seen.
SELECT provoked('INSERT INTO lease_catalog.floor VALUES (''tenant'', 20, to_timestamp(1000))');
SELECT provoked('INSERT INTO lease_catalog.floor VALUES ('''', 11, to_timestamp(2399.999999))');
SELECT provoked('INSERT INTO lease_catalog.floor VALUES ('''', 11, to_timestamp(2400))');
SELECT provoked('INSERT INTO lease_catalog.floor VALUES (''default'', 10, to_timestamp(2000))');
SELECT provoked('INSERT INTO lease_catalog.floor VALUES (''elsewhere'', 100, to_timestamp(1000))');

-- A promise that no verb made, of an epoch that has not ended.
SELECT provoked('UPDATE lease_catalog.lease SET expires_at = expires_at + ''1 us'' WHERE name = ''job''');
SELECT provoked('UPDATE lease_catalog.lease SET ttl = ttl - ''1 us''::interval WHERE name = ''job''');
SELECT provoked('UPDATE lease_catalog.lease SET expires_at = ''294276-12-31'', ttl = ''36500000 days'' WHERE name = ''job''');
SELECT provoked('UPDATE lease_catalog.lease SET granted_at = ''294276-12-31'' WHERE name = ''job''');
SELECT provoked('UPDATE lease_catalog.lease SET expires_at = ''4713-01-01 BC'' WHERE name = ''job''');
SELECT provoked('UPDATE lease_catalog.floor SET at = ''294276-12-31''');
SELECT provoked('UPDATE lease_catalog.lease SET expires_at = expires_at + ''1 day'' WHERE name = ''released''');

-- A lease of no namespace.
SELECT provoked('UPDATE lease_catalog.lease SET namespace = ''gone'' WHERE name = ''job''');
SELECT provoked('DELETE FROM lease_catalog.namespace');

-- Half a state, where a constraint is gone: each fault that it forbids.
BEGIN;
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/damage.psql'
\i :prologue
\set ECHO all
SELECT victim, assignment, found
	FROM damage d LEFT JOIN LATERAL provoked(pg_temp.opening(d), pg_temp.damaging(d)) found ON found !~ 'constraint_missing';
ROLLBACK;
SELECT column_name, provoked(format('ALTER TABLE lease_catalog.lease DROP CONSTRAINT lease_pkey, ALTER %s DROP NOT NULL', column_name),
		format('UPDATE lease_catalog.lease SET %s = NULL WHERE name = ''job''', column_name))
	FROM unnest(ARRAY['name', 'namespace']) column_name;
-- Instants out of order need no constraint to be gone.
SELECT provoked('UPDATE lease_catalog.lease SET renewed_at = granted_at - ''1 us''::interval WHERE name = ''job''');
SELECT provoked('UPDATE lease_catalog.lease SET expires_at = renewed_at WHERE name = ''job''');
-- Two rows of one name.
SELECT provoked('ALTER TABLE lease_catalog.lease DROP CONSTRAINT lease_pkey',
	'INSERT INTO lease_catalog.lease SELECT * FROM lease_catalog.lease WHERE name IN (''job'', ''held'')',
	'INSERT INTO lease_catalog.lease SELECT * FROM lease_catalog.lease WHERE name = ''job''');

-- Every constraint, index and trigger that there is, missing or not what it was.
SELECT provoked(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname))
	FROM pg_constraint WHERE connamespace = 'lease_catalog'::regnamespace AND contype = 'c' ORDER BY conrelid::regclass::text COLLATE "C", conname COLLATE "C";
SELECT provoked(format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
		format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', conrelid::regclass, conname, pg_get_constraintdef(oid)))
	FROM pg_constraint WHERE connamespace = 'lease_catalog'::regnamespace AND contype = 'c' ORDER BY conrelid::regclass::text COLLATE "C", conname COLLATE "C" LIMIT 1;
SELECT provoked(CASE WHEN indisprimary THEN format('ALTER TABLE %s DROP CONSTRAINT %I', indrelid::regclass, relname) ELSE format('DROP INDEX %s', indexrelid::regclass) END)
	FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = 'lease_catalog'::regnamespace ORDER BY relname COLLATE "C";
SELECT provoked(format('UPDATE pg_index SET %s = false WHERE indexrelid = %L::regclass', flag, index))
	FROM unnest(ARRAY['indisvalid', 'indisready', 'indislive']) flag, unnest(ARRAY['lease_catalog.lease_pkey', 'lease_catalog.history_ended_at']) index;
SELECT ddl, provoked(format('ALTER TABLE %s %s TRIGGER %I', tgrelid::regclass, ddl, tgname))
	FROM pg_trigger, unnest(ARRAY['DISABLE', 'ENABLE', 'ENABLE REPLICA', 'ENABLE ALWAYS']) ddl
	WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'lease_catalog'::regnamespace) AND NOT tgisinternal ORDER BY tgname, ddl COLLATE "C";
SELECT provoked('DROP TRIGGER keep_floor ON lease_catalog.lease');
SELECT provoked('DROP TRIGGER keep_floor ON lease_catalog.lease',
	'CREATE FUNCTION impostor() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NULL; END''',
	'CREATE TRIGGER keep_floor AFTER DELETE ON lease_catalog.lease FOR EACH ROW EXECUTE FUNCTION impostor()',
	'ALTER TABLE lease_catalog.lease ENABLE ALWAYS TRIGGER keep_floor');
SELECT provoked('ALTER TABLE lease_catalog.lease DISABLE TRIGGER ALL');
SELECT provoked('ALTER TABLE lease_catalog.lease RENAME CONSTRAINT lease_pkey TO renamed');

-- What is to be done about each, and why; done as the hint says, it is well again.
BEGIN;
ALTER TABLE lease_catalog.lease DISABLE TRIGGER ALL;
ALTER TABLE lease_catalog.namespace DISABLE TRIGGER ALL;
ALTER TABLE lease_catalog.privilege DISABLE TRIGGER ALL;
SELECT object, hint FROM lease_check() WHERE severity = 'error' ORDER BY object COLLATE "C";
\set mend 'SELECT substring(hint FROM \'ALTER TABLE .* ENABLE ALWAYS TRIGGER [a-z_]+\') FROM lease_check() WHERE severity = \'error\' ORDER BY object COLLATE "C" \\gexec'
:mend
:healthy;
DROP TRIGGER keep_floor ON lease_catalog.lease;
DROP TRIGGER forget_namespaces_truncate ON lease_catalog.namespace;
DROP TRIGGER forget_privileges_truncate ON lease_catalog.privilege;
SELECT object, hint FROM lease_check() WHERE severity = 'error' ORDER BY object COLLATE "C";
CREATE TRIGGER keep_floor
	AFTER DELETE OR UPDATE OF namespace, name ON lease_catalog.lease
	FOR EACH ROW EXECUTE FUNCTION lease_catalog.keep_floor();
CREATE TRIGGER forget_namespaces_truncate
	AFTER TRUNCATE ON lease_catalog.namespace
	FOR EACH STATEMENT EXECUTE FUNCTION lease_catalog.forget_namespaces();
CREATE TRIGGER forget_privileges_truncate
	AFTER TRUNCATE ON lease_catalog.privilege
	FOR EACH STATEMENT EXECUTE FUNCTION lease_catalog.forget_privileges();
:mend
:healthy;
-- What sessions remember is behind without them, and is not once they are there.
ALTER TABLE lease_catalog.namespace DISABLE TRIGGER ALL;
ALTER TABLE lease_catalog.privilege DISABLE TRIGGER ALL;
\set look 'SELECT c.ttl, g.outcome FROM lease_claim(clock_timestamp()::text, \'A\', namespace => \'tenant\') c, lease_get(c.name, \'tenant\') g'
SELECT lease_grant('tenant', 'regress_lease_worker', 'use');
SET LOCAL ROLE regress_lease_worker;
:look;
SET LOCAL ROLE regress_lease_root;
SELECT lease_namespace_alter('tenant', default_ttl => '5 s'), lease_revoke('tenant', 'regress_lease_worker', 'use');
SET LOCAL ROLE regress_lease_worker;
:look;
SET LOCAL ROLE regress_lease_root;
:mend
:look;
SET LOCAL ROLE regress_lease_worker;
:look;
ROLLBACK;

-- Nobody but the owner is granted anything, on a table, a column, a sequence or the
-- schema; and what a crash empties keeps no promise.  Mended as the hint says.
CREATE ROLE "regress lease 'grantee'";
SELECT provoked(g, 'SET LOCAL ROLE regress_lease_root') FROM unnest(ARRAY[
	'GRANT SELECT, DELETE ON lease_catalog.lease TO "regress lease ''grantee''"',
	'GRANT SELECT ON lease_catalog.floor TO public',
	'GRANT UPDATE (fence, version) ON lease_catalog.lease TO "regress lease ''grantee''"',
	'GRANT USAGE ON SEQUENCE lease_catalog.intent_id_seq TO "regress lease ''grantee''"',
	'GRANT CREATE ON SCHEMA lease_catalog TO "regress lease ''grantee''"',
	'GRANT ALL ON lease_catalog.lease TO regress_lease_root']) g;
SELECT provoked(format('ALTER TABLE %s SET UNLOGGED', oid::regclass)) FROM pg_class
	WHERE relnamespace = 'lease_catalog'::regnamespace AND relkind = 'r' ORDER BY relname COLLATE "C";
BEGIN;
GRANT SELECT ON lease_catalog.lease TO "regress lease 'grantee'" WITH GRANT OPTION;
GRANT UPDATE (fence) ON lease_catalog.lease TO public;
GRANT CREATE ON SCHEMA lease_catalog TO "regress lease 'grantee'";
GRANT USAGE ON SEQUENCE lease_catalog.intent_id_seq TO public;
ALTER TABLE lease_catalog.mark SET UNLOGGED;
SELECT code, object, hint FROM lease_check() WHERE severity = 'error' ORDER BY code, object COLLATE "C";
SELECT substring(hint FROM '(REVOKE ALL .* CASCADE|ALTER TABLE .* SET LOGGED)\.') FROM lease_check() WHERE severity = 'error' \gexec
:healthy;
ROLLBACK;

-- The clock: set back, by more than the tolerance; replaced, here and for sessions
-- to come.
SELECT provoked('SET LOCAL lease.clock = ''2999''');
SELECT provoked('SET LOCAL lease.clock = ''2998.999999''');
SELECT provoked('SET LOCAL lease.clock = ''1000''');
SELECT provoked('SET LOCAL lease.clock = ''3000.5''');
RESET lease.clock;
SELECT provoked('SET LOCAL lease.clock = ''1970-01-02 00:00:00+00''');
CREATE ROLE "regress lease ""clock""";
SELECT replace(provoked(s), current_database(), 'this') FROM (
	SELECT format(f, '"regress lease ""clock"""', current_database()) AS s FROM unnest(ARRAY[
		'ALTER ROLE %1$s SET lease.clock = ''1000''',
		'ALTER ROLE %1$s SET "LEASE.Clock" = ''1000''',
		'ALTER ROLE %1$s SET lease.clock = ''''',
		'ALTER ROLE %1$s SET lease.max_ttl = ''1 d''',
		'ALTER ROLE %1$s IN DATABASE %2$I SET lease.clock = ''1000''',
		'ALTER ROLE ALL SET lease.clock = ''1000''',
		'ALTER DATABASE %2$I SET lease.clock = ''1000''']) f) s;

-- Settings that lose what was answered.
SELECT provoked('SET LOCAL zero_damaged_pages = on');

-- Functions that a call may be led to.
CREATE SCHEMA regress_lease_planted;
SELECT provoked('CREATE FUNCTION regress_lease_planted.lease_get(name text, namespace text DEFAULT ''default'') RETURNS text LANGUAGE sql AS ''SELECT name''');
SELECT provoked('CREATE FUNCTION lease_get(varchar) RETURNS varchar LANGUAGE sql AS ''SELECT $1''', 'CREATE PROCEDURE lease_other() LANGUAGE sql AS ''''',
	'CREATE FUNCTION leases() RETURNS int LANGUAGE sql AS ''SELECT 1''');
SELECT provoked('ALTER EXTENSION lease DROP FUNCTION lease_get(text, text)');
DROP SCHEMA regress_lease_planted;

-- Multixacts of the lease table half as old as may be, and a little older.
\set half 'current_setting(\'autovacuum_multixact_freeze_max_age\')::bigint / 2'
\set next 'mxid_age(\'1\')::bigint + 1'
SELECT provoked(format('UPDATE pg_class SET relminmxid = %L WHERE oid = ''lease_catalog.lease''::regclass', (:next - :half) & 4294967295));
SELECT provoked(format('UPDATE pg_class SET relminmxid = %L WHERE oid = ''lease_catalog.lease''::regclass', (:next - :half - 1) & 4294967295));

-- Grants that give nothing.
SELECT provoked('DROP ROLE regress_lease_worker');
SELECT provoked('ALTER ROLE regress_lease_worker RENAME TO regress_lease_renamed');
SELECT provoked('DROP ROLE regress_lease_worker', 'CREATE ROLE regress_lease_worker');
SELECT provoked('UPDATE lease_catalog.privilege SET role_oid = 10 WHERE role_name = ''public''');
SELECT provoked('DROP ROLE regress_lease_worker', 'SELECT lease_revoke(''default'', ''regress_lease_worker'', ''use'')');

-- It looks where nothing may be written, and whatever the caller has set.
BEGIN READ ONLY;
:healthy;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
:healthy;
SET LOCAL lease.clock = '1';
SELECT provoked('UPDATE lease_catalog.lease SET fence = 0 WHERE name = ''job''');
SET LOCAL search_path = '';
SET LOCAL enable_seqscan = off;
SET LOCAL transform_null_equals = on;
SET LOCAL IntervalStyle = 'iso_8601';
SELECT code FROM public.lease_check() WHERE code = 'clock_set_back';
COMMIT;

-- Who is shown what.  Two leases are damaged, in two namespaces, and a grant.
CREATE ROLE regress_lease_stranger;
CREATE ROLE regress_lease_observer;
CREATE ROLE regress_lease_monitor;
CREATE ROLE regress_lease_both;
CREATE ROLE regress_lease_inert;
GRANT pg_monitor TO regress_lease_monitor, regress_lease_both;
SELECT lease_revoke('tenant', 'public', 'observe'), lease_grant('tenant', 'regress_lease_observer', 'observe'), lease_grant('tenant', 'regress_lease_both', 'operate');
SELECT lease_grant('tenant', 'regress_lease_inert', 'use');
DROP ROLE regress_lease_inert;
UPDATE lease_catalog.lease SET fence = 0, owner = 'secret owner', granted_at = granted_at - interval '20 s' WHERE name = 'held' OR name = 'released';
SET lease.clock = '2990';
\set shown 'SELECT code, object FROM lease_check() WHERE code NOT IN (\'risky_setting\', \'multixact_age\', \'clock_stepped\') ORDER BY code COLLATE "C", object COLLATE "C"'
:shown;
SET ROLE regress_lease_observer;
:shown;
-- As many leases are ahead of the clock as he may see.
SELECT detail FROM lease_check() WHERE code = 'clock_set_back';
SET ROLE regress_lease_monitor;
:shown;
SELECT detail FROM lease_check() WHERE code = 'clock_set_back';
SELECT count(*) AS secrets FROM lease_check() c WHERE c::text ~ 'secret|held|released|fence_';
SET ROLE regress_lease_both;
:shown;
\set VERBOSITY terse
SET ROLE regress_lease_worker;
SELECT * FROM lease_check();
\set VERBOSITY default
SET ROLE regress_lease_stranger;
SELECT * FROM lease_check();

SET ROLE regress_lease_root;
SET client_min_messages = error;
DROP EXTENSION lease;
DROP FUNCTION findings, provoked;
DROP ROLE regress_lease_worker, regress_lease_stranger, regress_lease_observer, regress_lease_monitor, regress_lease_both, "regress lease ""clock""", "regress lease 'grantee'";
RESET ROLE;
DROP ROLE regress_lease_root;
