-- A transaction that changes one row.
\set id random(:first, :last)
BEGIN;
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
