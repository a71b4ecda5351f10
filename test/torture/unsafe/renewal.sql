-- A renewal that trusts a check made earlier: whoever has the lease by now, and
-- whether or not it has lapsed, the write goes through.
CREATE FUNCTION unsafe.lease_renew(name text, owner text, fence bigint,
	version bigint DEFAULT NULL, ttl interval DEFAULT NULL, namespace text DEFAULT 'default')
RETURNS lease_result LANGUAGE plpgsql AS $$
DECLARE
	answer lease_result;
	now timestamptz;
BEGIN
	PERFORM FROM lease_catalog.lease AS l
		WHERE l.namespace = $6 AND l.name = $1 FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN public.lease_renew($1, $2, $3, $4, $5, namespace => $6);
	END IF;
	now := clock_timestamp();
	UPDATE lease_catalog.lease AS l
		SET version = l.version + 1, renewed_at = now, expires_at = now + l.ttl
		WHERE l.namespace = $6 AND l.name = $1;
	answer := public.lease_get($1, $6);
	answer.ok := true;
	answer.outcome := 'renewed';
	answer.server_time := now;
	RETURN answer;
END
$$;
