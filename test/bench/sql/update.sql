-- The bare UPDATE.  Unsafe: where it has to wait for somebody who only locked
-- the row, the WHERE was evaluated before the wait, and it renews what has
-- expired meanwhile.  The version is compared with >=, so that the load need
-- not remember one for each lease; that costs what = costs.
\set name random(:first, :last)
UPDATE yardstick.lease
SET version = version + 1, renewed_at = clock_timestamp(),
	expires_at = clock_timestamp() + ttl
WHERE namespace = 'default' AND name = :name
	AND owner = 'worker' AND fence = 1 AND version >= 1
	AND expires_at > clock_timestamp();
