-- A release ends the epoch that its token names: at once free while it is
-- current, freed but no success once it has lapsed, and nothing otherwise.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires, remaining, ttl'
\set whole 'md5(l::text) || l.xmin || l.ctid'

-- Given back, and again: a repeated release is safe, and says so.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- Repeated after somebody else has claimed: told apart, and he is left alone.
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_release('job', 'A', 1);

-- Wrong owner, wrong fence, unknown name: an answer that is no success, never a
-- mere warning, and no change.  The first that is true is the answer.
SELECT :answer FROM lease_release('job', 'A', 2);
SELECT :answer FROM lease_release('job', 'B', 1);
SELECT :answer FROM lease_release('job', 'A', 3);
SELECT :answer FROM lease_release('job', 'B', 9223372036854775807);
SELECT :answer FROM lease_release('job', 'B', -9223372036854775808);
SELECT :answer FROM lease_release('never claimed', 'B', 2);
SELECT :whole = :'before' AS unchanged, count(*) OVER () AS names FROM lease_catalog.lease l;

-- An owner who overran his time releases the lease of his successor: refused,
-- so that no third one gets in.
SET lease.clock = '1060';
SELECT :answer FROM lease_takeover('job', 'C', 2, ttl => '60 s');
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_release('job', 'B', 2);
SELECT :answer FROM lease_claim('job', 'D');
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;

-- Past its expiry and taken by nobody: the lease is freed, but its holder
-- learns that his protection had lapsed, however often he asks; the fence is
-- not used again.
SET lease.clock = '1120';
SELECT :answer FROM lease_release('job', 'B', 3);
SELECT :answer FROM lease_release('job', 'C', 3);
SELECT :whole AS before FROM lease_catalog.lease l \gset
SELECT :answer FROM lease_release('job', 'C', 3);
SELECT :answer FROM lease_release('job', 'A', 3);
SELECT :whole = :'before' AS unchanged FROM lease_catalog.lease l;
-- It ended when it lapsed, not when that was found out.
SELECT ended_by, extract(epoch FROM ended_at) AS ended FROM lease_catalog.lease;
SET lease.clock = '9999';
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');

-- One owner with two leases: the fence of the one does not release the other,
-- nor does that of an earlier grant.
SELECT :answer FROM lease_claim('other', 'A', ttl => '60 s');
SELECT :answer FROM lease_release('other', 'A', 4);
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :answer FROM lease_release('job', 'A', 4);
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SELECT :answer FROM lease_release('job', 'A', 4);

-- A release says how the epoch ended, and leaves everything else on record.
SELECT md5((to_jsonb(l) - 'version' - 'ended_by' - 'ended_at')::text) AS before
	FROM lease_catalog.lease l WHERE name = 'job' \gset
SELECT :answer FROM lease_release('job', 'A', 5);
SELECT md5((to_jsonb(l) - 'version' - 'ended_by' - 'ended_at')::text) = :'before' AS rest_unchanged,
		ended_by, extract(epoch FROM ended_at) AS ended
	FROM lease_catalog.lease l WHERE name = 'job';

DROP EXTENSION lease;
