-- The guarded tables: each stands in a schema of its own as "account", so that
-- all are written to by the same statements.  :rows accounts for bulk UPDATEs;
-- and one for each lease (leases.sql), which is its lease's own.
CREATE PROCEDURE pg_temp.accounts(
	schema text, role text, first bigint, rows bigint, name text, fill integer DEFAULT 100)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE SCHEMA %I', schema);
	EXECUTE format('SET search_path = %I, public', schema);
	-- vacuumed before each turn, and by nobody within one; always as long
	EXECUTE format(
		'CREATE TABLE account (
			id bigint PRIMARY KEY, name text NOT NULL, balance bigint NOT NULL,
			fence bigint)
		WITH (fillfactor = %s, autovacuum_enabled = off, vacuum_truncate = off)', fill);
	EXECUTE format(
		'INSERT INTO account SELECT id, %s, 0, 1 FROM generate_series(%s, %s) AS id',
		name, first, first + rows - 1);
	-- a table that has been written to before
	UPDATE account SET balance = 1;
	EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', schema, role);
	EXECUTE format('GRANT SELECT, UPDATE ON account TO %I', role);
	RESET search_path;
END
$$;

SELECT count((lease_claim('ledger' || n, 'worker', '1 h')).ok)
FROM generate_series(0, 9) AS n;

CALL pg_temp.accounts('unguarded', :'role', 0, :rows, '''ledger0''');
CALL pg_temp.accounts('one_lease', :'role', 0, :rows, '''ledger0''');
CALL pg_temp.accounts('per_value', :'role', 0, :rows, '''ledger0''');
CALL pg_temp.accounts('per_value_10', :'role', 0, :rows, '''ledger'' || id % 10');
CALL pg_temp.accounts('stamped', :'role', 0, :rows, '''ledger0''');
CALL pg_temp.accounts('stamped_per_value', :'role', 0, :rows, '''ledger0''');
CALL pg_temp.accounts('row_unguarded', :'role', :first, :leases, 'id', 50);
CALL pg_temp.accounts('row_per_value', :'role', :first, :leases, 'id', 50);
CALL pg_temp.accounts('row_one_lease', :'role', :first, :leases, 'id', 50);

SELECT lease_guard('one_lease.account', name => 'ledger0');
SELECT lease_guard('per_value.account', name_column => 'name');
SELECT lease_guard('per_value_10.account', name_column => 'name');
SELECT lease_guard('stamped.account', name => 'ledger0', fence_column => 'fence');
SELECT lease_guard('stamped_per_value.account', name_column => 'name', fence_column => 'fence');
SELECT lease_guard('row_per_value.account', name_column => 'name');
SELECT lease_guard('row_one_lease.account', name => 'ledger0');

-- Each lease's first write raises its mark, which is not what is measured.
CREATE PROCEDURE pg_temp.write_once(first bigint, leases bigint)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM lease_present('ledger' || n, 'worker', 1) FROM generate_series(0, 9) AS n;
	UPDATE per_value_10.account SET balance = balance WHERE id < 10;
	COMMIT;
	FOR start IN 0 .. leases - 1 BY 500 LOOP
		PERFORM lease_present((first + n)::text, 'worker', 1)
		FROM generate_series(start, least(start + 500, leases) - 1) AS n;
		UPDATE row_per_value.account SET balance = balance
		WHERE id >= first + start AND id < first + start + 500;
		COMMIT;
	END LOOP;
END
$$;
CALL pg_temp.write_once(:first, :leases);
VACUUM (ANALYZE);
