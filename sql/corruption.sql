-- Half a state cannot be written, not even by a superuser at the table itself;
-- and what can be written is judged as it reads.
CREATE EXTENSION lease;
SET lease.clock = '1000';
\set VERBOSITY sqlstate

SELECT outcome FROM lease_claim('held', 'A', ttl => '60 s');
SELECT r.outcome FROM lease_claim('released', 'A', ttl => '60 s') c, LATERAL lease_release('released', 'A', c.fence) r;

-- An epoch is whole or it is not there: none of what belongs to it can go missing.
CREATE FUNCTION written(row_name text, assignment text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('UPDATE lease_catalog.lease SET %s WHERE name = %L', assignment, row_name);
	RAISE EXCEPTION 'written';
EXCEPTION
	WHEN raise_exception THEN
		RETURN SQLERRM;
	WHEN OTHERS THEN
		RETURN SQLSTATE;
END $$;
SELECT a AS assignment, written('held', a) AS held, written('released', a) AS released
	FROM unnest(ARRAY[
		'namespace = NULL', 'name = NULL', 'owner = NULL', 'fence = NULL', 'version = NULL',
		'granted_at = NULL', 'renewed_at = NULL', 'expires_at = NULL', 'ttl = NULL',
		'ended_by = ''released''', 'ended_at = now()', 'ended_by = ''vanished'', ended_at = now()', 'ended_by = '''', ended_at = now()',
		'ended_by = NULL', 'ended_at = NULL',
		'owner = NULL, ended_by = NULL, ended_at = NULL',
		'fence = -1', 'version = -1', 'ttl = ''0''', 'ttl = ''-1 s''', 'ttl = ''-1 mon''',
		'granted_at = ''-infinity''', 'renewed_at = ''infinity''', 'expires_at = ''infinity''', 'expires_at = ''-infinity''',
		'name = ''held''']) a;

DROP FUNCTION written;
DROP EXTENSION lease;
