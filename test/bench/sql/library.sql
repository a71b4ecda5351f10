-- What a lock library does: a transaction that the client drives, which locks
-- the row, looks at it, and writes.
\set name random(:first, :last)
BEGIN;
SELECT owner = 'worker' AND fence = 1 AND version >= 1
	AND expires_at > clock_timestamp() AS held
FROM yardstick.lease
WHERE namespace = 'default' AND name = :name
FOR UPDATE \gset
\if :held
UPDATE yardstick.lease
SET version = version + 1, renewed_at = clock_timestamp(),
	expires_at = clock_timestamp() + ttl
WHERE namespace = 'default' AND name = :name;
\endif
COMMIT;
