-- The same by hand (queue.sql).  The number of the attempt keeps whoever came too
-- late from completing what another one has taken.
\set step (:step + 1) % 3
\if :step = 1
INSERT INTO yardstick.job (payload) VALUES ('{"customer": 4711}');
\elif :step = 2
UPDATE yardstick.job
SET owner = 'poller', attempts = attempts + 1, due_at = clock_timestamp() + interval '30 s'
WHERE id = (
	SELECT id FROM yardstick.job
	WHERE status = 'open' AND due_at <= now()
	ORDER BY priority DESC, due_at
	FOR UPDATE SKIP LOCKED LIMIT 1)
RETURNING id, attempts, payload \gset
\else
UPDATE yardstick.job SET status = 'done', done_at = clock_timestamp()
WHERE id = :id AND owner = 'poller' AND attempts = :attempts AND status = 'open';
\endif
