-- A claim takes a free or lapsed lease as the next epoch of its name; where
-- somebody holds the lease it changes nothing and tells who and until when.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires, remaining, ttl'
\set whole 'md5(l::text) || l.xmin || l.ctid'

-- The first claim of a name makes its row.
\x on
SELECT * FROM lease_claim('job', 'A', ttl => '60 s');
\x off

-- Held: whoever asks, also the same owner again (two threads of one process
-- are two claimants), hears of the epoch on record and changes nothing.
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_claim('job', 'B', ttl => '10 s');
SELECT :answer FROM lease_claim('job', 'A', ttl => '10 s');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- A claim waits for nobody unless it is told to, and then no longer than that,
-- also where the clock that judges the lease stands still.
SELECT :answer FROM lease_claim('job', 'B', wait => '0');
SELECT :answer FROM lease_claim('job', 'B', wait => '20 ms');
SET lease.max_wait = '20 ms';
SET statement_timeout = '10 s';
SELECT :answer FROM lease_claim('job', 'B', wait => '1 day');
RESET statement_timeout;
RESET lease.max_wait;
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- A lapsed lease is granted at once to somebody who never saw it before: the
-- server's clock is the only judge, and there is nothing to be observed first.
SET lease.clock = '4660';
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');

-- Refusals burn no number, and the same owner may be its own successor.
SELECT :answer FROM lease_claim('job', 'A');
SELECT :answer FROM lease_claim('job', 'A');
SET lease.clock = '4720';
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');

-- A lease that was given back is free at once, and is no takeover.
SELECT :answer FROM lease_release('job', 'B', 3);
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');

-- How long: the default, what was asked, the floor, the ceiling.
SET lease.clock = '2000';
SELECT :answer FROM lease_claim('default ttl', 'A');
SELECT :answer FROM lease_claim('null ttl', 'A', ttl => NULL);
SELECT :answer FROM lease_claim('asked', 'A', ttl => '1 min 0.000001 s');
SELECT :answer FROM lease_claim('floor', 'A', ttl => '1 microsecond');
SELECT :answer FROM lease_claim('ceiling', 'A', ttl => '1 day');
SELECT :answer FROM lease_claim('far above', 'A', ttl => '2147483647 days');

-- A lease that was just made is never offered before its expiry, whatever its
-- length, and is then.
CREATE FUNCTION offered(at timestamptz, asked text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('lease.clock', at::text, true);
	RETURN outcome FROM lease_claim(asked, 'B');
END $$;
SELECT name, offered(expires_at - interval '1 microsecond', name) AS last_moment,
		offered(expires_at, name) AS expiry
	FROM (SELECT name, expires_at FROM lease_status
		WHERE name IN ('default ttl', 'asked', 'floor', 'ceiling') ORDER BY name COLLATE "C" OFFSET 0) s;

-- One statement may claim many names; a name that comes twice is claimed once.
SELECT n, outcome, fence
	FROM unnest(ARRAY['x', 'y', 'x', 'z']) WITH ORDINALITY u(n, place),
		LATERAL lease_claim(n, 'A')
	ORDER BY place;

DROP FUNCTION offered;
DROP EXTENSION lease;
