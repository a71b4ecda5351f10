-- Every statement that changes a guarded table is refused without a token, and
-- with one that is not current, and passes with the one that is.  So in each
-- form that a guard takes: a trigger for the statement (plain), for each row
-- (by_row, here for the mode's sake), per value of a column, and stamped.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE plain (id int PRIMARY KEY, job text, v int, fence bigint);
INSERT INTO plain VALUES (1, 'job', 1), (2, 'job', 2);
CREATE TABLE by_row AS TABLE plain;
ALTER TABLE by_row ADD PRIMARY KEY (id);
CREATE TABLE per_value (LIKE by_row INCLUDING ALL);
INSERT INTO per_value TABLE plain;
CREATE TABLE stamped (LIKE by_row INCLUDING ALL);
INSERT INTO stamped TABLE plain;
CREATE TABLE per_stamped (LIKE by_row INCLUDING ALL);
INSERT INTO per_stamped TABLE plain;
SELECT lease_guard('plain', 'job');
SELECT lease_guard('by_row', 'job', mode => 'high_water');
SELECT lease_guard('per_value', name_column => 'job');
SELECT lease_guard('stamped', 'job', fence_column => 'fence');
SELECT lease_guard('per_stamped', name_column => 'job', fence_column => 'fence');
-- The current holder has written, so that high_water has something to go by.
BEGIN;
SET LOCAL lease.token = :'current';
UPDATE by_row SET v = v;
COMMIT;

CREATE TABLE act (n serial, act text, statement text);
INSERT INTO act (act, statement) VALUES
	('INSERT', 'INSERT INTO %I VALUES (3, ''job'', 3)'),
	('INSERT of many', 'INSERT INTO %I SELECT i, ''job'', i FROM generate_series(3, 9) i'),
	('INSERT ON CONFLICT DO NOTHING, new', 'INSERT INTO %I VALUES (3, ''job'', 3) ON CONFLICT DO NOTHING'),
	('INSERT ON CONFLICT DO UPDATE, new', 'INSERT INTO %I VALUES (3, ''job'', 3) ON CONFLICT (id) DO UPDATE SET v = 0'),
	('INSERT ON CONFLICT DO UPDATE, old', 'INSERT INTO %I VALUES (1, ''job'', 3) ON CONFLICT (id) DO UPDATE SET v = 0'),
	('UPDATE', 'UPDATE %I SET v = 0'),
	('UPDATE of the fence alone', 'UPDATE %I SET fence = 99 WHERE id = 1'),
	('UPDATE that changes nothing', 'UPDATE %I SET v = v WHERE id = 1'),
	('DELETE', 'DELETE FROM %I WHERE id = 1'),
	('MERGE: insert', 'MERGE INTO %I t USING (VALUES (3)) s (id) ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (3, ''job'', 3)'),
	('MERGE: update', 'MERGE INTO %I t USING (VALUES (1)) s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 0'),
	('MERGE: delete', 'MERGE INTO %I t USING (VALUES (1)) s (id) ON t.id = s.id WHEN MATCHED THEN DELETE'),
	('in a WITH', 'WITH w AS (DELETE FROM %I RETURNING *) SELECT * FROM w'),
	('TRUNCATE', 'TRUNCATE %I');
SELECT t.name AS "table", a.act,
	tried(:'none', format(statement, t.name)) AS "no token",
	tried(:'other', format(statement, t.name)) AS "another lease's",
	tried(:'stale', format(statement, t.name)) AS stale,
	tried(:'current', format(statement, t.name)) AS current
FROM act a, unnest('{plain,by_row,per_value,stamped,per_stamped}'::text[]) WITH ORDINALITY t (name, n)
ORDER BY t.n, a.n;

-- COPY, which psql feeds.
COPY plain FROM stdin;
3	job	3	\N
\.
SET lease.token = :'stale';
COPY plain FROM stdin;
3	job	3	\N
\.
COPY per_value FROM stdin;
3	job	3	\N
\.
COPY stamped FROM stdin;
3	job	3	\N
\.
SET lease.token = :'current';
COPY plain FROM stdin;
3	job	3	\N
\.
COPY per_value FROM stdin;
3	job	3	\N
4	other	4	\N
\.
COPY per_value FROM stdin;
3	job	3	\N
\.
COPY stamped FROM stdin;
3	job	3	77
\.
COPY stamped FROM stdin WITH (FREEZE false, FORMAT csv);
4,job,3,
\.
TABLE stamped ORDER BY id;
RESET lease.token;

-- Reading and locking rows is nobody's business.
SELECT count(*) FROM plain;
SELECT id FROM per_value ORDER BY id FOR UPDATE;
TABLE per_value ORDER BY id;

-- What touches no row: refused by a trigger for the statement, which cannot
-- know, and passed by one for the rows.
SELECT name, tried(:'none', format('UPDATE %I SET v = 0 WHERE false', name)) AS updated,
	tried(:'none', format('INSERT INTO %I SELECT FROM generate_series(1, 0)', name)) AS inserted,
	tried(:'none', format('INSERT INTO %I VALUES (1) ON CONFLICT DO NOTHING', name)) AS nothing_done
FROM unnest('{plain,by_row,per_value,stamped,per_stamped}'::text[]) name;

\set ECHO none
\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE plain, by_row, per_value, stamped, per_stamped, act;
\set ECHO all
DROP FUNCTION tried, told;
DROP EXTENSION lease;
