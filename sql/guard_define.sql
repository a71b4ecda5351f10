-- Who may guard a table, with what, and what becomes of the guard.
\set ECHO none
\getenv source PG_ABS_SRCDIR
\set prologue :source '/sql/guard.psql'
\i :prologue
\set ECHO all
CREATE TABLE item (id int, job text, fence bigint);
SELECT lease_guard(NULL, 'job');
SELECT lease_guard('item');
SELECT lease_guard('item', 'job', name_column => 'job');
SELECT lease_guard('item', '');
SELECT lease_guard('item', repeat('n', 513));
SELECT lease_guard('item', E'a\nb');
SELECT lease_guard('item', 'job', namespace => NULL);
SELECT lease_guard('item', 'job', namespace => '');
SELECT lease_guard('item', 'job', namespace => 'nowhere');
SELECT lease_guard('item', 'job', mode => NULL);
SELECT lease_guard('item', 'job', mode => 'some');
SELECT lease_guard('item', 'job', enforcement => NULL);
SELECT lease_guard('item', 'job', enforcement => 'maybe');
SELECT lease_guard('item', 'job', replication => NULL);
SELECT lease_guard('item', 'job', replication => 'maybe');
SELECT lease_guard('item', name_column => 'not there');
SELECT lease_guard('not_there', 'job');
SELECT lease_guard(0::oid::regclass, 'job');
SELECT lease_guard(4294967295::oid::regclass, 'job');
SELECT lease_unguard(NULL);
SELECT lease_unguard('item');
SELECT count(*) FROM lease_guards;
\set VERBOSITY default
SELECT lease_guard('item');
SELECT lease_guard('item', 'job', mode => 'some');
SELECT lease_guard('item', 'job', enforcement => 'maybe');
SELECT lease_guard('item', 'job', replication => 'maybe');
\set VERBOSITY sqlstate

-- One guard a table; the next replaces it.
SELECT lease_guard('item', 'job', fence_column => 'fence', mode => 'high_water', enforcement => 'observe', replication => 'refuse');
TABLE lease_guards;
SELECT lease_guard('item', name_column => 'job');
TABLE lease_guards;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'item'::regclass ORDER BY 1;
SELECT lease_guard('item', 'job');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'item'::regclass ORDER BY 1;
SELECT lease_guard('item', 'job', replication => 'refuse');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'item'::regclass ORDER BY 1;
SELECT lease_guard('item', 'job');
BEGIN;
SELECT lease_unguard('item');
SELECT tried(:'none', 'INSERT INTO item VALUES (1)');
ROLLBACK;
SELECT tried(:'none', 'INSERT INTO item VALUES (1)');
SELECT lease_unguard('item'), lease_unguard('item');
SELECT tried(:'none', 'INSERT INTO item VALUES (1)');
-- It is there at once in the transaction that makes it, also for a plan that was made before.
PREPARE kept AS INSERT INTO item VALUES (1);
EXECUTE kept;
BEGIN;
SELECT lease_guard('item', 'job');
EXECUTE kept;
ROLLBACK;
SELECT lease_guard('item', 'job');
EXECUTE kept;
DEALLOCATE kept;
-- A rename, another schema and a rewrite change nothing.
CREATE SCHEMA elsewhere;
ALTER TABLE item RENAME TO thing;
ALTER TABLE thing SET SCHEMA elsewhere;
ALTER TABLE elsewhere.thing ALTER id TYPE bigint;
SELECT tried(:'none', 'INSERT INTO elsewhere.thing VALUES (1)') AS none, tried(:'current', 'INSERT INTO elsewhere.thing VALUES (1)') AS current;
SELECT target, name, open FROM lease_guards;
DROP SCHEMA elsewhere CASCADE;
SELECT count(*) FROM lease_guards;

-- Names that need quoting, wherever there can be one; no primary key.
SELECT lease_namespace_create('Na''me "space" /%');
SELECT fence FROM lease_claim('a/b ''c'' "d" %e \f', 'O''wner / %', ttl => '1 h', namespace => 'Na''me "space" /%');
CREATE SCHEMA "Sche""ma 'x'";
CREATE TABLE "Sche""ma 'x'"."Ta""ble '%s' $$" ("Col""umn '1'" text, "Fen""ce %I" bigint) PARTITION BY LIST ("Col""umn '1'");
CREATE TABLE "Sche""ma 'x'"."Part""'1" PARTITION OF "Sche""ma 'x'"."Ta""ble '%s' $$" DEFAULT;
SELECT lease_guard('"Sche""ma ''x''"."Ta""ble ''%s'' $$"', name_column => 'Col"umn ''1''', fence_column => 'Fen"ce %I', namespace => 'Na''me "space" /%');
SELECT lease_token('Na''me "space" /%', 'a/b ''c'' "d" %e \f', 'O''wner / %', 1) AS quoted \gset
\echo :quoted
BEGIN;
SET LOCAL lease.token = :'quoted';
INSERT INTO "Sche""ma 'x'"."Ta""ble '%s' $$" VALUES ('a/b ''c'' "d" %e \f') RETURNING *;
ROLLBACK;
SELECT told(:'none', 'INSERT INTO "Sche""ma ''x''"."Ta""ble ''%s'' $$" VALUES (''a/b ''''c'''' "d" %e \f'')');
SELECT tried(:'none', 'TRUNCATE "Sche""ma ''x''"."Part""''1"');
TABLE lease_guards;
SELECT lease_guard('"Sche""ma ''x''"."Part""''1"', 'a/b ''c'' "d" %e \f', namespace => 'Na''me "space" /%');
SELECT tried(:'none', 'TRUNCATE "Sche""ma ''x''"."Part""''1"');
DROP SCHEMA "Sche""ma 'x'" CASCADE;

-- Names as long as they may be.
SELECT repeat('n', 512) AS long, repeat('o', 255) AS longest_owner, repeat('c', 63) AS column \gset
SELECT fence FROM lease_claim(:'long', :'longest_owner', ttl => '1 h');
CREATE TABLE long (:column text);
SELECT lease_token('default', :'long', :'longest_owner', 1) AS long_token \gset
SELECT lease_guard('long', :'long');
SELECT tried(:'none', 'INSERT INTO long VALUES (1)') AS none, tried(:'long_token', 'INSERT INTO long VALUES (1)') AS current;
SELECT lease_guard('long', name_column => :'column');
SELECT tried(:'long_token', format('INSERT INTO long VALUES (%L)', :'long')) AS current, tried(:'long_token', format('INSERT INTO long VALUES (%L)', :'long' || 'n')) AS longer;
DROP TABLE long;
-- Temporary and unlogged tables.
CREATE TEMP TABLE temporary (id int) ON COMMIT DELETE ROWS;
SELECT lease_guard('temporary', 'job');
SELECT tried(:'none', 'INSERT INTO temporary VALUES (1)') AS none, tried(:'current', 'INSERT INTO temporary VALUES (1)') AS current;
DROP TABLE temporary;
CREATE UNLOGGED TABLE unlogged (id int);
SELECT lease_guard('unlogged', 'job', mode => 'high_water');
SELECT tried(:'none', 'INSERT INTO unlogged VALUES (1)') AS none, tried(:'current', 'INSERT INTO unlogged VALUES (1)') AS current;
DROP TABLE unlogged;

-- The table's owner, who may use the namespace, and nobody else.
CREATE ROLE regress_lease_guard_owner;
CREATE ROLE regress_lease_guard_writer;
CREATE TABLE owned (id int);
ALTER TABLE owned OWNER TO regress_lease_guard_owner;
GRANT ALL ON owned TO regress_lease_guard_writer;
SET ROLE regress_lease_guard_owner;
SELECT lease_guard('owned', 'job');
SELECT lease_guard('owned', 'job', namespace => 'nowhere');
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_guard_writer', 'operate');
SET ROLE regress_lease_guard_writer;
SELECT lease_guard('owned', 'job');
SELECT lease_unguard('owned');
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_guard_owner', 'observe');
SET ROLE regress_lease_guard_owner;
SELECT lease_guard('owned', 'job');
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_guard_owner', 'use');
SET ROLE regress_lease_guard_owner;
SELECT lease_guard('owned', 'job');
SELECT target, name, open FROM lease_guards;
RESET ROLE;
-- Writers: their own token and privilege count, whoever owns the table.
SET ROLE regress_lease_guard_writer;
SELECT tried(:'none', 'INSERT INTO owned VALUES (1)') AS none, tried(:'current', 'INSERT INTO owned VALUES (1)') AS current;
SELECT lease_unguard('owned');
RESET ROLE;
-- The owner can take it away without any privilege, as he could drop the triggers.
SELECT lease_revoke('default', 'regress_lease_guard_owner', 'use');
SET ROLE regress_lease_guard_owner;
SELECT lease_unguard('owned');
RESET ROLE;

-- Who looks at a table, or writes it, is not waited for by who looks at guards.
CREATE TABLE held (id int);
SELECT lease_guard('held', 'job');
BEGIN;
SELECT target FROM lease_guards;
SELECT mode FROM pg_locks WHERE relation = 'held'::regclass;
ROLLBACK;

-- While a guard stands the extension cannot be dropped, but with CASCADE, and
-- then the table is open.
\set VERBOSITY default
DROP EXTENSION lease;
\set VERBOSITY sqlstate
DROP FUNCTION tried, told;
BEGIN;
DROP EXTENSION lease CASCADE;
INSERT INTO held VALUES (1);
SELECT tgname FROM pg_trigger WHERE tgrelid = 'held'::regclass;
ROLLBACK;
INSERT INTO held VALUES (1);
DROP TABLE held;
DROP EXTENSION lease;

\set VERBOSITY terse
SET client_min_messages = error;
DROP TABLE owned;
DROP ROLE regress_lease_guard_owner, regress_lease_guard_writer;
