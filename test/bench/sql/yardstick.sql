-- The table of the yardsticks: the same columns, rows in the same places,
-- primary key and storage settings as the extension's own table, without its
-- CHECKs and triggers, which would only make the yardsticks slower.
CREATE SCHEMA yardstick;
CREATE TABLE yardstick.lease (LIKE lease_catalog.lease INCLUDING INDEXES);
SELECT pg_catalog.format('ALTER TABLE yardstick.lease SET (%s)',
						 pg_catalog.array_to_string(reloptions, ', '))
FROM pg_catalog.pg_class
WHERE oid = 'lease_catalog.lease'::regclass
\gexec
INSERT INTO yardstick.lease SELECT * FROM lease_catalog.lease ORDER BY ctid;
GRANT USAGE ON SCHEMA yardstick TO :"role";
GRANT SELECT, UPDATE ON yardstick.lease TO :"role";

-- What lease_renew() does, in PL/pgSQL: lock the row, read it again, read the
-- clock, decide, write.  Left out in its favour: privileges, what the namespace
-- allows, the limit on the wait for the lock, and that a refusal undoes its
-- lock.
CREATE FUNCTION yardstick.renew(
	name text,
	owner text,
	fence bigint,
	version bigint DEFAULT NULL,
	ttl interval DEFAULT NULL,
	namespace text DEFAULT 'default')
RETURNS lease_result
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	l yardstick.lease;
	moment timestamptz;
	outcome text;
BEGIN
	PERFORM FROM yardstick.lease AS t
	WHERE t.namespace = renew.namespace AND t.name = renew.name
	FOR NO KEY UPDATE;
	SELECT * INTO l FROM yardstick.lease AS t
	WHERE t.namespace = renew.namespace AND t.name = renew.name;
	moment := clock_timestamp();
	outcome := CASE
		WHEN l.name IS NULL THEN 'not_found'
		WHEN renew.fence > l.fence THEN 'unknown_fence'
		WHEN renew.fence < l.fence THEN 'stale_fence'
		WHEN renew.owner <> l.owner THEN 'not_owner'
		WHEN l.ended_by IS NOT NULL THEN l.ended_by
		WHEN moment >= l.expires_at THEN 'expired'
		WHEN renew.version <> l.version THEN 'stale_version'
		ELSE 'renewed'
	END;
	IF outcome = 'renewed' THEN
		UPDATE yardstick.lease AS t
		SET version = t.version + 1, renewed_at = moment,
			expires_at = moment + coalesce(renew.ttl, t.ttl),
			ttl = coalesce(renew.ttl, t.ttl)
		WHERE t.namespace = renew.namespace AND t.name = renew.name
		RETURNING * INTO l;
	END IF;
	RETURN ROW(outcome = 'renewed', outcome, renew.namespace, renew.name,
			   l.owner, l.fence, l.version, l.expires_at,
			   greatest(l.expires_at - moment, '0'), l.ttl, moment,
			   NULL::timestamptz)::lease_result;
END
$$;
VACUUM (ANALYZE) yardstick.lease;
