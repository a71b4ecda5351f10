-- What a caller plants where names are looked up is never run or read by the
-- extension, which acts as its owner while it writes.  Every operator and every
-- function of pg_catalog over the types that the tables have gets a twin in the
-- caller's schema, in front of pg_catalog, which tells on whoever runs it; so do
-- the names of the extension's own tables, types and functions, and some of the
-- system catalogues', in pg_temp.
CREATE EXTENSION lease;
CREATE ROLE regress_lease_planter;
SELECT lease_grant('default', 'regress_lease_planter', 'operate');
CREATE SCHEMA planted AUTHORIZATION regress_lease_planter;
SET ROLE regress_lease_planter;

CREATE FUNCTION planted.told(what text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
	RAISE WARNING '% ran as %', what, CASE WHEN current_user = 'regress_lease_planter' THEN 'its planter' ELSE 'the owner' END;
END $$;
DO $$
DECLARE
	types CONSTANT oid[] := '{text, bigint, int, boolean, timestamptz, interval, tid, name, oid, uuid, jsonb}'::regtype[]::oid[];
	f record;
BEGIN
	FOR f IN
		SELECT p.oid, p.proname, p.proargtypes, p.prorettype, o.oprname, o.oprleft, o.oprright
			FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_operator o ON o.oprcode = p.oid
			WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
				AND p.provariadic = 0 AND p.prorettype = ANY (types) AND p.proargtypes::oid[] <@ types
	LOOP
		EXECUTE pg_catalog.format('CREATE OR REPLACE FUNCTION planted.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
			f.proname, pg_catalog.oidvectortypes(f.proargtypes), f.prorettype::regtype,
			pg_catalog.format('BEGIN PERFORM planted.told(%L); RETURN NULL; END', f.oid::regprocedure));
		IF f.oprname IS NOT NULL THEN
			EXECUTE pg_catalog.format('CREATE OPERATOR planted.%s (FUNCTION = planted.%I, %s RIGHTARG = %s)',
				f.oprname, f.proname,
				CASE WHEN f.oprleft <> 0 THEN 'LEFTARG = ' || f.oprleft::regtype || ',' END, f.oprright::regtype);
		END IF;
	END LOOP;
END $$;
SELECT count(*) > 100 AS operators FROM pg_operator WHERE oprnamespace = 'planted'::regnamespace;
SELECT count(*) > 500 AS functions FROM pg_proc WHERE pronamespace = 'planted'::regnamespace;

-- The trap works: where the path decides, it is sprung.
SET search_path = planted, pg_catalog, public;
SELECT 'a'::text = 'b'::text AS compared;
SELECT lower('A'::text) AS lowered;
RESET search_path;

-- Tables to be guarded, of the planter's own.
SET search_path = public;
RESET ROLE;
GRANT CREATE ON SCHEMA public TO regress_lease_planter;
SET ROLE regress_lease_planter;
CREATE TABLE guarded (name text, fence bigint);
CREATE TABLE guarded_all (name text);
RESET search_path;

-- Twins by name: tables, types, and views in pg_temp, which is searched first.
CREATE TEMP TABLE lease (namespace text, name text, owner text DEFAULT 'planted');
CREATE TEMP TABLE privilege (namespace text, role_name text, role_oid bigint, privilege text);
INSERT INTO privilege VALUES ('default', 'public', 0, 'operate');
CREATE TEMP TABLE lease_catalog (name text);
CREATE TEMP TABLE mark (namespace text, name text, fence bigint, at timestamptz);
INSERT INTO mark VALUES ('default', 'guard', 99), ('default', 'other', 99);
CREATE TEMP TABLE pg_trigger AS SELECT * FROM pg_catalog.pg_trigger LIMIT 0;
CREATE TEMP TABLE pg_class AS SELECT * FROM pg_catalog.pg_class LIMIT 0;
CREATE TEMP TABLE pg_namespace AS SELECT * FROM pg_catalog.pg_namespace LIMIT 0;
CREATE TEMP TABLE pg_proc AS SELECT * FROM pg_catalog.pg_proc LIMIT 0;
CREATE TEMP TABLE pg_authid (rolname name, rolsuper boolean);
CREATE TEMP VIEW lease_status AS SELECT 'planted'::text AS name;
CREATE TYPE pg_temp.lease_result AS (planted text);
CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (false);
CREATE DOMAIN pg_temp.interval AS pg_catalog.interval CHECK (false);
CREATE FUNCTION pg_temp.status() RETURNS text LANGUAGE sql AS 'SELECT ''planted''';

-- Every statement that the extension has, in this order: plans made under a clean
-- path, the same plans under the planted one, after they were thrown away and
-- had to be made again there, and after a change to the table invalidated them.
RESET ROLE;
\set holder 'SELECT c.outcome, w.outcome, s.outcome, e.outcome, a.outcome, g.outcome FROM public.lease_claim(\'job\', \'A\', request_id => \'00000000-0000-0000-0000-000000000001\') c, LATERAL public.lease_renew(c.name, \'A\', c.fence) w, LATERAL public.lease_renew(w.name, \'B\', w.fence) s, LATERAL public.lease_release(s.name, \'A\', s.fence) e, LATERAL public.lease_claim(e.name, \'B\') a, LATERAL public.lease_get(a.name) g;'
\set lapsed 'SELECT t.outcome, e.outcome FROM public.lease_takeover(\'lapsed\', \'B\', 1) t, LATERAL public.lease_release(t.name, \'B\', t.fence) e;'
\set rebase 'SELECT outcome FROM public.lease_claim(\'set back\', \'B\');'
\set operator 'SELECT outcome FROM public.lease_retry(\'work\'); SELECT outcome FROM public.lease_break(\'set back\', 1, \'why\', new_owner => \'C\'); SELECT outcome FROM public.lease_hold(\'set back\', \'why\'); SELECT outcome FROM public.lease_hold(\'held anew\', \'why\', until => \'1 s\'); SELECT outcome FROM public.lease_cancel(\'set back\', \'why\'); SELECT outcome FROM public.lease_resume(\'set back\'); SELECT outcome FROM public.lease_namespace_hold(\'default\', \'why\'); SELECT outcome FROM public.lease_namespace_resume(\'default\'); SELECT public.lease_purge(\'1 s\') AS purged;'
\set task 'SELECT o.outcome, p.outcome, r.outcome, f.outcome, p.payload FROM public.lease_offer(\'work\', \'{}\') o, LATERAL public.lease_poll(\'A\', request_id => \'00000000-0000-0000-0000-000000000002\') p, LATERAL public.lease_renew(p.name, \'A\', p.fence, checkpoint => \'1\') r, LATERAL public.lease_fail(r.name, \'A\', r.fence, \'why\', retry_in => \'0\') f; SELECT c.outcome, g.checkpoint, g.last_error FROM public.lease_claim(\'work\', \'A\') a, LATERAL public.lease_complete(a.name, \'A\', a.fence, \'2\') c, LATERAL public.lease_task_get(c.name) g; SELECT outcome FROM public.lease_poll(\'A\', request_id => \'00000000-0000-0000-0000-000000000002\');'
\set guards 'SELECT public.lease_guard(\'public.guarded\', name_column => \'name\', fence_column => \'fence\', mode => m), public.lease_guard(\'public.guarded_all\', \'job\', mode => m) FROM unnest(\'{high_water,both}\'::pg_catalog.text[]) m; SELECT t.outcome, p.outcome, a.outcome FROM public.lease_claim(\'guard\', \'A\') c, LATERAL public.lease_present(public.lease_token(c.namespace, c.name, \'A\', c.fence)) t, LATERAL public.lease_present(\'guard\', \'A\', c.fence) p, LATERAL public.lease_admit(\'other\', c.fence) a; INSERT INTO public.guarded VALUES (\'guard\') RETURNING fence; UPDATE public.guarded SET fence = NULL; DELETE FROM public.guarded; SELECT public.lease_mark_reset(\'other\', 3, \'why\'); SELECT target, name, name_column, open FROM public.lease_guards; SELECT public.lease_unguard(\'public.guarded\'), public.lease_unguard(\'public.guarded_all\');'
\set verbs :holder ' ' :lapsed ' ' :rebase ' ' :task ' ' :operator ' ' :guards
\set owner 'SELECT public.lease_grant(\'default\', \'public\', \'use\'), public.lease_revoke(\'default\', \'public\', \'use\'), public.lease_namespace_create(\'made\'), public.lease_namespace_alter(\'made\', grace => \'1 s\'), public.lease_namespace_drop(\'made\'), public.lease_fences_advance(1); SELECT what FROM public.lease_sweep(); DELETE FROM lease_catalog.lease; TRUNCATE lease_catalog.lease;'
SET lease.clock = '1000';
SELECT outcome FROM lease_claim('lapsed', 'A', ttl => '1 s');
SELECT r.outcome FROM lease_claim('idle', 'A') c, LATERAL lease_release('idle', 'A', c.fence) r;
SET lease.clock = '100000';
SELECT outcome FROM lease_claim('set back', 'A', ttl => '60 s');
SET lease.clock = '2000';
BEGIN; :verbs :owner ROLLBACK;

SET search_path = pg_temp, planted, pg_catalog;
BEGIN; :verbs :owner ROLLBACK;
DISCARD PLANS;
BEGIN; :verbs :owner ROLLBACK;
ALTER TABLE lease_catalog.lease SET (autovacuum_enabled = true);
ALTER TABLE lease_catalog.privilege SET (autovacuum_enabled = true);
BEGIN; :verbs :owner ROLLBACK;

-- So for the planter himself, from whom the identity has to be changed.
SET ROLE regress_lease_planter;
BEGIN; :verbs ROLLBACK;
DISCARD PLANS;
BEGIN; :verbs ROLLBACK;
SELECT name, state, owner FROM public.lease_status;
RESET ROLE;

-- A session whose first calls are made under the planted path.
\c -
SET lease.clock = '2000';
SET ROLE regress_lease_planter;
SET search_path = planted, pg_catalog;
BEGIN; :verbs ROLLBACK;
SELECT name, state, owner FROM public.lease_status;
RESET ROLE;
BEGIN; :owner ROLLBACK;

-- The path is the caller's again after a verb, and after an error inside one.
RESET search_path;
UPDATE lease_catalog.lease SET version = 9223372036854775807 WHERE name = 'lapsed';
SET search_path = planted, pg_catalog;
SHOW search_path;
SELECT 'a'::text = 'b'::text AS compared;
BEGIN;
SAVEPOINT s;
SELECT outcome FROM public.lease_takeover('lapsed', 'B', 1);
ROLLBACK TO s;
SELECT 'a'::text = 'b'::text AS compared;
ROLLBACK;

-- What a caller sets for his planner changes no answer.
RESET search_path;
UPDATE lease_catalog.lease SET version = 1 WHERE name = 'lapsed';
SET enable_tidscan = off;
SET enable_indexscan = off;
SET enable_seqscan = off;
SET plan_cache_mode = force_custom_plan;
SET default_table_access_method = 'heap';
SET row_security = off;
SET quote_all_identifiers = on;
SET transform_null_equals = on;
BEGIN; :verbs :owner ROLLBACK;

\set VERBOSITY terse
SET client_min_messages = error;
DROP SCHEMA planted CASCADE;
DROP TABLE guarded, guarded_all;
REVOKE CREATE ON SCHEMA public FROM regress_lease_planter;
DROP EXTENSION lease;
DROP ROLE regress_lease_planter;
