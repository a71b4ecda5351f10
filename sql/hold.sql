-- An operator holds a lease, or a whole namespace: nothing new is granted, and with
-- "stop" the holder does no more either, until it is resumed or the hold is over.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'outcome, ok, owner, fence, version, extract(epoch FROM expires_at) AS expires'

-- Held and on hold: the holder goes on and gives back, and then nobody gets it.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SELECT :answer FROM lease_hold('job', 'incident');
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_claim('job', 'B');
SELECT :answer FROM lease_claim('job', 'B', wait => '60 s');
SELECT :answer FROM lease_takeover('job', 'B', 1);
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_claim('job', 'B');
SELECT name, state, owner FROM lease_status;
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_resume('job', reason => 'again');
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');

-- With stop: renewals are refused, a release is not, and the epoch is not ended.
SELECT :answer FROM lease_hold('job', 'stop at once', stop => true);
SELECT :answer FROM lease_renew('job', 'B', 2);
SELECT :answer FROM lease_renew('job', 'B', 2, version => 99);
SELECT :answer FROM lease_renew('job', 'A', 2);
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_renew_many(ARRAY['job'], 'B', ARRAY[2::bigint]);
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_renew('job', 'B', 2);
SELECT :answer FROM lease_hold('job', 'stop', stop => true);
SELECT :answer FROM lease_release('job', 'B', 2);
SELECT :answer FROM lease_get('job');

-- A hold that is set again is the last one; with "until" it is over by itself, and
-- no longer than it was made where the clock is set back.
SELECT :answer FROM lease_hold('job', 'for a while', until => '10 s');
SET lease.clock = '1009.999999';
SELECT :answer FROM lease_claim('job', 'C');
SET lease.clock = '1010';
SELECT :answer FROM lease_claim('job', 'C', ttl => '1 s');
SELECT :answer FROM lease_hold('set back', 'for a while', until => '10 s');
SET lease.clock = '500';
SELECT :answer FROM lease_claim('set back', 'C');
SET lease.clock = '509.999999';
SELECT :answer FROM lease_claim('set back', 'C');
SET lease.clock = '510';
SELECT :answer FROM lease_claim('set back', 'C');

-- A name that has no row can be put on hold; an expired epoch stays the last one.
SET lease.clock = '1020';
SELECT :answer FROM lease_hold('nobody', 'not yet');
SELECT :answer FROM lease_claim('nobody', 'A');
SELECT :answer FROM lease_get('nobody');
SELECT :answer FROM lease_resume('never seen');
SELECT :answer FROM lease_get('never seen');
SELECT :answer FROM lease_hold('job', 'lapsed');
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_takeover('job', 'D', 3);
SELECT lease_purge('1 microsecond');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_takeover('job', 'D', 3);
SELECT :answer FROM lease_resume('nobody');
SELECT :answer FROM lease_claim('nobody', 'A', ttl => '60 s');

-- A whole namespace.
SELECT :answer FROM lease_namespace_hold('default', 'migration', until => '1 h');
SELECT :answer FROM lease_claim('new', 'A');
SELECT :answer FROM lease_renew('nobody', 'A', 2);
SELECT :answer FROM lease_get('nobody');
SELECT :answer FROM lease_namespace_hold('default', 'now all of it', stop => true);
SELECT :answer FROM lease_renew('nobody', 'A', 2);
SELECT :answer FROM lease_release('nobody', 'A', 2);
SELECT :answer FROM lease_get('nobody');
SELECT :answer FROM lease_namespace_resume('default', 'done');
SELECT :answer FROM lease_namespace_resume('default');
SELECT :answer FROM lease_claim('new', 'A');
SELECT lease_namespace_create('other');
SELECT namespace, name, outcome, ok FROM lease_namespace_hold('other', 'why');
SELECT outcome FROM lease_claim('new', 'A', namespace => 'other');
SELECT lease_namespace_alter('other', grace => '1 s');
SELECT outcome FROM lease_claim('new', 'A', namespace => 'other');
SELECT namespace, name, outcome, ok FROM lease_namespace_resume('other');
SELECT outcome FROM lease_claim('new', 'A', namespace => 'other');

-- In plain sentences.
SET TimeZone = 'UTC';
SELECT outcome FROM lease_hold('new', 'stop', stop => true);
SELECT replace(e, format('"%s"', current_user), '"me"') AS e FROM lease_explain('new') e WHERE e ~ 'hold|renew|grant';
SELECT outcome FROM lease_hold('nobody', 'a while', until => '10 s');
SELECT outcome FROM lease_namespace_hold('default', 'longer', until => '20 s');
SELECT replace(e, format('"%s"', current_user), '"me"') AS e FROM lease_explain('nobody') e WHERE e !~ 'role';
SELECT outcome FROM lease_namespace_resume('default');

-- Who, when, why and what, also of what changed nothing.
SELECT id, extract(epoch FROM at) AS at, role_name = current_user AS by_me, namespace, name, fence, intent, reason, detail FROM lease_intents ORDER BY id;

-- The ledger goes on where its sequence is behind, as on a logical replica that takes over.
SELECT setval('lease_catalog.intent_id_seq', 1, false);
SELECT outcome FROM lease_hold('job', 'after a cut-over');
SELECT outcome FROM lease_resume('job');
SELECT id, intent, reason FROM lease_intents WHERE id > 22 ORDER BY id;

DROP EXTENSION lease;
