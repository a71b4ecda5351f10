-- A guard fires whatever a session sets; what its table's owner loosens is told
-- by lease_guards, and mended when the guard is made again.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE plain (id int, job text DEFAULT 'job');
CREATE TABLE rows (id int, job text DEFAULT 'job', fence bigint);
INSERT INTO plain VALUES (1);
INSERT INTO rows VALUES (1);
SELECT lease_guard('plain', 'job'), lease_guard('rows', name_column => 'job', fence_column => 'fence');
SELECT tgrelid::regclass AS "table", tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger
WHERE tgfoid = 'lease_fence_check'::regproc ORDER BY 1, 2;
CREATE VIEW came AS SELECT name, tried(:'none', format('INSERT INTO %I VALUES (2)', name)) AS inserted,
	tried(:'none', format('UPDATE %I SET id = 2', name)) AS updated, tried(:'none', format('DELETE FROM %I', name)) AS deleted,
	tried(:'none', format('TRUNCATE %I', name)) AS truncated, tried(:'stale', format('DELETE FROM %I', name)) AS stale,
	tried(:'current', format('DELETE FROM %I', name)) AS current
FROM unnest('{plain,rows}'::text[]) name;
TABLE came;
SET session_replication_role = replica;
TABLE came;
SET session_replication_role = local;
TABLE came;
RESET session_replication_role;
SET row_security = off;
SET constraint_exclusion = on;
TABLE came;
RESET row_security;

-- Disabled, as pg_restore --disable-triggers does, and enabled again.
ALTER TABLE plain DISABLE TRIGGER ALL;
ALTER TABLE rows DISABLE TRIGGER USER;
TABLE came;
SELECT target, unnest(open) AS open FROM lease_guards ORDER BY target::text, 2;
ALTER TABLE plain ENABLE TRIGGER ALL;
ALTER TABLE rows ENABLE TRIGGER USER;
TABLE came;
SELECT target, unnest(open) AS open FROM lease_guards ORDER BY target::text, 2;
SET session_replication_role = replica;
TABLE came;
RESET session_replication_role;
ALTER TABLE rows ENABLE REPLICA TRIGGER lease_guard_row;
SELECT target, unnest(open) AS open FROM lease_guards ORDER BY target::text, 2;
SELECT lease_guard('plain', 'job'), lease_guard('rows', name_column => 'job', fence_column => 'fence');
SELECT target, open FROM lease_guards ORDER BY target::text;
SET session_replication_role = replica;
TABLE came;
RESET session_replication_role;

-- One of them.
ALTER TABLE rows DISABLE TRIGGER "~lease_guard_stamp";
SELECT target, unnest(open) AS open FROM lease_guards ORDER BY target::text, 2;
SELECT tried(:'current', 'UPDATE rows SET id = 2') AS "what is not stamped is no good";
DROP TRIGGER "~lease_guard_stamp" ON rows;
DROP TRIGGER lease_guard_truncate ON plain;
SELECT target, unnest(open) AS open FROM lease_guards ORDER BY target::text, 2;
TABLE came;
DROP TRIGGER lease_guard ON plain;
DROP TRIGGER lease_guard_row ON rows;
SELECT target, unnest(open) AS open FROM lease_guards ORDER BY target::text, 2;
TABLE came;
SELECT lease_guard('plain', 'job'), lease_guard('rows', name_column => 'job', fence_column => 'fence');
SELECT target, open FROM lease_guards ORDER BY target::text;
TABLE came;
SELECT count(*) AS triggers FROM pg_trigger WHERE tgfoid = 'lease_fence_check'::regproc;

-- On a partition.
CREATE TABLE whole (id int, job text) PARTITION BY LIST (id);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1);
SELECT lease_guard('whole', 'job');
ALTER TABLE whole_1 DISABLE TRIGGER ALL;
SELECT unnest(open) AS open FROM lease_guards WHERE target = 'whole'::regclass ORDER BY 1;
ALTER TABLE whole_1 ENABLE TRIGGER ALL;
SELECT regexp_replace(unnest(open), '_[0-9a-f]{8}"', '"') AS open FROM lease_guards WHERE target = 'whole'::regclass ORDER BY 1;
SELECT lease_guard('whole', 'job');
SELECT open FROM lease_guards WHERE target = 'whole'::regclass;
DROP TABLE whole;

-- A trigger that says other than the rest opens what it is there for.
CREATE OR REPLACE TRIGGER lease_guard_truncate BEFORE TRUNCATE ON plain
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', '', 'both', 'off', 'trust');
ALTER TABLE plain ENABLE ALWAYS TRIGGER lease_guard_truncate;
CREATE OR REPLACE TRIGGER lease_guard_row AFTER INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', 'fence', 'both', 'enforced', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER lease_guard_row;
TABLE came;
SELECT target, enforcement, unnest(open) AS open FROM lease_guards ORDER BY target::text, 3;
CREATE TABLE whole (id int, job text) PARTITION BY LIST (id);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1);
SELECT lease_guard('whole', 'job'), lease_guard('whole_1', 'other');
SELECT target, open FROM lease_guards WHERE target::text LIKE 'whole%' ORDER BY target::text;
DO $$
BEGIN
	EXECUTE (SELECT format('%s; ALTER TABLE whole_1 ENABLE ALWAYS TRIGGER %I',
		replace(replace(pg_get_triggerdef(oid), 'CREATE', 'CREATE OR REPLACE'), 'enforce', 'off'), tgname)
		FROM pg_trigger WHERE tgrelid = 'whole_1'::regclass AND tgname ~ '^lease_guard_truncate_');
END $$;
SELECT target, regexp_replace(unnest(open), '_[0-9a-f]{8}"', '"', 'g') AS open FROM lease_guards WHERE target::text LIKE 'whole%';
DROP TABLE whole;
-- A column that became unfit refuses all writes.
SELECT lease_guard('plain', name_column => 'job'), lease_guard('rows', 'job', fence_column => 'fence');
ALTER TABLE plain ALTER job DROP DEFAULT, ALTER job TYPE timestamptz USING now();
ALTER TABLE rows DROP fence, ADD fence bigint GENERATED ALWAYS AS (id) STORED;
SELECT target, unnest(open) AS open, tried(:'current', format('DELETE FROM %s', target)) FROM lease_guards ORDER BY target::text, 2;
ALTER TABLE plain ALTER job TYPE text USING 'job', ALTER job SET DEFAULT 'job';
ALTER TABLE rows DROP fence, ADD fence bigint;
SELECT lease_guard('plain', 'job'), lease_guard('rows', name_column => 'job', fence_column => 'fence');

-- Made by hand, in every place, a trigger judges as it can.
SELECT lease_unguard('plain'), lease_unguard('rows'), lease_unguard('rows');
CREATE FUNCTION by_hand(place text, subject text, fence text DEFAULT '') RETURNS SETOF came LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER by_hand %s EXECUTE FUNCTION lease_fence_check(''default'', %s, %L, ''both'', ''enforce'', ''trust'')',
		place, subject, fence);
	RETURN QUERY SELECT * FROM came WHERE name = 'rows';
	DROP TRIGGER by_hand ON rows;
END $$;
SELECT h.place, subject, c.inserted, updated, deleted, truncated, stale, current FROM (VALUES (1, 'BEFORE INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW'),
	(2, 'AFTER INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW'), (3, 'BEFORE INSERT OR UPDATE OR DELETE ON rows'),
	(4, 'AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON rows'), (5, 'BEFORE TRUNCATE ON rows'), (6, 'AFTER TRUNCATE ON rows'),
	(7, 'AFTER UPDATE OF id ON rows FOR EACH ROW'), (8, 'AFTER DELETE ON rows FOR EACH ROW WHEN (OLD.id = 1)')) h (n, place),
	(VALUES ('''one'', ''job'''), ('''per'', ''job''')) s (subject), by_hand(place, subject) c ORDER BY n, subject;
-- A statement's trigger of a guard per value says nothing of rows, and so is
-- listed as no guard of them.
CREATE TRIGGER by_hand BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON rows
	EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', '', 'both', 'enforce', 'trust');
SELECT target, name_column, unnest(open) AS open FROM lease_guards ORDER BY 1, 3;
DROP TRIGGER by_hand ON rows;
-- Nor is one with a condition, of whatever kind.
CREATE TRIGGER by_hand AFTER INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW WHEN (current_user <> 'root')
	EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', '', 'both', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER by_hand;
SELECT unnest(open) AS open FROM lease_guards ORDER BY 1;
DROP TRIGGER by_hand ON rows;
CREATE TRIGGER by_hand AFTER INSERT OR UPDATE OF id OR DELETE ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', '', 'both', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER by_hand;
SELECT unnest(open) AS open FROM lease_guards ORDER BY 1;
DROP TRIGGER by_hand ON rows;
CREATE TRIGGER by_hand AFTER INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', '', 'both', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER by_hand;
SELECT unnest(open) AS open FROM lease_guards ORDER BY 1;
DROP TRIGGER by_hand ON rows;
CREATE CONSTRAINT TRIGGER by_hand AFTER INSERT OR UPDATE OR DELETE ON rows DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', '', 'both', 'enforce', 'trust');
BEGIN;
SET LOCAL lease.token = :'stale';
INSERT INTO rows VALUES (7);
COMMIT;
DROP TRIGGER by_hand ON rows;
-- A BEFORE trigger that stamps, alone, is judged where it stands.
CREATE TRIGGER by_hand BEFORE INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', 'fence', 'high_water', 'enforce', 'trust');
SELECT tried(:'none', 'UPDATE rows SET id = 3') AS none, tried(:'current', 'UPDATE rows SET id = 3') AS current;
BEGIN;
SET LOCAL lease.token = :'current';
UPDATE rows SET id = 3 RETURNING fence;
COMMIT;
SELECT tried(:'stale', 'UPDATE rows SET id = 4') AS stale;
-- A DELETE is judged there too, whatever comes after what is stored.
CREATE TRIGGER zz AFTER INSERT OR UPDATE ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', 'fence', 'high_water', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER zz;
SELECT tried(:'stale', 'DELETE FROM rows') AS deleted, tried(:'stale', 'UPDATE rows SET id = 4') AS stale;
DROP TRIGGER zz ON rows;
-- So it is where the trigger that comes after is another's, or does not come always.
CREATE TRIGGER zz AFTER INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW WHEN (false)
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', 'fence', 'high_water', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER zz;
SELECT tried(:'stale', 'UPDATE rows SET id = 4') AS stale;
DROP TRIGGER zz ON rows;
CREATE TRIGGER zz AFTER INSERT OR UPDATE OR DELETE ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'other', '', 'high_water', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER zz;
SELECT tried('default/job/A/1 default/other/C/1', 'UPDATE rows SET id = 4') AS stale;
DROP TRIGGER zz ON rows;
CREATE TRIGGER zz AFTER UPDATE OF fence ON rows FOR EACH ROW
	EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', 'fence', 'high_water', 'enforce', 'trust');
ALTER TABLE rows ENABLE ALWAYS TRIGGER zz;
SELECT tried(:'stale', 'UPDATE rows SET id = 4') AS stale;
DROP TRIGGER zz ON rows;
DROP TRIGGER by_hand ON rows;

-- Its arguments are looked at when it fires, and never passed over.
CREATE FUNCTION arguments(words text) RETURNS TABLE (came text, listed text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER by_hand BEFORE UPDATE ON plain EXECUTE FUNCTION lease_fence_check(%s)', words);
	RETURN QUERY SELECT told('default/job/B/2', 'UPDATE plain SET id = 2'), open::text FROM lease_guards;
	DROP TRIGGER by_hand ON plain;
END $$;
SELECT a.came, listed FROM unnest(ARRAY['', '''default''', '''default'', ''one'', ''job'', '''', ''both'', ''enforce''',
	'''default'', ''one'', ''job'', '''', ''both'', ''enforce'', ''trust'', ''''',
	''''', ''one'', ''job'', '''', ''both'', ''enforce'', ''trust''', '''default'', ''all'', ''job'', '''', ''both'', ''enforce'', ''trust''',
	'''default'', ''one'', '''', '''', ''both'', ''enforce'', ''trust''', '''default'', ''per'', '''', '''', ''both'', ''enforce'', ''trust''',
	'''default'', ''one'', ''job'', '''', ''Both'', ''enforce'', ''trust''', '''default'', ''one'', ''job'', '''', ''both'', '''', ''trust''',
	'''default'', ''one'', ''job'', '''', ''both'', ''enforce'', ''no''', '''default'', ''one'', E''a\tb'', '''', ''both'', ''enforce'', ''trust''',
	'''default'', ''one'', ''job'', '' '', ''both'', ''enforce'', ''trust''']) words, arguments(words) a;
SELECT lease_fence_check();

-- Dropped by the statement that fires it, it judges that statement to the end.
SELECT lease_guard('rows', name_column => 'job', fence_column => 'fence', mode => 'high_water');
CREATE FUNCTION unguarded() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM lease_unguard('rows');
	RETURN 9;
END $$;
INSERT INTO rows (id, job) VALUES (unguarded(), 'job');
SELECT lease_guard('rows', name_column => 'job');
INSERT INTO rows (id, job) VALUES (unguarded(), 'job');
SELECT lease_unguard('rows');

\set VERBOSITY terse
SET client_min_messages = error;
DROP FUNCTION by_hand, unguarded;
DROP VIEW came;
DROP TABLE plain, rows;
DROP FUNCTION tried, told, arguments;
DROP EXTENSION lease;
