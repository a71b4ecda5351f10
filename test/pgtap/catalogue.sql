-- The catalogue: what CREATE EXTENSION makes, and under which promises.  Most of
-- it is told as a rule over everything that belongs to the extension, so that
-- what is added later has to keep to it.
BEGIN;
CREATE EXTENSION pgtap;
CREATE EXTENSION lease;
SELECT no_plan();

CREATE TEMP VIEW members AS
	SELECT d.classid, d.objid, i.type, i.schema, i.name, i.identity
		FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid, LATERAL pg_identify_object(d.classid, d.objid, 0) i
		WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'lease';
CREATE TEMP VIEW functions AS
	SELECT p.*, p.oid::regprocedure::text AS signature, proargnames[:pronargs] AS arguments
		FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid;
CREATE TEMP VIEW relations AS
	SELECT c.*, c.oid::regclass::text AS signature FROM pg_class c JOIN members m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid;

-- The extension itself.
SELECT results_eq(
	$$SELECT extrelocatable FROM pg_extension WHERE extname = 'lease'$$, ARRAY[false], 'it can not be relocated');
SELECT results_eq(
	$$SELECT DISTINCT superuser, trusted, schema::text FROM pg_available_extension_versions WHERE name = 'lease'$$,
	$$VALUES (true, false, NULL::text)$$, 'only a superuser creates it, in a schema that CREATE EXTENSION names');
SELECT bag_eq(
	$$SELECT DISTINCT classid::regclass::text FROM members$$,
	ARRAY['pg_namespace', 'pg_type', 'pg_class', 'pg_proc'], 'it makes a schema, types, relations and functions, and nothing else');
SELECT is_empty(
	$$SELECT identity FROM members WHERE coalesce(schema, name) NOT IN ('public', 'lease_catalog')$$, 'all in two schemas');
SELECT is_empty(
	$$SELECT identity FROM members WHERE schema = 'public' AND name !~ '^_?lease_[a-z_]+$'$$, 'what is not in lease_catalog is called lease_...');
SELECT is_empty(
	$$SELECT signature FROM relations WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('v', 'c')$$, 'all tables are in lease_catalog');

-- Functions.
SELECT is_empty(
	$$SELECT signature, provolatile, proparallel FROM functions WHERE proname NOT IN ('lease_outcomes', 'lease_token') AND (provolatile, proparallel) <> ('v', 'u')$$,
	'functions are volatile and stay out of parallel workers');
SELECT bag_eq(
	$$SELECT proname::text, provolatile::text, proparallel::text FROM functions WHERE proname IN ('lease_outcomes', 'lease_token')$$,
	$$VALUES ('lease_outcomes', 'i', 's'), ('lease_token', 's', 's')$$,
	'but for lease_outcomes(), which is a constant, and lease_token(), which looks at nothing but the encoding');
SELECT is_empty($$SELECT signature FROM functions WHERE proisstrict AND pronargs > 0$$, 'none answers NULL to NULL');
SELECT is_empty($$SELECT signature FROM functions WHERE prosecdef$$, 'none is SECURITY DEFINER');
SELECT is_empty($$SELECT signature FROM functions WHERE proconfig IS NOT NULL$$, 'none has a setting of its own');
SELECT is_empty($$SELECT signature FROM functions WHERE proleakproof$$, 'none is leakproof');
SELECT is_empty(
	$$SELECT signature FROM functions WHERE NOT has_function_privilege('public', oid, 'EXECUTE')$$, 'all can be called by PUBLIC: they authorise themselves');
SELECT is_empty(
	$$SELECT signature FROM functions WHERE prolang <> (SELECT oid FROM pg_language WHERE lanname = 'c')
		OR pronamespace = 'public'::regnamespace AND prosrc <> CASE WHEN arguments = '{token}' THEN proname || '_text' ELSE proname END$$,
	'all are in C, under the SQL name, but for the one that takes a token''s text');
SELECT bag_eq(
	$$SELECT signature FROM functions WHERE proname IN (SELECT proname FROM functions GROUP BY proname HAVING count(*) > 1)$$,
	ARRAY['lease_present(text)', 'lease_present(text,text,bigint,boolean,text)'], 'none is overloaded, but lease_present: a token, or what it is made of');
SELECT bag_eq(
	$$SELECT signature FROM functions WHERE prorettype = 'trigger'::regtype$$,
	ARRAY['lease_fence_check()', 'lease_catalog.keep_floor()', 'lease_catalog.forget_privileges()', 'lease_catalog.forget_namespaces()'], 'of those for triggers one is for the tables of users, the others for our own');
SELECT is_empty(
	$$SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger JOIN relations c ON c.oid = tgrelid WHERE NOT tgisinternal AND tgenabled <> 'A'$$,
	'and on our own they always fire');
SELECT is_empty(
	$$SELECT signature FROM functions WHERE pronargs > 0 AND (arguments IS NULL OR '' = ANY (arguments))$$, 'every argument has a name');
SELECT is_empty(
	$$SELECT signature FROM functions, unnest(proargtypes) t
		WHERE t IN ('date'::regtype, 'time'::regtype, 'timetz'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)$$,
	'none takes an instant: durations only, judged by the server''s clock');
SELECT is_empty(
	$$SELECT signature, pg_get_function_arguments(oid) FROM functions
		WHERE arguments && '{name, resource}' AND proname NOT IN ('lease_guard', 'lease_token')
			AND regexp_replace(pg_get_function_arguments(oid), ', OUT .*', '') !~ 'namespace text DEFAULT ''default''::text$'$$,
	'every function on a name or resource ends with its namespace, by default ''default''; a token''s begins with it, a guard has more to say');
SELECT ok(
	(SELECT pg_get_function_arguments(oid) LIKE '%, namespace text DEFAULT ''default''::text, %' FROM functions WHERE proname = 'lease_guard'), 'a guard''s namespace has that default too');
SELECT is_empty(
	$$SELECT signature FROM functions WHERE obj_description(oid, 'pg_proc') IS NULL$$, 'every function has a comment');
SELECT is_empty(
	$$SELECT DISTINCT verb FROM lease_outcomes() EXCEPT SELECT proname FROM functions$$, 'every verb that has outcomes is a function');
SELECT is_empty(
	$$SELECT regexp_replace(proname, '_many$', '') FROM functions WHERE prorettype = 'lease_result'::regtype EXCEPT SELECT verb FROM lease_outcomes()$$,
	'every function that answers with an outcome has its own listed');

-- Types and views, in the order of their columns.
CREATE FUNCTION pg_temp.columns(relation regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped $$;
SELECT is(replace(pg_temp.columns('lease_result'), 'timestamp with time zone', 'timestamptz'),
	'ok boolean, outcome text, namespace text, name text, owner text, fence bigint, version bigint, '
	'expires_at timestamptz, remaining interval, ttl interval, server_time timestamptz, cancel_deadline timestamptz', 'lease_result');
SELECT is(replace(pg_temp.columns('lease_status'), 'timestamp with time zone', 'timestamptz'),
	'namespace text, name text, state text, owner text, fence bigint, version bigint, granted_at timestamptz, '
	'renewed_at timestamptz, expires_at timestamptz, remaining interval, ttl interval, cancel_deadline timestamptz', 'lease_status');
SELECT is(pg_temp.columns('lease_guards'),
	'target regclass, name text, name_column name, namespace text, fence_column name, mode text, enforcement text, replication text, open text[]', 'lease_guards');
SELECT is_empty(
	$$SELECT signature FROM relations WHERE relkind = 'v' AND pg_get_viewdef(oid) !~ 'FROM lease_catalog\.\w+_rows\(\)'$$,
	'a view is a function underneath, so that it sees the latest state whatever the transaction''s snapshot');
SELECT bag_eq(
	$$SELECT pg_get_function_arguments(oid), pg_get_function_result(oid) FROM functions WHERE proname = 'lease_admit'$$,
	$$VALUES ('resource text, fence bigint, namespace text DEFAULT ''default''::text, OUT ok boolean, OUT outcome text, OUT high_water bigint', 'record')$$,
	'lease_admit() answers with one row');
SELECT results_eq(
	$$SELECT pg_get_function_result(oid) FROM functions WHERE proname = 'lease_outcomes'$$,
	ARRAY['SETOF record'], 'lease_outcomes() is a set');
SELECT results_eq(
	$$SELECT pg_get_function_arguments(oid) FROM functions WHERE proname = 'lease_outcomes'$$,
	ARRAY['OUT verb text, OUT outcome text, OUT ok boolean, OUT meaning text, OUT advice text'], 'of these columns');
SELECT is_empty(
	$$SELECT signature FROM relations WHERE relkind = 'v' AND NOT has_table_privilege('public', oid, 'SELECT')$$, 'everybody may read the views: each shows what its reader may see');
SELECT is_empty(
	$$SELECT signature FROM relations WHERE relkind = 'v' AND (has_table_privilege('public', oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES'))$$,
	'and do nothing else with them');
SELECT is_empty(
	$$SELECT signature, relkind FROM relations WHERE relkind IN ('r', 'v', 'p') AND obj_description(oid, 'pg_class') IS NULL$$, 'every table and view has a comment');
SELECT is_empty(
	$$SELECT t.oid::regtype FROM pg_type t JOIN members m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
		WHERE t.typelem = 0 AND obj_description(t.oid, 'pg_type') IS NULL
			AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind <> 'c')$$, 'every type of its own has a comment');

-- The schema of the tables, and all that is in it, is nobody's but the owner's.
SELECT is_empty(
	$$SELECT a.* FROM pg_namespace, LATERAL aclexplode(coalesce(nspacl, acldefault('n', nspowner))) a
		WHERE nspname = 'lease_catalog' AND a.grantee <> nspowner$$, 'lease_catalog is granted to nobody');
SELECT is_empty(
	$$SELECT signature, a.* FROM relations, LATERAL aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))) a
		WHERE relnamespace = 'lease_catalog'::regnamespace AND a.grantee <> relowner$$, 'nor is a table or a sequence there');
SELECT is_empty(
	$$SELECT attrelid::regclass, attname FROM pg_attribute JOIN relations c ON c.oid = attrelid WHERE attacl IS NOT NULL$$, 'nor a column');
SELECT is_empty(
	$$SELECT signature FROM relations c WHERE relrowsecurity OR relforcerowsecurity OR relhasrules AND relkind <> 'v'$$,
	'no row security and no rule stands on a table');

-- State goes with a dump, and a dump with state restores.
SELECT is_empty(
	$$SELECT signature FROM relations WHERE relkind IN ('r', 'p', 'S') AND relpersistence = 'p'
		EXCEPT SELECT c::regclass::text FROM pg_extension, unnest(extconfig) c WHERE extname = 'lease'$$,
	'every table and sequence is registered for dumps');
SELECT is_empty(
	$$SELECT signature FROM relations WHERE relkind IN ('r', 'p', 'S') AND relpersistence <> 'p'$$, 'none is unlogged');
SELECT is_empty(
	$$SELECT signature FROM relations r WHERE relkind IN ('r', 'p') AND (SELECT CASE relreplident
			WHEN 'd' THEN NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary)
			ELSE relreplident <> 'f' END FROM pg_class c WHERE c.oid = r.oid)$$, 'each can be published, deletes too');
SELECT is(
	(SELECT string_agg(t::regclass || ' ' || c, ', ') FROM pg_extension, unnest(extconfig, extcondition) AS e(t, c) WHERE extname = 'lease' AND c <> ''),
	'lease_catalog.generation WHERE generation > 0', 'with all its rows, but that of where it was created');
SELECT is_empty(
	format('SELECT %L::regclass, to_jsonb(t) FROM %s t WHERE NOT to_jsonb(t) @> ''{"generation": 0}''', signature, signature), 'the install script puts no row that is dumped into ' || signature)
	FROM relations WHERE relkind IN ('r', 'p');
SELECT is_empty(
	$$SELECT attrelid::regclass, attname FROM pg_attribute JOIN relations c ON c.oid = attrelid
		WHERE relkind IN ('r', 'p') AND attnum > 0 AND atttypid IN ('oid'::regtype, 'regrole'::regtype, 'regproc'::regtype, 'regprocedure'::regtype, 'regnamespace'::regtype)$$,
	'no column holds what a restore gives another number');
SELECT is_empty(
	$$SELECT attrelid::regclass, attname FROM pg_attribute JOIN relations c ON c.oid = attrelid
		WHERE relkind IN ('r', 'p') AND atttypid = 'text'::regtype AND attcollation <> '"C"'::regcollation
			AND (attname IN ('namespace', 'name', 'owner') OR EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND attnum = ANY (indkey)))$$,
	'what identifies a lease, or is in an index, is compared byte by byte, whatever the database''s collation');

-- Renewals stay on their page: the table leaves room, and nothing that a renewal
-- changes is in an index.
SELECT ok(
	(SELECT option_value::int FROM pg_class c, pg_options_to_table(reloptions) WHERE c.oid = 'lease_catalog.lease'::regclass AND option_name = 'fillfactor') BETWEEN 10 AND 90,
	'pages of the lease table are not filled up');
SET lease.clock = '1000';
DO $$ BEGIN PERFORM lease_claim('job', 'A', ttl => '60 s'); END $$;
CREATE TEMP TABLE before AS SELECT to_jsonb(l) AS lease FROM lease_catalog.lease l;
SET lease.clock = '1010';
DO $$ BEGIN PERFORM lease_renew('job', 'A', 1, ttl => '70 s'); END $$;
CREATE TEMP VIEW changed AS
	SELECT n.key AS column FROM lease_catalog.lease l, before b, LATERAL jsonb_each(to_jsonb(l)) n WHERE n.value IS DISTINCT FROM b.lease -> n.key;
SELECT bag_eq('SELECT "column" FROM changed', ARRAY['version', 'renewed_at', 'expires_at', 'ttl'], 'what a renewal changes');
SELECT is_empty(
	$$SELECT indexrelid::regclass, "column" FROM pg_index, changed
		WHERE indrelid = 'lease_catalog.lease'::regclass
			AND ((SELECT attnum FROM pg_attribute WHERE attrelid = indrelid AND attname = "column") = ANY (indkey)
				OR pg_get_indexdef(indexrelid) ~ ('\m' || "column" || '\M'))$$,
	'is in no index, as a column, in an expression or in a predicate');

SELECT * FROM finish();
ROLLBACK;
