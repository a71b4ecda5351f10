-- A name is its bytes: nothing is folded, trimmed, normalised, hashed or cut.
-- The characters below need UTF-8.
SELECT getdatabaseencoding() <> 'UTF8' AS skip \gset
\if :skip
	\quit
\endif
CREATE EXTENSION lease;
SET lease.clock = '1000';

-- Case, a blank behind or before, a composed and a decomposed letter, blanks and
-- joiners of no width: each is a name of its own, however alike they look.
CREATE TABLE alike (place serial, name text);
INSERT INTO alike (name) VALUES ('job'), ('JOB'), ('Job'), ('job '), (' job'), ('job  '),
	(U&'j\00F3b'), (U&'jo\0301b'), (U&'job\200B'), (U&'job\200D'), (U&'job\00A0'), (U&'\FEFFjob'), (U&'j\043Eb'),
	(U&'\FF4A\FF4F\FF42'), ('%'), ('_'), ('job%'), (''''), ('"job"'), ('\'), ('$1'), ('default');
SELECT count(*) AS names, count(DISTINCT name COLLATE "C") AS different FROM alike;
SELECT outcome, fence, count(*) FROM alike, LATERAL lease_claim(alike.name, 'A' || place, ttl => '60 s') GROUP BY 1, 2;
SELECT outcome, count(*) FROM alike, LATERAL lease_claim(alike.name, 'B') GROUP BY 1;
SELECT bool_and(g.owner = 'A' || place AND g.name = alike.name) AS each_its_own FROM alike, LATERAL lease_get(alike.name) g;
SELECT outcome, count(*) FROM alike, LATERAL lease_release(alike.name, 'A' || place, 1) GROUP BY 1;
SELECT count(*) AS listed FROM lease_status s JOIN alike USING (name);

-- Owners likewise.
SELECT outcome FROM lease_claim('owned', U&'j\00F3b', ttl => '60 s');
SELECT who, outcome FROM (VALUES (U&'jo\0301b'), (U&'J\00D3B'), (U&'j\00F3b '), (U&'j\00F3b')) w(who),
	LATERAL lease_renew('owned', who, 1);

-- What the caller's collation thinks of a name has no say.
DO $$
BEGIN
	CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
EXCEPTION WHEN feature_not_supported THEN	-- a server without ICU
	CREATE COLLATION folding FROM "C";
END $$;
SELECT outcome FROM lease_claim('folded' COLLATE folding, 'A');
SELECT outcome FROM lease_claim('FOLDED' COLLATE folding, 'B');
SELECT outcome, owner FROM lease_get('folded' COLLATE folding);
SELECT outcome FROM lease_renew('folded' COLLATE folding, 'a' COLLATE folding, 1);
DROP COLLATION folding;

-- As long as may be, and one byte more; two that differ in the last byte alone.
SELECT lengths.name_bytes, outcome, octet_length(answer.name) AS kept
	FROM (VALUES (1), (511), (512)) lengths(name_bytes), LATERAL lease_claim(repeat('n', name_bytes), 'A') answer;
SELECT outcome FROM lease_claim(repeat('n', 511) || 'm', 'A');
SELECT name_bytes, outcome FROM (VALUES (511), (512)) lengths(name_bytes), LATERAL lease_claim(repeat('n', name_bytes), 'B');
SELECT outcome, octet_length(name) AS kept FROM lease_claim(repeat(U&'\00E9', 256), 'A');
SELECT outcome, octet_length(owner) AS kept FROM lease_claim('long owner', repeat(U&'\00E9', 127) || 'e');
SELECT outcome FROM lease_renew('long owner', repeat(U&'\00E9', 127) || 'f', 1);
\set VERBOSITY terse
SELECT outcome FROM lease_claim(repeat('n', 513), 'A');
SELECT outcome FROM lease_claim(repeat(U&'\00E9', 256) || 'e', 'A');
SELECT outcome FROM lease_claim('job', repeat('o', 256));
SELECT outcome FROM lease_claim('job', repeat(U&'\00E9', 128));
SELECT outcome FROM lease_claim(repeat('n', 10000000), 'A');

-- Control characters, those of the second set too; what merely begins with the
-- same byte is a letter or a sign.
CREATE FUNCTION answer_to(name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN outcome FROM lease_get(name);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT answer, count(*), string_agg(to_hex(c), ' ' ORDER BY c) FILTER (WHERE answer <> 'not_found') AS characters
	FROM generate_series(1, 255) c, LATERAL answer_to('x' || chr(c) || 'y') answer GROUP BY answer ORDER BY answer COLLATE "C";

-- Two names whose hashes agree are two leases, in every bit that the server's
-- own hashes of a text have.
SELECT min(n) AS one, max(n) AS other FROM (SELECT 'task ' || g AS n FROM generate_series(1, 250000) g) s
	GROUP BY hashtext(n) HAVING count(*) > 1 LIMIT 1 \gset
SELECT hashtext(:'one') = hashtext(:'other') AND :'one' <> :'other' AS twins;
SELECT outcome FROM lease_claim(:'one', 'A');
SELECT outcome FROM lease_claim(:'other', 'B');
SELECT min(n) AS third, max(n) AS fourth FROM (SELECT 'work ' || g AS n FROM generate_series(1, 250000) g) s
	GROUP BY hashtextextended(n, 0)::bit(32) HAVING count(*) > 1 LIMIT 1 \gset
SELECT hashtextextended(:'third', 0)::bit(32) = hashtextextended(:'fourth', 0)::bit(32) AND :'third' <> :'fourth' AS twins;
SELECT outcome FROM lease_claim(:'third', 'A');
SELECT outcome FROM lease_claim(:'fourth', 'B');
SELECT outcome FROM lease_release(:'one', 'A', 1);
SELECT name = :'other' AS other, outcome FROM lease_renew(:'other', 'B', 1);

DROP TABLE alike;
DROP FUNCTION answer_to;
DROP EXTENSION lease;
