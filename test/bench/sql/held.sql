-- :held tasks of the owner "worker", in the middle of their work, as they would
-- be found had they been polled long ago for an hour each, and renewed every
-- twenty minutes since: the due entry of each has been pushed on once in an hour,
-- so some come due every moment.  Names and order are as those of leases.sql.
--
-- Written to the tables directly: offers, polls and hours of renewals of a
-- million take too long.  Nobody else may do this.
WITH task AS (
	SELECT (:first + :leases + n * 611953 % :held)::text AS name,
		now() + n * interval '1 h' / :held AS due_at,
		now() - n * 7919 % :held * interval '20 min' / :held AS renewed_at
	FROM generate_series(0::bigint, :held - 1) AS n),
entry AS (
	INSERT INTO lease_catalog.due (namespace, name, priority, due_at, armed_at)
	SELECT 'default', name, 0, due_at, due_at - interval '1 h' FROM task),
carried AS (
	INSERT INTO lease_catalog.task (namespace, name, payload)
	SELECT 'default', name, '{"customer": 4711}' FROM task)
INSERT INTO lease_catalog.lease (
	namespace, name, fence, version, granted_at, renewed_at, expires_at, ttl, owner,
	task, attempts, max_attempts, priority, armed_at, delay)
SELECT 'default', name, 1, 12, now() - interval '4 h', renewed_at,
	renewed_at + interval '1 h', '1 h', 'worker',
	'open', 1, 20, 0, now() - interval '4 h', '0'
FROM task;
VACUUM (ANALYZE);
