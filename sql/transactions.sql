-- A verb is part of its caller's transaction: what it wrote goes back with it,
-- it works wherever a function can be called, and time passes in there too.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires'

-- A claim that is rolled back granted nothing: a token is void until the claim
-- that returned it has committed.  Nobody may use it, also where the next
-- holder's fence is the same number.
BEGIN;
SAVEPOINT s;
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
ROLLBACK TO s;
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_renew('job', 'A', 1);
COMMIT;
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_release('job', 'A', 1);

-- So with a whole transaction, and with a block that handles an exception.
BEGIN;
SELECT :answer FROM lease_claim('rolled back', 'A');
ROLLBACK;
SELECT :answer FROM lease_get('rolled back');
DO $$
BEGIN
	PERFORM lease_claim('handled', 'A');
	RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
	RAISE NOTICE 'inside: %', (SELECT outcome FROM lease_get('handled'));
END $$;
SELECT :answer FROM lease_get('handled');

-- A claim and then an error in the same call leave no lease behind.
\set VERBOSITY sqlstate
SELECT 1 / (fence - 1) FROM lease_claim('failed', 'A');
\set VERBOSITY default
SELECT :answer FROM lease_get('failed');

-- An error in the depths of a verb, after it has begun to write, is an error of
-- that call alone: the session, and a transaction with a savepoint, go on.
ALTER TABLE lease_catalog.lease ADD CONSTRAINT in_the_depths CHECK (owner <> 'late') NOT VALID;
\set VERBOSITY sqlstate
SELECT :answer FROM lease_claim('failed', 'late');
SELECT :answer FROM lease_get('failed');
BEGIN;
SAVEPOINT s;
SELECT :answer FROM lease_claim('failed', 'late');
ROLLBACK TO s;
SELECT :answer FROM lease_get('failed');
SELECT :answer FROM lease_claim('unharmed', 'A', ttl => '60 s');
COMMIT;
SELECT :answer FROM lease_get('unharmed');
\set VERBOSITY default
DO $$
BEGIN
	PERFORM lease_claim('failed', 'late');
EXCEPTION WHEN check_violation THEN
	RAISE NOTICE 'inside: %', (SELECT outcome FROM lease_get('failed'));
END $$;
ALTER TABLE lease_catalog.lease DROP CONSTRAINT in_the_depths;

-- Renewal, takeover and release go back likewise, one savepoint at a time.
BEGIN;
SELECT :answer FROM lease_renew('job', 'B', 1, ttl => '600 s');
SAVEPOINT one;
SELECT :answer FROM lease_release('job', 'B', 1);
SAVEPOINT two;
SELECT :answer FROM lease_claim('job', 'C');
ROLLBACK TO two;
SELECT :answer FROM lease_get('job');
ROLLBACK TO one;
SELECT :answer FROM lease_get('job');
ROLLBACK;
SELECT :answer FROM lease_get('job');
BEGIN;
SET LOCAL lease.clock = '1060';
SELECT :answer FROM lease_takeover('job', 'C', 1);
ROLLBACK;
SELECT :answer FROM lease_get('job');

-- One transaction holds, renews, gives back and claims again; each step sees the
-- one before, whatever the isolation level.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM lease_status;
SELECT :answer FROM lease_claim('steps', 'A');
SELECT :answer FROM lease_renew('steps', 'A', 1);
SELECT :answer FROM lease_release('steps', 'A', 1);
SELECT :answer FROM lease_claim('steps', 'B');
SELECT :answer FROM lease_renew('steps', 'A', 1);
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM lease_status;
SELECT :answer FROM lease_release('steps', 'B', 2);
SELECT :answer FROM lease_claim('steps', 'C');
SELECT :answer FROM lease_renew('steps', 'C', 3);
SELECT :answer FROM lease_claim('serial', 'C');
COMMIT;

-- Several verbs in one statement, each on what the one before left.
SELECT c.outcome, r.outcome, r.version, e.outcome, g.outcome
	FROM lease_claim('chain', 'A') c, LATERAL lease_renew('chain', 'A', c.fence) r,
		LATERAL lease_release('chain', 'A', r.fence) e, LATERAL lease_get(e.name) g;
WITH first AS MATERIALIZED (SELECT * FROM lease_claim('twice', 'A')),
	second AS MATERIALIZED (SELECT s.* FROM first, LATERAL lease_claim(first.name, 'B') s)
	SELECT first.outcome, second.outcome, second.owner FROM first, second;

-- In a prepared statement, a cursor, a query that writes its answers elsewhere.
PREPARE beat(text, bigint) AS SELECT outcome, version FROM lease_renew('twice', $1, $2);
EXECUTE beat('A', 1);
EXECUTE beat('B', 1);
EXECUTE beat('A', 1);
DEALLOCATE beat;
BEGIN;
DECLARE claims CURSOR FOR SELECT n, outcome FROM generate_series(1, 5) n, LATERAL lease_claim('cursor ' || n, 'A');
FETCH 2 FROM claims;
CLOSE claims;
COMMIT;
SELECT count(*) BETWEEN 2 AND 5 AS claimed FROM lease_status WHERE name ~ '^cursor ';
CREATE TABLE answers AS SELECT * FROM lease_claim('table', 'A');
SELECT outcome FROM answers;
COPY (SELECT outcome FROM lease_claim('table', 'B')) TO STDOUT;

-- In functions of every volatility and language of the server's own, and in
-- triggers, also in one that fires when the transaction commits.
CREATE FUNCTION claim_stable(name text) RETURNS text STABLE LANGUAGE plpgsql AS
	'BEGIN RETURN (SELECT outcome || '' '' || fence FROM lease_claim(name, ''A'')); END';
CREATE FUNCTION claim_sql(name text) RETURNS text STABLE LANGUAGE sql AS
	'SELECT outcome || '' '' || fence FROM lease_claim(name, ''A'')';
SELECT claim_stable('stable'), claim_stable('stable'), claim_sql('sql'), claim_sql('sql');
SELECT name, state FROM lease_status WHERE name IN ('stable', 'sql') ORDER BY name COLLATE "C";
CREATE FUNCTION claim_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% %', TG_NAME, (SELECT outcome FROM lease_claim(NEW.outcome, 'T'));
	RETURN NEW;
END $$;
CREATE TRIGGER at_once BEFORE INSERT ON answers FOR EACH ROW EXECUTE FUNCTION claim_trigger();
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON answers DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION claim_trigger();
BEGIN;
INSERT INTO answers (outcome) VALUES ('triggered');
SELECT :answer FROM lease_release('triggered', 'T', 1);
COMMIT;
SELECT :answer FROM lease_get('triggered');
DROP TABLE answers;
DROP FUNCTION claim_stable, claim_sql, claim_trigger;

-- Many in one transaction and in a loop that commits, refused ones among them.
DO $$
DECLARE
	good int := 0;
	refused int := 0;
	answer lease_result;
BEGIN
	FOR n IN 1..300 LOOP
		SELECT * INTO answer FROM lease_claim('loop ' || n % 100, 'A');
		IF answer.ok THEN good := good + 1; ELSE refused := refused + 1; END IF;
		SELECT * INTO answer FROM lease_renew('loop ' || n % 100, 'A', n % 2);
		IF answer.ok THEN good := good + 1; ELSE refused := refused + 1; END IF;
		IF n % 50 = 0 THEN COMMIT; END IF;
	END LOOP;
	RAISE NOTICE '% good, % refused', good, refused;
END $$;

-- A transaction that changed a lease can not be prepared: a grant could outlive a
-- failover and commit under a fence that is granted again.
\set VERBOSITY sqlstate
BEGIN;
SELECT :answer FROM lease_claim('prepared', 'A');
PREPARE TRANSACTION 'regress_lease';
BEGIN;
SAVEPOINT one;
SELECT :answer FROM lease_renew('job', 'B', 1);
SAVEPOINT two;
SELECT :answer FROM lease_claim('prepared', 'A');
ROLLBACK TO two;
RELEASE one;
PREPARE TRANSACTION 'regress_lease';
SELECT :answer FROM lease_get('prepared');
\set VERBOSITY default

BEGIN;
SELECT outcome FROM lease_namespace_hold('default', 'why');
PREPARE TRANSACTION 'regress_lease';

-- What operators decide goes back with its transaction too.
\set VERBOSITY default
BEGIN;
SAVEPOINT s;
SELECT outcome FROM lease_hold('job', 'why', stop => true);
SELECT outcome FROM lease_cancel('job', 'why', deadline => '1 s');
SELECT outcome FROM lease_namespace_hold('default', 'why');
SELECT :answer FROM lease_renew('job', 'B', 1);
ROLLBACK TO s;
SELECT :answer FROM lease_renew('job', 'B', 1);
SELECT count(*) FROM lease_intents;
ROLLBACK;

-- A poll goes back whole: the grants, the attempts and the places in the queue.
SELECT outcome FROM lease_offer('work');
BEGIN;
SAVEPOINT s;
SELECT outcome, fence, attempt FROM lease_poll('A', max_count => 5);
SELECT outcome, fence, attempt FROM lease_poll('A', max_count => 5);
ROLLBACK TO s;
SELECT outcome, fence, attempt FROM lease_poll('B', max_count => 5, request_id => '00000000-0000-0000-0000-000000000009');
ROLLBACK;
SELECT outcome, fence, attempt FROM lease_poll('B', max_count => 5, request_id => '00000000-0000-0000-0000-000000000009');

-- Where nothing may be written, no verb pretends: 25006 from each that could
-- change something, whatever it would have answered.  To look is allowed.
\set VERBOSITY sqlstate
BEGIN READ ONLY;
\set ON_ERROR_ROLLBACK on
SELECT :answer FROM lease_claim('job', 'C');
SELECT :answer FROM lease_claim('new', 'C');
SELECT :answer FROM lease_takeover('job', 'C', 1);
SELECT :answer FROM lease_takeover('new', 'C', 1);
SELECT :answer FROM lease_renew('job', 'B', 1);
SELECT :answer FROM lease_renew('job', 'B', 2);
SELECT :answer FROM lease_release('job', 'B', 1);
SELECT :answer FROM lease_release('new', 'B', 1);
SELECT :answer FROM lease_offer('new');
SELECT outcome FROM lease_poll('A');
SELECT :answer FROM lease_complete('job', 'B', 1);
SELECT :answer FROM lease_fail('job', 'B', 1, 'why');
SELECT :answer FROM lease_retry('job');
SELECT :answer FROM lease_break('job', 1, 'why');
SELECT :answer FROM lease_hold('job', 'why');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_cancel('job', 'why');
SELECT :answer FROM lease_namespace_hold('default', 'why');
SELECT :answer FROM lease_namespace_resume('default');
SELECT lease_grant('default', 'public', 'use');
SELECT lease_revoke('default', 'public', 'use');
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_get('new');
SELECT outcome FROM lease_task_get('new');
SELECT count(*) > 0 AS some FROM lease_status;
SELECT count(*) > 0 AS some FROM lease_outcomes();
ROLLBACK;
\set ON_ERROR_ROLLBACK off

-- No verb may stand where PostgreSQL would call it at its own discretion.
CREATE TABLE indexed (name text);
CREATE INDEX ON indexed (((lease_get(name)).ok));
CREATE INDEX ON indexed (name) WHERE (lease_claim(name, 'A')).ok;
ALTER TABLE indexed ADD ok boolean GENERATED ALWAYS AS ((lease_get(name)).ok) STORED;
DROP TABLE indexed;
\set VERBOSITY default

-- Nothing is kept in the session between two calls: after DISCARD ALL, as a
-- pooler sends it, the next call goes on from what is on record.
DISCARD ALL;
SET lease.clock = '1001';
SELECT :answer FROM lease_renew('job', 'B', 1);
SELECT :answer FROM lease_claim('after discard', 'A');

-- The clock of the server moves inside a transaction, while now() does not: a
-- lease that lapses meanwhile can be claimed.
RESET lease.clock;
BEGIN;
SELECT ok, outcome, server_time > now() AS later, remaining = ttl AS whole
	FROM lease_claim('long', 'A', ttl => '100 ms');
DO $$
DECLARE
	deadline timestamptz := clock_timestamp() + '60 s';
	answer lease_result;
BEGIN
	LOOP
		SELECT * INTO answer FROM lease_claim('long', 'B', ttl => '200 ms');
		EXIT WHEN answer.ok OR clock_timestamp() > deadline;
	END LOOP;
	RAISE NOTICE '%, fence %', answer.outcome, answer.fence;
END $$;

-- And a lease that is claimed, or renewed, late in a long transaction has its
-- whole length from then, not from the transaction's beginning.
SELECT outcome, expires_at = server_time + ttl AS whole, server_time > now() + interval '100 ms' AS late,
		server_time BETWEEN statement_timestamp() AND clock_timestamp() AS real, expires_at > clock_timestamp() AS ahead
	FROM lease_claim('late', 'A', ttl => '1 hour');
SELECT outcome, expires_at = server_time + ttl AS whole, server_time > now() + interval '100 ms' AS late,
		server_time BETWEEN statement_timestamp() AND clock_timestamp() AS real, expires_at > clock_timestamp() AS ahead
	FROM lease_renew('late', 'A', 1);
COMMIT;
SELECT outcome FROM lease_claim('late', 'B');

DROP EXTENSION lease;
