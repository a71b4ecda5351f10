-- What every function promises for every argument and to every role.  The lists of
-- functions and of their arguments are read from pg_proc: one without a row in the
-- tables below fails the test.
BEGIN;
CREATE EXTENSION pgtap;
CREATE EXTENSION lease;
SELECT no_plan();
\set reference `cat doc/reference.md`

-- Who may call what: who has one of these privileges, where 'operate' is all that
-- a namespace has to give; a 'monitor' (pg_monitor); the extension's 'owner'; or
-- 'anybody'.  A function is named by the first word; what follows tells apart two
-- of one name.
CREATE TEMP TABLE functions (function text PRIMARY KEY, needs text[] NOT NULL);
INSERT INTO functions VALUES
	('lease_claim', '{use}'),
	('lease_takeover', '{use}'),
	('lease_renew', '{use}'),
	('lease_renew_many', '{use}'),
	('lease_release', '{use}'),
	('lease_release_many', '{use}'),
	('lease_offer', '{use}'),
	('lease_poll', '{use}'),
	('lease_complete', '{use}'),
	('lease_fail', '{use}'),
	('lease_task_get', '{use, observe}'),
	('lease_retry', '{operate}'),
	('lease_get', '{use, observe}'),
	('lease_explain', '{use, observe}'),
	('lease_check', '{observe, monitor}'),
	('lease_present', '{use}'),
	('lease_present token', '{use}'),
	('lease_admit', '{use}'),
	('lease_token', '{anybody}'),
	('lease_guard', '{use}'),
	('lease_unguard', '{anybody}'),
	('lease_break', '{operate}'),
	('lease_hold', '{operate}'),
	('lease_resume', '{operate}'),
	('lease_namespace_hold', '{operate}'),
	('lease_namespace_resume', '{operate}'),
	('lease_cancel', '{operate}'),
	('lease_purge', '{operate}'),
	('lease_mark_reset', '{operate}'),
	('lease_outcomes', '{anybody}'),
	('lease_grant', '{owner}'),
	('lease_revoke', '{owner}'),
	('lease_namespace_create', '{owner}'),
	('lease_namespace_alter', '{owner}'),
	('lease_namespace_drop', '{owner}'),
	('lease_fences_advance', '{owner}'),
	('lease_sweep', '{owner}');

-- Each argument: of what kind it is, and, as SQL, a value with which the call is
-- answered.
CREATE TEMP TABLE arguments (function text REFERENCES functions, argument text, kind text NOT NULL, value text NOT NULL, PRIMARY KEY (function, argument));
INSERT INTO arguments VALUES
	('lease_claim', 'name', 'name', '''new'''),
	('lease_claim', 'owner', 'owner', '''A'''),
	('lease_claim', 'ttl', 'ttl', '''60 s'''),
	('lease_claim', 'request_id', 'request id', 'NULL'),
	('lease_claim', 'wait', 'delay', '''0'''),
	('lease_claim', 'hold_at_least', 'length or none', 'NULL'),
	('lease_claim', 'namespace', 'namespace', '''default'''),
	('lease_takeover', 'name', 'name', '''lapsed'''),
	('lease_takeover', 'owner', 'owner', '''B'''),
	('lease_takeover', 'expected_fence', 'fence', '1'),
	('lease_takeover', 'ttl', 'ttl', '''60 s'''),
	('lease_takeover', 'request_id', 'request id', 'NULL'),
	('lease_takeover', 'wait', 'delay', '''0'''),
	('lease_takeover', 'namespace', 'namespace', '''default'''),
	('lease_renew', 'name', 'name', '''held'''),
	('lease_renew', 'owner', 'owner', '''A'''),
	('lease_renew', 'fence', 'fence', '1'),
	('lease_renew', 'version', 'version', '1'),
	('lease_renew', 'ttl', 'ttl', '''60 s'''),
	('lease_renew', 'checkpoint', 'document', 'NULL'),
	('lease_renew', 'namespace', 'namespace', '''default'''),
	('lease_offer', 'name', 'name', '''offered'''),
	('lease_offer', 'payload', 'document', '''{}'''),
	('lease_offer', 'priority', 'priority', '0'),
	('lease_offer', 'delay', 'delay', '''0'''),
	('lease_offer', 'max_attempts', 'optional count', 'NULL'),
	('lease_offer', 'namespace', 'namespace', '''default'''),
	('lease_poll', 'owner', 'owner', '''A'''),
	('lease_poll', 'max_count', 'many', '1'),
	('lease_poll', 'ttl', 'ttl', '''60 s'''),
	('lease_poll', 'wait', 'delay', '''0'''),
	('lease_poll', 'request_id', 'request id', 'NULL'),
	('lease_poll', 'namespace', 'namespace', '''default'''),
	('lease_complete', 'name', 'name', '''held'''),
	('lease_complete', 'owner', 'owner', '''A'''),
	('lease_complete', 'fence', 'fence', '1'),
	('lease_complete', 'result', 'document', 'NULL'),
	('lease_complete', 'namespace', 'namespace', '''default'''),
	('lease_fail', 'name', 'name', '''held'''),
	('lease_fail', 'owner', 'owner', '''A'''),
	('lease_fail', 'fence', 'fence', '1'),
	('lease_fail', 'error', 'error', '''no route'''),
	('lease_fail', 'retry_in', 'length or none', 'NULL'),
	('lease_fail', 'final', 'choice', 'false'),
	('lease_fail', 'namespace', 'namespace', '''default'''),
	('lease_retry', 'name', 'name', '''held'''),
	('lease_retry', 'reason', 'optional reason', 'NULL'),
	('lease_retry', 'namespace', 'namespace', '''default'''),
	('lease_task_get', 'name', 'name', '''held'''),
	('lease_task_get', 'namespace', 'namespace', '''default'''),
	('lease_renew_many', 'names', 'names', 'ARRAY[''held'']'),
	('lease_renew_many', 'owner', 'owner', '''A'''),
	('lease_renew_many', 'fences', 'fences', 'ARRAY[1::bigint]'),
	('lease_renew_many', 'versions', 'versions', 'ARRAY[1::bigint]'),
	('lease_renew_many', 'ttl', 'ttl', '''60 s'''),
	('lease_renew_many', 'namespace', 'namespace', '''default'''),
	('lease_release', 'name', 'name', '''held'''),
	('lease_release', 'owner', 'owner', '''A'''),
	('lease_release', 'fence', 'fence', '1'),
	('lease_release', 'namespace', 'namespace', '''default'''),
	('lease_release_many', 'names', 'names', 'ARRAY[''held'']'),
	('lease_release_many', 'owner', 'owner', '''A'''),
	('lease_release_many', 'fences', 'fences', 'ARRAY[1::bigint]'),
	('lease_release_many', 'namespace', 'namespace', '''default'''),
	('lease_get', 'name', 'name', '''held'''),
	('lease_get', 'namespace', 'namespace', '''default'''),
	('lease_explain', 'name', 'name', '''held'''),
	('lease_explain', 'namespace', 'namespace', '''default'''),
	('lease_break', 'name', 'name', '''held'''),
	('lease_break', 'expected_fence', 'fence', '1'),
	('lease_break', 'reason', 'reason', '''stuck'''),
	('lease_break', 'hold', 'choice', 'false'),
	('lease_break', 'new_owner', 'optional owner', 'NULL'),
	('lease_break', 'ttl', 'ttl', '''60 s'''),
	('lease_break', 'namespace', 'namespace', '''default'''),
	('lease_present', 'name', 'name presented', '''held'''),
	('lease_present', 'owner', 'owner presented', '''A'''),
	('lease_present', 'fence', 'fence presented', '1'),
	('lease_present', 'prove', 'switch', 'true'),
	('lease_present', 'namespace', 'namespace', '''default'''),
	('lease_present token', 'token', 'token', '''default/held/A/1'''),
	('lease_token', 'namespace', 'namespace of old', '''default'''),
	('lease_token', 'name', 'name', '''held'''),
	('lease_token', 'owner', 'owner', '''A'''),
	('lease_token', 'fence', 'floor', '1'),
	('lease_admit', 'resource', 'name', '''held'''),
	('lease_admit', 'fence', 'floor', '1'),
	('lease_admit', 'namespace', 'namespace', '''default'''),
	('lease_mark_reset', 'resource', 'name', '''held'''),
	('lease_mark_reset', 'fence', 'floor', '1'),
	('lease_mark_reset', 'reason', 'reason', '''restored'''),
	('lease_mark_reset', 'namespace', 'namespace', '''default'''),
	('lease_guard', 'target', 'table', '''public.lease_contract_guarded'''),
	('lease_guard', 'name', 'name guarded', '''held'''),
	('lease_guard', 'name_column', 'name column', 'NULL'),
	('lease_guard', 'namespace', 'namespace', '''default'''),
	('lease_guard', 'fence_column', 'fence column', 'NULL'),
	('lease_guard', 'mode', 'mode', '''both'''),
	('lease_guard', 'enforcement', 'enforcement', '''enforce'''),
	('lease_guard', 'replication', 'replication', '''trust'''),
	('lease_unguard', 'target', 'table', '''public.lease_contract_guarded'''),
	('lease_hold', 'name', 'name', '''held'''),
	('lease_hold', 'reason', 'reason', '''incident'''),
	('lease_hold', 'until', 'ttl', 'NULL'),
	('lease_hold', 'stop', 'choice', 'false'),
	('lease_hold', 'namespace', 'namespace', '''default'''),
	('lease_resume', 'name', 'name', '''held'''),
	('lease_resume', 'reason', 'optional reason', 'NULL'),
	('lease_resume', 'namespace', 'namespace', '''default'''),
	('lease_namespace_hold', 'namespace', 'namespace', '''default'''),
	('lease_namespace_hold', 'reason', 'reason', '''incident'''),
	('lease_namespace_hold', 'until', 'ttl', 'NULL'),
	('lease_namespace_hold', 'stop', 'choice', 'false'),
	('lease_namespace_resume', 'namespace', 'namespace', '''default'''),
	('lease_namespace_resume', 'reason', 'optional reason', 'NULL'),
	('lease_cancel', 'name', 'name', '''held'''),
	('lease_cancel', 'reason', 'reason', '''no longer wanted'''),
	('lease_cancel', 'deadline', 'delay', '''60 s'''),
	('lease_cancel', 'namespace', 'namespace', '''default'''),
	('lease_purge', 'idle', 'length', '''60 s'''),
	('lease_purge', 'max', 'many', '1000'),
	('lease_purge', 'namespace', 'namespace', '''default'''),
	('lease_grant', 'namespace', 'namespace', '''default'''),
	('lease_grant', 'role', 'role', '''lease_contract_stranger'''),
	('lease_grant', 'privilege', 'privilege', '''use'''),
	('lease_revoke', 'namespace', 'namespace', '''default'''),
	('lease_revoke', 'role', 'role of old', '''lease_contract_stranger'''),
	('lease_revoke', 'privilege', 'privilege', '''use'''),
	('lease_namespace_create', 'namespace', 'new namespace', '''fresh'''),
	('lease_namespace_create', 'min_ttl', 'policy ttl', '''1 s'''),
	('lease_namespace_create', 'default_ttl', 'policy ttl', '''10 s'''),
	('lease_namespace_create', 'max_ttl', 'policy ttl', '''60 s'''),
	('lease_namespace_create', 'max_hold', 'policy length', '''0'''),
	('lease_namespace_create', 'grace', 'policy length', '''0'''),
	('lease_namespace_create', 'max_leases', 'limit', 'NULL'),
	('lease_namespace_create', 'history', 'flag', 'NULL'),
	('lease_namespace_create', 'retry_base', 'policy ttl', '''1 s'''),
	('lease_namespace_create', 'retry_factor', 'factor', '2'),
	('lease_namespace_create', 'retry_cap', 'policy ttl', '''60 s'''),
	('lease_namespace_create', 'retry_jitter', 'part', '0.2'),
	('lease_namespace_create', 'max_attempts', 'optional count', '20'),
	('lease_namespace_alter', 'namespace', 'namespace', '''default'''),
	('lease_namespace_alter', 'min_ttl', 'policy ttl', '''1 s'''),
	('lease_namespace_alter', 'default_ttl', 'policy ttl', '''10 s'''),
	('lease_namespace_alter', 'max_ttl', 'policy ttl', '''60 s'''),
	('lease_namespace_alter', 'max_hold', 'policy length', '''0'''),
	('lease_namespace_alter', 'grace', 'policy length', '''0'''),
	('lease_namespace_alter', 'max_leases', 'limit', 'NULL'),
	('lease_namespace_alter', 'history', 'flag', 'NULL'),
	('lease_namespace_alter', 'retry_base', 'policy ttl', '''1 s'''),
	('lease_namespace_alter', 'retry_factor', 'factor', '2'),
	('lease_namespace_alter', 'retry_cap', 'policy ttl', '''60 s'''),
	('lease_namespace_alter', 'retry_jitter', 'part', '0.2'),
	('lease_namespace_alter', 'max_attempts', 'optional count', '20'),
	('lease_namespace_drop', 'namespace', 'namespace', '''empty'''),
	('lease_fences_advance', 'floor', 'floor or none', '1'),
	('lease_sweep', 'max', 'many', '1000');

-- Each kind of argument: what becomes of a value, an SQLSTATE or an answer.
CREATE TEMP TABLE kinds (kind text, value text, becomes text NOT NULL, PRIMARY KEY (kind, value));
INSERT INTO kinds
	SELECT kind, value, becomes
		FROM (VALUES ('name', 512, '22004', 'answer'), ('owner', 255, '22004', 'answer'), ('namespace of old', 63, '22004', 'answer'),
				('name presented', 512, '22004', 'LE006'), ('owner presented', 255, '22004', 'LE004'),
				('name guarded', 512, '22023', 'answer')) k(kind, longest, null_is, good_is),
			LATERAL (VALUES
				('NULL', null_is), ('''''', '22023'), (''' ''', '22023'), ('repeat('' '', 100)', '22023'),
				(format('repeat(''x'', %s)', longest), good_is), (format('repeat(''x'', %s)', longest + 1), '22023'),
				('repeat(''x'', 100000)', '22023'),
				('E''a\nb''', '22023'), ('E''a\tb''', '22023'), ('E''\r''', '22023'), ('chr(1)', '22023'), ('chr(31)', '22023'), ('''a'' || chr(127)', '22023'),
				('''never seen''', good_is), ('''A '' || $$''";\$$', good_is)) v(value, becomes);
INSERT INTO kinds VALUES
	('namespace', 'NULL', '22004'), ('namespace', '''''', '22023'), ('namespace', ''' ''', '22023'), ('namespace', 'E''\n''', '22023'),
	('namespace', 'repeat(''x'', 64)', '22023'), ('namespace', 'repeat(''x'', 63)', '42704'), ('namespace', '''nowhere''', '42704'),
	('namespace', '''Default''', '42704'), ('namespace', '''default ''', '42704'), ('namespace', 'repeat(''x'', 100000)', '22023'),
	('fence', 'NULL', '22004'), ('fence', '0', 'answer'), ('fence', '-1', 'answer'), ('fence', '2', 'answer'),
	('fence', '9223372036854775807', 'answer'), ('fence', '-9223372036854775808', 'answer'), ('fence', '9223372036854775808', '42883'),
	('fence presented', 'NULL', '22004'), ('fence presented', '0', 'LE001'), ('fence presented', '-1', '22023'), ('fence presented', '2', 'LE006'),
	('fence presented', '9223372036854775807', 'LE006'), ('fence presented', '-9223372036854775808', '22023'),
	('switch', 'NULL', '22004'), ('switch', 'true', 'answer'), ('switch', 'false', 'answer'),
	('token', 'NULL', '22004'), ('token', '''''', '22023'), ('token', ''' ''', '22023'), ('token', '''default/held/A''', '22023'), ('token', '''default/held/A/''', '22023'),
	('token', '''default//A/1''', '22023'), ('token', '''default/he ld/A/1''', '22023'), ('token', '''default/held/A/1/1''', '22023'), ('token', '''default/held/A/1 default/held/A/1''', '22023'),
	('token', '''default/held/A/-1''', '22023'), ('token', '''default/held/A/+1''', '22023'), ('token', '''default/held/A/9223372036854775808''', '22023'),
	('token', '''default/%/A/1''', '22023'), ('token', '''default/%2/A/1''', '22023'), ('token', '''default/%00/A/1''', '22023'), ('token', '''default/%20/A/1''', '22023'), ('token', '''default/%0A/A/1''', '22023'),
	('token', '''default/'' || repeat(''x'', 513) || ''/A/1''', '22023'), ('token', '''default/'' || repeat(''x'', 100000) || ''/A/1''', '22023'),
	('token', '''default/h%65ld/%41/1''', 'answer'), ('token', '''default/held/A/2''', 'LE006'), ('token', '''default/held/A/0''', 'LE001'), ('token', '''default/held/B/1''', 'LE004'),
	('token', '''default/never%20seen/A/1''', 'LE006'), ('token', '''default/lapsed/A/1''', 'LE002'), ('token', '''nowhere/held/A/1''', '42704'),
	('table', 'NULL', '22004'), ('table', '0', '42P01'), ('table', '''public.lease_status''', '42809'), ('table', '''pg_catalog.pg_class''', '42809'), ('table', '''lease_catalog.lease''', '42809'), ('table', '''public.lease_result''', '42809'),
	('name column', 'NULL', 'answer'), ('name column', '''job''', '22023'),
	('fence column', 'NULL', 'answer'), ('fence column', '''fence''', 'answer'), ('fence column', '''job''', '42804'), ('fence column', '''twice''', '0A000'),
	('fence column', '''nowhere''', '42703'), ('fence column', '''tableoid''', '42703'),
	('mode', 'NULL', '22004'), ('mode', '''''', '22023'), ('mode', '''Both''', '22023'), ('mode', '''current''', 'answer'), ('mode', '''high_water''', 'answer'), ('mode', '''both''', 'answer'),
	('enforcement', 'NULL', '22004'), ('enforcement', '''''', '22023'), ('enforcement', '''on''', '22023'), ('enforcement', '''enforce''', 'answer'), ('enforcement', '''observe''', 'answer'), ('enforcement', '''off''', 'answer'),
	('replication', 'NULL', '22004'), ('replication', '''''', '22023'), ('replication', '''allow''', '22023'), ('replication', '''trust''', 'answer'), ('replication', '''refuse''', 'answer'),
	('version', 'NULL', 'answer'), ('version', '0', 'answer'), ('version', '-1', 'answer'),
	('version', '9223372036854775807', 'answer'), ('version', '-9223372036854775808', 'answer'),
	('role', 'NULL', '22004'), ('role', '''''', '42704'), ('role', '''lease_contract_nobody''', '42704'), ('role', '''public''', 'answer'),
	('role of old', 'NULL', '22004'), ('role of old', '''lease_contract_nobody''', 'answer'), ('role of old', '''public''', 'answer'),
	('privilege', 'NULL', '22004'), ('privilege', '''''', '22023'), ('privilege', '''USE''', '22023'), ('privilege', '''own''', '22023'),
	('privilege', '''use''', 'answer'), ('privilege', '''observe''', 'answer'), ('privilege', '''operate''', 'answer'), ('privilege', 'repeat(''x'', 1000)', '22023'),
	('new namespace', 'NULL', '22004'), ('new namespace', '''''', '22023'), ('new namespace', ''' ''', '22023'), ('new namespace', 'E''\n''', '22023'),
	('new namespace', 'repeat(''x'', 64)', '22023'), ('new namespace', 'repeat(''x'', 63)', 'answer'), ('new namespace', '''Default''', 'answer'),
	('new namespace', '''default''', '42710'), ('new namespace', '''empty''', '42710'),
	('request id', 'NULL', 'answer'), ('request id', '''00000000-0000-0000-0000-000000000000''', 'answer'), ('request id', 'gen_random_uuid()', 'answer'),
	('reason', 'NULL', '22004'), ('reason', '$$it''s "stuck"; \$$', 'answer'), ('reason', 'repeat(''x'', 100000)', '22023'),
	('many', 'NULL', '22004'), ('many', '0', '22023'), ('many', '-1', '22023'), ('many', '1', 'answer'), ('many', '2147483647', 'answer'), ('many', '-2147483648', '22023'),
	('limit', 'NULL', 'answer'), ('limit', '-1', '22023'), ('limit', '1', 'answer'), ('limit', '9223372036854775807', 'answer'), ('limit', '-9223372036854775808', '22023'),
	('choice', 'NULL', '22004'), ('choice', 'true', 'answer'), ('choice', 'false', 'answer'),
	('optional owner', 'NULL', 'answer'), ('optional owner', '''''', '22023'), ('optional owner', 'repeat(''x'', 256)', '22023'), ('optional owner', '''B''', 'answer'),
	('optional reason', 'NULL', 'answer'), ('optional reason', '''''', '22023'), ('optional reason', '''why''', 'answer'), ('optional reason', 'repeat(''x'', 1025)', '22023'),
	('document', 'NULL', 'answer'), ('document', '''null''', 'answer'), ('document', '''{"a": [1, 2]}''', 'answer'), ('document', 'to_jsonb(repeat(''x'', 100000))', 'answer'), ('document', '''{''', '22P02'),
	('priority', 'NULL', '22004'), ('priority', '-1', '22023'), ('priority', '9', 'answer'), ('priority', '10', '22023'), ('priority', '2147483647', '22023'),
	('optional count', 'NULL', 'answer'), ('optional count', '0', '22023'), ('optional count', '-1', '22023'), ('optional count', '1', 'answer'), ('optional count', '2147483647', 'answer'),
	('error', 'NULL', '22004'), ('error', '''''', 'answer'), ('error', 'repeat(''x'', 65536)', 'answer'), ('error', 'repeat(''x'', 65537)', 'answer'), ('error', 'repeat(''x'', 1000000)', 'answer'), ('error', 'E''a\nb''', 'answer'),
	('factor', 'NULL', 'answer'), ('factor', '1', 'answer'), ('factor', '100', 'answer'), ('factor', '0.99', '22023'), ('factor', '101', '22023'), ('factor', '''NaN''', '22023'), ('factor', '''Infinity''', '22023'),
	('part', 'NULL', 'answer'), ('part', '0', 'answer'), ('part', '1', 'answer'), ('part', '-0.1', '22023'), ('part', '1.1', '22023'), ('part', '''NaN''', '22023'),
	('flag', 'NULL', 'answer'), ('flag', 'true', 'answer'), ('flag', 'false', 'answer'),
	('floor or none', 'NULL', 'answer'), ('floor or none', '0', 'answer'), ('floor or none', '-1', '22023'), ('floor or none', '9223372036854775807', 'answer'), ('floor or none', '-9223372036854775808', '22023'),
	('floor', 'NULL', '22004'), ('floor', '0', 'answer'), ('floor', '-1', '22023'), ('floor', '9223372036854775807', 'answer'), ('floor', '-9223372036854775808', '22023'),
	('names', 'NULL', '22004'), ('names', '''{}''', '22023'), ('names', 'ARRAY[''held'', ''lapsed'']', '22023'), ('names', 'ARRAY[[''held'']]', '22023'),
	('names', 'ARRAY[NULL::text]', 'answer'), ('names', 'ARRAY['''']', 'answer'), ('names', 'ARRAY[repeat(''x'', 513)]', 'answer'), ('names', '''[7:7]={held}''', 'answer'),
	('fences', 'NULL', '22004'), ('fences', '''{}''', '22023'), ('fences', '''{1, 1}''', '22023'), ('fences', '''{{1}}''', '22023'),
	('fences', '''{NULL}''', 'answer'), ('fences', '''{-1}''', 'answer'), ('fences', '''{9223372036854775807}''', 'answer'),
	('versions', 'NULL', 'answer'), ('versions', '''{}''', '22023'), ('versions', '''{1, 1}''', '22023'), ('versions', '''{{1}}''', '22023'),
	('versions', '''{NULL}''', 'answer'), ('versions', '''{-1}''', 'answer');
-- Lengths of time.  What is too long is made shorter, without overflow; what
-- depends on the calendar is refused, also where it adds up to something.
INSERT INTO kinds
	SELECT kind, value, becomes
		FROM (VALUES ('ttl', 'answer', '22023'), ('delay', '22004', 'answer'), ('length', '22004', '22023'), ('length or none', 'answer', 'answer')) k(kind, null_is, zero_is),
			LATERAL (VALUES
				('NULL', null_is), ('''0''', zero_is), ('''1 day -24 hours''', zero_is),
				('''1 microsecond''', 'answer'), ('''-1 day +25 hours''', 'answer'), ('''87600 hours''', 'answer'), ('''2147483647 days''', 'answer'),
				('make_interval(days => 2147483647, secs => 9e12)', 'answer'),
				('''-1 microsecond''', '22023'), ('''-1 s''', '22023'), ('''-2147483648 days''', '22023'), ('make_interval(days => -2147483648, secs => -9e12)', '22023'),
				('''1 mon''', '22023'), ('''-1 mon''', '22023'), ('''1 year''', '22023'), ('''178000000 years''', '22023'),
				('''1 mon -30 days''', '22023'), ('''-1 mon +31 days''', '22023')) v(value, becomes);

-- A namespace's lengths, which have to fit together.
INSERT INTO kinds
	SELECT kind, value, becomes
		FROM (VALUES ('policy ttl', '22023'), ('policy length', 'answer')) k(kind, zero_is),
			LATERAL (VALUES ('NULL', 'answer'), ('''0''', zero_is), ('''10 s''', 'answer'), ('''-1 microsecond''', '22023'), ('''-2147483648 days''', '22023'),
				('''1 mon''', '22023'), ('''1 mon -30 days''', '22023'), ('''-1 mon +31 days''', '22023')) v(value, becomes);

-- No length is without end; before 17, no interval was.
INSERT INTO kinds
	SELECT kind, value, CASE WHEN current_setting('server_version_num')::integer < 170000 THEN '22007' ELSE '22023' END
		FROM (SELECT DISTINCT kind FROM kinds WHERE value = '''1 mon''') k, (VALUES ('''infinity'''), ('''-infinity''')) v(value);

SELECT bag_eq(
	$$SELECT proname::text, (SELECT array_agg(argument ORDER BY argument) FROM unnest(proargnames[:pronargs]) argument) FROM pg_proc
		WHERE proname ~ '^lease_' AND pronamespace = 'public'::regnamespace AND prorettype <> 'trigger'::regtype$$,
	$$SELECT split_part(function, ' ', 1), array_agg(argument ORDER BY argument) FILTER (WHERE argument IS NOT NULL)
		FROM functions LEFT JOIN arguments USING (function) GROUP BY function$$,
	'every function and each of its arguments has a row, and every row is for one; a trigger function is for triggers');
SELECT throws_ok('SELECT lease_fence_check()', '39P01', NULL, 'and for nothing else');
SELECT is_empty(
	$$SELECT kind FROM arguments EXCEPT SELECT kind FROM kinds WHERE value = 'NULL'$$, 'every kind of argument says what becomes of NULL');

-- Where a test fails because something is waited for, it fails soon.
SET lease.max_wait = '10 ms';
DO $$ BEGIN PERFORM lease_namespace_create('empty'); END $$;
SET lease.clock = '1000';
DO $$ BEGIN PERFORM lease_claim('lapsed', 'A', ttl => '60 s'); END $$;
SET lease.clock = '1060';
DO $$ BEGIN PERFORM lease_claim('held', 'A', ttl => '60 s'); END $$;
CREATE ROLE lease_contract_stranger;
CREATE ROLE lease_contract_use;
CREATE ROLE lease_contract_observe;
CREATE ROLE lease_contract_operate;
CREATE ROLE lease_contract_database;
CREATE ROLE lease_contract_monitor;
GRANT pg_monitor TO lease_contract_monitor;
-- A table that every role owns, and one that none does.
CREATE ROLE lease_contract_tables ROLE lease_contract_stranger, lease_contract_use, lease_contract_observe, lease_contract_operate,
	lease_contract_database, lease_contract_monitor;
CREATE TABLE public.lease_contract_guarded (job text, fence bigint, twice bigint GENERATED ALWAYS AS (2 * fence) STORED);
CREATE TABLE public.lease_contract_others (LIKE public.lease_contract_guarded);
ALTER TABLE public.lease_contract_guarded OWNER TO lease_contract_tables;
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
	EXECUTE format('SELECT to_jsonb(r) FROM (SELECT * FROM public.%I(%s)) r', split_part(called, ' ', 1), given) INTO answer;
	IF answer ? 'outcome' AND answer ? 'server_time' THEN
		IF NOT EXISTS (SELECT FROM public.lease_outcomes() o
				WHERE verb = regexp_replace(called, '_many$| .*', '') AND o.outcome = answer ->> 'outcome' AND o.ok = (answer ->> 'ok')::boolean) THEN
			judged := 'an outcome that is not listed: ' || answer;
		ELSIF (answer ->> 'ok')::boolean AND called <> 'lease_cancel' AND answer ->> 'expires_at' IS NOT NULL
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
	('lease_contract_operate', 'operate'), ('lease_contract_database', 'nothing'), ('lease_contract_monitor', 'monitor');
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
	FROM (SELECT function, argument, v.other FROM arguments JOIN functions USING (function)
		JOIN (VALUES ('name', '''never seen'''), ('resource', '''never seen'''), ('token', '''default/never%20seen/A/1'''), ('token', '''nowhere/held/A/1'''),
			('namespace', '''nowhere''')) v(argument, other) USING (argument)
		WHERE NOT 'anybody' = ANY (needs) ORDER BY function, argument) a;

-- A table is guarded and opened by its owner alone, whatever else a role may do.
SELECT is(pg_temp.becomes_for(role, function, 'target', '''public.lease_contract_others'''), '42501', format('%s for %s who does not own the table', function, role))
	FROM (VALUES ('lease_guard'), ('lease_unguard')) f(function), roles ORDER BY function, role;

-- An error that is too long is cut between two characters, and says so.
SELECT lease_offer('too long'), lease_claim('too long', 'A');
SELECT lease_fail('too long', 'A', 1, 'x' || repeat(chr(228), 40000));
SELECT matches((SELECT convert_from(convert_to(last_error, 'UTF8'), 'UTF8') FROM lease_task_get('too long')),
	'^x' || chr(228) || E'+\n\\[cut: the first 65535 of 80001 bytes\\]$', 'a long error is cut between two characters');

-- What each call becomes where nothing may be written, and where the next fence or
-- version would not fit.
CREATE FUNCTION pg_temp.becomes_after(prepared text, called text, replaced text DEFAULT NULL, by text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE prepared;
	answer := pg_temp.becomes(called, replaced, by);
	RAISE EXCEPTION USING ERRCODE = 'P0001', MESSAGE = answer;
EXCEPTION
	WHEN raise_exception THEN RETURN SQLERRM;
END $$;
\set at_the_end 'INSERT INTO lease_catalog.floor VALUES (''default'', 9223372036854775807, now()); SELECT lease_offer(''work''); UPDATE lease_catalog.lease SET version = 9223372036854775807'
CREATE TEMP TABLE seen AS
	SELECT function, becomes AS state FROM arguments JOIN kinds USING (kind)
	UNION SELECT function, '42501' FROM functions WHERE NOT 'anybody' = ANY (needs)
	UNION SELECT function, pg_temp.becomes_after('SET LOCAL transaction_read_only = on', function) FROM functions
	UNION SELECT function, pg_temp.becomes_after(:'at_the_end', function) FROM functions
	UNION SELECT 'lease_renew', pg_temp.becomes_after(:'at_the_end', 'lease_renew', 'version', 'NULL')
	UNION SELECT 'lease_break', pg_temp.becomes_after(:'at_the_end', 'lease_break', 'new_owner', '''B''');
SELECT set_eq($$SELECT function FROM seen WHERE state = '22003'$$,
	ARRAY['lease_claim', 'lease_takeover', 'lease_renew', 'lease_poll', 'lease_break'], 'which calls need a number that may not fit');

-- doc/reference.md names them all, but for those of an argument's type, which come
-- before the call.
CREATE TEMP TABLE page AS
	SELECT split_part(section, E'\n', 1) AS function, substring(section FROM '(?n)^(?:- )?Errors: (.*)$') AS errors
		FROM regexp_split_to_table(:'reference', E'\n##+ ') section;
SELECT is_empty($$
	WITH RECURSIVE told(function, at) AS (
		SELECT function, function FROM page
		UNION SELECT told.function, m[1] FROM told JOIN page ON page.function = at, regexp_matches(errors, 'as for `(\w+)`', 'g') m)
	SELECT split_part(function, ' ', 1), state FROM seen WHERE state <> 'answer' AND state NOT IN ('42883', '22P02', '22007')
	EXCEPT SELECT told.function, m[1] FROM told JOIN page ON page.function = at, regexp_matches(errors, '\m[0-9A-Z]{5}\M', 'g') m$$,
	'each error that was seen is on its function''s line of the reference');

SELECT * FROM finish();
ROLLBACK;
