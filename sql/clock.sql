-- Leases are judged by the server's clock, or by lease.clock, which stands
-- still; and by every reader with the same comparison, now < expires_at.
CREATE EXTENSION lease;
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires, remaining, ttl'
\set record 'owner, fence, version, extract(epoch FROM granted_at) AS granted, extract(epoch FROM renewed_at) AS renewed, extract(epoch FROM expires_at) AS expires'

-- Unset, it is the clock of the server.
SHOW lease.clock;
SELECT server_time BETWEEN statement_timestamp() AND clock_timestamp() AS real FROM lease_get('job');

-- Both notations, down to the microsecond.
CREATE FUNCTION read_clock(setting text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('lease.clock', setting, true);
	RETURN extract(epoch FROM server_time) FROM lease_get('job');
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN NULL;
END $$;
SELECT setting, read_clock(setting) FROM (VALUES
	('1000'), ('1000.'), ('1000.5'), ('.5'), ('0'), ('1000.000001'), ('1767225600.123456'), ('253402300799'),
	('1970-01-01 00:16:40+00'), ('1970-01-01 00:16:40.000001 UTC'), ('2026-01-01T00:00:00Z'), ('epoch')) s(setting);

-- What is no instant between the years 1970 and 9999 is refused, and what was
-- set before stays.
SET lease.clock = '1000';
SELECT setting, read_clock(setting) FROM (VALUES
	('soon'), ('-1'), ('1e3'), ('.'), ('0x10'), ('NaN'), (' '), ('infinity'), ('-infinity'),
	('253402300800'), ('99999999999999999999999999'), ('1969-12-31 23:59:59.999999+00'),
	('10000-01-01 00:00:00+00')) s(setting);
SET lease.clock = 'soon';
SET lease.clock = '253402300800';
SHOW lease.clock;

-- It stands still, and goes back with the transaction that set it.
SELECT a.server_time = b.server_time AS still, extract(epoch FROM b.server_time) AS now
	FROM lease_get('job') a, LATERAL (SELECT pg_sleep(0.002), a.ok OFFSET 0) s, LATERAL lease_get('job') b;
BEGIN;
SET lease.clock = '2000';
SELECT extract(epoch FROM server_time) AS now FROM lease_get('job');
ROLLBACK;
SELECT extract(epoch FROM server_time) AS now FROM lease_get('job');
BEGIN;
SET LOCAL lease.clock = '2000';
COMMIT;
SELECT extract(epoch FROM server_time) AS now FROM lease_get('job');

-- A number is the same instant everywhere, and so is what comes out.
SET TimeZone = 'Asia/Kathmandu';
SET DateStyle = 'German';
SELECT :answer FROM lease_claim('zones', 'A', ttl => '60 s');
SET TimeZone = 'America/Los_Angeles';
SET DateStyle = 'ISO, YMD';
SELECT :answer FROM lease_claim('zones', 'B', ttl => '60 s');
SELECT :answer FROM lease_get('zones');
RESET TimeZone;
RESET DateStyle;

-- Every reader and every verb judges alike, a microsecond before the expiry, at
-- it, and a microsecond after it.  Each call is undone.
CREATE FUNCTION judged(at text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('lease.clock', at, true);
	EXECUTE call INTO answer;
	RAISE EXCEPTION '%', answer;
EXCEPTION WHEN raise_exception THEN
	RETURN SQLERRM;
END $$;
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SELECT verb, judged('1000', call) AS granted, judged('1059.999999', call) AS before, judged('1060', call) AS at,
		judged('1060.000001', call) AS after
	FROM (VALUES
		('get', $$SELECT outcome FROM lease_get('job')$$),
		('remaining', $$SELECT extract(epoch FROM remaining) FROM lease_get('job')$$),
		('status', $$SELECT state FROM lease_status WHERE name = 'job'$$),
		('claim', $$SELECT outcome FROM lease_claim('job', 'B')$$),
		('takeover', $$SELECT outcome FROM lease_takeover('job', 'B', 1)$$),
		('renew', $$SELECT outcome FROM lease_renew('job', 'A', 1)$$),
		('release', $$SELECT outcome FROM lease_release('job', 'A', 1)$$)) v(verb, call);

-- The clock is set back far: nobody's promise grows by the size of the jump.
-- The lease counts as made just now; to look does not write that down, so its
-- end moves along with every look.
SET lease.clock = '100000';
SELECT :answer FROM lease_claim('set back', 'A', ttl => '60 s');
SET lease.clock = '2000';
SELECT :answer FROM lease_get('set back');
SELECT state, extract(epoch FROM expires_at) AS expires, remaining FROM lease_status WHERE name = 'set back';
SET lease.clock = '2030';
SELECT :answer FROM lease_get('set back');
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';
-- A claim writes it down, also where it is refused: version and fence stay, and
-- the wait ends one length from then.
SELECT :answer FROM lease_claim('set back', 'B');
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';
SET lease.clock = '2080';
SELECT :answer FROM lease_claim('set back', 'B');
SELECT :answer FROM lease_get('set back');
SELECT verb, judged('2089.999999', call) AS before, judged('2090', call) AS at
	FROM (VALUES
		('get', $$SELECT outcome FROM lease_get('set back')$$),
		('status', $$SELECT state FROM lease_status WHERE name = 'set back'$$),
		('claim', $$SELECT outcome FROM lease_claim('set back', 'B')$$),
		('takeover', $$SELECT outcome FROM lease_takeover('set back', 'B', 1)$$),
		('renew', $$SELECT outcome FROM lease_renew('set back', 'A', 1)$$),
		('release', $$SELECT outcome FROM lease_release('set back', 'A', 1)$$)) v(verb, call);

-- So does a takeover, whatever it answers; a refused renewal or release does not.
SET lease.clock = '100000';
SELECT :answer FROM lease_takeover('set back', 'C', 1, ttl => '60 s');
SET lease.clock = '3000';
SELECT :answer FROM lease_renew('set back', 'A', 1);
SELECT :answer FROM lease_release('set back', 'A', 2);
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';
BEGIN;
SELECT outcome FROM lease_takeover('set back', 'D', 3);
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_takeover('set back', 'D', 2);
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';
ROLLBACK;
SELECT outcome FROM lease_takeover('set back', 'D', 1);
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';

-- The holder is still the holder, and his next renewal counts from now.  The
-- fence does not go back with the clock.
SET lease.clock = '3010';
SELECT :answer FROM lease_renew('set back', 'C', 2);
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';
SELECT :answer FROM lease_release('set back', 'C', 2);
SET lease.clock = '100';
SELECT :answer FROM lease_get('set back');
SELECT :answer FROM lease_release('set back', 'C', 2);
SELECT :answer FROM lease_claim('set back', 'A', ttl => '60 s');
SELECT :record FROM lease_catalog.lease WHERE name = 'set back';

-- Set forward, it ends leases early; their fences are passed on from.
SET lease.clock = '253402300799';
SELECT :answer FROM lease_get('set back');
SELECT :answer FROM lease_claim('set back', 'B', ttl => '60 s');

-- A place is taken for no longer than a lease lasts: who finds a namespace full
-- writes down when the leases end that were counted, and nothing else of it; no
-- row is touched twice, nor one that is not ahead.
SET lease.clock = '100000';
SELECT lease_namespace_create('full', max_leases => 2);
CREATE TABLE kept (name text PRIMARY KEY, version_of_row text);
CREATE FUNCTION touched() RETURNS TABLE (name text, fence bigint, version bigint, granted numeric, expires numeric, again boolean)
		LANGUAGE sql BEGIN ATOMIC
	WITH rows AS (SELECT l.*, concat(l.ctid, ' ', l.xmin) AS is FROM lease_catalog.lease l WHERE namespace = 'full'),
	before AS (SELECT k.* FROM kept k),
	now AS (INSERT INTO kept SELECT r.name, r.is FROM rows r ON CONFLICT ON CONSTRAINT kept_pkey DO UPDATE SET version_of_row = EXCLUDED.version_of_row)
	SELECT r.name, r.fence, r.version, extract(epoch FROM granted_at), extract(epoch FROM expires_at), r.is IS DISTINCT FROM b.version_of_row
		FROM rows r LEFT JOIN before b USING (name) ORDER BY 1;
END;
SELECT outcome FROM lease_claim('a', 'A', ttl => '10 s', namespace => 'full');
SELECT outcome FROM lease_claim('b', 'B', ttl => '60 s', namespace => 'full');
SELECT outcome FROM lease_release('a', 'A', 1, namespace => 'full');
SELECT outcome FROM lease_claim('c', 'C', ttl => '30 s', namespace => 'full');
SELECT * FROM touched();
SELECT outcome FROM lease_claim('d', 'D', namespace => 'full');
SELECT * FROM touched();
SET lease.clock = '5000';
SELECT outcome FROM lease_claim('d', 'D', namespace => 'full');
SELECT * FROM touched();
SET lease.clock = '5029.999999';
SELECT outcome FROM lease_claim('d', 'D', namespace => 'full');
SELECT outcome FROM lease_takeover('c', 'D', 1, namespace => 'full');
SELECT * FROM touched();
SET lease.clock = '5030';
SELECT outcome FROM lease_claim('d', 'D', namespace => 'full');
SELECT outcome FROM lease_renew('b', 'B', 1, namespace => 'full');
-- so does a takeover, and a hand-over; and where the limit was lowered, all are
-- written down at once
SET lease.clock = '100000';
SELECT lease_namespace_alter('full', max_leases => 4);
SELECT count(*) FROM (VALUES ('e'), ('f'), ('g'), ('h')) v(n), LATERAL lease_claim(n, 'E', ttl => '10 s', namespace => 'full');
SELECT lease_namespace_alter('full', max_leases => 1);
SET lease.clock = '6000';
BEGIN;
SELECT outcome FROM lease_break('b', 1, 'why', new_owner => 'X', namespace => 'full');
SELECT * FROM touched() WHERE again;
ROLLBACK;
SELECT outcome FROM lease_takeover('c', 'D', 1, namespace => 'full');
SELECT * FROM touched() WHERE again;
SET lease.clock = '6010';
SELECT outcome FROM lease_takeover('c', 'D', 1, namespace => 'full');
-- who has something else to wait for does not begin to wait for a place after that
SET lease.clock = '100000';
SELECT lease_namespace_alter('full', max_leases => 2);
SELECT outcome FROM lease_hold('i', 'why', until => '10 s', namespace => 'full');
SELECT outcome FROM lease_claim('g', 'G', ttl => '10 s', namespace => 'full');
SELECT outcome FROM lease_claim('h', 'H', ttl => '10 s', namespace => 'full');
SELECT count(*) FROM touched();
SET lease.clock = '7000';
BEGIN;
SELECT outcome FROM lease_claim('i', 'I', namespace => 'full');
SELECT name, expires FROM touched() WHERE again;
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_namespace_hold('full', 'why', until => '10 s');
SET LOCAL lease.clock = '6500';
SELECT outcome FROM lease_poll('I', namespace => 'full');
SELECT name, expires FROM touched() WHERE again;
ROLLBACK;
-- but where there is room, nothing is written of others
SELECT lease_namespace_alter('full', max_leases => 3);
SELECT outcome FROM lease_claim('i', 'I', namespace => 'full');
SELECT name, expires FROM touched() WHERE again;
DROP FUNCTION touched;
DROP TABLE kept;

-- A hold of a namespace lasts for no longer than it was made: whoever is refused for
-- it writes down when it ends, once, in the name of any role that may claim.
\set hold 'SELECT extract(epoch FROM hold_at) AS set, hold_length, hold_stop FROM lease_catalog.namespace WHERE namespace = \'stopped\';'
CREATE ROLE regress_lease_worker;
SET lease.clock = '100000';
SELECT lease_namespace_create('stopped');
SELECT lease_grant('stopped', 'regress_lease_worker', 'use');
SELECT outcome FROM lease_claim('job', 'A', ttl => '1 h', namespace => 'stopped');
SELECT outcome FROM lease_offer('task', namespace => 'stopped');
SELECT outcome FROM lease_claim('task', 'A', ttl => '1 h', namespace => 'stopped');
SELECT outcome FROM lease_namespace_hold('stopped', 'incident', until => '100 s', stop => true);
SET lease.clock = '5000';
SELECT outcome FROM lease_get('new', namespace => 'stopped');
:hold
SET ROLE regress_lease_worker;
SELECT outcome FROM lease_claim('new', 'B', namespace => 'stopped');
RESET ROLE;
:hold
SET lease.clock = '5099.999999';
SELECT outcome FROM lease_claim('new', 'B', namespace => 'stopped');
:hold
SET lease.clock = '5100';
SELECT outcome FROM lease_claim('new', 'B', namespace => 'stopped');
:hold
-- by every verb that is refused for it, each undone here, and by none that is not
CREATE FUNCTION then_set(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE call INTO answer;
	RAISE EXCEPTION '%, %', answer, (SELECT extract(epoch FROM hold_at) FROM lease_catalog.namespace WHERE namespace = 'stopped');
EXCEPTION WHEN raise_exception THEN
	RETURN SQLERRM;
END $$;
SET lease.clock = '4000';
SELECT verb, then_set('SELECT outcome FROM ' || call) FROM (VALUES
	('claim', $$lease_claim('job', 'B', namespace => 'stopped')$$),
	('takeover', $$lease_takeover('job', 'B', 1, namespace => 'stopped')$$),
	('takeover, stale', $$lease_takeover('job', 'B', 0, namespace => 'stopped')$$),
	('poll', $$lease_poll('B', namespace => 'stopped')$$),
	('renew', $$lease_renew('job', 'A', 1, namespace => 'stopped')$$),
	('renew, stale', $$lease_renew('job', 'A', 0, namespace => 'stopped')$$),
	('renew many', $$lease_renew_many(ARRAY['none', 'job'], 'A', ARRAY[1, 1], namespace => 'stopped')$$),
	('complete', $$lease_complete('task', 'A', 1, namespace => 'stopped')$$),
	('fail', $$lease_fail('task', 'A', 1, 'why', namespace => 'stopped')$$),
	('get', $$lease_get('new', namespace => 'stopped')$$),
	('release', $$lease_release('job', 'A', 1, namespace => 'stopped')$$)) v(verb, call);
-- nor where it has no end
SELECT outcome FROM lease_namespace_hold('stopped', 'incident');
SET lease.clock = '3000';
SELECT then_set($$SELECT outcome FROM lease_claim('new', 'B', namespace => 'stopped')$$);
SELECT outcome FROM lease_namespace_resume('stopped');
DROP FUNCTION then_set;
DROP ROLE regress_lease_worker;

-- The hold of a lease that stops its holder is written down also where he is the only
-- one who comes; what his call brings is not, and of the rest nothing.
SET lease.clock = '5000';
\set held 'SELECT version, extract(epoch FROM renewed_at) AS renewed, extract(epoch FROM expires_at) AS expires, extract(epoch FROM hold_at) AS held, checkpoint, result, last_error FROM lease_catalog.lease JOIN lease_catalog.task USING (namespace, name) WHERE namespace = \'work\';'
SELECT lease_namespace_create('work');
SELECT outcome FROM lease_offer('job', namespace => 'work');
SELECT outcome FROM lease_poll('A', ttl => '30 s', namespace => 'work');
SET lease.clock = '5020';
SELECT outcome FROM lease_hold('job', 'why', until => '10 s', stop => true, namespace => 'work');
SET lease.clock = '5005';
SELECT outcome FROM lease_renew('job', 'A', 0, namespace => 'work');
:held
BEGIN;
SELECT outcome FROM lease_complete('job', 'A', 1, '1', namespace => 'work');
:held
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_fail('job', 'A', 1, 'why', namespace => 'work');
:held
ROLLBACK;
BEGIN;
SELECT outcome FROM lease_renew_many(ARRAY['job'], 'A', ARRAY[1], namespace => 'work');
:held
ROLLBACK;
SELECT outcome FROM lease_renew('job', 'A', 1, checkpoint => '1', namespace => 'work');
:held
SET lease.clock = '5014.999999';
SELECT outcome FROM lease_renew('job', 'A', 1, namespace => 'work');
:held
SET lease.clock = '5015';
SELECT outcome FROM lease_renew('job', 'A', 1, checkpoint => '1', namespace => 'work');
:held

-- What tells two histories apart does not stand still with it: the number of a new
-- one goes by the wall clock.
SET lease.clock = '1000';
INSERT INTO lease_catalog.generation VALUES (2, 0, 0, 0, 0, now());
SELECT outcome FROM lease_claim('another history', 'A');
SELECT max(generation) > extract(epoch FROM now() - '2026-01-01 00:00+00') * 100 AS by_the_wall
	FROM lease_catalog.generation;

RESET lease.clock;
SELECT server_time BETWEEN statement_timestamp() AND clock_timestamp() AS real FROM lease_get('job');

DROP FUNCTION read_clock, judged;
DROP EXTENSION lease;
