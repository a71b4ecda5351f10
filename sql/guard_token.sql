-- The setting lease.token: for whom it is judged, when, and what goes before it.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE item (id int, job text DEFAULT 'job');
SELECT lease_guard('item', name_column => 'job');
SELECT lease_token('default', 'job', 'B', 2);
SELECT lease_token('default', E'gr\u00fc\u00dfe / %', 'a b', 9223372036854775807);
SELECT lease_token('default', 'job', 'B', 0);
SELECT lease_token('default', 'job', 'B', -1);
SELECT lease_token('default', 'job', '', 1);
SELECT lease_token('default', '', 'B', 1);
SELECT lease_token('', 'job', 'B', 1);
SELECT lease_token(NULL, 'job', 'B', 1), lease_token('default', NULL, 'B', 1);
SELECT lease_token('default', 'job', NULL, 1);
SELECT lease_token('default', 'job', 'B', NULL);
-- What goes in comes out.
SELECT (l).name, (l).owner, (l).fence FROM (SELECT lease_present(lease_token('default', c.name, c.owner, c.fence)) l
	FROM lease_claim(E'gr\u00fc\u00dfe / % \\ '' "', E'\u20ac $1') c) p;

-- Malformed ones, which are refused where they are set or presented.
SET lease.token = 'nonsense';
SET lease.token = 'default/job/B';
SET lease.token = 'default/job/B/';
SET lease.token = 'default/job/B/2/3';
SET lease.token = 'default/job/B/-2';
SET lease.token = 'default/job/B/+2';
SET lease.token = 'default/job/B/0x2';
SET lease.token = 'default/job/B/9223372036854775808';
SET lease.token = 'default/job/B/2,default/other/C/1';
SET lease.token = 'default//B/2';
SET lease.token = '/job/B/2';
SET lease.token = 'default/j b/B/2';
SET lease.token = 'default/j%/B/2';
SET lease.token = 'default/j%4/B/2';
SET lease.token = 'default/j%zz/B/2';
SET lease.token = 'default/j%00/B/2';
SET lease.token = 'default/jöb/B/2';
SET lease.token = E'default/job/B/2\n';
SET lease.token = 'default/job/B/2 nonsense';
SHOW lease.token;
\set VERBOSITY default
SET lease.token = 'nonsense';
SELECT lease_present('nonsense');
SELECT lease_present('');
SELECT lease_present('default/job/B/2 default/other/C/1');
\set VERBOSITY sqlstate
SELECT lease_present(NULL);
SELECT lease_present('default/' || repeat('n', 513) || '/B/2');
SELECT lease_present(repeat('n', 64) || '/job/B/2');
SELECT lease_present('default/job/' || repeat('o', 256) || '/2');
SELECT lease_present('default/%01/B/2');
SELECT lease_present('default/%ff/B/2');
SELECT lease_present('default/job/B/2 ');
SELECT outcome FROM lease_present('  default/job/B/2');
-- What is a token in form and names nothing is told when a guard needs it.
SELECT tried('default/' || repeat('n', 513) || '/B/2', 'INSERT INTO item VALUES (1)');
SELECT tried('default/%ff/B/2', 'INSERT INTO item VALUES (1)');

-- Several, of which each guard takes its own; a name given twice: the first.
SELECT tried(:'both', 'INSERT INTO item VALUES (1, ''job''), (2, ''other'')') AS both,
	tried('  default/other/C/1   default/job/B/2  ', 'INSERT INTO item VALUES (1, ''job''), (2, ''other'')') AS spaced,
	tried(:'current' || ' ' || :'stale', 'INSERT INTO item VALUES (1)') AS current_first,
	tried(:'stale' || ' ' || :'current', 'INSERT INTO item VALUES (1)') AS stale_first,
	tried(:'stale' || ' ' || :'other', 'INSERT INTO item VALUES (2, ''other'')') AS others_stale;

-- Judged anew in each transaction, and when it changes.
SET lease.token = :'current';
INSERT INTO item VALUES (1);
BEGIN;
INSERT INTO item VALUES (2);
SET LOCAL lease.token = :'stale';
SAVEPOINT s;
INSERT INTO item VALUES (3);
ROLLBACK TO s;
SET LOCAL lease.token = '';
SAVEPOINT t;
INSERT INTO item VALUES (3);
ROLLBACK TO t;
SET LOCAL lease.token = :'current';
INSERT INTO item VALUES (4);
ROLLBACK;
INSERT INTO item VALUES (5);
BEGIN;
SAVEPOINT s;
SET LOCAL lease.token = :'stale';
ROLLBACK TO s;
INSERT INTO item VALUES (6);
ROLLBACK;
SELECT outcome FROM lease_break('job', 2, 'why');
INSERT INTO item VALUES (7);
SELECT fence FROM lease_claim('job', 'B', ttl => '1 h');
INSERT INTO item VALUES (7);
SET lease.token = 'default/job/B/3';
INSERT INTO item VALUES (7);
-- By function attributes, which end with the function.
RESET lease.token;
CREATE FUNCTION bound(n int) RETURNS void LANGUAGE sql SET lease.token = 'default/job/B/3' AS 'INSERT INTO item VALUES (n)';
SELECT bound(8);
INSERT INTO item VALUES (9);
BEGIN;
SELECT bound(8);
INSERT INTO item VALUES (9);
ROLLBACK;
SELECT id FROM item ORDER BY id;

-- A presented token goes before one of the setting, for better or worse, until
-- its transaction ends.
SET lease.token = :'stale';
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 3);
INSERT INTO item VALUES (10);
ROLLBACK;
INSERT INTO item VALUES (10);
SET lease.token = 'default/job/B/3';
BEGIN;
INSERT INTO item VALUES (10);
SELECT outcome FROM lease_present('job', 'A', 1, prove => false);
INSERT INTO item VALUES (10);
ROLLBACK;
INSERT INTO item VALUES (10);
RESET lease.token;

-- For the role that is acting, and with its privilege: SET ROLE, and beneath
-- a SECURITY DEFINER function for the one who called it.
CREATE ROLE regress_lease_user;
CREATE ROLE regress_lease_other;
GRANT ALL ON item TO regress_lease_user, regress_lease_other;
SELECT lease_grant('default', 'regress_lease_user', 'use');
CREATE FUNCTION definer() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO item VALUES (11)';
CREATE FUNCTION as_other() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO item VALUES (12)';
ALTER FUNCTION as_other OWNER TO regress_lease_other;
SET lease.token = 'default/job/B/3';
SET ROLE regress_lease_other;
INSERT INTO item VALUES (10);
SELECT definer();
SELECT as_other();
SET ROLE regress_lease_user;
INSERT INTO item VALUES (10);
SELECT definer();
SELECT as_other();
RESET ROLE;
INSERT INTO item VALUES (10);
-- The role changes in the transaction: judged for the new one.
BEGIN;
INSERT INTO item VALUES (10);
SET ROLE regress_lease_other;
SAVEPOINT s;
INSERT INTO item VALUES (10);
ROLLBACK TO s;
SET ROLE regress_lease_user;
INSERT INTO item VALUES (10);
ROLLBACK;
-- One that was presented is the transaction's, and was judged for who presented it.
BEGIN;
SELECT outcome FROM lease_present('job', 'B', 3);
SET ROLE regress_lease_other;
INSERT INTO item VALUES (10);
ROLLBACK;
BEGIN;
SET ROLE regress_lease_other;
SELECT outcome FROM lease_present('job', 'B', 3);
ROLLBACK;
BEGIN;
SET ROLE regress_lease_other;
SELECT outcome FROM lease_present('job', 'B', 3, prove => false);
ROLLBACK;
-- What is refused for want of privilege says nothing of the lease.
SET ROLE regress_lease_other;
SELECT told('default/job/B/3', 'INSERT INTO item VALUES (1)') = told('default/job/A/3', 'INSERT INTO item VALUES (1)') AS same;
SELECT told('default/job/B/3', 'INSERT INTO item VALUES (1)');
RESET ROLE;
-- Set for a role.
ALTER ROLE regress_lease_user SET lease.token = 'nonsense';
ALTER ROLE regress_lease_user SET lease.token = 'default/job/B/3';
DISCARD ALL;
INSERT INTO item VALUES (13);

\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE item;
DROP FUNCTION tried, told, bound, definer, as_other;
DROP EXTENSION lease;
DROP ROLE regress_lease_user, regress_lease_other;
