-- One renewal.
\set name random(:first, :last)
SELECT * FROM lease_renew(:name, 'worker', 1);
