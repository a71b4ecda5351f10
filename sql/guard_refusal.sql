-- Every refusal has its SQLSTATE, says what was presented and what is on record,
-- and what to do; and tells no owner, nor anything to who may not use the lease.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
SET lease.lock_wait = '50 ms';
CREATE TABLE item (id int);
CREATE TABLE per_value (id int, job text);
SELECT lease_guard('item', 'job'), lease_guard('per_value', name_column => 'job');
SELECT told(:'stale', 'INSERT INTO item VALUES (1)') AS "LE001";
SET lease.clock = '100000';
SELECT told(:'current', 'INSERT INTO item VALUES (1)') AS "LE002";
SET lease.clock = '1000';
SELECT told(:'none', 'INSERT INTO item VALUES (1)') AS "LE003";
SELECT told(:'current', 'INSERT INTO per_value VALUES (1, NULL)') AS "LE003, NULL";
SELECT told(:'current', 'INSERT INTO per_value VALUES (1, repeat(''n'', 513))') AS "LE003, no name";
SELECT told(:'current', 'TRUNCATE per_value') AS "LE003, TRUNCATE";
SELECT told('default/job/A/2', 'INSERT INTO item VALUES (1)') AS "LE004";
BEGIN;
SELECT lease_mark_reset('job', 7, 'up');
SELECT told(:'current', 'INSERT INTO item VALUES (1)') AS "LE005";
ROLLBACK;
SELECT told('default/job/B/3', 'INSERT INTO item VALUES (1)') AS "LE006";
SELECT told('', 'SELECT lease_present(''nobody''''s'', ''B'', 1)') AS "LE006, no lease";
BEGIN;
SELECT outcome FROM lease_break('job', 2, 'why');
SELECT told(:'current', 'INSERT INTO item VALUES (1)') AS "LE008, broken";
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_release('job', 'B', 2);
SELECT told(:'current', 'INSERT INTO item VALUES (1)') AS "LE008, released";
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_hold('job', 'why', stop => true);
SELECT told(:'current', 'INSERT INTO item VALUES (1)') AS "LE009, held";
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_cancel('job', 'why', deadline => '0');
SELECT told(:'current', 'INSERT INTO item VALUES (1)') AS "LE009, cancelled";
ROLLBACK;
-- The same by lease_present, of which no table is part.
SELECT told('', 'SELECT lease_present(''job'', ''A'', 1)') AS "LE001";
SELECT told('', 'SELECT lease_present(''job'', ''A'', 2)') AS "LE004";
SELECT lease_present('job', 'A', -1);
SELECT lease_present('job', 'A', -1, prove => false);
SELECT lease_present('job', 'A', NULL);
SELECT lease_present(NULL, 'A', 1);
SELECT lease_present('job', NULL, 1);
SELECT lease_present('job', '', 1);
SELECT lease_present('job', 'A', 1, prove => NULL);
SELECT lease_present('job', 'A', 1, namespace => NULL);
SELECT lease_present('job', 'A', 1, namespace => 'nowhere');
SELECT lease_present('nowhere/job/A/1');

-- Another's: a role with "use" learns no owner, from no refusal; one without
-- learns nothing at all.
CREATE ROLE regress_lease_use;
CREATE ROLE regress_lease_none;
GRANT ALL ON item TO regress_lease_use, regress_lease_none;
SELECT lease_grant('default', 'regress_lease_use', 'use');
SELECT outcome FROM lease_claim('secret', 'the secret owner');
CREATE TABLE hidden (id int);
GRANT ALL ON hidden TO PUBLIC;
SELECT lease_guard('hidden', 'secret');
CREATE VIEW all_that_is_told AS SELECT string_agg(told(lease_token('default', 'secret', owner, fence), act), '; ') AS all
FROM unnest('{A,B}'::text[]) owner, generate_series(0, 3) fence,
	unnest(ARRAY['INSERT INTO hidden VALUES (1)', format('SELECT lease_present(''secret'', %L, %s)', owner, fence)]) act;
GRANT SELECT ON all_that_is_told TO PUBLIC;
SET ROLE regress_lease_use;
SELECT a.all ~ 'LE001.*LE004.*LE006' AS refused, a.all ~ 'secret owner' AS told FROM all_that_is_told a;
SET ROLE regress_lease_none;
SELECT a.all ~ 'LE00' AS refused, a.all ~ 'secret owner' AS told, a.all ~ 'is on record' AS fence FROM all_that_is_told a;
\set VERBOSITY default
SELECT lease_present('job', 'B', 2);
SELECT lease_present('job', 'B', 2, namespace => 'nowhere');
SELECT * FROM lease_admit('job', 2);
SELECT lease_mark_reset('job', 2, 'why');
SET ROLE regress_lease_use;
SELECT lease_mark_reset('job', 2, 'why');
\set VERBOSITY sqlstate
SELECT * FROM lease_admit('mine', 2);
SELECT outcome FROM lease_present('job', 'B', 2);
-- Fair-lock writers need the privilege too.
RESET ROLE;
SELECT lease_guard('item', 'job', mode => 'high_water');
SET ROLE regress_lease_none;
SELECT tried(:'current', 'INSERT INTO item VALUES (1)');
SET ROLE regress_lease_use;
SELECT tried(:'current', 'INSERT INTO item VALUES (1)');
RESET ROLE;
SELECT lease_revoke('default', 'regress_lease_use', 'use');
SET ROLE regress_lease_use;
SELECT tried(:'current', 'INSERT INTO item VALUES (1)');
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_use', 'operate');
SET ROLE regress_lease_use;
SELECT lease_mark_reset('job', 2, 'why');
SELECT tried(:'current', 'INSERT INTO item VALUES (1)');
RESET ROLE;
SELECT role_name, intent, fence, reason FROM lease_intents WHERE intent = 'mark_reset';

\set VERBOSITY terse
SET client_min_messages = error;
DROP VIEW all_that_is_told;
DROP TABLE item, per_value, hidden;
DROP FUNCTION tried, told;
DROP EXTENSION lease;
DROP ROLE regress_lease_use, regress_lease_none;
