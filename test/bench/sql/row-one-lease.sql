-- The same, where all rows, and so all clients, are under one lease.
\set id random(:first, :last)
BEGIN;
SELECT lease_present('ledger0', 'worker', 1);
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
