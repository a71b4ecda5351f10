-- A takeover begins the next epoch only while the epoch that its caller
-- observed is still the one on record, and has lapsed.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires, remaining, ttl'
\set whole 'md5(l::text) || l.xmin || l.ctid'

SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');

-- Not lapsed, unknown, stale, not there: nothing is changed or made.
SET lease.clock = '1059.999999';
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_takeover('job', 'B', 1);
SELECT :answer FROM lease_takeover('job', 'A', 1);
SELECT :answer FROM lease_takeover('job', 'B', 1, wait => '20 ms');
SELECT :answer FROM lease_takeover('job', 'B', 2);
SELECT :answer FROM lease_takeover('job', 'B', 0);
SELECT :answer FROM lease_takeover('job', 'B', -1);
SELECT :answer FROM lease_takeover('never claimed', 'B', 1);
SELECT :answer FROM lease_takeover('never claimed', 'B', 0);
SELECT :whole = :'before' AS unchanged, count(*) OVER () AS names FROM lease_catalog.lease l;

-- Lapsed: the observed epoch and no other.
SET lease.clock = '1060';
SELECT :answer FROM lease_takeover('job', 'B', 2, ttl => '60 s');
SELECT :answer FROM lease_takeover('job', 'B', 0, ttl => '60 s');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
SELECT :answer FROM lease_takeover('job', 'B', 1, ttl => '60 s');

-- The second of two who observed the same epoch comes too late.
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_takeover('job', 'C', 1, ttl => '60 s');
SELECT :answer FROM lease_takeover('job', 'B', 1, ttl => '60 s');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- A rescuer who acts on what he read earlier.  He saw the epoch lapse; before
-- he acts, its holder gives it back: he takes nothing, and burns no fence.
SET lease.clock = '1120';
SELECT fence AS seen FROM lease_status WHERE state = 'expired' \gset
SELECT :answer FROM lease_release('job', 'B', 2);
SELECT :answer FROM lease_takeover('job', 'R', :seen);
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
-- Or somebody else takes it: the new holder keeps it.
SET lease.clock = '1180';
SELECT fence AS seen FROM lease_status WHERE state = 'expired' \gset
SELECT :answer FROM lease_takeover('job', 'B', :seen, ttl => '60 s');
SELECT :answer FROM lease_takeover('job', 'R', :seen);
SELECT :answer FROM lease_renew('job', 'B', 4);
-- Or it was given back in time.
SELECT fence AS seen FROM lease_status \gset
SELECT :answer FROM lease_release('job', 'B', 4);
SET lease.clock = '9999';
SELECT :answer FROM lease_takeover('job', 'R', :seen);
SELECT :answer FROM lease_takeover('job', 'B', :seen);

-- The former holder may take over his own lapsed epoch, under a new fence; the
-- length is the default, floor or ceiling where it must.
SELECT :answer FROM lease_claim('job', 'A', ttl => '1 s');
SET lease.clock = '10009';
SELECT :answer FROM lease_takeover('job', 'A', 5);
SET lease.clock = '20000';
SELECT :answer FROM lease_takeover('job', 'A', 6, ttl => '1 microsecond');
SET lease.clock = '30000';
SELECT :answer FROM lease_takeover('job', 'A', 7, ttl => '2 hours');

DROP EXTENSION lease;
