-- At the end of what a bigint holds, a verb that would need the next number
-- fails with a plain error (22003), and changes nothing; none wraps.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set VERBOSITY sqlstate
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires'
\set whole 'md5(l::text) || l.xmin || l.ctid'

-- The last fence but one leads to the last.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
UPDATE lease_catalog.lease SET fence = 9223372036854775806;
SET lease.clock = '1060';
SELECT :answer FROM lease_takeover('job', 'B', 9223372036854775806, ttl => '60 s');

-- Whoever holds that one may go on holding it, and give it back.
SELECT :answer FROM lease_renew('job', 'B', 9223372036854775807);
SELECT :answer FROM lease_renew('job', 'A', 9223372036854775806);
SELECT :answer FROM lease_claim('job', 'C');
-- No next one: neither when it has lapsed nor when it is free.
SET lease.clock = '1120';
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_claim('job', 'C');
SELECT :answer FROM lease_takeover('job', 'C', 9223372036854775807);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
SET lease.clock = '1119';
SELECT :answer FROM lease_release('job', 'B', 9223372036854775807);
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_claim('job', 'C');
SELECT :answer FROM lease_get('job');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- The version ends likewise.
SELECT :answer FROM lease_claim('versions', 'A', ttl => '60 s');
UPDATE lease_catalog.lease SET version = 9223372036854775806 WHERE name = 'versions';
SELECT :answer FROM lease_renew('versions', 'A', 1, version => 9223372036854775806);
SELECT :whole AS before FROM lease_catalog.lease l WHERE name = 'versions' \gset
SELECT :answer FROM lease_renew('versions', 'A', 1);
SELECT :answer FROM lease_claim('versions', 'B');
SET lease.clock = '2000';
SELECT :answer FROM lease_claim('versions', 'B');
SELECT :answer FROM lease_takeover('versions', 'B', 1);
SELECT :answer FROM lease_renew('versions', 'A', 1);
SELECT :answer FROM lease_get('versions');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l WHERE name = 'versions';

-- Giving back needs no number, and there is none left for anybody after it.
SELECT :answer FROM lease_release('versions', 'A', 1);
SELECT :answer FROM lease_claim('versions', 'B');
SELECT :answer FROM lease_get('versions');

-- The error is one that a transaction can go on from.
BEGIN;
SAVEPOINT s;
SELECT :answer FROM lease_claim('versions', 'B');
ROLLBACK TO s;
SELECT :answer FROM lease_claim('another', 'B', ttl => '60 s');
COMMIT;
SELECT :answer FROM lease_get('another');

-- A poll passes over a task that has no number left, as long as there is another.
SELECT outcome FROM lease_offer('last', priority => 9);
SELECT outcome FROM lease_offer('other');
UPDATE lease_catalog.lease SET version = 9223372036854775807 WHERE name = 'last';
SELECT ok, outcome, name FROM lease_poll('A', max_count => 2);
SELECT ok, outcome, name FROM lease_poll('A', max_count => 2);

DROP EXTENSION lease;
