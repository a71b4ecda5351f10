-- The two sessions of README, run as they stand there: the answers are those that
-- it shows, but for blanks that end a line.  Time is the clock's that stands still;
-- "half a minute later" moves it.
BEGIN;
CREATE EXTENSION pgtap;
SELECT plan(2);

\! dropdb --if-exists lease_readme 2>/dev/null; createdb -T template0 lease_readme
\set section `sed -n '/^## Two sessions/,/^## Install/p' README.md`
\set answers `(echo 'SET lease.clock = 1000;'; tr '\140' '~' <README.md | sed -n '/^## Two sessions/,/^## Install/{/^~~~sql/,/^~~~$/{/^~/!p}}' | sed 's/^-- half a minute later$/SET lease.clock = 1030;/') | psql -X -q -d lease_readme 2>&1 | sed 's/ *$//'`
\! dropdb lease_readme

SELECT ok(:'section' LIKE E'%\n-- half a minute later\n%', 'time passes');
SELECT is(
	trim(E'\n' FROM :'answers'),
	(SELECT string_agg(trim(E'\n' FROM m[1]), E'\n\n') FROM regexp_matches(:'section', E'\n```\n([^`]*)\n```\n', 'g') m),
	'what the two sessions are answered');

SELECT * FROM finish();
ROLLBACK;
