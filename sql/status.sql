-- lease_status has a row for every lease, in its state as of now.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set status 'namespace, name, state, owner, fence, version, extract(epoch FROM granted_at) AS granted, extract(epoch FROM renewed_at) AS renewed, extract(epoch FROM expires_at) AS expires, remaining, ttl, cancel_deadline'
SELECT :status FROM lease_status;

SELECT outcome FROM lease_claim('held', 'A', ttl => '2000 s');
SELECT outcome FROM lease_claim('lapsed', 'A', ttl => '10 s');
SELECT outcome FROM lease_claim('released', 'A', ttl => '2000 s');
SELECT outcome FROM lease_claim('renewed', 'A', ttl => '10 s');
SELECT outcome FROM lease_claim('too late', 'A', ttl => '1 s');
SET lease.clock = '1005';
SELECT outcome FROM lease_release('released', 'A', 1);
SELECT outcome FROM lease_release('too late', 'A', 1);
SELECT outcome FROM lease_renew('renewed', 'A', 1, ttl => '20 s');
SET lease.clock = '1010';
SELECT :status FROM lease_status ORDER BY name COLLATE "C";

-- What the view and the function say of one lease is the same, at every moment.
SET lease.clock = '1025';
SELECT s.name, s.state, (s.state, s.owner, s.fence, s.version, s.expires_at, s.remaining, s.ttl, s.cancel_deadline)
		IS NOT DISTINCT FROM (g.outcome, g.owner, g.fence, g.version, g.expires_at, g.remaining, g.ttl, g.cancel_deadline) AS agree
	FROM lease_status s, LATERAL lease_get(s.name, namespace => s.namespace) g
	ORDER BY s.name COLLATE "C";

-- What it lists can be acted on, each under the name and fence shown.
SELECT s.name, s.state, r.outcome
	FROM (SELECT * FROM lease_status ORDER BY name COLLATE "C" OFFSET 0) s,
		LATERAL lease_release(s.name, 'A', s.fence) r;
SELECT state, count(*) FROM lease_status GROUP BY state;

-- It can be read where nothing may be written.
BEGIN READ ONLY;
SELECT state, owner FROM lease_status WHERE name = 'held';
COMMIT;

-- It is a view of what is on record, and no way to change it.
\set VERBOSITY sqlstate
UPDATE lease_status SET owner = 'B';
DELETE FROM lease_status;
INSERT INTO lease_status (name) VALUES ('job');

DROP EXTENSION lease;
