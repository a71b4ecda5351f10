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

DROP EXTENSION lease;
