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

-- What tells two histories apart does not stand still with it: the number of a new
-- one goes by the wall clock.
SET lease.clock = '1000';
INSERT INTO lease_catalog.generation VALUES (2, 0, 0, 0, 0, now());
SELECT outcome FROM lease_claim('another history', 'A');
SELECT max(generation) > extract(epoch FROM now() - '2026-01-01 00:00+00') / 600 - 1 AS by_the_wall
	FROM lease_catalog.generation;

RESET lease.clock;
SELECT server_time BETWEEN statement_timestamp() AND clock_timestamp() AS real FROM lease_get('job');

DROP FUNCTION read_clock, judged;
DROP EXTENSION lease;
