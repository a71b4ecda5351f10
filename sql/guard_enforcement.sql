-- A guard is brought in by way of "observe", which lets through what it would
-- refuse and says so in the log, without names; "off" does nothing.  The setting
-- lease.enforcement can weaken guards, and never strengthen one.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE item (id int, job text DEFAULT 'job', fence bigint);
CREATE FUNCTION each_of_them() RETURNS TABLE (guard text, setting text, no_token text, stale text, current text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH guard IN ARRAY '{enforce,observe,off}'::text[] LOOP
		PERFORM lease_guard('item', 'job', enforcement => guard);
		FOREACH setting IN ARRAY '{enforce,observe,off}'::text[] LOOP
			PERFORM set_config('lease.enforcement', setting, true);
			no_token := tried('', 'INSERT INTO item VALUES (1)');
			stale := tried('default/job/A/1', 'INSERT INTO item VALUES (1)');
			current := tried('default/job/B/2', 'INSERT INTO item VALUES (1)');
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM each_of_them();

-- What it says, once a statement and refusal.
SELECT lease_guard('item', name_column => 'job', enforcement => 'observe');
\set VERBOSITY default
SET client_min_messages = log;
INSERT INTO item SELECT i FROM generate_series(1, 3) i;
SET lease.token = :'stale';
INSERT INTO item VALUES (4);
INSERT INTO item VALUES (5, NULL);
INSERT INTO item VALUES (6, 'job'), (6, 'other'), (7, NULL);
DELETE FROM item WHERE id = 6;
TRUNCATE item;
SET client_min_messages = warning;
\set VERBOSITY sqlstate

-- Whatever there is to refuse passes: wrong owner, unknown fence, an end, an
-- expiry, no privilege.
CREATE FUNCTION passes(name text, owner text, fence bigint) RETURNS text LANGUAGE sql
AS $$ SELECT tried(lease_token('default', name, owner, fence), format('INSERT INTO item VALUES (1, %L)', name)) $$;
SELECT passes('job', 'A', 2), passes('job', 'B', 3), passes('nobody''s', 'B', 3);
BEGIN;
SELECT outcome FROM lease_break('job', 2, 'why');
SELECT passes('job', 'B', 2);
ROLLBACK;
SET lease.clock = '100000';
SELECT passes('job', 'B', 2);
SET lease.clock = '1000';
CREATE ROLE regress_lease_nobody;
GRANT ALL ON item TO regress_lease_nobody;
SET ROLE regress_lease_nobody;
SELECT passes('job', 'B', 2);
SET lease.enforcement = 'off';
SET lease.enforcement = 'enforce';
SET lease.enforcement = 'strict';
RESET ROLE;
SET lease.enforcement = 'strict';

-- A refused write is not stamped and raises no mark, an accepted one is and does.
SELECT lease_guard('item', 'job', fence_column => 'fence', enforcement => 'observe');
BEGIN;
SET LOCAL lease.token = :'stale';
INSERT INTO item VALUES (1, DEFAULT, 77) RETURNING fence;
SELECT fence FROM lease_catalog.mark;
ROLLBACK;
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO item VALUES (1, DEFAULT, 77) RETURNING fence;
COMMIT;
SELECT fence FROM lease_catalog.mark;
-- Below the mark.
SELECT lease_mark_reset('job', 9, 'up');
SELECT tried(:'current', 'INSERT INTO item VALUES (1)');
SELECT lease_guard('item', 'job', mode => 'high_water', enforcement => 'observe');
SELECT tried(:'current', 'INSERT INTO item VALUES (1)');
SELECT * FROM lease_mark_reset('job', 0, 'down');
-- Off: marks stand still, and nothing is even looked at.
SELECT lease_guard('item', 'job', mode => 'high_water', fence_column => 'fence', enforcement => 'off');
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO item VALUES (2, DEFAULT, 77) RETURNING fence;
COMMIT;
SELECT fence FROM lease_catalog.mark;

-- A guard whose column is gone: off is the way out.
CREATE FUNCTION broken_by(breaks text, mends text) RETURNS TABLE (guard text, setting text, came text, deleted text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH guard IN ARRAY '{enforce,observe,off}'::text[] LOOP
		PERFORM lease_guard('item', name_column => 'job', fence_column => 'fence', enforcement => guard);
		EXECUTE breaks;
		FOREACH setting IN ARRAY '{enforce,observe,off}'::text[] LOOP
			PERFORM set_config('lease.enforcement', setting, true);
			came := tried('default/job/B/2', 'INSERT INTO item VALUES (1)');
			deleted := tried('default/job/B/2', 'DELETE FROM item');
			RETURN NEXT;
		END LOOP;
		EXECUTE mends;
	END LOOP;
END $$;
SELECT * FROM broken_by('ALTER TABLE item RENAME job TO work', 'ALTER TABLE item RENAME work TO job');
SELECT * FROM broken_by('ALTER TABLE item RENAME fence TO number', 'ALTER TABLE item RENAME number TO fence');
SELECT * FROM broken_by(
	'ALTER TABLE item ALTER job DROP DEFAULT, ALTER job TYPE date USING now()', 'ALTER TABLE item ALTER job TYPE text USING ''job'', ALTER job SET DEFAULT ''job''');

-- A refusal that was let through does not count when the guard enforces again,
-- within the transaction, nor does it spoil what becomes good.
SELECT lease_guard('item', 'job');
BEGIN;
SET LOCAL lease.enforcement = 'observe';
SET LOCAL lease.token = :'stale';
INSERT INTO item VALUES (3);
SET LOCAL lease.enforcement = 'enforce';
SAVEPOINT s;
INSERT INTO item VALUES (3);
ROLLBACK TO s;
SET LOCAL lease.token = :'current';
INSERT INTO item VALUES (3);
ROLLBACK;
BEGIN;
SET LOCAL lease.enforcement = 'observe';
SET LOCAL lease.token = 'default/job/B/3';
INSERT INTO item VALUES (3);
SELECT r.outcome FROM lease_release('job', 'B', 2) r;
SELECT fence FROM lease_claim('job', 'B');
INSERT INTO item VALUES (3);
SELECT max(fence) AS mark FROM lease_catalog.mark;
SET LOCAL lease.enforcement = 'enforce';
INSERT INTO item VALUES (3);
ROLLBACK;
-- A mark does not rise for a row that is not stored, and what is below it is not
-- stamped; just as where the guard enforces.
CREATE TABLE away (id int PRIMARY KEY, v int, fence bigint);
CREATE FUNCTION stored_alone(act text, OUT guard text, OUT came text, OUT mark bigint, OUT stamps text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOREACH guard IN ARRAY '{enforce,observe}'::text[] LOOP
		PERFORM lease_unguard('away'), lease_mark_reset('job', 0, 'anew');
		DELETE FROM away;
		PERFORM lease_guard('away', 'job', mode => 'high_water', fence_column => 'fence', enforcement => guard);
		PERFORM set_config('lease.token', 'default/job/Z/9', true);
		INSERT INTO away VALUES (1, 1);
		PERFORM set_config('lease.token', 'default/job/Z/12', true);
		BEGIN
			EXECUTE act;
			came := 'ok';
		EXCEPTION WHEN OTHERS THEN
			came := SQLSTATE;
		END;
		SELECT max(m.fence) FROM lease_catalog.mark m INTO mark;
		SELECT string_agg(concat(id, ':', fence), ' ' ORDER BY id) FROM away INTO stamps;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT act, s.* FROM unnest(ARRAY['INSERT INTO away VALUES (1) ON CONFLICT DO NOTHING',
	'INSERT INTO away VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 2 WHERE away.v = 0', 'INSERT INTO away VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 2',
	'INSERT INTO away VALUES (2)', 'SET LOCAL lease.token = ''default/job/Z/8''; INSERT INTO away VALUES (3)']) act, stored_alone(act) s;
DROP TABLE away;
SELECT lease_mark_reset('job', 0, 'anew');
-- What one guard refuses says nothing of another mode, and nothing of the next
-- statement: what it rested on may be over.
CREATE TABLE high (id int);
CREATE TABLE now (id int, fence bigint);
SELECT lease_guard('high', 'job', mode => 'high_water', enforcement => 'observe'),
	lease_guard('now', 'job', mode => 'current', fence_column => 'fence', enforcement => 'observe');
SELECT lease_mark_reset('job', 9, 'up');
SET client_min_messages = log;
BEGIN;
SET LOCAL lease.token = :'current';
INSERT INTO high VALUES (1);
INSERT INTO now VALUES (1) RETURNING fence;
SELECT count(*) AS locked FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowShareLock' AND pid = pg_backend_pid() AND relation = 'lease_catalog.lease'::regclass;
SELECT lease_mark_reset('job', 2, 'down');
INSERT INTO high VALUES (1);
SELECT outcome FROM lease_hold('job', 'why', stop => true);
INSERT INTO now VALUES (2) RETURNING fence;
SELECT outcome FROM lease_resume('job');
INSERT INTO now VALUES (2) RETURNING fence;
SELECT outcome FROM lease_namespace_hold('default', 'why', stop => true);
INSERT INTO now VALUES (3) RETURNING fence;
SELECT outcome FROM lease_namespace_resume('default');
INSERT INTO now VALUES (3) RETURNING fence;
ROLLBACK;
BEGIN;
SET LOCAL lease.token = :'current';
GRANT ALL ON now TO regress_lease_nobody;
SET LOCAL ROLE regress_lease_nobody;
INSERT INTO now VALUES (4);
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_nobody', 'use');
SET LOCAL ROLE regress_lease_nobody;
INSERT INTO now VALUES (4);
ROLLBACK;
SET client_min_messages = warning;
DROP TABLE high, now;
SELECT lease_mark_reset('job', 0, 'down');
-- lease_present raises, whatever the enforcement.
SET lease.enforcement = 'off';
SELECT lease_present('job', 'A', 1);
RESET lease.enforcement;
-- What is wrong with a guard itself follows the same rule; where its own words
-- mean nothing, the setting's.
CREATE TRIGGER by_hand BEFORE INSERT ON item EXECUTE FUNCTION lease_fence_check('default', 'one', 'job', '', '', 'observe', 'trust');
SELECT setting, set_config('lease.enforcement', setting, true) IS NOT NULL AS set, tried(:'current', 'INSERT INTO item VALUES (1)')
FROM unnest('{enforce,observe,off}'::text[]) setting;
DROP TRIGGER by_hand ON item;
CREATE TRIGGER by_hand BEFORE INSERT ON item EXECUTE FUNCTION lease_fence_check('default', 'per', 'job', '', 'both', 'enforce', 'trust');
SELECT setting, set_config('lease.enforcement', setting, true) IS NOT NULL AS set, tried(:'current', 'INSERT INTO item VALUES (1)')
FROM unnest('{enforce,observe,off}'::text[]) setting;
DROP TRIGGER by_hand ON item;

-- So it is where a token cannot be read, or stands behind one that cannot.
CREATE FUNCTION each_setting(token text, act text) RETURNS TABLE (setting text, came text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH setting IN ARRAY '{enforce,observe,off}'::text[] LOOP
		PERFORM set_config('lease.enforcement', setting, true);
		came := tried(token, act);
		RETURN NEXT;
	END LOOP;
END $$;
SELECT token, e.* FROM unnest(ARRAY['default/%01/B/2', 'default/%ff/B/2 default/job/B/2', 'default/job/B/2 default/%ff/B/2']) token,
	each_setting(token, 'INSERT INTO item VALUES (1)') e;
-- Where a later trigger changes the stamp.
SELECT lease_guard('item', 'job', fence_column => 'fence');
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.fence := 3; RETURN NEW; END';
CREATE TRIGGER "~~later" BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION meddle();
SELECT * FROM each_setting(:'current', 'INSERT INTO item VALUES (1)');
-- And in a read-only transaction, in which a temporary table can be written.
CREATE TEMPORARY TABLE brief (LIKE item);
SELECT lease_guard('brief', 'job');
BEGIN READ ONLY;
SELECT * FROM each_setting(:'current', 'INSERT INTO brief VALUES (1)');
ROLLBACK;

-- All of it is said, once a statement and for what was stored alone.
\set VERBOSITY default
SET client_min_messages = log;
SET lease.enforcement = 'observe';
SET lease.token = 'default/%01/B/2';
INSERT INTO item VALUES (1), (2);
SET lease.token = :'current';
INSERT INTO item VALUES (1), (2);
BEGIN READ ONLY;
INSERT INTO brief VALUES (1), (2);
ROLLBACK;
DROP TRIGGER "~~later" ON item;
ALTER TABLE item RENAME fence TO number;
INSERT INTO item VALUES (1), (2);
ALTER TABLE item RENAME number TO fence;
SELECT lease_guard('item', name_column => 'job', fence_column => 'fence');
SET lease.token = :'stale';
INSERT INTO item SELECT i, CASE WHEN i % 2 = 0 THEN 'job' END FROM generate_series(1, 100) i;
RESET lease.token;
RESET lease.enforcement;
SET client_min_messages = warning;

\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE item, brief;
DROP FUNCTION tried, told, each_of_them, each_setting, broken_by, passes, meddle, stored_alone;
DROP EXTENSION lease;
DROP ROLE regress_lease_nobody;
