-- lease_get tells the state of one lease as of now, and changes nothing.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set whole 'md5(l::text) || l.xmin || l.ctid'
\x on
SELECT * FROM lease_get('job');

SELECT outcome FROM lease_claim('job', 'A', ttl => '60 s');
SELECT :whole AS before FROM lease_catalog.lease l \gset
SET lease.clock = '1059.999999';
SELECT * FROM lease_get('job');

-- A lease that has lapsed but was not yet taken or cleared away reads as
-- expired, never as held, and what remains is never negative.
SET lease.clock = '1060';
SELECT * FROM lease_get('job');
SET lease.clock = '100000';
SELECT * FROM lease_get('job');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- Free: nobody's, while the fence shown is the last one granted.
SELECT outcome FROM lease_takeover('job', 'B', 1, ttl => '60 s');
SELECT outcome FROM lease_release('job', 'B', 2);
SELECT * FROM lease_get('job');
-- Given back too late, it is free all the same.
SELECT outcome FROM lease_claim('job', 'B', ttl => '1 s');
SET lease.clock = '200000';
SELECT outcome FROM lease_release('job', 'B', 3);
SELECT * FROM lease_get('job');
\x off

-- It looks without making a row, and in a read-only transaction too.
BEGIN READ ONLY;
SELECT ok, outcome, fence FROM lease_get('job');
SELECT ok, outcome, fence FROM lease_get('never claimed');
COMMIT;
SELECT name FROM lease_catalog.lease;

DROP EXTENSION lease;
