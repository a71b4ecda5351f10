-- A poll that looks which tasks are due, waits for whoever is writing them, and then
-- takes them without comparing again.
CREATE FUNCTION unsafe.lease_poll(owner text, max_count int DEFAULT 1, ttl interval DEFAULT NULL,
	wait interval DEFAULT '0', request_id uuid DEFAULT NULL, namespace text DEFAULT 'default')
RETURNS SETOF lease_task LANGUAGE plpgsql AS $$
DECLARE
	due text;
	now timestamptz;
BEGIN
	FOR due IN
		SELECT l.name FROM lease_catalog.lease AS l
		WHERE l.namespace = $6 AND l.task = 'open' AND l.hold_at IS NULL AND l.cancel_at IS NULL
		AND l.attempts < l.max_attempts AND l.armed_at + l.delay <= clock_timestamp()
		AND (l.owner IS NULL OR l.ended_by IS NOT NULL OR l.expires_at <= clock_timestamp())
		ORDER BY l.priority DESC, l.armed_at LIMIT max_count
	LOOP
		now := clock_timestamp();
		UPDATE lease_catalog.lease AS l
			SET owner = $1, fence = l.fence + 1, version = l.version + 1, granted_at = now,
				renewed_at = now, expires_at = now + $3, ttl = $3, hold_at_least = NULL,
				ended_by = NULL, ended_at = NULL, attempts = l.attempts + 1
			WHERE l.namespace = $6 AND l.name = due;
		RETURN QUERY SELECT g.*, l.attempts, l.priority, NULL::jsonb, NULL::jsonb
			FROM public.lease_get(due, $6) AS g
			JOIN lease_catalog.lease AS l ON l.namespace = $6 AND l.name = due;
	END LOOP;
END
$$;
