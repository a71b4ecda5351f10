-- Half a state cannot be written, not even by a superuser at the table itself;
-- what can be written is judged as it reads; and where a constraint is gone, a row
-- that it forbids is an error to every verb that reads it, and is not acted on.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set VERBOSITY sqlstate

SELECT outcome FROM lease_claim('held', 'A', ttl => '60 s');
SELECT r.outcome FROM lease_claim('released', 'A', ttl => '60 s') c, LATERAL lease_release('released', 'A', c.fence) r;

-- An epoch is whole or it is not there: none of what belongs to it can go missing.
CREATE FUNCTION written(row_name text, assignment text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('UPDATE lease_catalog.lease SET %s WHERE name = %L', assignment, row_name);
	RAISE EXCEPTION 'written';
EXCEPTION
	WHEN raise_exception THEN
		RETURN SQLERRM;
	WHEN OTHERS THEN
		RETURN SQLSTATE;
END $$;
SELECT a AS assignment, written('held', a) AS held, written('released', a) AS released
	FROM unnest(ARRAY[
		'namespace = NULL', 'name = NULL', 'owner = NULL', 'fence = NULL', 'version = NULL',
		'granted_at = NULL', 'renewed_at = NULL', 'expires_at = NULL', 'ttl = NULL',
		'ended_by = ''released''', 'ended_at = now()', 'ended_by = ''vanished'', ended_at = now()', 'ended_by = '''', ended_at = now()',
		'ended_by = NULL', 'ended_at = NULL',
		'owner = NULL, ended_by = NULL, ended_at = NULL',
		'fence = -1', 'version = -1', 'ttl = ''0''', 'ttl = ''-1 s''', 'ttl = ''-1 mon''',
		'granted_at = ''-infinity''', 'renewed_at = ''infinity''', 'expires_at = ''infinity''', 'expires_at = ''-infinity''',
		'name = ''held''']) a;


\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/damage.psql'
\i :prologue
\set ECHO all
-- Each case is kept out by the constraint that it is named after.
CREATE FUNCTION refused_by(act text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	refusing text;
BEGIN
	EXECUTE act;
	RETURN 'nothing';
EXCEPTION
	WHEN not_null_violation THEN
		RETURN 'NOT NULL';
	WHEN check_violation THEN
		GET STACKED DIAGNOSTICS refusing = CONSTRAINT_NAME;
		RETURN refusing;
END $$;
SELECT d.*, refused FROM damage d, refused_by(pg_temp.damaging(d)) refused WHERE refused <> forbidden_by;

-- What becomes of a call, which is undone: its SQLSTATE, or its answer.
CREATE FUNCTION becomes(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SELECT ' || call INTO answer;
	RAISE EXCEPTION '%', answer;
EXCEPTION
	WHEN raise_exception THEN
		RETURN SQLERRM;
	WHEN OTHERS THEN
		RETURN SQLSTATE;
END $$;
-- Each of them reads the row, or passes it: the one that is damaged is named by "it".
CREATE TEMP TABLE call (call text);
INSERT INTO call VALUES
	('outcome FROM lease_claim(it, ''B'', namespace => ''damaged'')'),
	('outcome FROM lease_claim(''new'', ''B'', namespace => ''damaged'')'),
	('outcome FROM lease_takeover(it, ''B'', 1, namespace => ''damaged'')'),
	('outcome FROM lease_renew(it, ''A'', 1, namespace => ''damaged'')'),
	('string_agg(outcome, '' '') FROM lease_renew_many(ARRAY[it], ''A'', ARRAY[1], namespace => ''damaged'')'),
	('outcome FROM lease_release(it, ''A'', 1, namespace => ''damaged'')'),
	('string_agg(outcome, '' '') FROM lease_release_many(ARRAY[it], ''A'', ARRAY[1], namespace => ''damaged'')'),
	('outcome FROM lease_offer(it, namespace => ''damaged'')'),
	('string_agg(outcome, '' '') FROM lease_poll(''B'', 100, namespace => ''damaged'')'),
	('outcome FROM lease_complete(it, ''A'', 1, namespace => ''damaged'')'),
	('outcome FROM lease_fail(it, ''A'', 1, ''why'', namespace => ''damaged'')'),
	('outcome FROM lease_retry(it, namespace => ''damaged'')'),
	('outcome FROM lease_get(it, namespace => ''damaged'')'),
	('outcome FROM lease_task_get(it, namespace => ''damaged'')'),
	('string_agg(e, '' '') FROM lease_explain(it, namespace => ''damaged'') e'),
	('lease_present(it, ''A'', 1, namespace => ''damaged'')'),
	('outcome FROM lease_break(it, 1, ''why'', namespace => ''damaged'')'),
	('outcome FROM lease_break(it, 1, ''why'', new_owner => ''B'', namespace => ''damaged'')'),
	('outcome FROM lease_hold(it, ''why'', namespace => ''damaged'')'),
	('outcome FROM lease_resume(it, namespace => ''damaged'')'),
	('outcome FROM lease_cancel(it, ''why'', namespace => ''damaged'')'),
	('lease_purge(''1 s'', namespace => ''damaged'')'),
	('count(*) FROM lease_status'),
	('sum(count) FROM lease_sweep()');
-- What is answered after a damage, which is undone.
CREATE FUNCTION answered(damage) RETURNS TABLE (call text, answer text) LANGUAGE plpgsql AS $$
DECLARE
	calls text[] := ARRAY(SELECT c.call FROM pg_temp.call c);
	answers text[];
BEGIN
	EXECUTE pg_temp.opening($1);
	EXECUTE pg_temp.damaging($1);
	answers := ARRAY(SELECT becomes(regexp_replace(c, '\mit\M', quote_literal($1.victim))) FROM unnest(calls) c);
	RAISE EXCEPTION 'undo';
EXCEPTION
	WHEN raise_exception THEN
		RETURN QUERY SELECT * FROM unnest(calls, answers);
END $$;
-- The sweep reads but the rows of tasks that are over.
SELECT call, answer, count(*) FROM damage d, answered(d) GROUP BY call, answer ORDER BY call COLLATE "C", answer COLLATE "C";

-- Deleted, it leaves its fence behind, in all namespaces where its own is lost.
BEGIN;
ALTER TABLE lease_catalog.lease DROP CONSTRAINT lease_numbers, DROP CONSTRAINT lease_task_whole, DROP CONSTRAINT lease_pkey,
	ALTER namespace DROP NOT NULL, ALTER name DROP NOT NULL, ALTER fence DROP NOT NULL;
UPDATE lease_catalog.lease SET priority = -1, fence = 7 WHERE namespace = 'damaged' AND name = 'held';
DELETE FROM lease_catalog.lease WHERE namespace = 'damaged' AND name = 'held';
UPDATE lease_catalog.lease SET namespace = NULL, fence = 8 WHERE name = 'ended';
DELETE FROM lease_catalog.lease WHERE name = 'ended';
UPDATE lease_catalog.lease SET name = NULL, fence = NULL WHERE name = 'offered';
DELETE FROM lease_catalog.lease WHERE name IS NULL;
SELECT namespace, max(fence) FROM lease_catalog.floor GROUP BY namespace ORDER BY namespace;
INSERT INTO lease_catalog.lease (namespace, name, fence, version) VALUES (NULL, 'a', 9, 0), ('damaged', NULL, 10, 0), ('damaged', 'c', NULL, 0), ('lost', 'c', NULL, 0);
TRUNCATE lease_catalog.lease;
SELECT namespace, max(fence) FROM lease_catalog.floor GROUP BY namespace ORDER BY namespace;
ROLLBACK;

-- What is said of it: no name, since it can be another's.
\set VERBOSITY default
BEGIN;
ALTER TABLE lease_catalog.lease DROP CONSTRAINT lease_epoch_whole;
UPDATE lease_catalog.lease SET ttl = NULL WHERE namespace = 'damaged' AND name = 'held';
SELECT * FROM lease_get('held', 'damaged');
ROLLBACK;

DROP FUNCTION written, refused_by, becomes, answered;
DROP EXTENSION lease;
