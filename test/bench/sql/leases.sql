-- The leases that are renewed: names of 16 bytes from :first on, :leases of
-- them, granted for an hour to the owner "worker", in an order that puts
-- neighbours in name far apart on disk.  :role, no superuser, may use them.
CREATE EXTENSION lease;
SELECT lease_grant('default', :'role', 'use');

CREATE PROCEDURE pg_temp.grant_leases(first bigint, leases bigint)
LANGUAGE plpgsql AS $$
DECLARE
	-- a prime: the steps come by every number once
	step CONSTANT bigint := 611953;
BEGIN
	FOR start IN 0 .. leases - 1 BY 10000 LOOP
		PERFORM lease_claim((first + n * step % leases)::text, 'worker', '1 h')
		FROM generate_series(start, least(start + 10000, leases) - 1) AS n;
		COMMIT;
	END LOOP;
END
$$;
CALL pg_temp.grant_leases(:first, :leases);
VACUUM (ANALYZE) lease_catalog.lease;
