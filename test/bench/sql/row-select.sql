-- The same without a guard, but with a statement more that does nothing: what a
-- guarded transaction pays for being one statement longer.
\set id random(:first, :last)
BEGIN;
SELECT 1;
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
