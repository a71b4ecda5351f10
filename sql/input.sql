-- Whatever a caller sends gets an error or an answer: never a lease born expired,
-- nor one that never ends.  (test/pgtap/arguments.sql goes through every argument
-- of every function; here are the words, and what is special.)
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set answer 'ok, outcome, owner, fence, version, extract(epoch FROM expires_at) AS expires, extract(epoch FROM ttl) AS ttl'

-- NULL where a value is needed is an error, not a silent NULL.
SELECT * FROM lease_claim(NULL, 'A');
SELECT * FROM lease_claim('job', NULL);
SELECT * FROM lease_claim('job', 'A', wait => NULL);
SELECT * FROM lease_claim('job', 'A', namespace => NULL);
SELECT * FROM lease_takeover('job', 'A', NULL);
SELECT * FROM lease_renew('job', 'A', NULL);
SELECT * FROM lease_release('job', 'A', NULL);
SELECT * FROM lease_get(NULL);

-- Texts.
SELECT * FROM lease_claim('', 'A');
SELECT * FROM lease_claim('  ', 'A');
SELECT * FROM lease_claim(E'two\nlines', 'A');
SELECT * FROM lease_claim(repeat('n', 513), 'A');
SELECT * FROM lease_claim('job', '');
SELECT * FROM lease_claim('job', E'\t');
SELECT * FROM lease_claim('job', repeat('o', 256));
SELECT * FROM lease_claim('job', 'A', namespace => '');
SELECT * FROM lease_claim('job', 'A', namespace => repeat('n', 64));
SELECT * FROM lease_claim('job', 'A', namespace => repeat('n', 63));
SELECT * FROM lease_claim('job', 'A', namespace => 'Default');

-- Lengths of time: fixed ones.  Months and years are refused even where days make
-- up for them, and what counts as longer than zero may not be.
\set VERBOSITY sqlstate
CREATE FUNCTION claimed(ttl interval) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer lease_result;
BEGIN
	SELECT * INTO answer FROM lease_claim('length', 'A', ttl => claimed.ttl);
	RAISE EXCEPTION '% %', answer.outcome, extract(epoch FROM answer.expires_at - answer.server_time);
EXCEPTION
	WHEN raise_exception THEN RETURN SQLERRM;
	WHEN OTHERS THEN RETURN SQLSTATE;
END $$;
SELECT length, claimed(length::interval)
	FROM unnest(ARRAY['0', '-1 s', '-1 microsecond', '1 microsecond', '99 ms', '100 ms', '1 s', '59 min 59.999999 s', '1 hour',
		'1 hour 1 microsecond', '1 day', '1 day -24 hours', '2 days -47 hours', '-1 day 25 hours', '1 day -25 hours',
		'1 mon', '-1 mon', '1 year', '-1 mon +31 days', '1 mon -30 days', '1 mon -30 days -1 s', '1 year -12 mons', '178000000 years',
		'2147483647 days', '-2147483648 days', '2147483647 days 2562047788:00:54.775807', '-2147483648 days -2562047788:00:54.775807',
		'2562047788:00:54.775807', '-2562047788:00:54.775807']) length;
SELECT * FROM lease_renew('job', 'A', 1, ttl => '1 mon');
SELECT * FROM lease_takeover('job', 'A', 1, ttl => '0');
SELECT * FROM lease_claim('job', 'A', wait => '-1 microsecond');
SELECT * FROM lease_claim('job', 'A', wait => '1 mon -30 days');
SELECT * FROM lease_takeover('job', 'A', 1, wait => '-1 s');
-- A claim that is granted at once may be told to wait for ever.
SELECT :answer FROM lease_claim('patient', 'A', wait => '2147483647 days');

-- The same in every style of dates and intervals, as text and as value.
SET IntervalStyle = 'sql_standard';
SELECT :answer FROM lease_claim('style 1', 'A', ttl => '0:01:00');
SELECT claimed('-0:00:01'), claimed('0-1 0 0:00:00'), claimed(make_interval(secs => 90.5)), claimed('PT1M');
SET IntervalStyle = 'iso_8601';
SELECT :answer FROM lease_claim('style 2', 'A', ttl => 'PT1M');
SELECT claimed('PT-1S'), claimed('P1M'), claimed(make_interval(secs => 90.5)), claimed('60 s');
RESET IntervalStyle;
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Pacific/Chatham';
SELECT :answer FROM lease_claim('style 3', 'A', ttl => '60 s');
RESET DateStyle;
RESET TimeZone;

-- Fences and versions: any bigint has an answer.
SELECT n, r.outcome AS renew, e.outcome AS release, t.outcome AS takeover
	FROM unnest(ARRAY[0, -1, 2, 4294967297, 9007199254740993, 9223372036854775807, -9223372036854775808]) n,
		LATERAL lease_renew('patient', 'A', n) r, LATERAL lease_release('patient', 'A', n) e,
		LATERAL lease_takeover('patient', 'A', n) t;
SELECT n, outcome
	FROM unnest(ARRAY[0, -1, 2, 9223372036854775807, -9223372036854775808]) n, LATERAL lease_renew('patient', 'A', 1, version => n);
SELECT :answer FROM lease_get('patient');

-- Nothing was made by what was refused.
SELECT name FROM lease_status ORDER BY name COLLATE "C";

DROP FUNCTION claimed;
DROP EXTENSION lease;
