-- Tasks that wait to be done, :backlog of them; and the yardstick's, in a table
-- as people make it who write their queue by hand: a job that is taken comes due
-- again after a time, should whoever took it be gone.
CREATE SCHEMA IF NOT EXISTS yardstick;
CREATE SEQUENCE yardstick.task;
CREATE TABLE yardstick.job (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	payload jsonb,
	priority integer NOT NULL DEFAULT 0,
	status text NOT NULL DEFAULT 'open',
	due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	attempts integer NOT NULL DEFAULT 0,
	owner text,
	done_at timestamptz
) WITH (
	fillfactor = 50,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX ON yardstick.job (priority DESC, due_at) WHERE status = 'open';
GRANT USAGE ON SCHEMA yardstick TO :"role";
GRANT USAGE ON SEQUENCE yardstick.task TO :"role";
GRANT SELECT, INSERT, UPDATE ON yardstick.job TO :"role";

SELECT count((lease_offer(nextval('yardstick.task')::text, '{"customer": 4711}')).ok)
FROM generate_series(1, :backlog);
INSERT INTO yardstick.job (payload) SELECT '{"customer": 4711}' FROM generate_series(1, :backlog);
VACUUM (ANALYZE);
