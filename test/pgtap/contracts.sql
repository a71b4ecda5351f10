-- What every function promises for every argument and to every role.  The lists of
-- functions and of their arguments are read from pg_proc: one without a row in the
-- tables below fails the test.
BEGIN;
CREATE EXTENSION pgtap;
CREATE EXTENSION lease;
SELECT no_plan();

-- Who may call what: 'use', 'observe', 'operate', 'owner' (the extension's), or
-- anybody.
CREATE TEMP TABLE functions (function text PRIMARY KEY, needs text[] NOT NULL);
INSERT INTO functions VALUES
	('lease_claim', '{use}'),
	('lease_takeover', '{use}'),
	('lease_renew', '{use}'),
	('lease_release', '{use}'),
	('lease_get', '{use, observe}'),
	('lease_outcomes', '{anybody}'),
	('lease_grant', '{owner}'),
	('lease_revoke', '{owner}');

-- Each argument: of what kind it is, and, as SQL, a value with which the call is
-- answered.
CREATE TEMP TABLE arguments (function text, argument text, kind text NOT NULL, value text NOT NULL, PRIMARY KEY (function, argument));
INSERT INTO arguments VALUES
	('lease_claim', 'name', 'name', '''new'''),
	('lease_claim', 'owner', 'owner', '''A'''),
	('lease_claim', 'ttl', 'ttl', '''60 s'''),
	('lease_claim', 'wait', 'wait', '''0'''),
	('lease_claim', 'namespace', 'namespace', '''default'''),
	('lease_takeover', 'name', 'name', '''lapsed'''),
	('lease_takeover', 'owner', 'owner', '''B'''),
	('lease_takeover', 'expected_fence', 'fence', '1'),
	('lease_takeover', 'ttl', 'ttl', '''60 s'''),
	('lease_takeover', 'wait', 'wait', '''0'''),
	('lease_takeover', 'namespace', 'namespace', '''default'''),
	('lease_renew', 'name', 'name', '''held'''),
	('lease_renew', 'owner', 'owner', '''A'''),
	('lease_renew', 'fence', 'fence', '1'),
	('lease_renew', 'version', 'version', '1'),
	('lease_renew', 'ttl', 'ttl', '''60 s'''),
	('lease_renew', 'namespace', 'namespace', '''default'''),
	('lease_release', 'name', 'name', '''held'''),
	('lease_release', 'owner', 'owner', '''A'''),
	('lease_release', 'fence', 'fence', '1'),
	('lease_release', 'namespace', 'namespace', '''default'''),
	('lease_get', 'name', 'name', '''held'''),
	('lease_get', 'namespace', 'namespace', '''default'''),
	('lease_grant', 'namespace', 'namespace', '''default'''),
	('lease_grant', 'role', 'role', '''lease_contract_stranger'''),
	('lease_grant', 'privilege', 'privilege', '''use'''),
	('lease_revoke', 'namespace', 'namespace', '''default'''),
	('lease_revoke', 'role', 'role of old', '''lease_contract_stranger'''),
	('lease_revoke', 'privilege', 'privilege', '''use''');

-- Each kind of argument: what becomes of a value, an SQLSTATE or an answer.
CREATE TEMP TABLE kinds (kind text, value text, becomes text NOT NULL, PRIMARY KEY (kind, value));
INSERT INTO kinds
	SELECT kind, value, becomes
		FROM (VALUES ('name', 512), ('owner', 255)) k(kind, longest),
			LATERAL (VALUES
				('NULL', '22004'), ('''''', '22023'), (''' ''', '22023'), ('repeat('' '', 100)', '22023'),
				(format('repeat(''x'', %s)', longest), 'answer'), (format('repeat(''x'', %s)', longest + 1), '22023'),
				('repeat(''x'', 10000000)', '22023'),
				('E''a\nb''', '22023'), ('E''a\tb''', '22023'), ('E''\r''', '22023'), ('chr(1)', '22023'), ('chr(31)', '22023'), ('''a'' || chr(127)', '22023'),
				('''never seen''', 'answer'), ('''A '' || $$''";\$$', 'answer')) v(value, becomes);
INSERT INTO kinds VALUES
	('namespace', 'NULL', '22004'), ('namespace', '''''', '22023'), ('namespace', ''' ''', '22023'), ('namespace', 'E''\n''', '22023'),
	('namespace', 'repeat(''x'', 64)', '22023'), ('namespace', 'repeat(''x'', 63)', '42704'), ('namespace', '''nowhere''', '42704'),
	('namespace', '''Default''', '42704'), ('namespace', '''default ''', '42704'), ('namespace', 'repeat(''x'', 10000000)', '22023'),
	('fence', 'NULL', '22004'), ('fence', '0', 'answer'), ('fence', '-1', 'answer'), ('fence', '2', 'answer'),
	('fence', '9223372036854775807', 'answer'), ('fence', '-9223372036854775808', 'answer'), ('fence', '9223372036854775808', '42883'),
	('version', 'NULL', 'answer'), ('version', '0', 'answer'), ('version', '-1', 'answer'),
	('version', '9223372036854775807', 'answer'), ('version', '-9223372036854775808', 'answer'),
	('role', 'NULL', '22004'), ('role', '''''', '42704'), ('role', '''lease_contract_nobody''', '42704'), ('role', '''public''', 'answer'),
	('role of old', 'NULL', '22004'), ('role of old', '''lease_contract_nobody''', 'answer'), ('role of old', '''public''', 'answer'),
	('privilege', 'NULL', '22004'), ('privilege', '''''', '22023'), ('privilege', '''USE''', '22023'), ('privilege', '''own''', '22023'),
	('privilege', '''use''', 'answer'), ('privilege', '''observe''', 'answer'), ('privilege', '''operate''', 'answer'), ('privilege', 'repeat(''x'', 1000)', '22023');
-- Lengths of time.  What is too long is made shorter, without overflow; what
-- depends on the calendar is refused, also where it adds up to something.
INSERT INTO kinds
	SELECT kind, value, becomes
		FROM (VALUES ('ttl', 'answer', '22023'), ('wait', '22004', 'answer')) k(kind, null_is, zero_is),
			LATERAL (VALUES
				('NULL', null_is), ('''0''', zero_is), ('''1 day -24 hours''', zero_is),
				('''1 microsecond''', 'answer'), ('''-1 day +25 hours''', 'answer'), ('''87600 hours''', 'answer'), ('''2147483647 days''', 'answer'),
				('make_interval(days => 2147483647, secs => 9e12)', 'answer'),
				('''-1 microsecond''', '22023'), ('''-1 s''', '22023'), ('''-2147483648 days''', '22023'), ('make_interval(days => -2147483648, secs => -9e12)', '22023'),
				('''1 mon''', '22023'), ('''-1 mon''', '22023'), ('''1 year''', '22023'), ('''178000000 years''', '22023'),
				('''1 mon -30 days''', '22023'), ('''-1 mon +31 days''', '22023')) v(value, becomes);

SELECT is_empty(
	$$SELECT p.oid::regprocedure FROM pg_proc p WHERE proname ~ '^lease_' AND pronamespace = 'public'::regnamespace
		AND NOT EXISTS (SELECT FROM functions WHERE function = proname)$$, 'every function has its row');
SELECT is_empty(
	$$SELECT function FROM functions EXCEPT SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace$$, 'every row its function');
SELECT is_empty(
	$$SELECT proname, argument FROM pg_proc, unnest(proargnames[:pronargs]) argument WHERE proname ~ '^lease_' AND pronamespace = 'public'::regnamespace
		EXCEPT SELECT function, argument FROM arguments$$, 'every argument has its row');
SELECT is_empty(
	$$SELECT function, argument FROM arguments
		EXCEPT SELECT proname, argument FROM pg_proc, unnest(proargnames[:pronargs]) argument WHERE pronamespace = 'public'::regnamespace$$, 'every row its argument');
SELECT is_empty(
	$$SELECT kind FROM arguments EXCEPT SELECT kind FROM kinds WHERE value = 'NULL'$$, 'every kind of argument says what becomes of NULL');

SET lease.clock = '1000';
DO $$ BEGIN PERFORM lease_claim('lapsed', 'A', ttl => '60 s'); END $$;
SET lease.clock = '1060';
DO $$ BEGIN PERFORM lease_claim('held', 'A', ttl => '60 s'); END $$;
CREATE ROLE lease_contract_stranger;
CREATE ROLE lease_contract_use;
CREATE ROLE lease_contract_observe;
CREATE ROLE lease_contract_operate;
CREATE ROLE lease_contract_database;
DO $$
BEGIN
	PERFORM lease_grant('default', 'lease_contract_use', 'use');
	PERFORM lease_grant('default', 'lease_contract_observe', 'observe');
	PERFORM lease_grant('default', 'lease_contract_operate', 'operate');
	EXECUTE format('ALTER DATABASE %I OWNER TO lease_contract_database', current_database());
END $$;

-- What becomes of a call, which is undone: the SQLSTATE of its error, or 'answer',
-- where the outcome is one that the verb has, and a lease that it grants or
-- prolongs ends later than now and no later than the ceiling allows.
CREATE FUNCTION pg_temp.becomes(called text, replaced text DEFAULT NULL, by text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	given text;
	answer jsonb;
	judged text := 'answer';
BEGIN
	SELECT string_agg(format('%I => %s', argument, CASE WHEN argument = replaced THEN by ELSE value END), ', ') INTO given
		FROM pg_temp.arguments WHERE function = called;
	EXECUTE format('SELECT to_jsonb(r) FROM (SELECT * FROM public.%I(%s)) r', called, given) INTO answer;
	IF answer ? 'outcome' AND answer ? 'server_time' THEN
		IF NOT EXISTS (SELECT FROM public.lease_outcomes() o
				WHERE verb = called AND o.outcome = answer ->> 'outcome' AND o.ok = (answer ->> 'ok')::boolean) THEN
			judged := 'an outcome that is not listed: ' || answer;
		ELSIF (answer ->> 'ok')::boolean AND answer ->> 'expires_at' IS NOT NULL
				AND ((answer ->> 'expires_at')::timestamptz - (answer ->> 'server_time')::timestamptz) NOT BETWEEN '100 ms' AND '1 hour' THEN
			judged := 'a lease of no good length: ' || answer;
		END IF;
	END IF;
	RAISE EXCEPTION USING ERRCODE = 'P0001', MESSAGE = judged;
EXCEPTION
	WHEN raise_exception THEN RETURN SQLERRM;
	WHEN OTHERS THEN RETURN SQLSTATE;
END $$;

SELECT is(pg_temp.becomes(function), 'answer', function || ' as a rule')
	FROM (SELECT * FROM functions ORDER BY function) f;
SELECT is(pg_temp.becomes(function, argument, k.value), k.becomes, format('%s(%s => %s)', function, argument, k.value))
	FROM (SELECT function, argument, k.value, becomes FROM arguments JOIN kinds k USING (kind) ORDER BY function, argument, k.value) k;

-- The same whatever the caller has set for his own convenience.
CREATE FUNCTION pg_temp.differing(setting text, value text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	before text := current_setting(setting);
BEGIN
	PERFORM set_config(setting, value, true);
	RETURN QUERY SELECT format('%s(%s => %s)', function, argument, k.value)
		FROM pg_temp.arguments JOIN pg_temp.kinds k USING (kind) WHERE pg_temp.becomes(function, argument, k.value) <> k.becomes;
	PERFORM set_config(setting, before, true);
END $$;
SELECT is_empty(format('SELECT pg_temp.differing(%L, %L)', setting, value), format('with %s = %s', setting, value))
	FROM (VALUES ('search_path', 'pg_catalog'), ('search_path', ''), ('TimeZone', 'Pacific/Chatham'), ('DateStyle', 'SQL, DMY'), ('DateStyle', 'German'),
		('IntervalStyle', 'sql_standard'), ('IntervalStyle', 'iso_8601'), ('IntervalStyle', 'postgres_verbose')) s(setting, value);

-- Every function for every role.  Without the privilege it is 42501, for a name
-- that is there, for one that is not, and in a namespace that does not exist.
CREATE TEMP TABLE roles (role text, has text);
INSERT INTO roles VALUES ('lease_contract_stranger', 'nothing'), ('lease_contract_use', 'use'), ('lease_contract_observe', 'observe'),
	('lease_contract_operate', 'operate'), ('lease_contract_database', 'nothing');
GRANT SELECT ON arguments TO PUBLIC;
CREATE FUNCTION pg_temp.becomes_for(role text, called text, replaced text DEFAULT NULL, by text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role);
	answer := pg_temp.becomes(called, replaced, by);
	RESET ROLE;
	RETURN answer;
END $$;
SELECT is(pg_temp.becomes_for(role, function),
		CASE WHEN 'anybody' = ANY (needs) OR has = ANY (needs) OR has = 'operate' AND NOT 'owner' = ANY (needs) THEN 'answer' ELSE '42501' END,
		function || ' for ' || role)
	FROM (SELECT * FROM functions, roles ORDER BY function, role) f;
SELECT is(pg_temp.becomes_for('lease_contract_stranger', function, argument, other), '42501', format('%s(%s => %s) for a stranger', function, argument, other))
	FROM (SELECT function, argument, v.other FROM arguments
		JOIN (VALUES ('name', '''never seen'''), ('namespace', '''nowhere''')) v(argument, other) USING (argument) ORDER BY function, argument) a;

SELECT * FROM finish();
ROLLBACK;
