-- What a poll hands out: how many, in which order, to whom, and what it passes over.
CREATE EXTENSION lease;
SET lease.clock = '1000';
SELECT lease_namespace_alter('default', grace => '1 s', retry_jitter => 0);
\set task 'ok, outcome, name, owner, fence, attempt, priority'

-- By priority, then by when they were due; never more than asked for.
SELECT outcome, count(*) FROM generate_series(1, 12) i,
	LATERAL lease_offer('t' || i, priority => CASE WHEN i % 4 = 0 THEN 5 ELSE 0 END, delay => make_interval(secs => 12 - i)) GROUP BY outcome;
SELECT :task FROM lease_poll('A', max_count => 10);
SET lease.clock = '1006';
SELECT :task FROM lease_poll('A', max_count => 2, ttl => '10 s');
SELECT :task FROM lease_poll('A', max_count => 3, ttl => '20 s');
SELECT :task FROM lease_poll('B', max_count => 1000000, ttl => '30 s');
SELECT :task FROM lease_poll('B', max_count => 1000000);
SET lease.clock = '1011';
SELECT :task FROM lease_poll('B', max_count => 1000000, ttl => '40 s');

-- A lapsed task comes when its expiry and the grace are over, at that place, also
-- where a renewal has moved it since it was last looked at.
SET lease.clock = '1015';
SELECT l.name, l.outcome FROM lease_renew('t8', 'A', 1, ttl => '30 s') l;
SELECT outcome FROM lease_offer('new', delay => '2 s', priority => 5);
SET lease.clock = '1016';
SELECT :task FROM lease_poll('C', max_count => 10, ttl => '1 h');
SET lease.clock = '1017';
SELECT :task FROM lease_poll('C', max_count => 1, ttl => '1 h');
SET lease.clock = '1040';
SELECT outcome FROM lease_offer('newer', delay => '5.5 s', priority => 5);
SET lease.clock = '1045.999999';
SELECT :task FROM lease_poll('C', max_count => 10, ttl => '1 h');
SET lease.clock = '1046';
SELECT :task FROM lease_poll('C', max_count => 10, ttl => '1 h');

-- A renewal for less is seen.
SELECT l.name, l.outcome FROM lease_renew('new', 'C', 1, ttl => '10 s') l;
SET lease.clock = '1057';
SELECT :task FROM lease_poll('D', max_count => 1, ttl => '1 h');

-- A repeated request id: the same again, as far as it is current; and never anew.
SELECT lease_namespace_create('ids');
\set id '\'00000000-0000-0000-0000-000000000001\''
SELECT outcome, count(*) FROM generate_series(1, 3) i, LATERAL lease_offer('r' || i, to_jsonb(i), namespace => 'ids') GROUP BY outcome;
SELECT :task FROM lease_poll('E', max_count => 2, ttl => '1 h', request_id => :id, namespace => 'ids');
SELECT :task, payload FROM lease_poll('E', max_count => 2, ttl => '1 h', request_id => :id, namespace => 'ids');
SELECT outcome FROM lease_complete('r1', 'E', 1, namespace => 'ids');
SELECT :task, payload FROM lease_poll('E', max_count => 2, request_id => :id, namespace => 'ids');
SELECT :task FROM lease_poll('F', max_count => 2, ttl => '1 h', request_id => :id, namespace => 'ids');
SELECT outcome FROM lease_release('r2', 'E', 1, namespace => 'ids');
SELECT :task FROM lease_poll('E', max_count => 2, request_id => :id, namespace => 'ids');
-- nor is there anything to wait for, once all of it has ended
SET statement_timeout = '20 s';
SELECT :task FROM lease_poll('E', max_count => 2, wait => '1 min', request_id => :id, namespace => 'ids');
RESET statement_timeout;
SET lease.request_retention = '1 s';
SET lease.clock = '1059';
SELECT :task FROM lease_poll('E', max_count => 2, ttl => '1 h', request_id => :id, namespace => 'ids');
RESET lease.request_retention;
\set id '\'00000000-0000-0000-0000-000000000002\''
SELECT :task FROM lease_poll('E', request_id => :id, namespace => 'ids');
SELECT outcome FROM lease_offer('late', namespace => 'ids');
SELECT :task FROM lease_poll('E', request_id => :id, namespace => 'ids');
SELECT :task FROM lease_poll('E', request_id => :id, namespace => 'ids');

-- What is held, on hold, cancelled or plain is not handed out; the whole namespace
-- on hold, or full, is said in a row without a name.
SELECT o.outcome, h.outcome FROM lease_offer('held') o, LATERAL lease_hold('held', 'x') h;
SELECT o.outcome, c.outcome FROM lease_offer('cancelled') o, LATERAL lease_cancel('cancelled', 'x') c;
SELECT outcome FROM lease_claim('plain', 'A', ttl => '1 s');
SELECT outcome FROM lease_offer('due');
SELECT outcome FROM lease_namespace_hold('default', 'incident');
SELECT :task FROM lease_poll('F', max_count => 10);
SELECT outcome FROM lease_namespace_resume('default');
SELECT lease_namespace_alter('default', max_leases => 5);
SELECT count(*) FROM lease_status WHERE namespace = 'default' AND state = 'held';
SELECT :task FROM lease_poll('F', max_count => 10);
SELECT lease_namespace_alter('default', max_leases => (SELECT count(*) + 1 FROM lease_status WHERE namespace = 'default' AND state = 'held'));
SELECT outcome FROM lease_offer('due too');
SELECT :task FROM lease_poll('F', max_count => 10, ttl => '1 h');
SELECT :task FROM lease_poll('F', max_count => 10, ttl => '1 h');
SELECT lease_namespace_alter('default', max_leases => 0);
SELECT :task FROM lease_poll('F', max_count => 10, ttl => '1 h');
SELECT outcome FROM lease_resume('held');
SELECT :task FROM lease_poll('F', max_count => 10, ttl => '1 h');

-- Behind a thousand tasks that are held up, one that is due; how many of their
-- entries a poll moves on is bounded.
SELECT lease_namespace_create('crowd');
SELECT outcome, count(*) FROM generate_series(1, 1000) i, LATERAL lease_offer('c' || i, namespace => 'crowd') GROUP BY outcome;
SELECT outcome, count(*) FROM generate_series(1, 1000) i, LATERAL lease_hold('c' || i, 'x', namespace => 'crowd') GROUP BY outcome;
SELECT outcome FROM lease_offer('free', namespace => 'crowd');
SELECT count(*) FROM lease_catalog.due WHERE namespace = 'crowd' AND due_at = 'infinity';
SELECT :task FROM lease_poll('A', max_count => 10, ttl => '10 s', namespace => 'crowd');
SELECT count(*) FROM lease_catalog.due WHERE namespace = 'crowd' AND due_at = 'infinity';
SELECT outcome FROM lease_resume('c1000', namespace => 'crowd');
SELECT outcome FROM lease_resume('c1', namespace => 'crowd');
SELECT :task FROM lease_poll('A', max_count => 10, ttl => '10 s', namespace => 'crowd');

-- A clock that is set back keeps nobody waiting longer than the delay was made.
SELECT lease_namespace_create('back');
SELECT outcome FROM lease_offer('delayed', delay => '10 s', namespace => 'back');
SELECT outcome FROM lease_offer('lapsing', namespace => 'back');
SELECT :task FROM lease_poll('A', ttl => '20 s', namespace => 'back');
SET lease.clock = '500';
SELECT :task FROM lease_poll('A', ttl => '20 s', max_count => 10, namespace => 'back');
SET lease.clock = '509.999999';
SELECT :task FROM lease_poll('A', ttl => '20 s', max_count => 10, namespace => 'back');
SET lease.clock = '510';
SELECT :task FROM lease_poll('A', ttl => '20 s', max_count => 10, namespace => 'back');
SET lease.clock = '520';
SELECT :task FROM lease_poll('A', ttl => '20 s', max_count => 10, namespace => 'back');

-- Nor does it keep the places of a namespace taken, or what waits for one waiting,
-- for longer than a lease lasts.
SET lease.clock = '100000';
SELECT lease_namespace_create('places', max_leases => 2, retry_jitter => 0);
SELECT outcome FROM lease_claim('a plain one', 'A', ttl => '20 s', namespace => 'places');
SELECT outcome FROM lease_offer('lapsing', namespace => 'places');
SELECT :task FROM lease_poll('A', ttl => '10 s', namespace => 'places');
SELECT outcome FROM lease_offer('due', namespace => 'places');
SELECT outcome FROM lease_offer('delayed', delay => '15 s', namespace => 'places');
SET lease.clock = '600';
SELECT :task FROM lease_poll('B', max_count => 10, namespace => 'places');
SELECT name, extract(epoch FROM expires_at) AS expires, extract(epoch FROM armed_at) AS armed
	FROM lease_catalog.lease WHERE namespace = 'places' ORDER BY 1;
SELECT name, extract(epoch FROM due_at) AS due, extract(epoch FROM armed_at) AS armed
	FROM lease_catalog.due WHERE namespace = 'places' ORDER BY 1;
SET lease.clock = '609.999999';
SELECT :task FROM lease_poll('B', max_count => 10, namespace => 'places');
SET lease.clock = '610';
SELECT :task FROM lease_poll('B', max_count => 10, ttl => '1 s', namespace => 'places');
SET lease.clock = '611';
SELECT :task FROM lease_poll('B', max_count => 10, namespace => 'places');
SELECT outcome FROM lease_complete('lapsing', 'B', 2, namespace => 'places');
SET lease.clock = '614.999999';
SELECT :task FROM lease_poll('B', max_count => 10, namespace => 'places');
SET lease.clock = '615';
SELECT :task FROM lease_poll('B', max_count => 10, namespace => 'places');
SET lease.clock = '520';

-- At every isolation level, and whatever plan is preferred.
SELECT lease_namespace_create('plans');
SELECT outcome, count(*) FROM generate_series(1, 200) i, LATERAL lease_offer('p' || i, namespace => 'plans') GROUP BY outcome;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_seqscan = off;
SELECT count(*), count(DISTINCT name) FROM lease_poll('A', max_count => 1, namespace => 'plans');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) > 0 AS some FROM lease_status;
SELECT count(*), count(DISTINCT name) FROM lease_poll('A', max_count => 10, namespace => 'plans');
SELECT count(*), count(DISTINCT name) FROM lease_poll('A', max_count => 10, namespace => 'plans');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), count(DISTINCT name) FROM lease_poll('A', max_count => 10, namespace => 'plans');
SAVEPOINT s;
SELECT count(*), count(DISTINCT name) FROM lease_poll('A', max_count => 10, namespace => 'plans');
ROLLBACK TO s;
COMMIT;
SELECT state, count(*) FROM lease_status WHERE namespace = 'plans' GROUP BY state ORDER BY state;

-- With nothing to hand out a poll waits, and as long as it was told.
SELECT lease_namespace_create('wait');
SET lease.max_wait = '30 ms';
SELECT :task FROM lease_poll('A', wait => '1 h', namespace => 'wait');
RESET lease.max_wait;
RESET lease.clock;
SELECT outcome FROM lease_offer('soon', delay => '50 ms', namespace => 'wait');
SELECT :task FROM lease_poll('A', wait => '60 s', ttl => '1 h', namespace => 'wait');
-- Neither is a hold answered before that, nor that there is no room.
SELECT outcome FROM lease_offer('held up', namespace => 'wait');
SELECT outcome FROM lease_namespace_hold('wait', 'test');
SET lease.max_wait = '30 ms';
SELECT ok, outcome, name FROM lease_poll('A', wait => '1 h', namespace => 'wait');
RESET lease.max_wait;
SELECT outcome FROM lease_namespace_hold('wait', 'test', until => '50 ms');
SELECT :task FROM lease_poll('A', wait => '60 s', ttl => '50 ms', namespace => 'wait');
SELECT lease_namespace_alter('wait', max_leases => 2);
SELECT outcome FROM lease_offer('no room', priority => 9, namespace => 'wait');
SELECT :task FROM lease_poll('A', wait => '60 s', ttl => '1 h', namespace => 'wait');
SELECT :task FROM lease_poll('A', max_count => 0);
SELECT :task FROM lease_poll('A', max_count => NULL);
SELECT outcome FROM lease_offer('x', priority => 10);
SELECT outcome FROM lease_offer('x', priority => -1);
SELECT outcome FROM lease_offer('x', max_attempts => 0);

DROP EXTENSION lease;
