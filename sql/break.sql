-- An operator ends one epoch, whoever has it.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'outcome, ok, owner, fence, version'

SELECT :answer FROM lease_break('none', 1, 'no such lease');
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');

-- It is compared with what the operator saw.
SELECT :answer FROM lease_break('job', 2, 'ahead');
SELECT :answer FROM lease_break('job', 0, 'behind');
SELECT :answer FROM lease_break('job', 1, 'hung');
SELECT :answer FROM lease_break('job', 1, 'again');

-- The holder is told so by every verb, and grace is not waited for.
SELECT lease_namespace_alter('default', grace => '1 h');
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :answer FROM lease_takeover('job', 'B', 1);
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_break('job', 1, 'late');

-- An epoch that has lapsed can be broken; one that was given back cannot.
SET lease.clock = '1100';
SELECT :answer FROM lease_break('job', 2, 'lapsed');
SELECT :answer FROM lease_claim('job', 'C', ttl => '60 s');
SELECT :answer FROM lease_release('job', 'C', 3);
SELECT :answer FROM lease_break('job', 3, 'nothing to break');

-- It is on record who ended what, why and when; a break of a lapsed epoch ended
-- it when it lapsed.
SELECT name, owner, fence, extract(epoch FROM granted_at) AS granted, extract(epoch FROM ended_at) AS ended, ended_by, reason, role_name = current_user AS by_me
	FROM lease_history ORDER BY fence;
SELECT id, extract(epoch FROM at) AS at, role_name = current_user AS by_me, namespace, name, fence, intent, reason FROM lease_intents ORDER BY id;

-- The end and a hold in one act: nobody slips in.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SELECT :answer FROM lease_break('job', 4, 'stuck', hold => true);
SELECT :answer FROM lease_renew('job', 'A', 4);
SELECT :answer FROM lease_claim('job', 'B');
SELECT :answer FROM lease_get('job');

-- A hand-over passes over the hold, the grace and the old hold_at_least.
SELECT :answer, ttl FROM lease_break('job', 4, 'to B', new_owner => 'B', ttl => '30 s');
SELECT :answer FROM lease_renew('job', 'A', 4);
SELECT :answer FROM lease_renew('job', 'B', 5);
SELECT :answer FROM lease_break('job', 4, 'again', new_owner => 'B', ttl => '30 s');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_release('job', 'B', 5);
SELECT :answer FROM lease_break('job', 5, 'given back', new_owner => 'C');
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s', hold_at_least => '1 h');
SELECT :answer FROM lease_break('job', 6, 'to C, and no further', hold => true, new_owner => 'C', ttl => '10 s');
SET lease.clock = '10000';
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_takeover('job', 'D', 7);

-- Not over a cancel, nor over the namespace's limit: then nothing is done.
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_takeover('job', 'D', 7, ttl => '60 s');
SELECT :answer FROM lease_cancel('job', 'stop');
SELECT :answer FROM lease_break('job', 8, 'to E', new_owner => 'E');
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_resume('job');
SELECT lease_namespace_alter('default', max_leases => 1);
SELECT :answer FROM lease_break('job', 8, 'to E', new_owner => 'E', ttl => '60 s');
SELECT lease_namespace_alter('default', max_leases => 2);
SELECT :answer FROM lease_claim('another', 'A');
SELECT lease_namespace_alter('default', max_leases => 1);
SELECT :answer FROM lease_break('job', 9, 'to F', new_owner => 'F');
SELECT :answer FROM lease_break('job', 9, 'nobody', new_owner => '');
SELECT :answer FROM lease_break('job', 9, 'at the end');

SELECT fence, owner, ended_by, reason FROM lease_history ORDER BY fence;
SELECT id, fence, intent, reason, detail FROM lease_intents ORDER BY id;

-- One word for whatever ended the epoch but a break; history has the exact one.
SELECT lease_namespace_alter('default', max_leases => 0);
SELECT outcome FROM lease_offer('task');
SELECT :answer FROM lease_break('task', 0, 'nobody has had it');
SELECT outcome, fence FROM lease_poll('A');
SELECT :answer FROM lease_fail('task', 'A', 1, 'no route');
SELECT :answer FROM lease_break('task', 1, 'too late');
SELECT :answer FROM lease_takeover('task', 'B', 1);
SELECT ended_by FROM lease_history WHERE name = 'task';

DROP EXTENSION lease;
