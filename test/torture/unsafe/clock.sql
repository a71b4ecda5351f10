-- A renewal that reads the clock, then waits for the row's lock, and then judges
-- by what the clock had said.
CREATE FUNCTION unsafe.lease_renew(name text, owner text, fence bigint,
	version bigint DEFAULT NULL, ttl interval DEFAULT NULL, namespace text DEFAULT 'default')
RETURNS lease_result LANGUAGE plpgsql AS $$
DECLARE
	now timestamptz := clock_timestamp();
	answer lease_result;
	facts lease_result;
BEGIN
	PERFORM FROM lease_catalog.lease AS l
		WHERE l.namespace = $6 AND l.name = $1 FOR NO KEY UPDATE;
	PERFORM set_config('lease.clock', now::text, true);
	answer := public.lease_renew($1, $2, $3, $4, $5, namespace => $6);
	PERFORM set_config('lease.clock', '', true);

	-- shown to a clock that is behind, an expiry looks nearer than it is
	facts := public.lease_get($1, $6);
	facts.ok := answer.ok;
	facts.outcome := answer.outcome;
	facts.server_time := answer.server_time;
	RETURN facts;
END
$$;
