-- What is known of a token belongs to the (sub)transaction that found it out:
-- before and after the lease changed hands, and with what is rolled back.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE item (id int, job text DEFAULT 'job');
CREATE TABLE beside (id int);
SELECT lease_guard('item', name_column => 'job'), lease_guard('beside', 'job', mode => 'current');
-- An error in it is undone, so that the transaction goes on.
\set ON_ERROR_ROLLBACK on

-- To the end of its transaction and no longer.
BEGIN;
SELECT ok, outcome, owner, fence, version FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);
INSERT INTO beside VALUES (1);
COMMIT;
INSERT INTO item VALUES (1);
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
ROLLBACK;
INSERT INTO item VALUES (1);
-- Alone it is of no use.
SELECT outcome FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);

-- A renewal keeps it; every verb that ends its epoch drops it.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
SELECT outcome FROM lease_renew('job', 'B', 2);
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_renew_many('{job}', 'B', '{2}');
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_get('job');
SELECT outcome FROM lease_claim('job', 'D');
SELECT outcome FROM lease_renew('job', 'A', 1);
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_release('job', 'B', 2);
INSERT INTO item VALUES (1);
INSERT INTO beside VALUES (1);
SELECT outcome FROM lease_present('job', 'B', 2);
-- The next epoch, in the same transaction.
SELECT outcome, fence FROM lease_claim('job', 'D');
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_present('job', 'D', 3);
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_present('job', 'B', 2);
-- The attempt did not take the good one's place.
INSERT INTO item VALUES (1);
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_break('job', 2, 'why');
INSERT INTO item VALUES (1);
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
SELECT outcome FROM lease_release_many('{job}', 'B', '{2}');
INSERT INTO item VALUES (1);
ROLLBACK;

-- A rollback of that verb brings the verdict back.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
SAVEPOINT s;
SELECT outcome FROM lease_release('job', 'B', 2);
INSERT INTO item VALUES (1);
SAVEPOINT t;
SELECT fence FROM lease_claim('job', 'D');
SELECT outcome FROM lease_present('job', 'D', 3);
INSERT INTO item VALUES (1);
ROLLBACK TO t;
INSERT INTO item VALUES (1);
ROLLBACK TO s;
INSERT INTO item VALUES (1);
COMMIT;
-- What was kept with a savepoint is not forgotten with it.
BEGIN;
SAVEPOINT s;
SELECT outcome FROM lease_present('job', 'B', 2);
RELEASE s;
INSERT INTO item VALUES (1);
SAVEPOINT s;
SAVEPOINT t;
SELECT outcome FROM lease_break('job', 2, 'why');
RELEASE t;
INSERT INTO item VALUES (1);
RELEASE s;
INSERT INTO item VALUES (1);
ROLLBACK;
-- Presented in a savepoint that is rolled back: forgotten.
BEGIN;
SAVEPOINT s;
SELECT outcome FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);
ROLLBACK TO s;
INSERT INTO item VALUES (1);
-- By an error too.
DO $$ BEGIN PERFORM lease_present('job', 'B', 2); INSERT INTO item VALUES (1); RAISE EXCEPTION 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END $$;
INSERT INTO item VALUES (1);
DO $$ BEGIN PERFORM lease_present('job', 'B', 2); EXCEPTION WHEN raise_exception THEN NULL; END $$;
INSERT INTO item VALUES (1);
COMMIT;
-- The outer one replaced in a savepoint comes back with it.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
SAVEPOINT s;
SELECT outcome FROM lease_present('job', 'A', 1, prove => false);
INSERT INTO item VALUES (1);
ROLLBACK TO s;
INSERT INTO item VALUES (1);
SAVEPOINT s;
SELECT outcome FROM lease_present('job', 'A', 1, prove => false);
RELEASE s;
INSERT INTO item VALUES (1);
-- The second replaces the first, the third the second.
SELECT outcome FROM lease_present('job', 'B', 2, prove => false);
INSERT INTO item VALUES (1);
ROLLBACK;
-- One that was only presented is proved when a guard needs it, once.
BEGIN;
SELECT ok, outcome, owner, fence, expires_at FROM lease_present('job', 'B', 2, prove => false);
SAVEPOINT s;
INSERT INTO item VALUES (1);
ROLLBACK TO s;
INSERT INTO item VALUES (1);
COMMIT;
-- The lease lapses in the transaction: what was accepted goes on, for no later
-- epoch can begin before it ends; what comes later is refused.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);
SET LOCAL lease.clock = '100000';
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_present('job', 'B', 2);
ROLLBACK;
-- So it is when a verb that dropped the verdict is rolled back, after the lapse;
-- and what was proved in a savepoint is not, when that is.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);
SAVEPOINT s;
SELECT outcome FROM lease_release('job', 'B', 2);
ROLLBACK TO s;
SET LOCAL lease.clock = '100000';
INSERT INTO item VALUES (1);
INSERT INTO beside VALUES (1);
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2, prove => false);
SAVEPOINT s;
INSERT INTO item VALUES (1);
ROLLBACK TO s;
SET LOCAL lease.clock = '100000';
INSERT INTO item VALUES (1);
INSERT INTO beside VALUES (1);
ROLLBACK;
-- But where it takes the lease over itself, it is over.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
INSERT INTO item VALUES (1);
SET LOCAL lease.clock = '100000';
SELECT outcome, fence FROM lease_takeover('job', 'B', 2);
INSERT INTO item VALUES (1);
ROLLBACK;
-- The other lease's verdict is none of its business.
BEGIN;
SELECT a.outcome, b.outcome FROM lease_present('job', 'B', 2) a, lease_present('other', 'C', 1) b;
SELECT outcome FROM lease_release('other', 'C', 1);
INSERT INTO item VALUES (1);
INSERT INTO item VALUES (2, 'other');
ROLLBACK;
-- Many tokens and savepoints.
SELECT count(*) AS claimed FROM generate_series(1, 50) i, lease_claim('many ' || i, 'E', ttl => '1 h');
BEGIN;
SELECT count(*) AS presented FROM generate_series(1, 50) i, lease_present('many ' || i, 'E', 1);
INSERT INTO item SELECT i, 'many ' || (i % 50) + 1 FROM generate_series(1, 500) i;
DO $$
BEGIN
	FOR i IN 1 .. 200 LOOP
		BEGIN
			PERFORM lease_release('many ' || i, 'E', 1);
			RAISE EXCEPTION 'undone';
		EXCEPTION WHEN raise_exception THEN
			INSERT INTO item VALUES (i, 'many ' || (i % 50) + 1);
		END;
	END LOOP;
END $$;
ROLLBACK;

-- A cursor that is still open, and a function that writes and reads.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
WITH w AS (INSERT INTO item SELECT i FROM generate_series(1, 3) i RETURNING id), r AS (SELECT outcome FROM w, LATERAL lease_renew('job', 'B', 2))
SELECT count(*) FROM r;
ROLLBACK;

-- What was accepted cannot be prepared.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2);
PREPARE TRANSACTION 'guarded';
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 2, prove => false);
PREPARE TRANSACTION 'guarded';
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO item VALUES (1);
PREPARE TRANSACTION 'guarded';
SELECT count(*) FROM pg_prepared_xacts;

-- A read only transaction can prove and write nothing.
BEGIN READ ONLY;
SELECT lease_present('job', 'B', 2);
SELECT lease_present('job', 'B', 2, prove => false);
SELECT lease_present('default/job/B/2');
SELECT * FROM lease_admit('job', 2);
SELECT lease_mark_reset('job', 2, 'why');
SELECT lease_guard('item', 'job');
SELECT lease_unguard('item');
SELECT lease_token('default', 'job', 'B', 2);
SELECT count(*) FROM lease_guards;
INSERT INTO item VALUES (1);
ROLLBACK;
CREATE TEMP TABLE passing (id int);
SELECT lease_guard('passing', 'job');
BEGIN READ ONLY;
SET LOCAL lease.token = :'current';
INSERT INTO passing VALUES (1);
ROLLBACK;

-- At every level the latest state of the lease counts and not the snapshot's.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) >= 0 AS snapshot FROM item;
SELECT outcome FROM lease_release('job', 'B', 2);
SELECT fence FROM lease_claim('job', 'B', ttl => '1 h');
SELECT outcome FROM lease_present('job', 'B', 2);
SELECT outcome FROM lease_present('job', 'B', 3);
INSERT INTO item VALUES (1);
INSERT INTO item VALUES (1);
SELECT fence FROM lease_catalog.mark WHERE name = 'job' ORDER BY fence;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) >= 0 AS snapshot FROM item;
SELECT outcome FROM lease_present('job', 'B', 2);
SELECT outcome FROM lease_present('job', 'B', 3);
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_release('job', 'B', 3);
SELECT fence FROM lease_claim('job', 'B', ttl => '1 h');
INSERT INTO item VALUES (1);
SELECT outcome FROM lease_present('job', 'B', 4);
INSERT INTO item VALUES (1);
COMMIT;
SELECT fence FROM lease_catalog.mark WHERE name = 'job' ORDER BY fence;

\unset ON_ERROR_ROLLBACK
\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE item, beside, passing;
DROP FUNCTION tried, told;
DROP EXTENSION lease;
