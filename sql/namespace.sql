-- What a namespace allows: ceilings, grace, hold_at_least, places, history.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'outcome, ok, fence, version, ttl, extract(epoch FROM expires_at) AS expires'

SELECT lease_namespace_create('ns', min_ttl => '1 s', default_ttl => '5 s', max_ttl => '20 s');
SELECT lease_namespace_create('ns');
SELECT lease_namespace_create('default');
SELECT lease_namespace_alter('none', grace => '1 s');
SELECT lease_namespace_drop('none');
SELECT lease_namespace_drop('default');
SELECT lease_namespace_create('upside down', min_ttl => '2 s', max_ttl => '1 s');
SELECT lease_namespace_create('upside down', max_hold => '99 ms');
SELECT lease_namespace_alter('ns', max_hold => '999 ms');

-- A ttl is clamped, and the answer says to what; server-wide too.
SELECT :answer FROM lease_claim('default', 'A', namespace => 'ns');
SELECT :answer FROM lease_claim('short', 'A', ttl => '1 ms', namespace => 'ns');
SELECT :answer FROM lease_claim('long', 'A', ttl => '1000000 days', namespace => 'ns');
SET lease.max_ttl = '10 s';
SELECT :answer FROM lease_claim('longer', 'A', ttl => '1 h', namespace => 'ns');
RESET lease.max_ttl;

-- A ceiling below what is promised refuses, and never shortens; asking for less
-- is the holder's to do.
SELECT lease_namespace_alter('ns', max_ttl => '10 s', default_ttl => '10 s');
SELECT :answer FROM lease_renew('long', 'A', 1, namespace => 'ns');
SELECT :answer FROM lease_renew('long', 'A', 1, ttl => '2 s', namespace => 'ns');

-- The whole of an epoch is bounded by max_hold, as far as it goes.
SELECT lease_namespace_alter('ns', max_hold => '25 s');
SELECT :answer FROM lease_claim('held', 'A', ttl => '10 s', namespace => 'ns');
SET lease.clock = '1009';
SELECT :answer FROM lease_renew('held', 'A', 1, ttl => '10 s', namespace => 'ns');
SET lease.clock = '1018';
SELECT :answer FROM lease_renew('held', 'A', 1, ttl => '10 s', namespace => 'ns');
SELECT :answer FROM lease_renew('held', 'A', 1, ttl => '10 s', namespace => 'ns');
SET lease.clock = '1025';
SELECT :answer FROM lease_renew('held', 'A', 1, ttl => '10 s', namespace => 'ns');
SELECT lease_namespace_alter('ns', max_hold => '0');

-- Grace is waited for after a lapse, and not after a release.
SELECT lease_namespace_alter('ns', grace => '5 s');
SELECT :answer FROM lease_claim('held', 'B', namespace => 'ns');
SELECT :answer FROM lease_takeover('held', 'B', 1, namespace => 'ns');
SELECT outcome FROM lease_get('held', namespace => 'ns');
SET lease.clock = '1029.999999';
SELECT :answer FROM lease_claim('held', 'B', namespace => 'ns');
SET lease.clock = '1030';
SELECT :answer FROM lease_takeover('held', 'B', 1, namespace => 'ns');
SELECT :answer FROM lease_release('held', 'B', 2, namespace => 'ns');
SELECT :answer FROM lease_claim('held', 'C', namespace => 'ns');

-- hold_at_least counts from the grant, whatever ended the epoch, and is clamped
-- to the ceiling of a ttl.
SELECT :answer FROM lease_claim('cool', 'A', ttl => '1 s', hold_at_least => '1 h', namespace => 'ns');
SELECT :answer FROM lease_release('cool', 'A', 1, namespace => 'ns');
SELECT outcome FROM lease_get('cool', namespace => 'ns');
SET lease.clock = '1039.999999';
SELECT :answer FROM lease_claim('cool', 'B', namespace => 'ns');
SET lease.clock = '1040';
SELECT :answer FROM lease_claim('cool', 'B', namespace => 'ns');

-- Places: current epochs count, lapsed and ended ones do not.
SELECT lease_namespace_create('two', max_leases => 2, history => false);
SELECT :answer FROM lease_claim('1', 'A', ttl => '1 s', namespace => 'two');
SELECT :answer FROM lease_claim('2', 'A', namespace => 'two');
SELECT :answer FROM lease_claim('3', 'A', namespace => 'two');
SET lease.clock = '1041';
SELECT :answer FROM lease_claim('3', 'A', namespace => 'two');
SELECT :answer FROM lease_takeover('1', 'A', 1, namespace => 'two');
SELECT :answer FROM lease_renew('2', 'A', 1, namespace => 'two');

-- History is kept of one namespace and not of the other.
SELECT :answer FROM lease_release('2', 'A', 1, namespace => 'two');
SELECT namespace, name, owner, fence, extract(epoch FROM granted_at) AS granted, extract(epoch FROM ended_at) AS ended, ended_by FROM lease_history ORDER BY namespace, name, fence;

-- What has leases is not dropped; a dropped namespace leaves its fences behind.
SELECT lease_namespace_drop('two');
SELECT count(*) FROM lease_status WHERE namespace = 'two';
SET lease.clock = '2000';
SELECT lease_purge('1 s', namespace => 'two');
SELECT lease_namespace_drop('two');
SELECT outcome FROM lease_get('1', namespace => 'two');
SELECT lease_namespace_create('two');
SELECT :answer FROM lease_claim('new', 'A', namespace => 'two');

-- Every kind of row that there can be in its way, and what the reference says of
-- each.  A hold of the namespace keeps all.
SELECT lease_namespace_create('full', retry_jitter => 0);
\set purge 'SELECT lease_purge(\'1 us\', namespace => \'full\');SELECT name, state FROM lease_status WHERE namespace = \'full\' ORDER BY name;'
SELECT count(*) FROM unnest(ARRAY['free', 'held', 'cancelled', 'on hold']) n, LATERAL lease_claim(n, 'A', ttl => '10 s', namespace => 'full');
SELECT outcome FROM lease_claim('lapsed', 'A', ttl => '1 s', namespace => 'full');
SELECT outcome FROM lease_claim('cold', 'A', ttl => '1 s', hold_at_least => '15 s', namespace => 'full');
SELECT outcome FROM lease_offer('lapsed task', max_attempts => 1, priority => 9, namespace => 'full');
SELECT outcome FROM lease_offer('held task', priority => 8, namespace => 'full');
SELECT name FROM lease_poll('A', ttl => '1 s', namespace => 'full');
SELECT name FROM lease_poll('A', ttl => '10 s', namespace => 'full');
SELECT count(*) FROM unnest(ARRAY['open task', 'task on hold']) n, LATERAL lease_offer(n, namespace => 'full');
SELECT count(*) FROM unnest(ARRAY['on hold', 'task on hold', 'only held']) n, LATERAL lease_hold(n, 'why', namespace => 'full');
SELECT count(*) FROM unnest(ARRAY['cancelled', 'only cancelled']) n, LATERAL lease_cancel(n, 'why', namespace => 'full');
SELECT outcome FROM lease_release('free', 'A', 1, namespace => 'full');
SET lease.clock = '2001';
\set VERBOSITY default
SELECT lease_namespace_drop('full');
SELECT outcome FROM lease_namespace_hold('full', 'why');
:purge
SELECT outcome FROM lease_namespace_resume('full');
SELECT outcome FROM lease_break('held', 1, 'why', namespace => 'full');
SELECT count(*) FROM lease_status s, LATERAL lease_resume(name, namespace => s.namespace) WHERE s.namespace = 'full';
SELECT count(*) FROM lease_status s, LATERAL lease_cancel(name, 'why', namespace => s.namespace) c WHERE s.namespace = 'full' AND s.name ~ 'task' AND c.ok;
:purge
SET lease.clock = '2020';
:purge
SET lease.history_retention = '0';
:purge
SELECT * FROM lease_sweep() WHERE what = 'tasks';
:purge
SELECT lease_namespace_drop('full');
RESET lease.history_retention;

DROP EXTENSION lease;
