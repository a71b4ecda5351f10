-- A holder is asked to stop by a deadline; nothing new is granted meanwhile.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'outcome, ok, owner, fence, version, extract(epoch FROM expires_at) AS expires, extract(epoch FROM cancel_deadline) AS deadline'

-- Every answer tells the deadline; renewals go on to it and not past it.
SELECT :answer FROM lease_claim('job', 'A', ttl => '60 s');
SELECT :answer FROM lease_cancel('job', 'no longer wanted', deadline => '30 s');
SELECT :answer FROM lease_get('job');
SET lease.clock = '1010';
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_renew('job', 'A', 1, ttl => '5 s');
SELECT :answer FROM lease_renew('job', 'A', 1, ttl => '60 s');

-- The first request stands.
SELECT :answer FROM lease_cancel('job', 'sooner', deadline => '1 s');
SELECT :answer FROM lease_cancel('job', 'later', deadline => '1 h');
SELECT :answer FROM lease_claim('job', 'B');
SELECT :answer FROM lease_claim('job', 'B', wait => '60 s');
SELECT :answer FROM lease_takeover('job', 'B', 1);
SELECT name, state, extract(epoch FROM cancel_deadline) AS deadline FROM lease_status;

-- Past the deadline the holder is told that it was cancelled.
SET lease.clock = '1029.999999';
SELECT :answer FROM lease_renew('job', 'A', 1);
SET lease.clock = '1030';
SELECT :answer FROM lease_renew('job', 'A', 1);
SELECT :answer FROM lease_get('job');
SELECT :answer FROM lease_takeover('job', 'B', 1);
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :answer FROM lease_release('job', 'A', 1);
SELECT :answer FROM lease_claim('job', 'B');

-- A purge leaves it alone, and only a resume takes it back.
SET lease.clock = '9000';
SELECT lease_purge('1 s');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_claim('job', 'B', ttl => '60 s');
SELECT :answer FROM lease_renew('job', 'A', 1);

-- Resumed in time, the holder goes on; resumed too late, its epoch stays over,
-- although it would have lasted longer.
SELECT :answer FROM lease_cancel('job', 'stop', deadline => '10 s');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_renew('job', 'B', 2, ttl => '60 s');
SELECT :answer FROM lease_cancel('job', 'stop', deadline => '10 s');
SET lease.clock = '9020';
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_renew('job', 'B', 2);
SELECT :answer FROM lease_claim('job', 'C', ttl => '60 s');

-- At once: the epoch is over.
SELECT :answer FROM lease_cancel('job', 'now', deadline => '0');
SELECT :answer FROM lease_renew('job', 'C', 3);
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_claim('job', 'C', ttl => '60 s');

-- Given back before the deadline; broken; on hold besides.
SELECT :answer FROM lease_cancel('job', 'stop');
SELECT :answer FROM lease_release('job', 'C', 4);
SELECT :answer FROM lease_claim('job', 'D');
SELECT :answer FROM lease_hold('job', 'too');
SELECT :answer FROM lease_claim('job', 'D');
SELECT :answer FROM lease_resume('job');
SELECT :answer FROM lease_claim('job', 'D', ttl => '1 h');
SELECT :answer FROM lease_cancel('job', 'stop', deadline => '100000 hours');
SELECT :answer FROM lease_break('job', 5, 'hung');
SELECT :answer FROM lease_renew('job', 'D', 5);

-- A name that has no row; and a clock that is set back lengthens no deadline.
SELECT :answer FROM lease_cancel('never seen', 'do not begin');
SELECT :answer FROM lease_claim('never seen', 'A');
SELECT :answer FROM lease_get('never seen');
SELECT :answer FROM lease_claim('set back', 'A', ttl => '1 h');
SELECT :answer FROM lease_cancel('set back', 'stop', deadline => '10 s');
SET lease.clock = '5000';
SELECT :answer FROM lease_renew('set back', 'A', 1);
SET lease.clock = '5009.999999';
SELECT :answer FROM lease_renew('set back', 'A', 1);
SET lease.clock = '5010';
SELECT :answer FROM lease_renew('set back', 'A', 1);

SET TimeZone = 'UTC';
SELECT replace(e, format('"%s"', current_user), '"me"') AS e FROM lease_explain('set back') e;

SELECT name, fence, owner, ended_by, extract(epoch FROM ended_at) AS ended, reason, role_name = current_user AS by_me FROM lease_history ORDER BY fence;
SELECT id, name, fence, intent, reason, detail FROM lease_intents ORDER BY id;

DROP EXTENSION lease;
