# Cycles of a task's whole life leave nothing behind: a hundred in one session, then
# a hundred in each of twenty at once.
#
# A cycle offers a task, takes what a poll gives, fails, polls again, cancels,
# retries, holds, resumes and completes, and in between errors are thrown: after a
# grant, in a verb, in a wait, out of the transaction.  Sessions take each other's
# tasks.  Of each session open files, memory, contexts, plans, cursors, listeners
# and locks are counted after some cycles that warm it up, and again at the end; of
# the server locks, temporary files, rows and, once all is swept, purged and
# vacuumed, pages.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node(
	'node', conf => q{
max_connections = 40
autovacuum = off
lease.lock_wait = '60s'
});

$node->safe_psql(
	'postgres', q{
	SELECT lease_namespace_create('empty');
	CREATE TABLE seen (session text, moment text, what text, amount bigint);

	-- Files of tables and of the WAL are the server's affair, but that one is not open
	-- twice; pipes are those of the program that looks.
	CREATE PROCEDURE look(session text, moment text) LANGUAGE plpgsql AS $$
	BEGIN
		DELETE FROM file;
		COPY file FROM PROGRAM 'readlink /proc/$PPID/fd/* || :';
		INSERT INTO seen SELECT session, moment, s.what, s.amount FROM (VALUES
			('open files', (SELECT count(*) FROM file WHERE target !~ '/(base|global|pg_wal|pg_xact)/|^pipe:')),
			('tables open twice', (SELECT count(*) - count(DISTINCT target) FROM file WHERE target ~ '/(base|global)/')),
			('bytes', (SELECT sum(used_bytes) FROM pg_backend_memory_contexts)),
			('contexts', (SELECT count(*) FROM pg_backend_memory_contexts)),
			('prepared statements', (SELECT count(*) FROM pg_prepared_statements)),
			('cursors', (SELECT count(*) FROM pg_cursors WHERE pg_cursors.statement !~ 'look')),
			('listeners', (SELECT count(*) FROM pg_listening_channels())),
			('locks', (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype IN ('tuple', 'advisory')
				OR relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'lease_catalog'::regnamespace))))) s (what, amount);
		COMMIT;
	END $$;

	-- What a poll gives, in time: others may be at all that is due at the moment.
	CREATE FUNCTION taken(me text) RETURNS lease_task LANGUAGE plpgsql AS $$
	DECLARE
		task lease_task;
	BEGIN
		SELECT * INTO task FROM lease_poll(me, ttl => '1 h', wait => '60 s', request_id => gen_random_uuid());
		IF task.ok IS NOT TRUE THEN
			RAISE EXCEPTION 'nothing to take';
		END IF;
		RETURN task;
	END $$;

	CREATE PROCEDURE must(answer lease_result, wanted text) LANGUAGE plpgsql AS $$
	BEGIN
		IF answer.outcome <> wanted THEN
			RAISE EXCEPTION '%, not %', answer.outcome, wanted;
		END IF;
	END $$;

	CREATE PROCEDURE cycles(me text, many int) LANGUAGE plpgsql AS $$
	DECLARE
		task lease_task;
	BEGIN
		FOR n IN 1 .. many LOOP
			CALL must(lease_offer(me || ' ' || n, '{"work": 1}', max_attempts => 1000), 'offered');
			COMMIT;

			-- Errors: after a grant, in a verb, between two of them.
			BEGIN
				PERFORM taken(me);
				PERFORM 1 / 0;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
			BEGIN
				task := taken(me);
				PERFORM lease_renew(task.name, me, task.fence, checkpoint => '{"at": 0}');
				PERFORM lease_renew(task.name, me, NULL);
			EXCEPTION WHEN null_value_not_allowed THEN NULL;
			END;
			COMMIT;

			task := taken(me);
			COMMIT;
			CALL must(lease_renew(task.name, me, task.fence, checkpoint => '{"at": 1}'), 'renewed');
			CALL must(lease_complete(task.name, me, task.fence - 1), 'stale_fence');
			CALL must(lease_fail(task.name, me, task.fence, 'once', retry_in => '0'), 'retry_scheduled');
			CALL must(lease_fail(task.name, me, task.fence, 'once'), 'retry_scheduled');
			COMMIT;

			task := taken(me);
			COMMIT;
			CALL must(lease_cancel(task.name, 'cycle'), 'cancel_requested');
			COMMIT;
			CALL must(lease_fail(task.name, me, task.fence, 'cancelled'), 'failed');
			COMMIT;
			CALL must(lease_retry(task.name), 'reopened');
			COMMIT;

			task := taken(me);
			CALL must(lease_hold(task.name, 'cycle'), 'hold_set');
			CALL must(lease_resume(task.name), 'resumed');
			COMMIT;
			CALL must(lease_cancel(task.name, 'cycle', deadline => '1 h'), 'cancel_requested');
			CALL must(lease_complete(task.name, me, task.fence, result => '{"done": true}'), 'completed');
			COMMIT;
			CALL must(lease_complete(task.name, me, task.fence), 'completed');
			COMMIT;
		END LOOP;
	END $$;
});

# What a session does, from its start to its end.  Before it is looked at, errors
# come out of the middle of a transaction, and the session goes on.
sub session
{
	my ($me, $warm, $many) = @_;
	my $thrown = qq{
		BEGIN;
		SELECT FROM lease_offer('lost', '{}');
		SELECT FROM taken('$me');
		SELECT 1 / 0;
		ROLLBACK;
		BEGIN;
		SELECT FROM lease_offer('lost', '{}');
		SELECT FROM taken('$me');
		SET LOCAL statement_timeout = '20ms';
		SELECT FROM lease_poll('$me', wait => '60 s', namespace => 'empty');
		ROLLBACK;
	};

	return qq{
		CREATE TEMPORARY TABLE file (target text);
		CALL cycles('$me, warm', $warm);
		$thrown
		CALL look('$me', 'warming up');
		CALL look('$me', 'before');
		CALL cycles('$me', $many);
		$thrown
		CALL look('$me', 'after');
	};
}

# Waits for the sessions to end; all that they have said is the errors that were meant.
sub finish_sessions
{
	my ($what, @started) = @_;
	my $said = '';

	foreach my $psql (@started)
	{
		psql_finish($psql);
		$said .= psql_said($psql, 'out') . psql_said($psql, 'err');
	}
	is(($said =~ s/^.*ERROR:  division by zero\n//mg), 2 * @started, "$what: errors were thrown");
	is(($said =~ s/^.*ERROR:  canceling statement due to statement timeout\n//mg), 2 * @started, "$what: and waits cut short");
	is($said, '', "$what: and nothing else went wrong");
	return;
}

# A few bytes a verb are no leak: the server's caches are filled and refilled, those of
# a session that meets others later than the rest too.
sub is_at_baseline
{
	my ($what, $sessions) = @_;

	is($node->safe_psql('postgres', q{SELECT count(*) FROM seen WHERE moment = 'after'}), 8 * $sessions, "$what: each session was looked at");
	is($node->safe_psql('postgres', q{SELECT * FROM seen WHERE what IN ('open files', 'bytes', 'contexts') AND amount < 3}), '', "$what: and seen");
	is( $node->safe_psql(
			'postgres', q{
		SELECT a.session, a.what, b.amount AS before, a.amount AS after
		FROM seen a JOIN seen b USING (session, what)
		WHERE b.moment = 'before' AND a.moment = 'after' AND a.amount > CASE a.what
			WHEN 'open files' THEN b.amount
			WHEN 'bytes' THEN b.amount + CASE WHEN a.session = 'one' THEN 10000 ELSE 50000 END
			WHEN 'contexts' THEN b.amount + 9
			ELSE 0 END}), '', "$what: nothing is left in a session");
	is($node->safe_psql('postgres', q{SELECT name, state FROM lease_status WHERE state <> 'done'}),
		'', "$what: every task is done, and what was rolled back made none");
	is( $node->safe_psql(
			'postgres', q{
		SELECT * FROM pg_locks WHERE pid <> pg_backend_pid();
		SELECT * FROM pg_ls_tmpdir();
		SELECT datname FROM pg_stat_database WHERE temp_files > 0;
		SELECT * FROM pg_prepared_xacts}), '', "$what: no lock, and no temporary file there is or was");
	is_healthy($node, $what);
	$node->safe_psql('postgres', 'TRUNCATE seen');
	return;
}

# The housekeeping, at a time when all that is there is old, then: of each table its
# rows, its pages, its indexes' pages.
sub swept
{
	my %table;

	$node->safe_psql(
		'postgres', q{
		SET lease.clock = '2100-01-01 00:00 UTC';
		SELECT lease_purge('1 s', max => 100000);
		SELECT lease_sweep(100000);
	});
	foreach my $name (split /\n/, $node->safe_psql('postgres',
			q{SELECT relname FROM pg_class WHERE relnamespace = 'lease_catalog'::regnamespace AND relkind = 'r'}))
	{
		$node->safe_psql('postgres', "VACUUM lease_catalog.$name");
		$table{$name} = [ split /\|/, $node->safe_psql('postgres', qq{
			SELECT (SELECT count(*) FROM lease_catalog.$name), pg_relation_size(c.oid) / 8192, pg_indexes_size(c.oid) / 8192
			FROM pg_class c WHERE c.oid = 'lease_catalog.$name'::regclass}) ];
	}
	return %table;
}

finish_sessions('one', psql_start($node->connstr('postgres'), session('one', 20, 100)));
is_at_baseline('one', 1);

# Pages of an index that are empty are used again, but not given back, so the first
# rounds make it as big as a round needs, and the last one no bigger.
my ($cycles, @tables) = 120;
foreach my $round (1 .. 3)
{
	my $what = "twenty, round $round";

	finish_sessions($what, map { psql_start($node->connstr('postgres'), session("session $_", 20, 100)) } 1 .. 20);
	is_at_baseline($what, 20);
	$cycles += 20 * 120;
	push @tables, { swept() };
}
my %rows = map { $_ => $tables[2]{$_}[0] } keys %{ $tables[2] };
is_deeply(
	\%rows,
	{
		(map { $_ => 0 } qw(lease task due history request polled mark privilege)),
		(map { $_ => 1 } qw(floor namespace)),
		generation => 2,
		intent => 5 * $cycles
	},
	'no row is left but a floor, the generation before and after the first grant, the namespace made before, and what operators did');
foreach my $name (sort keys %rows)
{
	my (undef, $pages, $index_pages) = @{ $tables[2]{$name} };

	ok($pages == 0, "no page of $name is left") if $rows{$name} == 0;
	cmp_ok($index_pages, '<=', 1.2 * $tables[1]{$name}[2] + 2, "the indexes of $name grow no more") if $name ne 'intent';
}
$node->stop;
done_testing();
