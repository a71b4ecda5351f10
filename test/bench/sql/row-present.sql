-- The same, with a token that is presented: the row's own lease.
\set id random(:first, :last)
BEGIN;
SELECT lease_present(:id, 'worker', 1);
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
