-- What the two workers write to: once, as the owner of the table, with `use`.
--
-- A task has the lines to import as its payload, {"lines": ["...", ...]}.  Each
-- row belongs to the lease that its column `task` names, which is the task's own.
CREATE TABLE imported (
	task text,
	line integer,
	body text NOT NULL,
	PRIMARY KEY (task, line)
);
SELECT lease_guard('imported', name_column => 'task');
