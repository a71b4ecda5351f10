-- A renewal prolongs exactly one epoch, the one that its token names and that
-- is current, or it changes nothing and says why.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires, remaining, ttl'
\set whole 'md5(l::text) || l.xmin || l.ctid'

-- The expiry is counted from the renewal, the fence stays, the version rises.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SET lease.clock = '1030';
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_renew('job', 'A', 1, version => 2);

-- Another length goes on record and is what the next renewal goes by; it may
-- be shorter, and the floor and the ceiling hold here too.
SELECT :answer FROM lease_renew('job', 'A', 1, ttl => '10 s');
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_renew('job', 'A', 1, ttl => '1 microsecond');
SELECT :answer FROM lease_renew('job', 'A', 1, ttl => '1000 hours');
SELECT :answer FROM lease_renew('job', 'A', 1, ttl => '60 s', version => 7);

-- The lost answer: the renewal was written but its caller never heard.  With
-- the version that he knows he is told apart from one who lost the lease, and
-- goes on with the version shown.
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_renew('job', 'A', 1, version => 7);
SELECT :answer FROM lease_renew('job', 'A', 1, version => 9);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
SELECT :answer FROM lease_renew('job', 'A', 1, version => 8);

-- The order of refusals: each call is wrong in its own way and in every later
-- one, and the first that is true is the answer.  None changes anything.
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_renew('nobody''s', 'A', 1);
SELECT :answer FROM lease_renew('job', 'B', 2, version => 1);
SELECT :answer FROM lease_renew('job', 'B', 9223372036854775807, version => 1);
SELECT :answer FROM lease_renew('job', 'B', 0, version => 1);
SELECT :answer FROM lease_renew('job', 'A', -1, version => 9);
SELECT :answer FROM lease_renew('job', 'A', -9223372036854775808, version => 9);
SELECT :answer FROM lease_renew('job', 'B', 1, version => 1);
SELECT :answer FROM lease_renew('job', 'A', 1, version => 1);
SELECT :whole = :'before' AS unchanged, count(*) OVER () AS names FROM lease_catalog.lease l;

-- A late heartbeat after expiry, though nobody has taken the lease: expiry is
-- a one-way door, and the right owner, fence and version do not open it.
SET lease.clock = '1090';
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_renew('job', 'A', 1, version => 9);
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_renew('job', 'A', 1, version => 3);
SELECT :answer FROM lease_renew('job', 'B', 1);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');

-- A stale heartbeat against the present owner: the token of the epoch before,
-- with its own version and with the present one guessed.
SET lease.clock = '1150';
SELECT :answer FROM lease_takeover('job', 'B', 2, ttl => '60 s');
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_renew('job', 'A', 2, version => 10);
SELECT :answer FROM lease_renew('job', 'A', 2, version => 11);
SELECT :answer FROM lease_renew('job', 'B', 2, version => 11);
SELECT :answer FROM lease_renew('job', 'A', 3, version => 11);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
SELECT :answer FROM lease_renew('job', 'B', 3, version => 11);

-- A heartbeat that was delayed on its way and comes after the release: the
-- lease stays free, and the next claimant gets it at once.
SELECT :answer FROM lease_release('job', 'B', 3);
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_renew('job', 'B', 3, version => 12);
SELECT :answer FROM lease_renew('job', 'B', 3, version => 13);
SELECT :answer FROM lease_renew('job', 'A', 3);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
SELECT :answer FROM lease_claim('job', 'C', ttl => '60 s');

-- A lapsed epoch that its holder gave back has expired, not been released.
SET lease.clock = '1210';
SELECT :answer FROM lease_release('job', 'C', 4);
SELECT :answer FROM lease_renew('job', 'C', 4);

-- A renewal makes no row: a name that is unknown stays so.
SELECT :answer FROM lease_renew('never claimed', 'A', 1);
SELECT :answer FROM lease_renew('never claimed', 'A', 0);
SELECT name FROM lease_catalog.lease;

-- A heartbeat over many leases, one of which was lost meanwhile: that one has
-- its own answer, nothing is raised and the rest are renewed.
SET lease.clock = '2000';
SELECT n, outcome FROM unnest(ARRAY['one', 'two', 'three']) n, LATERAL lease_claim(n, 'A');
SELECT :answer FROM lease_release('two', 'A', 1);
SELECT n, outcome, version FROM unnest(ARRAY['one', 'two', 'three']) n, LATERAL lease_renew(n, 'A', 1);

-- The same owner's fence of another lease, or of an earlier grant, is no token
-- of this one.
SET lease.clock = '3000';
SELECT :answer FROM lease_claim('one', 'A');
SELECT :answer FROM lease_claim('three', 'A');
SELECT :answer FROM lease_release('three', 'A', 2);
SELECT :answer FROM lease_claim('three', 'A');
SELECT :answer FROM lease_renew('one', 'A', 3);
SELECT :answer FROM lease_renew('three', 'A', 2);

-- More versions than a page holds, in a transaction that keeps them all: the row
-- moves on, and the index finds it.
SELECT outcome FROM lease_claim('crowded', 'A', ttl => '60 s');
DO $$
BEGIN
	FOR i IN 1..500 LOOP
		PERFORM lease_renew('crowded', 'A', 1);
	END LOOP;
END $$;
SELECT outcome, fence, version FROM lease_get('crowded');
SELECT (ctid::text::point)[0] > 0 AS moved FROM lease_catalog.lease WHERE name = 'crowded';
SELECT outcome, fence, version FROM lease_renew('crowded', 'A', 1, 501);

DROP EXTENSION lease;
