-- One renewal of a task, which says how far it has come.
\set name random(:first, :last)
SELECT * FROM lease_renew(:name, 'worker', 1, checkpoint => '{"done": 17}');
