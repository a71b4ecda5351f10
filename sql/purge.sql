-- What nobody holds is removed, and its fences stay.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'outcome, ok, fence, version'

SELECT :answer FROM lease_claim('held', 'A', ttl => '1 h');
SELECT :answer FROM lease_claim('lapsed', 'A', ttl => '10 s');
SELECT :answer FROM lease_claim('cooling', 'A', ttl => '10 s', hold_at_least => '1 h');
SELECT :answer FROM lease_release('cooling', 'A', 1);
SELECT count(*) FROM generate_series(1, 5) AS i,
	LATERAL lease_claim('free ' || i, 'A') AS c, LATERAL lease_release(c.name, 'A', c.fence);

-- Not before they have been idle for so long, as of the end or the expiry.
SET lease.clock = '1059.999999';
SELECT lease_purge('60 s');
SET lease.clock = '1060';
SELECT lease_purge('60 s', max => 2);
SELECT lease_purge('60 s');
SELECT name, state FROM lease_status ORDER BY name;
SET lease.clock = '1070';
SELECT lease_purge('60 s');
SELECT name, state FROM lease_status ORDER BY name;
SELECT name, fence, ended_by, extract(epoch FROM ended_at) AS ended FROM lease_history WHERE name = 'lapsed';

-- Whoever comes next is granted more than anybody before, however rows went away.
SELECT :answer FROM lease_claim('free 1', 'B');
SELECT :answer FROM lease_claim('never seen', 'B');
SELECT :answer FROM lease_release('never seen', 'B', 2);
SELECT :answer FROM lease_claim('never seen', 'B');
DELETE FROM lease_catalog.lease WHERE name = 'never seen';
SELECT :answer FROM lease_claim('never seen', 'B');
TRUNCATE lease_catalog.lease;
SELECT :answer FROM lease_claim('never seen', 'B');
UPDATE lease_catalog.lease SET name = 'renamed' WHERE name = 'never seen';
SELECT :answer FROM lease_claim('never seen', 'B');
SET session_replication_role = replica;
DELETE FROM lease_catalog.lease;
RESET session_replication_role;
SELECT :answer FROM lease_claim('never seen', 'B');

-- The owner can raise them all, and never lower one.
SELECT lease_fences_advance(1000);
SELECT lease_fences_advance(10);
SELECT :answer FROM lease_release('never seen', 'B', 7);
SELECT :answer FROM lease_claim('never seen', 'B');
SELECT lease_fences_advance(-1);

-- Sweeping removes what has been kept long enough, at most so much of each.
SET lease.history_retention = '1 h';
SET lease.clock = '100000';
SELECT * FROM lease_sweep(3);
SELECT * FROM lease_sweep();
SELECT * FROM lease_sweep();
SELECT count(*) FROM lease_history;
SELECT :answer FROM lease_claim('after the sweep', 'B');
SELECT lease_purge('0');
SELECT lease_purge('1 s', max => 0);
SELECT * FROM lease_sweep(0);

DROP EXTENSION lease;
