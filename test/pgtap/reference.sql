-- doc/reference.md against the catalogue, in both directions: what the extension
-- has is on the page, and what is on the page the extension has.  Read from the
-- page are the headings `### name`, the signatures beneath one, each in a plain
-- fence, and the tables, by the shape of their rows.
BEGIN;
CREATE EXTENSION pgtap;
CREATE EXTENSION lease;
SELECT no_plan();

\set reference `cat doc/reference.md`
\set readme `cat README.md`
\set findings `grep -ohE '"(error|warning)", "[a-z_]+"' src/check.c`
\set codes `grep -ohE '(errcode\(|code = |\] = \{)ERRCODE_[A-Z_]*' src/*.c | grep -o 'ERRCODE.*' | sort -u`
\set refusals `cat src/error.c`
SET intervalstyle = 'postgres';

CREATE TEMP TABLE page AS
	SELECT n, text, max(n) FILTER (WHERE text ~ '^##') OVER (ORDER BY n) AS section
		FROM regexp_split_to_table(:'reference', '\n') WITH ORDINALITY AS line(text, n);
CREATE TEMP TABLE section AS
	SELECT section AS start, substring(min(text) FILTER (WHERE n = section) FROM '^#+ (.*)') AS title, string_agg(text, E'\n' ORDER BY n) AS content
		FROM page WHERE section IS NOT NULL GROUP BY section;
CREATE TEMP VIEW row AS
	SELECT n, title, string_to_array(trim(BOTH '|' FROM text), '|') AS cell
		FROM page JOIN section ON start = section WHERE text ~ '^\|' AND text !~ '^\|---';

CREATE TEMP VIEW members AS
	SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
		WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'lease';
CREATE TEMP VIEW functions AS
	SELECT p.oid, p.proname::text AS name, proargnames[:pronargs] AS arguments,
			regexp_replace(replace(pg_get_function_arguments(p.oid), 'timestamp with time zone', 'timestamptz'), '::(double precision|\w+)(\[\])?', '', 'g') AS signature,
			pg_get_function_result(p.oid) AS result
		FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
		WHERE pronamespace <> 'lease_catalog'::regnamespace;
CREATE TEMP VIEW relations AS
	SELECT c.oid, c.relname::text AS name
		FROM pg_class c JOIN members m ON m.classid IN ('pg_class'::regclass, 'pg_type'::regclass) AND m.objid IN (c.oid, c.reltype)
		WHERE relnamespace <> 'lease_catalog'::regnamespace AND relkind IN ('v', 'c') GROUP BY c.oid, c.relname;

SELECT bag_eq(
	$$SELECT title FROM section WHERE title LIKE 'lease\_%'$$, $$SELECT DISTINCT name FROM functions UNION ALL SELECT name FROM relations$$,
	'each function, type and view has a section, and there are no others');

-- What pg_get_function_arguments() calls OUT are the columns of a table.
SELECT bag_eq(
	$$SELECT regexp_replace(m[1], '\s+', ' ', 'g') FROM section, regexp_matches(content, E'\n```\n(\\w+\\([^`]*)\n```', 'g') m$$,
	$$SELECT format('%s(%s) RETURNS %s', name,
			replace(replace(regexp_replace(signature, '(, )?\mOUT .*', ''), '''00:00:00''', '''0'''), '''00:01:00''', '''1 min'''),
			coalesce('TABLE (' || replace(substring(signature FROM '\mOUT .*'), 'OUT ', '') || ')', result))
		FROM functions$$,
	'signatures: arguments with their defaults, and what is returned');
SELECT is_empty(
	$$SELECT title FROM section, regexp_matches(content, E'\n```\n(\\w+)\\(', 'g') m WHERE title <> m[1]$$,
	'each beneath its own name');
SELECT is_empty(
	$$SELECT name, argument FROM functions, unnest(arguments) argument WHERE argument <> 'namespace'
		EXCEPT SELECT title, m[1] FROM section, regexp_matches(regexp_replace(content, '```.*```', ''), '`(\w+)`', 'g') m$$,
	'each argument is told of, but for the namespace, which is the same everywhere');

SELECT bag_eq(
	$$SELECT title, row_number() OVER (PARTITION BY title ORDER BY n), trim(cell[1], ' `') AS name, trim(cell[2]) AS type
		FROM row WHERE title IN (SELECT name FROM relations) AND cell[1] LIKE ' `%'$$,
	$$SELECT name, row_number() OVER (PARTITION BY name ORDER BY attnum), attname::text, replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz')
		FROM relations JOIN pg_attribute ON attrelid = oid WHERE attnum > 0 AND NOT attisdropped$$,
	'columns of types and views, in their order');

SELECT bag_eq(
	$$SELECT title, trim(cell[1], ' `') AS outcome, trim(cell[2]) AS ok, trim(cell[3]) AS meaning, trim(cell[4]) AS advice FROM row WHERE trim(cell[2]) IN ('yes', 'no')$$,
	$$SELECT verb, outcome, CASE WHEN ok THEN 'yes' ELSE 'no' END, meaning, advice FROM lease_outcomes()$$,
	'each outcome of each verb, word for word');

SELECT bag_eq(
	$$SELECT trim(cell[1], ' `') AS code, trim(cell[2]) AS severity FROM row WHERE title = 'lease_check' AND cell[1] LIKE ' `%'$$,
	format($$SELECT DISTINCT m[2] AS code, m[1] AS severity FROM regexp_matches(%L, '"(\w+)", "(\w+)"', 'g') m$$, :'findings'),
	'each finding of lease_check()');

-- A default is compared as what it means: 1 day and 24 h are the same.  One that is
-- no length of time is a word.
CREATE FUNCTION pg_temp.meaning(value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN justify_interval(nullif(nullif(value, 'empty'), '')::interval);
EXCEPTION WHEN invalid_datetime_format THEN
	RETURN value;
END $$;
SELECT bag_eq(
	$$SELECT trim(cell[1], ' `') AS name, pg_temp.meaning(trim(cell[2], ' `')) AS value, trim(cell[3]) AS unit, trim(cell[4]) AS context
		FROM row WHERE title = 'Settings' AND cell[1] LIKE ' `%'$$,
	$$SELECT name, pg_temp.meaning(boot_val || coalesce(unit, '')) AS value, CASE name WHEN 'lease.clock' THEN 's' ELSE coalesce(unit, '') END AS unit, context
		FROM pg_settings WHERE name LIKE 'lease.%'$$,
	'settings: default, unit, and who may set them');

-- What an SQLSTATE is called, as PL/pgSQL knows it.
CREATE FUNCTION pg_temp.sqlstate_of(condition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DO %L', format('BEGIN RAISE %s; END', condition));
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate;
END $$;
CREATE TEMP VIEW raised AS
	SELECT trim(cell[1]) AS code, trim(cell[2], ' `') AS condition FROM row WHERE title = 'SQLSTATEs' AND cell[2] ~ '^ `\w+` $';
SELECT is_empty(
	$$SELECT code, condition FROM raised WHERE code <> pg_temp.sqlstate_of(condition)$$, 'SQLSTATEs and their names');
SELECT bag_eq(
	'SELECT condition FROM raised',
	format($$SELECT lower(regexp_replace(m[1], '^E_R_I_E_', '')) FROM regexp_matches(%L, 'ERRCODE_(\w+)', 'g') m$$, :'codes'),
	'those that the code raises, and no others');

-- Which errors a function has: test/pgtap/contracts.sql has what it sees on that line.
SELECT set_eq(
	$$SELECT name FROM functions JOIN section ON title = name WHERE content !~ '(?n)^(- )?Errors: '$$,
	ARRAY['lease_outcomes'], 'each function but one has a line of errors');
SELECT is_empty(
	$$SELECT title, state[1] FROM section, regexp_matches(content, '(?n)^(?:- )?Errors: .*$', 'g') line, regexp_matches(line[1], '\m[0-9A-Z]{5}\M', 'g') state
		WHERE state[1] NOT IN (SELECT trim(cell[1]) FROM row WHERE title = 'SQLSTATEs')$$,
	'each error on them is in the list of SQLSTATEs');

-- The extension's own SQLSTATEs, word for word as they are raised.
SELECT bag_eq(
	$$SELECT trim(cell[1]) AS code, trim(cell[2]) AS message, trim(cell[3]) AS hint FROM row WHERE title = 'SQLSTATEs' AND cell[1] ~ '^ LE\d+ $'$$,
	format($$SELECT concat('LE', m[1], m[2], m[3]) AS code, m[4] AS message, m[5] AS hint
		FROM regexp_matches(%L, '\{MAKE_SQLSTATE\(''L'', ''E'', ''(.)'', ''(.)'', ''(.)''\),\s*"([^"]*)",\s*"([^"]*)"\}', 'g') m$$, :'refusals'),
	'refusals of guards: SQLSTATE, message and hint');
SELECT is_empty(
	format($$SELECT m[1] FROM regexp_matches(%L, '(REFUSAL_\w+)\] =', 'g') m EXCEPT SELECT m[1] FROM regexp_matches(%L, '(REFUSAL_\w+)\] = \{(?:MAKE_SQLSTATE|ERRCODE)', 'g') m$$, :'refusals', :'refusals'),
	'no refusal is without one');

-- README says it in short: links into the page, and the settings once more.
SELECT bag_eq(
	format($$SELECT DISTINCT m[1] FROM regexp_matches(%L, '\(doc/reference\.md#(lease_\w+)\)', 'g') m$$, :'readme'),
	$$SELECT title FROM section WHERE title LIKE 'lease\_%'$$, 'README names all of them');

SELECT bag_eq(
	format($$SELECT m[1] AS name, pg_temp.meaning(trim(m[2], '`')) AS value FROM regexp_matches(%L, '\| `(lease\.\w+)` \| ([^|]+) \|', 'g') m$$, :'readme'),
	$$SELECT name, pg_temp.meaning(boot_val || coalesce(unit, '')) AS value FROM pg_settings WHERE name LIKE 'lease.%'$$,
	'and the settings with their defaults');

SELECT * FROM finish();
ROLLBACK;
