-- What a call leaves behind besides its answer: no lock of a refused call, no page
-- more for a renewal, no memory, plan or handle in the session.
--
-- This file is no single transaction, since that is what it is about; it ends by
-- dropping what it made.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS lease, pgtap;
CREATE EXTENSION pgtap;
CREATE EXTENSION lease;
RESET client_min_messages;
SELECT no_plan();

CREATE VIEW own_locks AS
	SELECT locktype, relation::regclass::text, mode FROM pg_locks
		WHERE pid = pg_backend_pid() AND (locktype IN ('tuple', 'advisory')
			OR relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'lease_catalog'::regnamespace));

-- A row lock is a transaction in xmax that has not ended.
CREATE VIEW locked_rows AS
	SELECT name FROM lease_catalog.lease
		WHERE xmax <> '0' AND 'in progress' = pg_xact_status(
			(pg_current_xact_id()::text::bigint >> 32 << 32 | xmax::text::bigint)::text::xid8);

-- Refused calls in an open transaction: whoever comes next finds nothing locked.
SET lease.clock = '1000';
CREATE TABLE answers AS SELECT outcome FROM lease_claim('lapsed', 'A', ttl => '1 s');
SET lease.clock = '2000';
INSERT INTO answers SELECT outcome FROM lease_claim('held', 'A', ttl => '60 s');
TRUNCATE answers;
BEGIN;
INSERT INTO answers SELECT c.outcome FROM generate_series(1, 3), LATERAL lease_claim('held', 'B') c;
INSERT INTO answers SELECT outcome FROM lease_takeover('held', 'B', 1);
INSERT INTO answers SELECT outcome FROM lease_takeover('lapsed', 'B', 2);
INSERT INTO answers SELECT outcome FROM lease_takeover('new', 'B', 1);
INSERT INTO answers SELECT outcome FROM lease_renew('held', 'B', 1);
INSERT INTO answers SELECT outcome FROM lease_renew('held', 'A', 1, version => 7);
INSERT INTO answers SELECT outcome FROM lease_renew('lapsed', 'A', 1);
INSERT INTO answers SELECT outcome FROM lease_renew('new', 'A', 1);
INSERT INTO answers SELECT outcome FROM lease_release('held', 'A', 2);
INSERT INTO answers SELECT outcome FROM lease_release('held', 'B', 1);
INSERT INTO answers SELECT outcome FROM lease_release('new', 'B', 1);
INSERT INTO answers SELECT outcome FROM lease_get('held');
DO $$ BEGIN PERFORM lease_present('held', 'B', 1); EXCEPTION WHEN SQLSTATE 'LE004' THEN NULL; END $$;
DO $$ BEGIN PERFORM lease_present('lapsed', 'A', 1); EXCEPTION WHEN SQLSTATE 'LE002' THEN NULL; END $$;
INSERT INTO answers SELECT state FROM lease_status;
SELECT bag_eq($$SELECT DISTINCT outcome FROM answers$$,
	ARRAY['held', 'not_expired', 'unknown_fence', 'not_found', 'not_owner', 'stale_version', 'expired'], 'refused in every way');
SELECT is_empty('SELECT * FROM own_locks', 'no lock is left by a refused call in an open transaction');
SELECT is_empty('SELECT * FROM locked_rows', 'nor one on a row');
-- The views see what there is to see.
INSERT INTO answers SELECT outcome FROM lease_renew('held', 'A', 1);
SELECT isnt_empty('SELECT * FROM own_locks', 'a renewal has its lock until its transaction ends');
INSERT INTO answers SELECT outcome FROM lease_claim('new', 'A');
SELECT is_empty($$SELECT * FROM own_locks WHERE locktype <> 'relation'$$, 'a first claim has no lock but the table''s and its row''s');
COMMIT;
SELECT is_empty('SELECT * FROM own_locks', 'and none after it');
BEGIN;
INSERT INTO answers SELECT name FROM lease_catalog.lease WHERE name = 'held' FOR UPDATE;
SELECT isnt_empty('SELECT * FROM locked_rows', 'and a row that is locked is seen to be');
COMMIT;

-- Renewals are heap-only updates and need no more pages, however many.
SELECT pg_stat_force_next_flush();
SELECT n_tup_upd AS updates, n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relid = 'lease_catalog.lease'::regclass \gset
DO $$
BEGIN
	FOR n IN 1..500 LOOP
		PERFORM set_config('lease.clock', (2000 + n / 100.0)::text, false);
		IF (SELECT outcome FROM lease_renew('held', 'A', 1)) <> 'renewed' THEN
			RAISE EXCEPTION 'not renewed';
		END IF;
		COMMIT;
	END LOOP;
END $$;
SELECT pg_stat_force_next_flush();
SELECT n_tup_upd - :updates AS updates, n_tup_hot_upd - :hot AS hot FROM pg_stat_user_tables WHERE relid = 'lease_catalog.lease'::regclass \gset
SELECT is(:updates::bigint, 500::bigint, '500 renewals are 500 updates');
SELECT is(:hot::bigint, 500::bigint, 'all of them heap-only');
SELECT cmp_ok(pg_relation_size('lease_catalog.lease'), '<=', 2 * current_setting('block_size')::bigint, 'on the pages that were there');

-- Cycles of claims, refusals, errors, renewals and releases, many in a transaction
-- and many transactions: the session is as big after twelve thousand calls as
-- after two thousand, guarded writes among them.  (Less than a byte a call is no leak; the caches of the
-- server may have been refilled meanwhile.)
UPDATE lease_catalog.lease SET version = 9223372036854775807 WHERE name = 'lapsed';
CREATE TABLE guarded (n int);
SELECT lives_ok($$SELECT lease_guard('guarded', name => 'cycle')$$, 'a table is guarded');
CREATE PROCEDURE cycles(many int) LANGUAGE plpgsql AS $$
DECLARE
	answer lease_result;
BEGIN
	FOR n IN 1..many / 10 LOOP
		SELECT * INTO answer FROM lease_claim('cycle', 'A');
		PERFORM lease_claim('cycle', 'B');
		PERFORM lease_renew('cycle', 'A', answer.fence);
		PERFORM lease_renew('cycle', 'A', answer.fence - 1);
		PERFORM lease_renew('cycle', 'B', answer.fence);
		PERFORM lease_takeover('cycle', 'B', answer.fence);
		PERFORM lease_present('cycle', 'A', answer.fence);
		INSERT INTO guarded VALUES (n);
		PERFORM lease_admit('cycle', answer.fence), lease_admit('cycle', answer.fence - 1);
		BEGIN
			PERFORM lease_present('cycle', 'B', answer.fence);
		EXCEPTION WHEN SQLSTATE 'LE004' THEN
			NULL;
		END;
		BEGIN
			PERFORM lease_claim('lapsed', 'B');
		EXCEPTION WHEN numeric_value_out_of_range THEN
			NULL;
		END;
		BEGIN
			PERFORM lease_renew('cycle', NULL, 1);
		EXCEPTION WHEN null_value_not_allowed THEN
			NULL;
		END;
		PERFORM lease_get('cycle'), count(*) FROM lease_status;
		PERFORM lease_release('cycle', 'A', answer.fence);
		IF n % 5 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
SELECT sum(used_bytes) AS used, count(*) AS contexts FROM pg_backend_memory_contexts \gset warm_
CALL cycles(2000);
SELECT sum(used_bytes) AS used, count(*) AS contexts FROM pg_backend_memory_contexts \gset before_
CALL cycles(10000);
SELECT sum(used_bytes) AS used, count(*) AS contexts FROM pg_backend_memory_contexts \gset after_
SELECT cmp_ok(:after_used - :before_used, '<', 10000, 'no memory is left by ten thousand calls more');
SELECT cmp_ok(:after_contexts - :before_contexts, '<', 10, 'and no plan or other context');
SELECT is_empty($$SELECT name FROM pg_prepared_statements$$, 'no prepared statement');
SELECT is_empty($$SELECT name FROM pg_cursors WHERE statement !~ 'pg_cursors'$$, 'no cursor');
SELECT is_empty($$SELECT pg_listening_channels()$$, 'no listener');
SELECT is_empty($$SELECT * FROM own_locks$$, 'and no lock');

SELECT * FROM finish();
SET client_min_messages = warning;
DROP TABLE answers;
DROP VIEW own_locks, locked_rows;
DROP PROCEDURE cycles;
DROP TABLE guarded;
DROP EXTENSION lease, pgtap;
