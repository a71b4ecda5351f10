-- Partitions are guarded with their parent: written through it or by
-- themselves, moved between, attached, detached or made later.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE event (id int, at int, job text DEFAULT 'job', v int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10);
CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM (10) TO (20) PARTITION BY LIST (id);
CREATE TABLE event_2_a PARTITION OF event_2 FOR VALUES IN (1, 2);
CREATE TABLE event_2_b PARTITION OF event_2 DEFAULT;
INSERT INTO event VALUES (1, 1), (2, 2), (1, 11), (3, 13);
CREATE TABLE act (n serial, act text);
INSERT INTO act (act) VALUES
	('INSERT INTO event VALUES (4, 4)'), ('INSERT INTO event_1 VALUES (4, 4)'), ('INSERT INTO event_2 VALUES (2, 14)'),
	('INSERT INTO event_2_a VALUES (2, 14)'), ('UPDATE event SET v = 0'), ('UPDATE event_1 SET v = 0'),
	('UPDATE event_2_b SET v = 0'), ('DELETE FROM event'), ('DELETE FROM event_2'), ('DELETE FROM event_2_a'),
	('UPDATE event SET at = 15 WHERE at = 1'), ('UPDATE event SET at = 5 WHERE at = 13'),
	('UPDATE event_2 SET id = 9 WHERE id = 1'),
	('INSERT INTO event VALUES (1, 1) ON CONFLICT (id, at) DO UPDATE SET v = 0'),
	('MERGE INTO event e USING (VALUES (1)) s (i) ON e.id = i AND at < 10 WHEN MATCHED THEN UPDATE SET at = 16'),
	('TRUNCATE event'), ('TRUNCATE event_1'), ('TRUNCATE event_2'), ('TRUNCATE event_2_a'), ('TRUNCATE ONLY event_2_b');
CREATE VIEW came AS SELECT act, tried(:'none', act) AS none, tried(:'stale', act) AS stale, tried(:'current', act) AS current
FROM act ORDER BY n;
-- As long as nothing is guarded, all of it passes.
SELECT bool_and(none ~ '^\d+$') AS passes FROM came;
SELECT lease_guard('event', 'job');
TABLE came;
SELECT lease_guard('event', 'job', mode => 'high_water');
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO event_2_b VALUES (5, 15);
COMMIT;
SELECT array_agg(DISTINCT none) AS none, array_agg(DISTINCT stale) AS stale, bool_and(current ~ '^\d+$') AS current FROM came;
SELECT lease_guard('event', name_column => 'job');
-- Per value TRUNCATE is refused, on leaves too, and the rest is as before.
SELECT act LIKE 'TRUNCATE%' AS truncate, array_agg(DISTINCT none) AS none, array_agg(DISTINCT stale) AS stale,
	bool_and(current ~ '^\d+$') AS passes, array_agg(DISTINCT current) FILTER (WHERE current !~ '^\d+$') AS refused
FROM came GROUP BY 1 ORDER BY 1;
-- A row that moves to another partition and another lease.
SELECT tried(:'current', act) AS current, tried(:'other', act) AS other, tried(:'both', act) AS both
FROM (VALUES ('UPDATE event SET at = 15, job = ''other'' WHERE at = 1')) a (act);
SELECT target, name, name_column, mode, open FROM lease_guards ORDER BY target::text;

-- COPY, into the parent and into a leaf.
SET lease.token = :'stale';
COPY event FROM stdin;
6	6	job	6
\.
COPY event_2_a FROM stdin;
2	16	job	6
\.
SET lease.token = :'current';
COPY event FROM stdin;
6	6	job	6
2	16	job	6
\.
RESET lease.token;

-- With a stamp, the row that moved has it; the partition need not have its
-- columns where the parent has them.
CREATE TABLE part (fence bigint, gone int, id int, job text);
ALTER TABLE part DROP gone;
CREATE TABLE whole (id int, job text, fence bigint) PARTITION BY RANGE (id);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES FROM (0) TO (10);
ALTER TABLE whole ATTACH PARTITION part FOR VALUES FROM (10) TO (20);
SELECT lease_guard('whole', name_column => 'job', fence_column => 'fence');
SET lease.token = :'both';
INSERT INTO whole VALUES (1, 'job'), (11, 'job');
INSERT INTO whole VALUES (12, 'other', 7);
INSERT INTO part VALUES (8, 13, 'other');
UPDATE whole SET id = id + 10 WHERE id = 1;
UPDATE part SET job = 'other' WHERE id = 11;
TABLE part ORDER BY id;
RESET lease.token;
SELECT tried(:'other', 'UPDATE part SET id = id WHERE job = ''other'''), tried(:'stale', 'UPDATE whole SET id = id WHERE job = ''other''');
DROP TABLE whole;

-- A partition made later has the row triggers at once, and the one for
-- TRUNCATE when the guard is made again.
SELECT lease_guard('event', 'job');
CREATE TABLE event_3 PARTITION OF event FOR VALUES FROM (20) TO (30);
SELECT tried(:'none', 'INSERT INTO event VALUES (1, 21)') AS through, tried(:'none', 'INSERT INTO event_3 VALUES (1, 21)') AS itself,
	tried(:'none', 'TRUNCATE event') AS "all", tried(:'none', 'TRUNCATE event_3') AS truncated;
SELECT target, open FROM lease_guards;
SELECT lease_guard('event', 'job');
SELECT tried(:'none', 'TRUNCATE event_3') AS truncated;
SELECT target, open FROM lease_guards;

-- One that was attached has its rows guarded from then on, which it had not been.
CREATE TABLE late (LIKE event INCLUDING ALL);
INSERT INTO late VALUES (1, 31);
ALTER TABLE event ATTACH PARTITION late FOR VALUES FROM (30) TO (40);
SELECT tried(:'none', 'UPDATE late SET v = 1') AS itself, tried(:'none', 'DELETE FROM event WHERE at > 30') AS through;
-- Detached, it is nobody's; but where the guard had been made for it the
-- trigger for TRUNCATE stays, and is reported.
ALTER TABLE event DETACH PARTITION late;
SELECT tried(:'none', 'UPDATE late SET v = 1') AS updated, tried(:'none', 'TRUNCATE late') AS truncated;
ALTER TABLE event DETACH PARTITION event_3;
SELECT tried(:'none', 'INSERT INTO event_3 VALUES (1, 21)') AS inserted, tried(:'none', 'TRUNCATE event_3') AS truncated;
SELECT target, open FROM lease_guards ORDER BY target::text;
SELECT lease_unguard('event_3');
SELECT target, open FROM lease_guards ORDER BY target::text;

-- What is detached takes partitions of its own along.
CREATE TABLE deep (id int, k int) PARTITION BY RANGE (id);
CREATE TABLE deep_1 PARTITION OF deep FOR VALUES FROM (0) TO (10) PARTITION BY LIST (k);
CREATE TABLE deep_1_a PARTITION OF deep_1 FOR VALUES IN (1);
SELECT lease_guard('deep', 'job');
ALTER TABLE deep DETACH PARTITION deep_1;
SELECT tried(:'none', 'INSERT INTO deep_1_a VALUES (1, 1)') AS inserted, tried(:'none', 'TRUNCATE deep_1') AS truncated;
SELECT target, open FROM lease_guards WHERE target <> 'event'::regclass ORDER BY target::text;
SELECT lease_unguard('deep_1'), lease_unguard('deep_1') AS again;
SELECT tried(:'none', 'TRUNCATE deep_1') AS truncated;
SELECT target, open FROM lease_guards WHERE target <> 'event'::regclass ORDER BY target::text;
-- One that was made after the guard and detached before it was made again has
-- nothing left of it.
CREATE TABLE deep_2 PARTITION OF deep FOR VALUES FROM (10) TO (20);
ALTER TABLE deep DETACH PARTITION deep_2;
SELECT target, open FROM lease_guards WHERE target <> 'event'::regclass ORDER BY target::text;
DROP TABLE deep, deep_1, deep_2;

-- A partition has no guard of its own to take away.
SELECT lease_unguard('event_1');
SELECT tried(:'none', 'INSERT INTO event_1 VALUES (9, 9)') AS inserted, tried(:'none', 'TRUNCATE event_1') AS truncated;

-- A table with a guard of its own can be attached, and a partition can be given
-- one: both judge.  (Its trigger for statements does not fire for what comes
-- through the parent: reported, and mended when its guard is made again.)
SELECT lease_guard('late', 'other');
ALTER TABLE event ATTACH PARTITION late FOR VALUES FROM (30) TO (40);
SELECT target, name, open FROM lease_guards ORDER BY target::text;
SELECT lease_guard('late', 'other'), lease_guard('event', 'job');
SELECT target, name, open FROM lease_guards ORDER BY target::text;
CREATE VIEW twice AS SELECT act, tried(:'none', act) AS none, tried(:'current', act) AS current, tried(:'other', act) AS other, tried(:'both', act) AS both
FROM unnest(ARRAY['INSERT INTO late VALUES (2, 32)', 'INSERT INTO event VALUES (2, 32)', 'UPDATE event SET v = 0 WHERE at > 30',
	'UPDATE event SET at = 35 WHERE at = 2', 'DELETE FROM late', 'TRUNCATE late', 'TRUNCATE event']) act;
TABLE twice;
-- So too where it has triggers for its rows before it is attached.
ALTER TABLE event DETACH PARTITION late;
SELECT lease_guard('late', 'other', mode => 'high_water');
ALTER TABLE event ATTACH PARTITION late FOR VALUES FROM (30) TO (40);
SELECT lease_guard('event', 'job');
TABLE twice;
-- The parent's guard goes, and its partitions' with it, but not the part's own.
SELECT lease_unguard('event');
SELECT tried(:'none', 'TRUNCATE event_1'), tried(:'none', 'TRUNCATE late'), tried(:'none', 'INSERT INTO event_2_a VALUES (2, 17)');
SELECT target, name, open FROM lease_guards ORDER BY target::text;
ALTER TABLE event DETACH PARTITION late;
SELECT tried(:'none', 'INSERT INTO late VALUES (2, 32)') AS none, tried(:'other', 'INSERT INTO late VALUES (2, 32)') AS other;

-- A parent that is renamed leaves nothing behind when its guard goes.
SELECT lease_guard('event', 'job');
ALTER TABLE event RENAME TO happening;
SELECT tried(:'none', 'TRUNCATE event_1') AS none, tried(:'current', 'TRUNCATE event_1') AS current;
SELECT lease_unguard('event_1'), lease_unguard('event_2');
SELECT tried(:'none', 'TRUNCATE event_1') AS leaf, tried(:'none', 'TRUNCATE event_2') AS below;
SELECT target, open FROM lease_guards WHERE target <> 'late'::regclass;
SELECT lease_guard('happening', 'job');
SELECT tried(:'none', 'TRUNCATE event_1') AS none, tried(:'current', 'TRUNCATE event_1') AS current;
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'event_1'::regclass AND tgfoid = 'lease_fence_check'::regproc;
SELECT lease_unguard('happening');
SELECT count(*) AS triggers FROM pg_trigger WHERE tgfoid = 'lease_fence_check'::regproc AND tgrelid <> 'late'::regclass;
ALTER TABLE happening RENAME TO event;
DROP VIEW twice;
DROP TABLE late;

-- A sub-partition alone.
SELECT lease_guard('event_2', 'job');
SELECT act, tried(:'none', act) AS none, tried(:'current', act) AS current
FROM unnest(ARRAY['UPDATE event_2 SET v = 0', 'UPDATE event SET v = 0', 'UPDATE event_2_a SET v = 0', 'UPDATE event_1 SET v = 0',
	'UPDATE event SET at = 15 WHERE at = 1', 'UPDATE event SET at = 5 WHERE at = 13', 'TRUNCATE event', 'TRUNCATE event_2_a', 'TRUNCATE event_1']) act;
-- Detached, it keeps its guard.
ALTER TABLE event DETACH PARTITION event_2;
SELECT tried(:'none', 'UPDATE event_2 SET v = 0') AS none, tried(:'current', 'UPDATE event_2 SET v = 0') AS current;
SELECT target, open FROM lease_guards;
-- A leaf alone: written through its parent as well.
SELECT lease_guard('event_1', 'job', mode => 'current');
SELECT act, tried(:'none', act) AS none, tried(:'current', act) AS current
FROM unnest(ARRAY['INSERT INTO event VALUES (4, 4)', 'UPDATE event SET v = 0', 'DELETE FROM event', 'TRUNCATE event']) act;
SELECT target, open FROM lease_guards ORDER BY target::text;
DROP TABLE event;
SELECT target FROM lease_guards;

\set VERBOSITY terse
SET client_min_messages = error;
DROP VIEW came;
DROP TABLE act, event_2, event_3;
DROP FUNCTION tried, told;
DROP EXTENSION lease;
