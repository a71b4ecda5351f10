-- A request id: asked again, a lost answer is told; nothing is granted twice,
-- and nothing that has ended comes back.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'outcome, ok, owner, fence, version'
\set one '''00000000-0000-0000-0000-000000000001'''
\set two '''00000000-0000-0000-0000-000000000002'''

-- The same id while its epoch is current: the same epoch, also once renewed.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s', request_id => :one);
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s', request_id => :one);
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_claim('job', 'A', ttl => '600 s', request_id => :one);

-- Without an id, or with another, the same owner is one more claimant.
SELECT :answer FROM lease_claim('job', 'A');
SELECT :answer FROM lease_claim('job', 'A', request_id => :two);

-- The id is one owner's and one verb's, and of one name.
SELECT :answer FROM lease_claim('job', 'B', request_id => :one);
SELECT :answer FROM lease_claim('other', 'B', request_id => :one);
SELECT :answer FROM lease_takeover('job', 'A', 1, request_id => :one);
SELECT :answer FROM lease_claim('another', 'A', request_id => :one);

-- At the expiry, after a release, after somebody else and after a purge it has
-- ended, and stays so.
SET lease.clock = '1060';
SELECT :answer FROM lease_claim('job', 'A', request_id => :one);
SELECT :answer FROM lease_takeover('job', 'C', 1, ttl => '60 s', request_id => :two);
SELECT :answer FROM lease_claim('job', 'A', request_id => :one);
SELECT :answer FROM lease_takeover('job', 'C', 1, request_id => :two);
SELECT :answer FROM lease_release('job', 'C', 2);
SELECT :answer FROM lease_takeover('job', 'C', 1, request_id => :two);
SET lease.clock = '2000';
SELECT lease_purge('1 s');
SELECT :answer FROM lease_claim('job', 'A', request_id => :one);
SELECT :answer FROM lease_claim('job', 'A');

-- A refused call leaves its id free; so does one that is rolled back.
SELECT :answer FROM lease_claim('job', 'B', request_id => :two);
SELECT :answer FROM lease_release('job', 'A', 3);
SELECT :answer FROM lease_claim('job', 'B', request_id => :two);
BEGIN;
SELECT :answer FROM lease_claim('undone', 'D', request_id => :one);
ROLLBACK;
SELECT :answer FROM lease_claim('undone', 'D', request_id => :one);

-- It is forgotten after lease.request_retention, and may then be another's.
SET lease.request_retention = '10 s';
SET lease.clock = '2010';
SELECT :answer FROM lease_claim('undone', 'D', request_id => :one);
SET lease.clock = '2010.000001';
SELECT :answer FROM lease_claim('fresh', 'D', request_id => :one);
SELECT name, fence FROM lease_catalog.request WHERE owner = 'D';
SET lease.clock = '3000';
SELECT what, count FROM lease_sweep() WHERE what = 'requests';
SELECT count(*) FROM lease_catalog.request;

DROP EXTENSION lease;
