-- An UPDATE of every row; before it, one of a single row, so that the session has
-- read what it needs.
\set step 1 - :step
BEGIN;
\if :step
UPDATE account SET balance = balance WHERE id = 0;
\else
UPDATE account SET balance = balance + 1;
\endif
COMMIT;
