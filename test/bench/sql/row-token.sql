-- The same, with a token in lease.token.  This is SET LOCAL, which takes no
-- parameters; the text of the token, which clients keep, is made anew each time.
\set id random(:first, :last)
BEGIN;
SELECT set_config('lease.token', lease_token('default', :id, 'worker', 1), true);
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
