-- A high-water mark is the highest fence that a resource has accepted.  It lets
-- equal fences in and lower ones never, does not need the lease, and falls by
-- an operator's recorded act alone.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
\set marks 'SELECT namespace, name, fence FROM lease_catalog.mark ORDER BY 1, 2, 3;'
CREATE TABLE away (id int PRIMARY KEY, v int, fence bigint);
CREATE TABLE beside (id int);
SELECT lease_guard('away', 'job', mode => 'high_water');
SELECT lease_guard('beside', 'job');

-- A statement that changes no row raises nothing.
SET lease.token = 'default/job/Z/9';
INSERT INTO away SELECT 1 WHERE false;
UPDATE away SET v = 1;
DELETE FROM away;
MERGE INTO away USING (VALUES (1)) s (i) ON id = i WHEN MATCHED THEN DELETE;
:marks
-- Nor does what is undone.
BEGIN;
INSERT INTO away VALUES (1);
:marks
ROLLBACK;
:marks
-- A row that lands raises it; the second, and later transactions, write nothing more.
INSERT INTO away VALUES (1);
INSERT INTO away VALUES (2), (3);
UPDATE away SET v = 1;
:marks

-- ON CONFLICT: the arm that lands counts, and DO NOTHING raises no mark.
SET lease.token = 'default/job/Z/10';
INSERT INTO away VALUES (1) ON CONFLICT DO NOTHING;
:marks
INSERT INTO away VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 2 WHERE false;
:marks
INSERT INTO away VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 2;
:marks
SET lease.token = 'default/job/Z/11';
INSERT INTO away VALUES (4) ON CONFLICT DO NOTHING;
:marks
-- So too where the fence is stamped, for which a trigger comes before.
SELECT lease_guard('away', 'job', mode => 'high_water', fence_column => 'fence');
SET lease.token = 'default/job/Z/12';
INSERT INTO away VALUES (1) ON CONFLICT DO NOTHING;
:marks
INSERT INTO away VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 3 RETURNING *;
:marks
SELECT lease_guard('away', 'job', mode => 'high_water');

-- Equal passes, lower does not, whoever it is.
SELECT fence, tried(lease_token('default', 'job', 'Z', fence), 'UPDATE away SET v = 1') AS one,
	tried(lease_token('default', 'job', 'Y', fence), 'INSERT INTO away VALUES (9)') AS two
FROM unnest('{0,11,12,13,9223372036854775807}'::bigint[]) fence;
SELECT told('default/job/Z/11', 'UPDATE away SET v = 1');

-- The mark is the resource's, and the current holder of fence 2 is below it.
SELECT told(:'current', 'INSERT INTO beside VALUES (1)');
SELECT * FROM lease_admit('job', 11);
SELECT * FROM lease_admit('job', 12);
SELECT * FROM lease_admit('job', 13);
:marks
SELECT tried('default/job/Z/12', 'UPDATE away SET v = 1');

-- The only way down, for operators, and on record.
SELECT lease_mark_reset('job', 1, 'the coordinator was restored');
:marks
SELECT intent, name, fence, reason FROM lease_intents;
SET lease.token = :'current';
INSERT INTO beside VALUES (1);
RESET lease.token;
:marks
-- Undone, it has not been.
BEGIN;
SELECT lease_mark_reset('job', 0, 'tried');
SELECT * FROM lease_admit('job', 1);
ROLLBACK;
SELECT * FROM lease_admit('job', 1);
SELECT lease_mark_reset('job', 9223372036854775807, 'to the top');
SELECT * FROM lease_admit('job', 9223372036854775807);
SELECT lease_mark_reset('job', 0, 'to nothing');
SELECT lease_mark_reset('never used', 7, 'up');
:marks

-- What it takes.
SELECT lease_mark_reset('job', -1, 'why');
SELECT lease_mark_reset('job', NULL, 'why');
SELECT lease_mark_reset('job', 1, NULL);
SELECT lease_mark_reset('job', 1, '');
SELECT lease_mark_reset(NULL, 1, 'why');
SELECT lease_mark_reset('job', 1, 'why', NULL);
SELECT lease_mark_reset('job', 1, 'why', 'nowhere');
SELECT * FROM lease_admit('job', -1);
SELECT * FROM lease_admit(NULL, 1);
SELECT * FROM lease_admit('', 1);
SELECT * FROM lease_admit('job', NULL);
SELECT * FROM lease_admit('job', 1, NULL);
SELECT * FROM lease_admit('job', 1, 'nowhere');

-- The same resource named in another namespace is another.
SELECT lease_namespace_create('tenant');
SELECT * FROM lease_admit('never used', 6);
SELECT * FROM lease_admit('never used', 6, namespace => 'tenant');
SELECT * FROM lease_admit('never used', 7);

-- Admitting within one transaction: up, again, and not down.
BEGIN;
SELECT * FROM lease_admit('r', 5);
SELECT * FROM lease_admit('r', 5);
SELECT * FROM lease_admit('r', 6);
SELECT * FROM lease_admit('r', 5);
SAVEPOINT s;
SELECT * FROM lease_admit('r', 8);
ROLLBACK TO s;
SELECT * FROM lease_admit('r', 7);
COMMIT;
SELECT * FROM lease_admit('r', 7);

-- A mark that is moved in the same transaction is held against the token anew.
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO beside VALUES (2);
SELECT lease_mark_reset('job', 3, 'up');
INSERT INTO beside VALUES (2);
ROLLBACK;
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO beside VALUES (2);
INSERT INTO away VALUES (5);
SELECT * FROM lease_admit('job', 3);
INSERT INTO beside VALUES (2);
ROLLBACK;

-- What "both" proves is not enough for "high_water", which keeps others out by a
-- lock of its own, shared and held once.
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO beside VALUES (2);
COMMIT;
\set locks 'SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND mode = \'ShareLock\';'
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO beside VALUES (2);
:locks
INSERT INTO away VALUES (5);
:locks
INSERT INTO away VALUES (6);
:locks
INSERT INTO beside VALUES (2);
ROLLBACK;
:locks

-- Three modes, and what each asks.  The first epoch of "fresh" wrote nothing.
SELECT r.outcome FROM lease_claim('fresh', 'A') c, lease_release('fresh', 'A', c.fence) r;
SELECT fence FROM lease_claim('fresh', 'B', ttl => '1 h');
CREATE TABLE by_current (id int);
CREATE TABLE by_mark (id int);
CREATE TABLE by_both (id int);
SELECT lease_guard('by_current', 'fresh', mode => 'current'),
	lease_guard('by_mark', 'fresh', mode => 'high_water'), lease_guard('by_both', 'fresh');
CREATE VIEW asked AS SELECT name, tried(:'none', act) AS none, tried('default/fresh/A/1', act) AS stale,
	tried('default/fresh/B/2', act) AS current, tried('default/fresh/A/2', act) AS "another's", tried('default/fresh/B/3', act) AS unknown
FROM unnest('{by_current,by_mark,by_both}'::text[]) name, format('INSERT INTO %I VALUES (1)', name) act;
TABLE asked;
-- by_current keeps no mark, and the others do.
SET lease.token = 'default/fresh/B/2';
INSERT INTO by_current VALUES (1);
SELECT fence FROM lease_catalog.mark WHERE name = 'fresh';
INSERT INTO by_both VALUES (1);
INSERT INTO by_both VALUES (2);
SELECT fence FROM lease_catalog.mark WHERE name = 'fresh';
RESET lease.token;
TABLE asked;
-- The coordinator's rows are corrupted, and the first epoch back: the mark stands.
UPDATE lease_catalog.lease SET fence = 1, owner = 'A' WHERE name = 'fresh';
TABLE asked;
-- They are gone, as in a database that has no leases: with "both" it is closed.
DELETE FROM lease_catalog.lease;
TABLE asked;
SELECT told('default/fresh/B/2', 'INSERT INTO by_both VALUES (1)');

-- Lower rows are pruned, the highest stays.
SELECT what, count > 0 AS some FROM lease_sweep() WHERE what = 'marks';
:marks
SELECT what, count > 0 AS some FROM lease_sweep() WHERE what = 'marks';

\set VERBOSITY terse
SET client_min_messages = error;
DROP VIEW asked;
DROP TABLE away, beside, by_current, by_mark, by_both;
DROP FUNCTION tried, told;
DROP EXTENSION lease;
