-- What README shows in psql, run as it stands there: the answers are those that it
-- shows, but for blanks that end a line.  Time is the clock's that stands still;
-- "half a minute later" moves it.
BEGIN;
CREATE EXTENSION pgtap;
SELECT plan(3);

\! dropdb --if-exists lease_readme 2>/dev/null; createdb -T template0 lease_readme
\set sections `awk '/^## / {shown = /Two sessions|Running workers|Guarding a table/} shown' README.md`
\set answers `(echo 'SET lease.clock = 1000;'; tr '\140' '~' <README.md | awk '/^## / {shown = /Two sessions|Running workers|Guarding a table/} /^~~~$/ {sql = 0} /^-- half a minute later$/ {print "SET lease.clock = " 1000 + 30 * ++later ";"} sql; shown && /^~~~sql$/ {sql = 1}') | psql -X -q -d lease_readme 2>&1 | sed 's/ *$//'`
\! dropdb lease_readme

SELECT ok(:'sections' LIKE E'%## Two sessions%## Running workers%## Guarding a table%', 'the sections are there');
SELECT is((SELECT count(*) FROM regexp_matches(:'sections', E'\n-- half a minute later\n', 'g')), 3::bigint, 'time passes in each');
SELECT is(
	replace(trim(E'\n' FROM :'answers'), E'\n\n', E'\n'),
	(SELECT string_agg(replace(trim(E'\n' FROM m[1]), E'\n\n', E'\n'), E'\n') FROM regexp_matches(:'sections', E'\n```\n([^`]*)\n```\n', 'g') m),
	'what the sessions are answered');

SELECT * FROM finish();
ROLLBACK;
