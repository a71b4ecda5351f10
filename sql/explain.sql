-- lease_explain tells of one lease, in sentences, who has it and since when, what
-- may happen next and when, and what is in the way.  Who locks its row in other
-- sessions: test/isolation/specs/explain-lockers.spec.
CREATE EXTENSION lease;
CREATE ROLE regress_lease_operator SUPERUSER;
SET ROLE regress_lease_operator;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET IntervalStyle = 'postgres';
SET lease.clock = '1000';
\pset format unaligned
\pset tuples_only on

-- Never claimed, held, renewed, released.
SELECT lease_explain('job');
SELECT outcome FROM lease_claim('job', 'A', ttl => '60 s');
SELECT lease_explain('job');
SET lease.clock = '1030';
SELECT outcome FROM lease_renew('job', 'A', 1);
SET lease.clock = '1045.5';
SELECT lease_explain('job');
SELECT outcome FROM lease_release('job', 'A', 1);
SET lease.clock = '1050';
SELECT lease_explain('job');

-- What it says of the next epoch is what happens: the fence, and the instant at
-- which a claim is granted and before which it is not.
SELECT outcome, fence FROM lease_claim('job', 'B', ttl => '60 s');
SET lease.clock = '1110';
SELECT lease_explain('job');
SELECT outcome, fence FROM lease_takeover('job', 'C', 2, ttl => '60 s');
SELECT lease_explain('job');

-- Ended by an operator, for a reason; and after it.
SELECT outcome FROM lease_break('job', 3, 'it is stuck');
SELECT lease_explain('job');
SELECT outcome, fence FROM lease_claim('job', 'D', ttl => '60 s');
SELECT e FROM lease_explain('job') e WHERE e ~ 'before it';

-- Given back after it had lapsed.
SET lease.clock = '2000';
SELECT outcome FROM lease_release('job', 'D', 4);
SELECT lease_explain('job');

-- Purged: the fence goes on.
SET lease.clock = '10000';
SELECT lease_purge('1 hour');
SELECT lease_explain('job');
SELECT outcome, fence FROM lease_claim('job', 'E', ttl => '60 s');
SELECT lease_fences_advance(100);
SELECT e FROM lease_explain('job') e WHERE e ~ 'under fence [0-9]* at least';

-- The namespace's grace and ceilings, and a hold_at_least.
SELECT lease_namespace_create('tenant', grace => '10 s', max_hold => '90 s', max_leases => 2);
SET lease.clock = '20000';
SELECT outcome FROM lease_claim('it''s "one"', 'A', ttl => '60 s', namespace => 'tenant');
SELECT lease_explain('it''s "one"', namespace => 'tenant');
SET lease.clock = '20040';
SELECT outcome FROM lease_renew('it''s "one"', 'A', 101, namespace => 'tenant');
SELECT lease_explain('it''s "one"', namespace => 'tenant');
SELECT outcome, ok FROM lease_renew('it''s "one"', 'A', 101, namespace => 'tenant');
SET lease.clock = '20095';
SELECT lease_explain('it''s "one"', namespace => 'tenant');
SET lease.clock = '20099.999999';
SELECT outcome FROM lease_claim('it''s "one"', 'B', namespace => 'tenant');
SET lease.clock = '20100';
SELECT outcome, fence FROM lease_claim('it''s "one"', 'B', ttl => '60 s', hold_at_least => '80 s', namespace => 'tenant');
SELECT e FROM lease_explain('it''s "one"', namespace => 'tenant') e WHERE e ~ 'can be granted';
SELECT outcome FROM lease_release('it''s "one"', 'B', 102, namespace => 'tenant');
SELECT lease_explain('it''s "one"', namespace => 'tenant');
SET lease.clock = '20179.999999';
SELECT outcome FROM lease_claim('it''s "one"', 'C', namespace => 'tenant');
SET lease.clock = '20180';
SELECT outcome, fence FROM lease_claim('it''s "one"', 'C', ttl => '60 s', namespace => 'tenant');
-- A ceiling that was lowered below what is promised.
SELECT lease_namespace_alter('tenant', max_ttl => '30 s', default_ttl => '30 s');
SELECT e FROM lease_explain('it''s "one"', namespace => 'tenant') e WHERE e ~ 'max_ttl|renew';
SELECT outcome FROM lease_renew('it''s "one"', 'C', 103, namespace => 'tenant');
-- Full.
SELECT outcome FROM lease_claim('two', 'A', ttl => '60 s', namespace => 'tenant');
SELECT lease_explain('three', namespace => 'tenant');
SELECT outcome FROM lease_claim('three', 'A', namespace => 'tenant');

-- The end of bigint.
UPDATE lease_catalog.lease SET version = 9223372036854775807 WHERE namespace = 'tenant' AND name = 'two';
SELECT lease_explain('two', namespace => 'tenant');

-- A clock that was set back: the expiry is that by which everybody goes.
SET lease.clock = '10000';
SELECT e FROM lease_explain('it''s "one"', namespace => 'tenant') e WHERE e ~ 'expir|granted';
SELECT outcome FROM lease_claim('it''s "one"', 'D', namespace => 'tenant');
SELECT lease_explain('it''s "one"', namespace => 'tenant');

-- A row that was written past the extension, as a heartbeat that comes late and
-- knows nothing of fences does.
SET lease.clock = '30000';
SELECT outcome, fence FROM lease_claim('beaten', 'A', ttl => '60 s');
SET lease.clock = '30070';
SELECT outcome, fence FROM lease_takeover('beaten', 'B', 101, ttl => '60 s');
UPDATE lease_catalog.lease SET owner = 'A', fence = 101, version = 2, granted_at = to_timestamp(30000),
	renewed_at = to_timestamp(30075), expires_at = to_timestamp(30135) WHERE name = 'beaten';
SET lease.clock = '30080';
SELECT lease_explain('beaten');

-- What this transaction itself has done to the row.
BEGIN;
SELECT outcome FROM lease_renew('beaten', 'A', 101);
SELECT e FROM lease_explain('beaten') e WHERE e ~ 'transaction';
ROLLBACK;
BEGIN;
SELECT fence FROM lease_catalog.lease WHERE name = 'beaten' FOR KEY SHARE;
SELECT e FROM lease_explain('beaten') e WHERE e ~ 'transaction';
SELECT outcome FROM lease_claim('first', 'A');
SELECT e FROM lease_explain('first') e WHERE e ~ 'transaction';
ROLLBACK;
SELECT e FROM lease_explain('beaten') e WHERE e ~ 'transaction';

-- Instants are in the session's zone and style.
SET TimeZone = 'Asia/Kathmandu';
SET DateStyle = 'German';
SET IntervalStyle = 'postgres_verbose';
SELECT e FROM lease_explain('beaten') e WHERE e ~ '^It ';
RESET TimeZone;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET IntervalStyle = 'postgres';

-- It looks where nothing may be written.
BEGIN READ ONLY;
SELECT count(*) > 3 AS explained FROM lease_explain('beaten');
SELECT count(*) > 1 AS explained FROM lease_explain('never claimed');
COMMIT;
-- With any name that a lease can have.
SELECT left(n, 8), replace(e, n, '...') FROM unnest(ARRAY['%s', 'a''b"c\d', repeat('x', 512)]) n, LATERAL (SELECT e FROM lease_explain(n) e LIMIT 1) e;

-- Who may use the namespace is told neither other owners nor who ended an epoch
-- and why; who may observe it is.
CREATE ROLE regress_lease_user;
CREATE ROLE regress_lease_observer;
SELECT lease_grant('default', 'regress_lease_user', 'use'), lease_grant('default', 'regress_lease_observer', 'observe');
SELECT outcome, fence FROM lease_claim('shown', 'secret A', ttl => '60 s');
SELECT outcome FROM lease_break('shown', 101, 'secret reason');
\set shown 'SELECT current_user, (SELECT count(*) > 2 FROM lease_explain(\'shown\')) AS told, (SELECT string_agg(m[1], \', \') FROM lease_explain(\'shown\') e, regexp_matches(e, \'secret [A-Za-z]+|role\', \'g\') m) AS secrets'
SET ROLE regress_lease_user;
:shown;
SET ROLE regress_lease_observer;
:shown;
SET ROLE regress_lease_operator;
SELECT outcome, fence FROM lease_claim('shown', 'secret B', ttl => '60 s');
SELECT outcome FROM lease_hold('shown', 'secret cause');
SET ROLE regress_lease_user;
:shown;
SELECT lease_explain('shown');
SET ROLE regress_lease_observer;
:shown;
SET ROLE regress_lease_operator;

-- Who has put it, or all of its namespace, on hold or cancelled it, since when and
-- why; the last one counts, but of cancels the first.  A row that a hold or an offer
-- made has not been granted, whatever was under its name before.
SET lease.clock = '40000';
SELECT outcome FROM lease_hold('job', 'an old reason');
SET lease.clock = '40001';
SELECT outcome FROM lease_hold('job', 'looked into', until => '1 h', stop => true);
SELECT lease_explain('job');
SELECT outcome FROM lease_resume('job', 'mended');
SELECT outcome FROM lease_break('beaten', 101, 'gone', hold => true);
SELECT e FROM lease_explain('beaten') e WHERE e ~ 'hold';
SELECT outcome FROM lease_resume('beaten');
SELECT outcome FROM lease_cancel('beaten', 'no longer wanted');
SELECT outcome FROM lease_cancel('beaten', 'told again');
SELECT outcome FROM lease_namespace_hold('default', 'all of them');
SELECT lease_explain('beaten');
SELECT outcome FROM lease_namespace_resume('default');
SELECT outcome FROM lease_resume('beaten');
SET lease.clock = '50000';
SELECT lease_purge('2 h');
SELECT outcome FROM lease_hold('job', 'made by it');
SELECT lease_explain('job');
SELECT outcome FROM lease_resume('job');
SELECT outcome FROM lease_offer('job', max_attempts => 1);
SELECT lease_explain('job');
-- What is over is not free.
SELECT outcome, fence FROM lease_poll('A', ttl => '60 s') \gset
SELECT outcome FROM lease_complete('job', 'A', :fence);
SELECT lease_explain('job');
SELECT outcome FROM lease_retry('job');
SELECT outcome, fence FROM lease_poll('A', ttl => '60 s') \gset
SELECT outcome FROM lease_fail('job', 'A', :fence, 'no');
SELECT e FROM lease_explain('job') e WHERE e ~ '^Lease';
SELECT outcome FROM lease_offer('cancelled');
SELECT outcome FROM lease_cancel('cancelled', 'no');
SELECT lease_explain('cancelled');
-- What is to be typed names the schema, where the session would not find it.
SET search_path = pg_catalog;
SELECT e FROM public.lease_explain('cancelled') e WHERE e ~ 'SELECT';
RESET search_path;
-- A claim is not said to be granted now where it would be answered busy.
SELECT outcome FROM lease_offer('locked');
BEGIN;
SELECT count(*) FROM (SELECT FROM lease_catalog.lease WHERE name = 'locked' FOR KEY SHARE) l;
SELECT e FROM lease_explain('locked') e WHERE e ~ 'granted|row locked';
ROLLBACK;

-- A stranger is told the same whether or not there is such a namespace.
CREATE ROLE regress_lease_stranger;
SET ROLE regress_lease_stranger;
SELECT lease_explain('shown');
SELECT lease_explain('shown', namespace => 'nowhere');
SET ROLE regress_lease_operator;
SELECT lease_explain('shown', namespace => 'nowhere');
\set VERBOSITY sqlstate
SELECT lease_explain(NULL);
SELECT lease_explain('shown', namespace => NULL);
SELECT lease_explain('');

RESET ROLE;
DROP EXTENSION lease;
DROP ROLE regress_lease_operator, regress_lease_user, regress_lease_observer, regress_lease_stranger;
