-- Parents and children of an inheritance are guarded one by one, and a row of a
-- guarded child is guarded through whatever parent it is written.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE parent (id int, v int);
CREATE TABLE child (more text) INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);
INSERT INTO parent VALUES (1);
INSERT INTO child VALUES (2);
INSERT INTO grandchild VALUES (3);
CREATE TABLE act (n serial, act text);
INSERT INTO act (act) VALUES ('INSERT INTO parent VALUES (9)'), ('INSERT INTO child VALUES (9)'), ('UPDATE parent SET v = 0'),
	('UPDATE ONLY parent SET v = 0'), ('UPDATE parent SET v = 0 WHERE id = 2'), ('UPDATE child SET v = 0'),
	('DELETE FROM parent WHERE id = 3'), ('DELETE FROM grandchild'), ('TRUNCATE parent'), ('TRUNCATE ONLY parent'),
	('TRUNCATE child'), ('TRUNCATE grandchild'), ('MERGE INTO parent USING (VALUES (2)) s (i) ON id = i WHEN MATCHED THEN DELETE');
CREATE VIEW came AS SELECT act, tried(:'none', act) AS none, tried(:'stale', act) AS stale, tried(:'current', act) AS current
FROM act ORDER BY n;

-- The child alone.
SELECT lease_guard('child', 'job');
TABLE came;
SELECT target, open FROM lease_guards;
-- The parent alone: its children's rows are open through themselves, and told so.
SELECT lease_unguard('child');
SELECT lease_guard('parent', 'job');
TABLE came;
SELECT target, open FROM lease_guards;
-- All of them.
SELECT lease_guard('child', 'job'), lease_guard('grandchild', 'job');
SELECT array_agg(DISTINCT none) AS none, array_agg(DISTINCT stale) AS stale, bool_and(current ~ '^\d+$') AS current FROM came;
SELECT target, open FROM lease_guards ORDER BY target::text;
-- A plain table that becomes a child keeps a trigger for statements, which does
-- not see what comes through the parent: reported, and mended.
SELECT lease_unguard('child'), lease_unguard('grandchild'), lease_unguard('parent');
CREATE TABLE adopted (id int, v int);
INSERT INTO adopted VALUES (4);
SELECT lease_guard('adopted', 'job');
ALTER TABLE adopted INHERIT parent;
SELECT tried(:'none', 'UPDATE adopted SET v = 0') AS itself, tried(:'none', 'UPDATE parent SET v = 0 WHERE id = 4') AS through;
SELECT target, open FROM lease_guards;
SELECT lease_guard('adopted', 'job');
SELECT tried(:'none', 'UPDATE adopted SET v = 0') AS itself, tried(:'none', 'UPDATE parent SET v = 0 WHERE id = 4') AS through;
SELECT target, open FROM lease_guards;

\set VERBOSITY terse
SET client_min_messages = error;
DROP VIEW came;
DROP TABLE act, parent, child, grandchild, adopted;
DROP FUNCTION tried, told;
DROP EXTENSION lease;
