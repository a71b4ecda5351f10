-- What operations.md gives operators to run, run as it stands there, one after the
-- other in a database that has what the examples name: none ends in an error, and
-- those that act do what the text around them says.
BEGIN;
CREATE EXTENSION pgtap;
SELECT plan(3);

\! dropdb --if-exists lease_operations 2>/dev/null; createdb -T template0 lease_operations
\! psql -X -q -d lease_operations -o /dev/null -c "CREATE EXTENSION lease; CREATE TABLE account (id bigint PRIMARY KEY)" -c "SELECT lease_fences_advance(6), lease_claim('job', 'a', ttl => '1 h')" -c "SELECT lease_offer('import-7')" -c "SELECT lease_poll('a', ttl => '1 h')" -c "SELECT lease_offer('import-8')" -c "SELECT lease_fail(name, owner, fence, 'no such host', final => true) FROM lease_poll('a')" -c "SELECT lease_offer('import-9')"
\set examples `tr '\140' '~' <doc/operations.md | awk '/^~~~$/ {sql = 0} sql {print} /^~~~sql$/ {sql = 1}'`
\set answers `echo; tr '\140' '~' <doc/operations.md | awk '/^~~~$/ {sql = 0} sql {print} /^~~~sql$/ {sql = 1}' | psql -X -q -A -t -d lease_operations 2>&1`
\! dropdb lease_operations
-- the last of its reloads must have come through for those who come next
\! timeout 60 bash -c "until [ enforce = \"\$(psql -X -q -A -t -c \"LOAD 'lease'\" -c 'SHOW lease.enforcement')\" ]; do sleep 0.01; done"

SELECT is((SELECT count(*) FROM regexp_matches(:'examples', E';( *--[^\n]*)?(\n|$)', 'g')), 30::bigint, 'the examples are there');
SELECT unalike(:'answers'::text, '%ERROR%', 'none ends in an error');
SELECT is((SELECT string_agg(m[1], ' ')::text FROM regexp_matches(:'answers', E'\\m(hold_set|resumed|cancel_requested|broken|already_broken|reopened)\\M', 'g') m), 'hold_set hold_set resumed cancel_requested broken already_broken already_broken reopened broken broken', 'what the acts do');

SELECT * FROM finish();
ROLLBACK;
