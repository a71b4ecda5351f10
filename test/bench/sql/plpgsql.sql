-- The same safe steps as lease_renew(), in PL/pgSQL (yardstick.sql).
\set name random(:first, :last)
SELECT * FROM yardstick.renew(:name, 'worker', 1);
