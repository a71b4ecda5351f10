-- A hold that stops, and a cancel past its deadline, stop guarded writes too;
-- a verdict of the same transaction does not outlive the act.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE stopped (id int);
SELECT lease_guard('stopped', 'job');
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS held;
-- One that only keeps others out lets the holder finish.
SELECT outcome FROM lease_hold('job', 'incident');
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS on_hold;
SELECT outcome FROM lease_hold('job', 'incident', stop => true);
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS stopped;
SELECT outcome FROM lease_resume('job');
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS resumed;
-- The whole namespace.
SELECT outcome FROM lease_namespace_hold('default', 'incident', stop => true);
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS stopped;
SELECT outcome FROM lease_namespace_resume('default');
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS resumed;
-- In the transaction that was let in before; and its rollback.
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO stopped VALUES (2);
SAVEPOINT before;
SELECT outcome FROM lease_hold('job', 'incident', stop => true);
SAVEPOINT after;
INSERT INTO stopped VALUES (3);
ROLLBACK TO before;
INSERT INTO stopped VALUES (4);
SELECT outcome FROM lease_namespace_hold('default', 'incident', stop => true);
INSERT INTO stopped VALUES (5);
ROLLBACK;
-- A cancel: until its deadline, and no longer.
SELECT outcome FROM lease_cancel('job', 'enough', deadline => '10 s');
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS before_deadline;
SELECT set_config('lease.clock', (current_setting('lease.clock')::numeric + 10)::text, false) <> '' AS later;
SELECT tried(:'current', 'INSERT INTO stopped VALUES (1)') AS after_deadline;
DROP TABLE stopped;
DROP FUNCTION tried, told;
DROP EXTENSION lease;
