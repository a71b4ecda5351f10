-- A task from its offer to its end: attempts, backoff, terminal states, and what it
-- carries.
CREATE EXTENSION lease;
SET lease.clock = '1000';
SELECT lease_namespace_alter('default', retry_jitter => 0, retry_base => '10 s', retry_factor => 3, retry_cap => '60 s', max_attempts => 3);
\set answer 'outcome, ok, owner, fence, version, extract(epoch FROM expires_at) AS expires'
\set task 'outcome, ok, name, fence, extract(epoch FROM expires_at) AS expires, attempt, priority, payload, checkpoint'
\set all 'outcome, ok, owner, fence, attempt, priority, payload, checkpoint, max_attempts, extract(epoch FROM due_at) AS due, result, last_error'

SELECT :answer FROM lease_offer('mail', '{"to": "x"}', priority => 3);
SELECT :answer FROM lease_offer('mail', '{"to": "y"}');
SELECT :all FROM lease_task_get('mail');
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT :all FROM lease_task_get('mail');

-- A heartbeat carries how far the work has come.
SET lease.clock = '1010';
SELECT :answer FROM lease_renew('mail', 'A', 1, checkpoint => '{"step": 1}');
SELECT :answer FROM lease_renew('mail', 'A', 1);
SELECT :answer FROM lease_renew('mail', 'B', 1, checkpoint => '{"step": 2}');
SELECT :all FROM lease_task_get('mail');

-- It fails, and is handed out again once the delay is over, and not sooner; the
-- checkpoint is there.  Repeated, the answer is the same.
SELECT :answer FROM lease_fail('mail', 'A', 1, 'no route');
SELECT :answer FROM lease_fail('mail', 'A', 1, 'no route');
SELECT :answer FROM lease_complete('mail', 'A', 1);
SELECT :answer FROM lease_renew('mail', 'A', 1);
SELECT :answer FROM lease_release('mail', 'A', 1);
SELECT :all FROM lease_task_get('mail');
SET lease.clock = '1019.999999';
SELECT :task FROM lease_poll('B');
SELECT :answer FROM lease_claim('mail', 'B');
SET lease.clock = '1020';
SELECT :task FROM lease_poll('B', ttl => '60 s');
SELECT :answer FROM lease_renew('mail', 'A', 1);
SELECT :answer FROM lease_fail('mail', 'B', 2, 'still none', retry_in => '5 s');
SELECT :all FROM lease_task_get('mail');
SET lease.clock = '1025';
SELECT :answer FROM lease_claim('mail', 'C', ttl => '60 s');
SELECT :answer FROM lease_fail('mail', 'C', 3, 'none at all');
SELECT :answer FROM lease_fail('mail', 'C', 3, 'none at all');
SELECT :all FROM lease_task_get('mail');
SELECT :answer FROM lease_get('mail');
SELECT :answer FROM lease_claim('mail', 'D');
SELECT :answer FROM lease_takeover('mail', 'D', 3);
SELECT :answer FROM lease_break('mail', 3, 'why');
SELECT :answer FROM lease_cancel('mail', 'why');
SELECT :answer FROM lease_offer('mail');
SELECT count(*) FROM lease_catalog.due;

SELECT e FROM lease_explain('mail') e WHERE e ~ 'task|anew|grant';

-- Only an operator reopens it, with its checkpoint and higher fences.
SELECT :answer FROM lease_retry('mail', 'route mended');
SELECT :answer FROM lease_retry('mail');
SELECT :all FROM lease_task_get('mail');
SELECT :task FROM lease_poll('D', ttl => '60 s');
SELECT :answer FROM lease_complete('mail', 'D', 4, '{"sent": true}');
SELECT :answer FROM lease_complete('mail', 'D', 4, '{"sent": false}');
SELECT :answer FROM lease_fail('mail', 'D', 4, 'too late');
SELECT :answer FROM lease_renew('mail', 'D', 4);
SELECT :all FROM lease_task_get('mail');
SELECT count(*) FROM lease_catalog.due;

-- What a reopened task was completed with is gone, so the epoch that did it is not
-- told that it stands, nor is another result taken from it.
SELECT :answer FROM lease_offer('again', max_attempts => 1);
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT :answer FROM lease_complete('again', 'A', 1, '{"v": 1}');
SELECT :answer FROM lease_retry('again', 'v is wrong');
SELECT :answer FROM lease_complete('again', 'A', 1, '{"v": 2}');
SELECT :answer FROM lease_fail('again', 'A', 1, 'v is wrong');
SELECT :answer FROM lease_break('again', 1, 'why');
SELECT :answer FROM lease_takeover('again', 'B', 1);
SELECT :all FROM lease_task_get('again');
SELECT :answer FROM lease_cancel('again', 'not now');
SELECT :answer FROM lease_complete('again', 'A', 1, '{"v": 2}');
SELECT :answer FROM lease_retry('again');
SELECT :task FROM lease_poll('B', ttl => '60 s');
SELECT :answer FROM lease_complete('again', 'A', 1, '{"v": 2}');
SELECT :answer FROM lease_fail('again', 'B', 2, 'no v', final => true);
SELECT :answer FROM lease_fail('again', 'B', 2, 'no v', final => true);
SELECT :answer FROM lease_retry('again');
SELECT :answer FROM lease_fail('again', 'B', 2, 'no v', final => true);
SELECT :task FROM lease_poll('C', ttl => '60 s');
SELECT :answer FROM lease_complete('again', 'C', 3, '{"v": 3}');
SELECT :all FROM lease_task_get('again');

-- A final failure, a release, a break and a lapse each use up an attempt.
SELECT :answer FROM lease_offer('once', delay => '5 s', max_attempts => 3);
SET lease.clock = '1030';
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT :answer FROM lease_release('once', 'A', 1);
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT :answer FROM lease_break('once', 2, 'stuck');
SELECT :task FROM lease_poll('A', ttl => '60 s');
SET lease.clock = '1090';
SELECT :answer FROM lease_get('once');
SELECT :answer FROM lease_complete('once', 'A', 3);
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT name, task FROM lease_catalog.lease ORDER BY name;
SELECT * FROM lease_sweep();
SELECT * FROM lease_sweep();
SELECT name, task, ended_by FROM lease_catalog.lease ORDER BY name;
SELECT :answer FROM lease_retry('once');
SELECT :task FROM lease_poll('A', ttl => '60 s');
SELECT :answer FROM lease_fail('once', 'A', 4, 'hopeless', final => true);

-- Cancelled: while nobody is at it at once; else by whatever ends the attempt, but
-- for completing it, which stands, with the request.
SELECT :answer FROM lease_offer('c1');
SELECT :answer FROM lease_cancel('c1', 'no');
SELECT :answer FROM lease_cancel('c1', 'no');
SELECT :answer FROM lease_resume('c1');
SELECT :answer FROM lease_get('c1');
SELECT outcome, count(*) FROM generate_series(2, 6) i, LATERAL lease_offer('c' || i) GROUP BY outcome;
SELECT name, outcome FROM lease_poll('A', max_count => 10, ttl => '60 s');
SELECT outcome, count(*) FROM generate_series(2, 6) i, LATERAL lease_cancel('c' || i, 'no', deadline => '30 s') GROUP BY outcome;
SELECT :answer, extract(epoch FROM cancel_deadline) AS deadline FROM lease_complete('c2', 'A', 1);
SELECT :answer, extract(epoch FROM cancel_deadline) AS deadline FROM lease_fail('c3', 'A', 1, 'stopped');
SELECT :answer, extract(epoch FROM cancel_deadline) AS deadline FROM lease_release('c4', 'A', 1);
SELECT :answer, extract(epoch FROM cancel_deadline) AS deadline FROM lease_break('c5', 1, 'at once');
SELECT name, state FROM lease_status WHERE name ~ '^c' ORDER BY name;
SET lease.clock = '1120';
SELECT :answer FROM lease_complete('c6', 'A', 1);
SELECT :answer FROM lease_fail('c6', 'A', 1, 'stopped');
SELECT name, state FROM lease_status WHERE name ~ '^c' ORDER BY name;
SELECT count(*) FROM lease_poll('A', max_count => 10);
SELECT :answer FROM lease_retry('c6');
SELECT :task FROM lease_poll('B', max_count => 10, ttl => '60 s');

-- A hold that stops, and a hand-over, which is an attempt.
SELECT :answer FROM lease_hold('c6', 'wait', stop => true);
SELECT :answer FROM lease_complete('c6', 'B', 2);
SELECT :answer FROM lease_fail('c6', 'B', 2, 'x');
SELECT :answer FROM lease_renew('c6', 'B', 2, checkpoint => '{}');
SELECT :answer FROM lease_break('c6', 2, 'to C', new_owner => 'C', ttl => '60 s');
SELECT outcome, owner, attempt FROM lease_task_get('c6');
SELECT :answer FROM lease_resume('c6');
SELECT :answer FROM lease_break('c6', 3, 'to D', new_owner => 'D', ttl => '60 s');
SELECT :answer FROM lease_break('c6', 4, 'to E', new_owner => 'E', ttl => '60 s');
SELECT :answer FROM lease_complete('c6', 'D', 4);

-- A plain lease is no task, until it is offered while nobody holds it.
SELECT :answer FROM lease_claim('plain', 'A', ttl => '60 s');
SELECT :answer FROM lease_renew('plain', 'A', 1, checkpoint => '{}');
SELECT :answer FROM lease_complete('plain', 'A', 1);
SELECT :answer FROM lease_fail('plain', 'A', 1, 'x');
SELECT :answer FROM lease_retry('plain');
SELECT :answer FROM lease_task_get('plain');
SELECT :answer FROM lease_offer('plain');
SELECT :answer FROM lease_release('plain', 'A', 1);
SELECT :answer FROM lease_hold('plain', 'later');
SELECT :answer FROM lease_offer('plain', '1');
SELECT :answer FROM lease_task_get('plain');
SELECT count(*) FROM lease_poll('A');
SELECT :answer FROM lease_resume('plain');
SELECT :task FROM lease_poll('A');
SELECT :answer FROM lease_complete('none', 'A', 1);
SELECT :answer FROM lease_fail('none', 'A', 1, 'x');
SELECT :answer FROM lease_retry('none');
SELECT :answer FROM lease_task_get('none');
SELECT :answer FROM lease_cancel('stopped', 'no');
SELECT :answer FROM lease_offer('stopped');

-- What is over goes with a purge once its history may, and the name can be offered
-- anew, above the old fences.
SELECT lease_purge('1 s');
SET lease.history_retention = '1 h';
SET lease.clock = '9000';
SELECT lease_purge('1 s');
SELECT count(*) FROM lease_catalog.task;
SELECT name, state FROM lease_status ORDER BY name;
SELECT :answer FROM lease_offer('mail', '2');
SELECT :all FROM lease_task_get('mail');
SELECT name, fence, owner, ended_by, extract(epoch FROM ended_at) AS ended FROM lease_history ORDER BY granted_at, name, fence;
SELECT name, intent, reason FROM lease_intents WHERE intent = 'retry' ORDER BY id;
SELECT object, detail FROM lease_check() WHERE code NOT IN ('clock_replaced', 'risky_setting');

-- When it is due is when a poll would take it, the grace and a hold that ends included.
SELECT lease_namespace_create('slow', grace => '5 s');
\set due 'SELECT outcome, extract(epoch FROM due_at) AS due FROM lease_task_get(\'late\', \'slow\')'
SELECT outcome FROM lease_offer('late', namespace => 'slow');
SELECT outcome FROM lease_poll('A', ttl => '10 s', request_id => '00000000-0000-0000-0000-000000000001', namespace => 'slow');
:due;
SET lease.clock = '9010';
:due;
SELECT outcome FROM lease_poll('B', namespace => 'slow');
SELECT outcome FROM lease_namespace_hold('slow', 'for a while', '7 s');
:due;
SELECT outcome FROM lease_namespace_resume('slow');
SELECT outcome FROM lease_namespace_hold('slow', 'for good');
:due;
SELECT outcome FROM lease_namespace_resume('slow');
SET lease.clock = '9015';
:due;
SELECT outcome FROM lease_poll('B', namespace => 'slow');

-- A sweep removes as many request ids as it was told, of claims and of polls together.
SELECT outcome FROM lease_claim('early', 'A', request_id => '00000000-0000-0000-0000-000000000002', namespace => 'slow');
SET lease.request_retention = '1 s';
SET lease.clock = '9017';
SELECT * FROM lease_sweep(1) WHERE what = 'requests';
SELECT * FROM lease_sweep(2) WHERE what = 'requests';
SELECT * FROM lease_sweep(2) WHERE what = 'requests';
RESET lease.request_retention;

-- An error that is too long is cut, and says so.
SELECT lease_namespace_create('verbose');
SELECT outcome FROM lease_offer('loud', namespace => 'verbose');
SELECT outcome, fence FROM lease_claim('loud', 'A', namespace => 'verbose');
SELECT outcome FROM lease_fail('loud', 'A', 1, repeat('x', 65536), namespace => 'verbose');
SELECT octet_length(last_error) FROM lease_task_get('loud', 'verbose');
SET lease.clock = '9999';
SELECT outcome, fence FROM lease_claim('loud', 'A', namespace => 'verbose');
SELECT outcome FROM lease_fail('loud', 'A', 2, repeat('x', 70000), namespace => 'verbose');
SELECT length(last_error), substr(last_error, 65530) FROM lease_task_get('loud', 'verbose');

DROP EXTENSION lease;
