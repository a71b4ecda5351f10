-- A guard per value of a column asks for the token of the row as it is stored
-- in the end, and of an old row as it was.  A row that moves from one lease to
-- another needs both, and a row that names none is nobody's to write.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE item (id int PRIMARY KEY, job text, v int);
INSERT INTO item VALUES (1, 'job', 1), (2, 'other', 1), (3, NULL, 1);
SELECT lease_guard('item', name_column => 'job');
\set try 'SELECT tried(:\'none\', act) AS none, tried(:\'stale\', act) AS stale, tried(:\'current\', act) AS current, tried(:\'other\', act) AS other, tried(:\'both\', act) AS both, act FROM unnest(ARRAY['
\set these ']) act;'

:try 'UPDATE item SET v = 0 WHERE id = 1', 'UPDATE item SET v = 0 WHERE id = 2',
	'UPDATE item SET v = 0 WHERE id < 3', 'DELETE FROM item WHERE id = 1',
	'DELETE FROM item WHERE id < 3', 'INSERT INTO item VALUES (4, ''job''), (5, ''other'')' :these
-- From one lease to the other, either way.
:try 'UPDATE item SET job = ''other'' WHERE id = 1', 'UPDATE item SET job = ''job'' WHERE id = 2',
	'MERGE INTO item USING (VALUES (1)) s (i) ON id = i WHEN MATCHED THEN UPDATE SET job = ''other''',
	'INSERT INTO item VALUES (1, ''other'') ON CONFLICT (id) DO UPDATE SET job = excluded.job' :these
-- The row that is in the way is judged, and not the one that was not inserted.
:try 'INSERT INTO item VALUES (1, ''other'') ON CONFLICT (id) DO UPDATE SET v = 0',
	'INSERT INTO item VALUES (1, ''other'') ON CONFLICT DO NOTHING' :these
-- NULL names no lease: not as it was, nor as it is to be; nor does what is no
-- name of any lease.
:try 'UPDATE item SET v = 0 WHERE id = 3', 'UPDATE item SET job = ''job'' WHERE id = 3',
	'UPDATE item SET job = NULL WHERE id = 1', 'INSERT INTO item VALUES (4, NULL)',
	'INSERT INTO item VALUES (4)', 'DELETE FROM item WHERE id = 3',
	'INSERT INTO item VALUES (4, '''')', 'INSERT INTO item VALUES (4, ''nobody''''s'')' :these
-- The whole table is nobody's.
:try 'TRUNCATE item', 'TRUNCATE item CASCADE', 'DELETE FROM item' :these

-- A later trigger has the last word on the row, and the guard sees it.
CREATE FUNCTION rename_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.job := TG_ARGV[0];
	RETURN NEW;
END $$;
CREATE TRIGGER "~~~last" BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION rename_it('other');
:try 'INSERT INTO item VALUES (4, ''job'')', 'UPDATE item SET v = 0 WHERE id = 1',
	'UPDATE item SET v = 0 WHERE id = 2' :these
DROP TRIGGER "~~~last" ON item;
CREATE TRIGGER "~~~last" BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION rename_it('');
:try 'INSERT INTO item VALUES (4, ''job'')' :these
DROP TABLE item;

-- Columns of any type that has a text, which is the lease's name.
SELECT r.outcome FROM lease_claim('7', 'D') c, lease_release('7', 'D', c.fence) r;
SELECT fence FROM lease_claim('7', 'D');
SELECT fence FROM lease_claim('a1b2c3d4-0000-4000-8000-000000000001', 'D');
SELECT fence FROM lease_claim('t', 'D');
SELECT fence FROM lease_claim('(7,x)', 'D');
SELECT fence FROM lease_claim('7 ', 'D');
CREATE DOMAIN number AS int;
CREATE DOMAIN word AS varchar(40);
CREATE TYPE pair AS (a int, b text);
CREATE TYPE mood AS ENUM ('7', 'sad');
CREATE TABLE typed (i int, d number, b bigint, u uuid, v varchar(40), w word, n name, c char(2), o boolean, e mood);
CREATE FUNCTION typed(col name, value text) RETURNS TABLE (sound text, lost text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM lease_guard('typed', name_column => col);
	RETURN QUERY SELECT tried(lease_token('default', value, 'D', CASE value WHEN '7' THEN 2 ELSE 1 END), act),
			tried(lease_token('default', value || '.', 'D', 1), act)
		FROM format('INSERT INTO typed (%I) VALUES (%L)', col, value) act;
END $$;
SELECT c.*, t.* FROM (VALUES ('i', '7'), ('d', '7'), ('b', '7'), ('u', 'a1b2c3d4-0000-4000-8000-000000000001'),
	('v', '7'), ('w', '7'), ('n', '7'), ('c', '7 '), ('o', 't'), ('e', '7')) c (col, value), typed(col, value) t;
-- A type whose text depends on the session's settings would give one row two
-- leases: with each an honest holder could write it.
CREATE TABLE unfit (at timestamptz, t timestamp, d date, b bytea, f float8, i interval, m money, p pair, r regclass, a text[], j jsonb);
SELECT attname, format_type(atttypid, NULL), tried('', format('SELECT lease_guard(''unfit'', name_column => %L)', attname))
FROM pg_attribute WHERE attrelid = 'unfit'::regclass AND attnum > 0 ORDER BY attnum;
\set VERBOSITY default
SELECT lease_guard('unfit', name_column => 'd');
\set VERBOSITY sqlstate
DROP TABLE unfit;
-- What is equal and written otherwise is of another lease, byte for byte like
-- names; a row belongs to the lease of what is stored in it.
CREATE TABLE loose (n numeric PRIMARY KEY, v int);
SELECT lease_guard('loose', name_column => 'n');
SELECT act, tried('default/7/D/2', act) FROM unnest(ARRAY['INSERT INTO loose VALUES (7)', 'INSERT INTO loose VALUES (7.0)']) act;
BEGIN;
SET LOCAL lease.token = 'default/7/D/2';
INSERT INTO loose VALUES (7);
COMMIT;
SELECT act, tried('default/7/D/2', act) FROM unnest(ARRAY['UPDATE loose SET v = 1 WHERE n = 7.0',
	'INSERT INTO loose VALUES (7.0) ON CONFLICT (n) DO UPDATE SET v = 1', 'UPDATE loose SET n = 7.0']) act;
-- With a scale there is one form.
SELECT lease_unguard('loose');
ALTER TABLE loose ALTER n TYPE numeric(10, 0);
SELECT lease_guard('loose', name_column => 'n');
SELECT tried('default/7/D/2', 'INSERT INTO loose VALUES (7.0) ON CONFLICT (n) DO NOTHING'), tried('default/7/D/2', 'UPDATE loose SET n = 7.00');
DROP TABLE loose;
DROP FUNCTION typed;
DROP TABLE typed;

-- A generated column has its value only in the end.
CREATE TABLE made (id int PRIMARY KEY, part text, job text GENERATED ALWAYS AS (lower(part)) STORED, fence bigint);
INSERT INTO made VALUES (1, 'JOB');
SELECT lease_guard('made', name_column => 'job');
:try 'INSERT INTO made VALUES (2, ''JOB'')', 'INSERT INTO made VALUES (2, ''OTHER'')',
	'UPDATE made SET part = ''Job''', 'UPDATE made SET part = ''OTHER''', 'UPDATE made SET part = NULL',
	'DELETE FROM made' :these
\set VERBOSITY default
SELECT lease_guard('made', name_column => 'job', fence_column => 'fence');
\set VERBOSITY sqlstate
SELECT lease_guard('made', name_column => 'job', fence_column => 'fence');
SELECT name_column, fence_column, open FROM lease_guards;
-- One that became generated afterwards.
ALTER TABLE made DROP job, ADD job text;
SELECT lease_guard('made', name_column => 'job', fence_column => 'fence');
ALTER TABLE made DROP job, ADD job text GENERATED ALWAYS AS (lower(part)) STORED;
:try 'INSERT INTO made VALUES (2, ''JOB'')', 'UPDATE made SET part = ''Job''' :these
DROP TABLE made;

-- A column that is gone: nothing is written, and it is said why.
CREATE TABLE gone (id int, job text, fence bigint);
INSERT INTO gone VALUES (1, 'job');
SELECT lease_guard('gone', name_column => 'job');
ALTER TABLE gone RENAME job TO work;
:try 'INSERT INTO gone VALUES (2, ''job'')', 'UPDATE gone SET id = 2', 'DELETE FROM gone' :these
SELECT told(:'current', 'DELETE FROM gone');
SELECT name_column, open FROM lease_guards;
SELECT lease_guard('gone', name_column => 'work');
:try 'UPDATE gone SET id = 2' :these
ALTER TABLE gone DROP work;
:try 'UPDATE gone SET id = 2' :these
SELECT lease_guard('gone', name_column => 'work');
SELECT lease_guard('gone', name_column => 'ctid');
SELECT lease_guard('gone', name_column => 'tableoid');

\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE gone;
DROP FUNCTION tried, told, rename_it;
DROP TYPE number, word, pair, mood;
DROP EXTENSION lease;
