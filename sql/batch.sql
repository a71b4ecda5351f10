-- Many leases in one call: an answer for each place, and nobody pays for another.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'name, outcome, ok, owner, fence, version, extract(epoch FROM expires_at) AS expires'

SELECT count(*) FROM generate_series(1, 3) AS i, LATERAL lease_claim('job ' || i, 'A', ttl => '60 s');
SELECT outcome FROM lease_claim('theirs', 'B', ttl => '60 s');
SELECT outcome FROM lease_claim('over', 'A', ttl => '10 s');
SELECT outcome FROM lease_claim('back', 'A', ttl => '60 s');
SELECT outcome FROM lease_release('back', 'A', 1);
SET lease.clock = '1030';

-- In the order of the arrays; a repeated pair is judged once.
SELECT :answer FROM lease_renew_many(
	ARRAY['job 3', 'theirs', 'job 1', 'over', NULL, 'none', 'job 3', 'back', 'job 3', '', 'job 1'], 'A',
	ARRAY[1, 1, 1, 1, 1, 1, 1, 1, 2, 1, NULL]);

-- With versions, each its own; NULL asks for none.
SELECT :answer FROM lease_renew_many(
	ARRAY['job 1', 'job 2', 'job 3'], 'A', ARRAY[1, 1, 1], versions => ARRAY[2, 7, NULL], ttl => '120 s');

SELECT :answer FROM lease_release_many(
	ARRAY['job 2', 'over', 'theirs', 'job 2', 'back'], 'A', ARRAY[1, 1, 1, 1, 1]);
SELECT name, state, owner, fence, version FROM lease_status ORDER BY name;

-- The places of one name agree on what the batch has left behind, although the
-- clock went on between them.
RESET lease.clock;
SELECT outcome FROM lease_claim('twice', 'A', ttl => '60 s');
SELECT outcome FROM lease_release('twice', 'A', 1);
SELECT outcome FROM lease_claim('twice', 'A', ttl => '60 s');
SELECT outcome, expires_at = max(expires_at) OVER () AS as_on_record,
	remaining <= ttl AS no_more_than_it_has
FROM lease_renew_many('{twice,twice}', 'A', '{1,2}');
SET lease.clock = '1030';

-- Nothing asked, nothing answered.
SELECT :answer FROM lease_renew_many('{}', 'A', '{}');

-- Arrays that do not go together are the call's fault.
SELECT :answer FROM lease_renew_many('{a,b}', 'A', '{1}');
SELECT :answer FROM lease_renew_many('{a}', 'A', '{1}', versions => '{1,2}');
SELECT :answer FROM lease_renew_many('{{a},{b}}', 'A', '{1,2}');
SELECT :answer FROM lease_release_many('{a,b}', 'A', '{{1,2}}');

DROP EXTENSION lease;
