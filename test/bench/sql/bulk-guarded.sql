-- The same (bulk.sql) under the tokens of the leases that guard the rows.
\set step 1 - :step
BEGIN;
SELECT lease_present(name, 'worker', 1) FROM unnest(:names::text[]) AS name;
\if :step
UPDATE account SET balance = balance WHERE id = 0;
\else
UPDATE account SET balance = balance + 1;
\endif
COMMIT;
