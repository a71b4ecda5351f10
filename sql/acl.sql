-- Without a grant a role gets nothing, and learns nothing; with one it gets what
-- the grant says, whoever runs the function that calls the verb.
CREATE EXTENSION lease;
SET lease.clock = '1000';
CREATE ROLE regress_lease_stranger;
CREATE ROLE regress_lease_worker;
CREATE ROLE regress_lease_observer;
CREATE ROLE regress_lease_operator;

-- What a role is answered to each verb: on a lease of its own, on one of somebody
-- else, on a name that is free, on one that does not exist, and in a namespace
-- that does not.  Each call is undone.
CREATE TABLE calls (place serial, verb text, arguments text);
INSERT INTO calls (verb, arguments) VALUES
	('lease_claim', '%1$L, ''W'', namespace => %2$L'),
	('lease_takeover', '%1$L, ''W'', 1, namespace => %2$L'),
	('lease_renew', '%1$L, ''W'', 1, namespace => %2$L'),
	('lease_release', '%1$L, ''W'', 1, namespace => %2$L'),
	('lease_get', '%1$L, namespace => %2$L');
GRANT SELECT ON calls TO PUBLIC;
CREATE FUNCTION answer_to(c calls, name text, namespace text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer lease_result;
BEGIN
	EXECUTE format('SELECT * FROM %3$I(' || c.arguments || ')', name, namespace, c.verb) INTO answer;
	RAISE EXCEPTION '%', answer.outcome || coalesce(' ' || quote_literal(answer.owner), '');
EXCEPTION
	WHEN raise_exception THEN RETURN SQLERRM;
	WHEN OTHERS THEN RETURN SQLSTATE;
END $$;
\set answers 'SELECT verb, answer_to(c, \'own\', \'default\') AS own, answer_to(c, \'other\', \'default\') AS other, answer_to(c, \'free\', \'default\') AS free, answer_to(c, \'new\', \'default\') AS new, answer_to(c, \'own\', \'nowhere\') AS nowhere FROM calls c ORDER BY place'
SELECT outcome FROM lease_claim('own', 'W', ttl => '60 s');
SELECT outcome FROM lease_claim('other', 'X', ttl => '60 s');
SELECT c.outcome, r.outcome FROM lease_claim('free', 'W') c, LATERAL lease_release('free', 'W', 1) r;
SELECT outcome FROM lease_hold('free', 'incident');
SELECT outcome FROM lease_resume('free');
\set seen 'SELECT (SELECT count(*) FROM lease_status) AS leases, (SELECT count(*) FROM lease_history) AS ended, (SELECT count(*) FROM lease_intents) AS intents'

-- The extension's owner.
:answers;

-- A stranger: the same from every verb, whether or not there is such a name or
-- namespace, and no row in any view.
SET ROLE regress_lease_stranger;
:answers;
:seen;
-- The words are the same too, but for the namespace that he gave himself.
SELECT * FROM lease_get('own');
SELECT * FROM lease_get('new', namespace => 'nowhere');
SELECT * FROM lease_claim('other', 'W');
SELECT * FROM lease_get('own', namespace => 'it''s');
-- He cannot help himself, nor look behind the functions.
\set VERBOSITY sqlstate
SELECT lease_grant('default', 'regress_lease_stranger', 'use');
SELECT lease_grant('nowhere', 'regress_lease_stranger', 'use');
SELECT lease_revoke('default', 'public', 'use');
SELECT * FROM lease_catalog.lease;
SELECT * FROM lease_catalog.status();
INSERT INTO lease_catalog.privilege VALUES ('default', 'public', 0, 'use');
SET lease.clock = '2000';
SET lease.lock_wait = '1 day';
ALTER ROLE regress_lease_stranger SET lease.clock = '2000';
RESET ROLE;

-- "use": the holder's verbs.  Another holder's name is not shown, one's own is.
SELECT lease_grant('default', 'regress_lease_worker', 'use');
SET ROLE regress_lease_worker;
:answers;
:seen;
-- Direct access to the tables, the table's type, the functions behind the views:
-- none, though a verb writes there for him.
SELECT * FROM lease_catalog.lease;
UPDATE lease_catalog.lease SET owner = 'W';
DELETE FROM lease_catalog.lease;
TRUNCATE lease_catalog.lease;
BEGIN;
LOCK TABLE lease_catalog.lease IN ACCESS SHARE MODE;
ROLLBACK;
SELECT * FROM lease_catalog.status();
SELECT lease_grant('default', 'regress_lease_worker', 'operate');
SET lease.clock = '2000';
-- Roles that may use a namespace trust each other: an owner's name is not bound
-- to a role, and whoever gives the present token is its owner.
SELECT outcome, owner FROM lease_renew('other', 'X', 1);
SELECT outcome, owner FROM lease_renew('other', 'Y', 1);
RESET ROLE;

-- "observe": to look at everything, and nothing more.
SELECT lease_grant('default', 'regress_lease_observer', 'observe');
SET ROLE regress_lease_observer;
:answers;
SELECT name, state, owner FROM lease_status ORDER BY name COLLATE "C";
:seen;
RESET ROLE;

-- "operate" is both.
SELECT lease_grant('default', 'regress_lease_operator', 'operate');
SET ROLE regress_lease_operator;
:answers;
:seen;
SELECT lease_grant('default', 'regress_lease_operator', 'use');
RESET ROLE;

-- Membership counts where it is inherited, and where SET ROLE makes it current.
CREATE ROLE regress_lease_member INHERIT;
CREATE ROLE regress_lease_heir NOINHERIT;
GRANT regress_lease_worker TO regress_lease_member, regress_lease_heir;
SET ROLE regress_lease_member;
SELECT outcome FROM lease_get('own');
RESET ROLE;
SET SESSION AUTHORIZATION regress_lease_heir;
SELECT outcome FROM lease_get('own');
SET ROLE regress_lease_worker;
SELECT outcome FROM lease_get('own');
RESET SESSION AUTHORIZATION;
REVOKE regress_lease_worker FROM regress_lease_member;
SET ROLE regress_lease_member;
SELECT outcome FROM lease_get('own');
RESET ROLE;

-- Who calls is who is current: a SECURITY DEFINER function brings its owner's
-- rights to a stranger, and takes them from a worker who calls a stranger's.
CREATE FUNCTION beat_as_worker() RETURNS text SECURITY DEFINER LANGUAGE sql AS
	$$ SELECT outcome || ' as ' || current_user FROM lease_renew('own', 'W', 1) $$;
ALTER FUNCTION beat_as_worker() OWNER TO regress_lease_worker;
CREATE FUNCTION beat_as_stranger() RETURNS text SECURITY DEFINER LANGUAGE sql AS
	$$ SELECT outcome || ' as ' || current_user FROM lease_renew('own', 'W', 1) $$;
ALTER FUNCTION beat_as_stranger() OWNER TO regress_lease_stranger;
CREATE VIEW behind_a_view AS SELECT outcome, current_user FROM lease_get('own');
ALTER VIEW behind_a_view OWNER TO regress_lease_worker;
GRANT SELECT ON behind_a_view TO PUBLIC;
SET ROLE regress_lease_stranger;
SELECT beat_as_worker();
SELECT beat_as_stranger();
SELECT * FROM behind_a_view;
SET ROLE regress_lease_worker;
SELECT beat_as_worker();
SELECT beat_as_stranger();
SELECT * FROM behind_a_view;
RESET ROLE;
DROP VIEW behind_a_view;
DROP FUNCTION beat_as_worker, beat_as_stranger;

-- A verb acts in its owner's name inside, and only there: after an answer, and
-- after an error from its depths, the caller is who he was.
SELECT outcome FROM lease_claim('last', 'W');
UPDATE lease_catalog.lease SET version = 9223372036854775807 WHERE name = 'last';
GRANT CREATE ON SCHEMA public TO regress_lease_worker;
SET ROLE regress_lease_worker;
CREATE FUNCTION who_after_error() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM lease_renew('last', 'W', 1);
EXCEPTION WHEN numeric_value_out_of_range THEN
	BEGIN
		PERFORM * FROM lease_catalog.lease;
	EXCEPTION WHEN insufficient_privilege THEN
		RETURN current_user;
	END;
END $$;
SELECT who_after_error();
SELECT outcome, current_user FROM lease_renew('own', 'W', 1);
BEGIN;
SAVEPOINT s;
SELECT outcome FROM lease_renew('last', 'W', 1);
ROLLBACK TO s;
SELECT current_user;
SELECT count(*) FROM lease_catalog.lease;
ROLLBACK;
DROP FUNCTION who_after_error;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM regress_lease_worker;

-- A grant belongs to a role, not to its name: dropped and made anew, it opens
-- nothing until it is granted again.
DROP ROLE regress_lease_observer;
CREATE ROLE regress_lease_observer;
SET ROLE regress_lease_observer;
SELECT outcome FROM lease_get('own');
SELECT count(*) FROM lease_status;
RESET ROLE;
SELECT lease_grant('default', 'regress_lease_observer', 'observe');
SET ROLE regress_lease_observer;
SELECT count(*) FROM lease_status;
RESET ROLE;
-- Nor does another role get it by taking the name, and who gave the name away has
-- it no more until he is granted it anew, or takes his name back.
ALTER ROLE regress_lease_operator RENAME TO regress_lease_former;
ALTER ROLE regress_lease_stranger RENAME TO regress_lease_operator;
SET ROLE regress_lease_operator;
SELECT outcome FROM lease_get('own');
SET ROLE regress_lease_former;
SELECT outcome FROM lease_get('own');
RESET ROLE;
ALTER ROLE regress_lease_operator RENAME TO regress_lease_stranger;
ALTER ROLE regress_lease_former RENAME TO regress_lease_operator;
SET ROLE regress_lease_operator;
SELECT outcome FROM lease_get('own');
RESET ROLE;

-- Everybody at once, and back; what one role was granted stays.
SELECT lease_grant('default', 'public', 'use');
SELECT lease_grant('default', 'public', 'use');
SET ROLE regress_lease_stranger;
SELECT outcome, owner FROM lease_get('other');
SELECT count(*) FROM lease_status;
RESET ROLE;
SELECT lease_revoke('default', 'public', 'use');
SELECT lease_revoke('default', 'public', 'use');
SET ROLE regress_lease_stranger;
SELECT outcome FROM lease_get('other');
SET ROLE regress_lease_worker;
SELECT outcome FROM lease_get('other');
RESET ROLE;

-- Taken back: at once, in a session that has the plans warm, and one privilege
-- is not another.
SELECT lease_revoke('default', 'regress_lease_worker', 'observe');
SET ROLE regress_lease_worker;
SELECT outcome FROM lease_renew('own', 'W', 1);
RESET ROLE;
SELECT lease_revoke('default', 'regress_lease_worker', 'use');
SET ROLE regress_lease_worker;
SELECT outcome FROM lease_renew('own', 'W', 1);
RESET ROLE;
-- A grant that is rolled back was none.
BEGIN;
SELECT lease_grant('default', 'regress_lease_worker', 'use');
ROLLBACK;
SET ROLE regress_lease_worker;
SELECT outcome FROM lease_get('own');
RESET ROLE;

-- Grants of what does not exist; a role that is gone can still be revoked from.
SELECT lease_grant('nowhere', 'regress_lease_worker', 'use');
SELECT lease_grant('default', 'regress_lease_nobody', 'use');
SELECT lease_grant('default', 'regress_lease_worker', 'USE');
SELECT lease_grant('default', 'regress_lease_worker', 'own');
SELECT lease_revoke('nowhere', 'regress_lease_worker', 'use');
SELECT lease_revoke('default', 'regress_lease_worker', 'own');
DROP ROLE regress_lease_operator;
SELECT lease_revoke('default', 'regress_lease_operator', 'operate');
SELECT role_name, privilege FROM lease_catalog.privilege;

-- Who owns the database is no superuser, and a stranger here.
SELECT current_database() AS db, current_user AS me \gset
ALTER DATABASE :"db" OWNER TO regress_lease_stranger;
SET ROLE regress_lease_stranger;
SELECT outcome FROM lease_get('own');
SELECT lease_grant('default', 'regress_lease_stranger', 'use');
SELECT count(*) FROM lease_status;
RESET ROLE;
ALTER DATABASE :"db" OWNER TO :"me";

-- A setting that a plain role left behind before the library was loaded does
-- not count once it is.
\c -
SET SESSION AUTHORIZATION regress_lease_stranger;
SET lease.clock = '1000';
SET lease.lock_wait = '1 day';
SELECT count(*) > 0 AS loaded FROM lease_outcomes();
SHOW lease.clock;
SHOW lease.lock_wait;
RESET SESSION AUTHORIZATION;
SELECT server_time BETWEEN statement_timestamp() AND clock_timestamp() AS real FROM lease_get('own');

DROP FUNCTION answer_to;
DROP TABLE calls;
DROP EXTENSION lease;
DROP ROLE regress_lease_stranger, regress_lease_worker, regress_lease_observer, regress_lease_member, regress_lease_heir;
