-- What a foreign key's action does to the rows of a guarded table is judged as
-- any other write; an action that finds no row is nobody's business.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE master (id int PRIMARY KEY);
CREATE TABLE cascades (id int REFERENCES master ON DELETE CASCADE ON UPDATE CASCADE, job text);
CREATE TABLE nulls (id int REFERENCES master ON DELETE SET NULL ON UPDATE SET NULL, job text);
CREATE TABLE defaults (id int DEFAULT 0 REFERENCES master ON DELETE SET DEFAULT ON UPDATE SET DEFAULT, job text);
CREATE TABLE partly (id int REFERENCES master ON UPDATE CASCADE, job text);
INSERT INTO master VALUES (0), (1), (2), (3), (4), (5), (6);
INSERT INTO cascades VALUES (1, 'job');
INSERT INTO nulls VALUES (2, 'job');
INSERT INTO defaults VALUES (3, 'job');
INSERT INTO partly VALUES (4, 'job');
CREATE TABLE act (n serial, act text);
INSERT INTO act (act) VALUES ('DELETE FROM master WHERE id = 1'), ('UPDATE master SET id = 10 WHERE id = 1'),
	('DELETE FROM master WHERE id = 2'), ('UPDATE master SET id = 20 WHERE id = 2'), ('DELETE FROM master WHERE id = 3'),
	('UPDATE master SET id = 30 WHERE id = 3'), ('UPDATE master SET id = 40 WHERE id = 4'), ('TRUNCATE master CASCADE'),
	-- no row of a guarded table is concerned
	('DELETE FROM master WHERE id = 5'), ('UPDATE master SET id = 60 WHERE id = 6'), ('INSERT INTO master VALUES (7)');
CREATE VIEW came AS SELECT act, tried(:'none', act) AS none, tried(:'stale', act) AS stale, tried(:'current', act) AS current
FROM act ORDER BY n;
SELECT lease_guard(t, 'job', mode => 'current') FROM unnest('{cascades,nulls,defaults,partly}'::regclass[]) t;
TABLE came;
SELECT lease_guard(t, name_column => 'job') FROM unnest('{cascades,nulls,defaults,partly}'::regclass[]) t;
TABLE came;
SELECT count(*) AS open FROM lease_guards WHERE open <> '{}';

-- A foreign key that comes after the guard, which only has a trigger for
-- statements: an action of no row is refused, and it is said why.
CREATE TABLE after (id int, job text);
SELECT lease_guard('after', 'job');
ALTER TABLE after ADD FOREIGN KEY (id) REFERENCES master ON DELETE CASCADE;
SELECT tried(:'none', 'DELETE FROM master WHERE id = 5') AS none;
SELECT target, open FROM lease_guards WHERE open <> '{}';
SELECT lease_guard('after', 'job');
SELECT tried(:'none', 'DELETE FROM master WHERE id = 5') AS none;
SELECT target, open FROM lease_guards WHERE open <> '{}';

-- The master guarded: its own rows alone.
SELECT lease_unguard(t) FROM unnest('{cascades,nulls,defaults,partly,after}'::regclass[]) t;
SELECT lease_guard('master', 'job');
SELECT bool_and(none = 'LE003') AS none, bool_and(stale = 'LE001') AS stale, bool_and(current ~ '^\d+$') AS current FROM came;
SELECT tried(:'none', 'INSERT INTO cascades VALUES (1)'), tried(:'none', 'DELETE FROM nulls');

-- A chain: the row at its end is under another lease.
SELECT lease_unguard('master');
CREATE TABLE a (id int PRIMARY KEY);
CREATE TABLE b (id int PRIMARY KEY REFERENCES a ON DELETE CASCADE, job text);
CREATE TABLE c (id int REFERENCES b ON DELETE CASCADE, job text);
INSERT INTO a VALUES (1), (2);
INSERT INTO b VALUES (1, 'job'), (2, 'job');
INSERT INTO c VALUES (1, 'other');
SELECT lease_guard('b', name_column => 'job'), lease_guard('c', name_column => 'job');
SELECT act, tried(:'none', act) AS none, tried(:'current', act) AS current, tried(:'other', act) AS other, tried(:'both', act) AS both
FROM unnest(ARRAY['DELETE FROM a WHERE id = 1', 'DELETE FROM a WHERE id = 2']) act;

-- The action runs as the table's owner, and the token is still judged for the
-- role that acts.
CREATE ROLE regress_lease_actor;
GRANT ALL ON a, b, c TO regress_lease_actor;
SET ROLE regress_lease_actor;
SELECT tried(:'current', 'DELETE FROM b WHERE id = 2') AS itself, tried(:'current', 'DELETE FROM a WHERE id = 2') AS cascaded;
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_actor', 'use');
SET ROLE regress_lease_actor;
SELECT tried(:'current', 'DELETE FROM b WHERE id = 2') AS itself, tried(:'current', 'DELETE FROM a WHERE id = 2') AS cascaded;
RESET ROLE;

-- Who may not read the column that names the leases learns no name by a refusal,
-- be it that of an action or of a view: neither from the row, nor from a token
-- that somebody else has presented.
CREATE TABLE visit (id int PRIMARY KEY);
CREATE TABLE stay (id int REFERENCES visit ON DELETE SET NULL, secret text);
CREATE VIEW stays AS SELECT id FROM stay;
INSERT INTO visit VALUES (1);
INSERT INTO stay VALUES (1, 'patient');
DO $$ BEGIN
	PERFORM lease_release('patient', 'A', fence) FROM lease_claim('patient', 'A');
	PERFORM lease_claim('patient', 'B', ttl => '1 h');
END $$;
SELECT lease_guard('stay', name_column => 'secret');
CREATE FUNCTION present_as_owner(prove boolean) RETURNS text LANGUAGE sql SECURITY DEFINER
AS $$SELECT outcome FROM lease_present('patient', 'A', 1, prove => prove)$$;
CREATE VIEW reader AS SELECT what, told(token, act) FROM (VALUES
	(1, 'an action', '', 'DELETE FROM visit'),
	(2, 'a view', '', 'UPDATE stays SET id = NULL'),
	(3, 'a token of his own', 'default/patient/A/1', 'DELETE FROM visit'),
	(4, 'a token of the owner''s', '', 'SELECT present_as_owner(false); DELETE FROM visit'),
	(5, 'the owner''s own', '', 'SELECT present_as_owner(true)')) t (n, what, token, act)
ORDER BY n;
CREATE ROLE regress_lease_reader;
GRANT SELECT, DELETE ON visit TO regress_lease_reader;
GRANT ALL ON stays, reader TO regress_lease_reader;
SET ROLE regress_lease_reader;
SELECT * FROM reader;
RESET ROLE;
-- With any privilege in the namespace all is told.
SELECT lease_grant('default', 'regress_lease_reader', 'observe');
SET ROLE regress_lease_reader;
SELECT * FROM reader;
RESET ROLE;

\set VERBOSITY terse
SET client_min_messages = error;
DROP VIEW came, reader, stays;
DROP TABLE act, cascades, nulls, defaults, partly, after, master, a, b, c, stay, visit;
DROP FUNCTION tried, told, present_as_owner;
DROP EXTENSION lease;
DROP ROLE regress_lease_actor, regress_lease_reader;
