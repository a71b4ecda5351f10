-- Where a fence column is given it is written by the guard, and never read as a
-- proof: what a row holds, or a statement sets it to, opens nothing.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE DOMAIN fence AS bigint;
CREATE TABLE item (id int PRIMARY KEY, job text, fence fence);
INSERT INTO item VALUES (1, 'job', 2), (2, 'other', 1);
SELECT lease_guard('item', name_column => 'job', fence_column => 'fence');

-- The fence that is on the row already, or that the statement writes, is no token.
SELECT tried(:'none', act) AS none, tried(:'stale', act) AS stale, act FROM unnest(ARRAY[
	'UPDATE item SET id = 7 WHERE id = 1', 'UPDATE item SET fence = 2 WHERE id = 1',
	'INSERT INTO item VALUES (7, ''job'', 2)', 'UPDATE item SET fence = NULL WHERE id = 1']) act;

-- It is stamped whatever the statement says.
BEGIN;
SET LOCAL lease.token = :'both';
INSERT INTO item VALUES (3, 'job', DEFAULT), (4, 'job', 77), (5, 'other', NULL);
INSERT INTO item VALUES (1, 'job', 77) ON CONFLICT (id) DO UPDATE SET fence = 78;
INSERT INTO item VALUES (2, 'other', 77) ON CONFLICT (id) DO UPDATE SET fence = excluded.fence + 1;
INSERT INTO item VALUES (2, 'other', 77) ON CONFLICT (id) DO NOTHING;
TABLE item ORDER BY id;
UPDATE item SET fence = NULL WHERE id = 3;
MERGE INTO item USING (VALUES (4), (6)) s (i) ON id = i WHEN MATCHED THEN UPDATE SET fence = 5
	WHEN NOT MATCHED THEN INSERT VALUES (i, 'other', 5);
TABLE item ORDER BY id;
-- With another lease comes another fence.
UPDATE item SET job = 'other' WHERE id = 3 RETURNING *;
DELETE FROM item WHERE id > 2;
COMMIT;
TABLE item ORDER BY id;

-- A later epoch's fence goes over an earlier one's.
SELECT outcome FROM lease_release('other', 'C', 1);
SELECT r.outcome FROM lease_claim('other', 'C') c, lease_release('other', 'C', c.fence) r;
SELECT fence FROM lease_claim('other', 'C');
BEGIN;
SELECT outcome FROM lease_present('other', 'C', 3);
UPDATE item SET id = id WHERE id = 2 RETURNING *;
ROLLBACK;

-- A trigger that comes later and takes the stamp away, or the row to another
-- lease; one that does neither, or that comes earlier, does no harm.
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT ($1).id, ' || TG_ARGV[0] INTO NEW.id, NEW.job, NEW.fence USING NEW;
	RETURN NEW;
END $$;
CREATE FUNCTION meddled(place name, what text) RETURNS TABLE (act text, came text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION meddle(%L)', place, what);
	RETURN QUERY SELECT a, tried('default/job/B/2 default/other/C/3', a)
		FROM unnest(ARRAY['INSERT INTO item VALUES (7, ''job'')', 'UPDATE item SET fence = 5 WHERE id = 1']) a;
	EXECUTE format('DROP TRIGGER %I ON item', place);
END $$;
SELECT place, what, m.* FROM (VALUES
	('~~later', '($1).job, 3'), ('~~later', '($1).job, NULL'), ('~~later', '($1).job, ($1).fence'), ('~~later', '''other'', 1'),
	('~~later', '''other'', ($1).fence'), ('earlier', '($1).job, 3'), ('earlier', '''other'', NULL')) w (place, what), meddled(place, what) m;
-- The same number by chance is as good as the stamp.
SELECT * FROM meddled('~~later', '($1).job, 2');
CREATE TRIGGER "~~later" BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION meddle('($1).job, 3');
SELECT told(:'current', 'UPDATE item SET id = 7 WHERE id = 1');
DROP TRIGGER "~~later" ON item;
-- A trigger that lets the row go: nothing was written, nothing is asked.
CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER a_first BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION skip();
SELECT tried(:'none', 'INSERT INTO item VALUES (7, ''job'')'), tried(:'none', 'UPDATE item SET id = 7');
DROP TRIGGER a_first ON item;

-- The column must be a bigint, or a domain over it, and stay one.
ALTER TABLE item ADD number int, ADD written text, ADD made bigint GENERATED ALWAYS AS (id) STORED;
SELECT lease_guard('item', 'job', fence_column => 'number');
SELECT lease_guard('item', 'job', fence_column => 'written');
SELECT lease_guard('item', 'job', fence_column => 'made');
SELECT lease_guard('item', 'job', fence_column => 'not there');
SELECT lease_guard('item', 'job', fence_column => 'xmin');
\set VERBOSITY default
SELECT lease_guard('item', 'job', fence_column => 'number');
SELECT lease_guard('item', 'job', fence_column => 'made');
\set VERBOSITY sqlstate
SELECT fence_column, open FROM lease_guards;
ALTER TABLE item ALTER fence TYPE text;
SELECT tried(:'current', 'UPDATE item SET id = 7 WHERE id = 1'), tried(:'current', 'DELETE FROM item WHERE id = 1');
SELECT fence_column, open FROM lease_guards;
ALTER TABLE item DROP fence;
SELECT tried(:'current', 'UPDATE item SET id = 7 WHERE id = 1'), tried(:'current', 'DELETE FROM item WHERE id = 1');
SELECT fence_column, open FROM lease_guards;

\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE item;
DROP DOMAIN fence;
DROP FUNCTION tried, told, meddle, meddled, skip;
DROP EXTENSION lease;
