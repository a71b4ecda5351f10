-- What is written through a view, a rule or a function is written to the table
-- beneath, under whose guard it comes.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE account (id int PRIMARY KEY, job text, v int);
INSERT INTO account VALUES (1, 'job', 1), (2, 'other', 2);
SELECT lease_guard('account', name_column => 'job');
CREATE VIEW jobs AS SELECT id, job, v FROM account WHERE job = 'job' WITH CHECK OPTION;
CREATE VIEW ids WITH (security_barrier) AS SELECT id, job FROM jobs;
CREATE VIEW fired AS SELECT id, v FROM account;
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE account SET v = NEW.v WHERE id = OLD.id;
	RETURN NEW;
END $$;
CREATE TRIGGER instead INSTEAD OF UPDATE ON fired FOR EACH ROW EXECUTE FUNCTION instead();
CREATE TABLE aside (id int);
CREATE RULE also AS ON INSERT TO aside DO ALSO UPDATE account SET v = 0 WHERE id = NEW.id;
CREATE TABLE stead (id int);
CREATE RULE instead AS ON DELETE TO stead DO INSTEAD DELETE FROM account WHERE id = OLD.id;
INSERT INTO stead VALUES (1);
CREATE FUNCTION by_function() RETURNS int LANGUAGE sql BEGIN ATOMIC
	UPDATE account SET v = 5 WHERE id = 1 RETURNING v;
END;
CREATE PROCEDURE by_procedure() LANGUAGE plpgsql AS $$ BEGIN UPDATE account SET v = 6 WHERE id = 1; END $$;
CREATE FUNCTION by_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE account SET v = 7 WHERE id = 1; RETURN NULL; END $$;
CREATE TABLE far (id int);
CREATE TRIGGER far AFTER INSERT ON far FOR EACH STATEMENT EXECUTE FUNCTION by_trigger();
PREPARE kept AS UPDATE account SET v = 8 WHERE id = 1;
SELECT act, tried(:'none', act) AS none, tried(:'stale', act) AS stale, tried(:'current', act) AS current
FROM unnest(ARRAY['INSERT INTO jobs VALUES (3, ''job'', 3)', 'UPDATE jobs SET v = 0', 'DELETE FROM jobs', 'UPDATE jobs SET id = 9',
	'UPDATE ids SET id = 9', 'DELETE FROM ids', 'INSERT INTO ids VALUES (4, ''job'')', 'UPDATE fired SET v = 0 WHERE id = 1',
	'INSERT INTO aside VALUES (1)', 'DELETE FROM stead', 'SELECT by_function()', 'CALL by_procedure()', 'INSERT INTO far VALUES (1)',
	'INSERT INTO jobs VALUES (1, ''job'', 3) ON CONFLICT (id) DO UPDATE SET v = 9', 'EXECUTE kept',
	'DO ''BEGIN DELETE FROM account WHERE id = 1; END''']) act;
-- A rule that names no row of the table does nothing to it.
SELECT tried(:'none', 'INSERT INTO aside VALUES (99)');
-- A cursor's row.
BEGIN;
SET LOCAL lease.token = :'stale';
DECLARE c CURSOR FOR SELECT * FROM account WHERE id = 1 FOR UPDATE;
FETCH c;
UPDATE account SET v = 0 WHERE CURRENT OF c;
ROLLBACK;
-- A view, and other things that hold no rows of their own, cannot be guarded.
CREATE MATERIALIZED VIEW copied AS TABLE account;
CREATE SEQUENCE numbers;
CREATE FOREIGN DATA WRAPPER regress_lease_dummy;
CREATE SERVER regress_lease_server FOREIGN DATA WRAPPER regress_lease_dummy;
CREATE FOREIGN TABLE foreigner (id int) SERVER regress_lease_server;
SELECT lease_guard('jobs', 'job');
SELECT lease_guard('copied', 'job');
SELECT lease_guard('numbers', 'job');
SELECT lease_guard('account_pkey', 'job');
SELECT lease_guard('foreigner', 'job');
SELECT lease_guard('pg_catalog.pg_class', 'job');
SELECT lease_guard('information_schema.sql_features', 'job');
SELECT lease_guard('lease_catalog.lease', 'job');
SELECT lease_guard('lease_catalog.mark', 'job');
\set VERBOSITY default
SELECT lease_guard('jobs', 'job');
\set VERBOSITY sqlstate
-- By hand neither.
CREATE TRIGGER by_hand INSTEAD OF INSERT ON ids FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', '', 'both', 'enforce', 'trust');
SELECT told(:'current', 'INSERT INTO ids VALUES (4, ''job'')');

\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE account, aside, stead, far CASCADE;
DROP SEQUENCE numbers;
DROP FOREIGN DATA WRAPPER regress_lease_dummy CASCADE;
DROP PROCEDURE by_procedure;
DROP FUNCTION tried, told, instead, by_trigger;
DROP EXTENSION lease;
