# Clients that share server sessions, behind PgBouncer in transaction mode.
#
# A token belongs to a transaction.  The hazard is a pooled session that still
# has it when the next client comes: that one would write under a lease that it
# does not hold.  So after every way in which a transaction can end, another
# client of the very same session writes without a token, and must be refused.
# What does leak is a plain SET of lease.token, as any SET does behind such a
# pooler: that is shown here too, and proves that the test would see a leak.
# Then 20 clients run the verbs and guarded writes on two sessions.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use LeaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin';
plan skip_all => 'pgbouncer is not installed: nothing is known about poolers' unless defined $pgbouncer;

# The server looks after its clients while a statement runs, so that one whose
# client has gone does not run on.
my $node = new_node('node', conf => "max_prepared_transactions = 2\nclient_connection_check_interval = 100ms\n");
my $clients = 20;
my $rounds = 10;
$node->safe_psql(
	'postgres', q{
	CREATE ROLE worker LOGIN;
	SELECT lease_grant('default', 'worker', 'use');
	CREATE TABLE accounts (id serial PRIMARY KEY, writer text);
	SELECT lease_guard('accounts', name => 'accounts');
	CREATE TABLE ledger (name text, owner text, fence bigint);
	SELECT lease_guard('ledger', name_column => 'name', fence_column => 'fence');
	CREATE TABLE said (pid int DEFAULT pg_backend_pid(), client int, verb text,
		ok boolean, outcome text, fence bigint);
	GRANT ALL ON ALL TABLES IN SCHEMA public TO worker;
	GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO worker});

# The pooler: "one" has a single session, "two" has two of them.
my $dir = PostgreSQL::Test::Utils::tempdir_short();
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $server = 'host=' . $node->host . ' port=' . $node->port . ' dbname=postgres';
append_to_file("$dir/users", qq{"worker" ""\n});
append_to_file("$dir/ini", <<INI);
[databases]
one = $server pool_size=1
two = $server pool_size=2
[pgbouncer]
listen_addr =
listen_port = $port
unix_socket_dir = $dir
auth_type = trust
auth_file = $dir/users
pool_mode = transaction
logfile = $dir/log
INI
my $pooler = IPC::Run::start([ $pgbouncer, '-q', "$dir/ini" ],
	'<', File::Spec->devnull, '>', "$dir/out", '2>&1');
END
{
	my $status = $?;
	$pooler->kill_kill(grace => 10) if defined $pooler;
	$? = $status;
}

sub pooled
{
	my ($pool) = @_;

	return "host=$dir port=$port dbname=$pool user=worker";
}

# What a client of the single session says: its output, its errors.
sub client
{
	my ($sql) = @_;
	my (undef, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql",
		connstr => pooled('one'), on_error_stop => 0);

	return ($out, $err);
}

# A psql that cannot connect may be gone before it has been given its script, and
# that is an error too.
ok(wait_for(sub { ((eval { client('SELECT 1') })[0] // '') eq '1' }, 'the pooler'), 'the pooler takes connections')
  or BAIL_OUT(slurp_file("$dir/log"));

my $insert = q{INSERT INTO accounts (writer) VALUES};
my $present = q{SELECT ok FROM lease_present('accounts', 'A', 1)};
my $set_local = q{SET LOCAL lease.token = 'TOKEN'};
my $token = $node->safe_psql('postgres', q{SELECT lease_token('default', 'accounts', 'A', 1)});
my ($session) = client('SELECT pg_backend_pid()');
my ($claimed) = client(q{SELECT ok, fence FROM lease_claim('accounts', 'A', ttl => '1 h')});
is($claimed, 't|1', 'A holds the lease');

sub rows_of
{
	my ($writer) = @_;

	return $node->safe_psql('postgres', "SELECT count(*) FROM accounts WHERE writer = '$writer'");
}

# Another client, which has no token, is in the same session and is refused.
sub no_token_left
{
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($out, $err) = client(qq{SELECT pg_backend_pid(), coalesce(current_setting('lease.token', true), ''); $insert ('stranger')});

	is($out, "$session|", "$what: the next client has the same session, and no token in it");
	like($err, qr/ERROR:  LE003: /, '... and is refused');
}

no_token_left('at first');

# How a transaction with a token ends: by what it says, and whether A's write stays.
my %ends = (
	'a commit'                  => [ 'COMMIT', 1 ],
	'a rollback'                => [ 'ROLLBACK', 0 ],
	'an error'                  => [ 'SELECT 1 / 0; COMMIT', 0 ],
	'a refused write'           => [ q{INSERT INTO ledger VALUES ('other', 'A'); COMMIT}, 0 ],
	'a failed COMMIT'           => [
		q{CREATE TEMP TABLE t (i int UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO t VALUES (1), (1); COMMIT}, 0 ],
	'a rolled back savepoint'   => [ 'SAVEPOINT s; SELECT 1 / 0; ROLLBACK TO s; COMMIT', 1 ],
	'a statement timeout'       => [ q{SET LOCAL statement_timeout = '10ms'; SELECT pg_sleep(600); COMMIT}, 0 ],
	'an attempt to prepare'     => [ q{PREPARE TRANSACTION 'p'; ROLLBACK}, 0 ]);
foreach my $way ($present, $set_local =~ s/TOKEN/$token/r)
{
	my $verb = $way =~ /present/ ? 'lease_present' : 'SET LOCAL';

	foreach my $end (sort keys %ends)
	{
		my ($sql, $stays) = @{ $ends{$end} };
		my $writer = "A, $verb, $end";

		client("BEGIN; $way; $insert ('$writer'); $sql");
		is(rows_of($writer), $stays, "$verb, $end: A's write " . ($stays ? 'is there' : 'is gone'));
		no_token_left("$verb, $end");
	}

	# A statement that somebody cancels while it runs.
	my $canceled = psql_start(pooled('one'), "BEGIN; $way; $insert ('canceled'); SELECT pg_sleep(600);\nCOMMIT;");
	my $asleep = "pid = $session AND wait_event = 'PgSleep'";
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE $asleep"),
		"$verb: A's statement runs");
	is($node->safe_psql('postgres', "SELECT pg_cancel_backend($session)"), 't', '... and is cancelled');
	psql_finish($canceled);
	like(psql_said($canceled, 'err'), qr/canceling statement due to user request/, '... as A is told');
	no_token_left("$verb, a cancelled statement");
}
client("$present; $present");
no_token_left('lease_present outside a transaction');
client(q{SELECT lease_present('accounts', 'A', 7)});
no_token_left('a refused lease_present');
client("BEGIN; SET lease.token = '$token'; ROLLBACK");
no_token_left('SET in a transaction that is rolled back');

# A client that dies in its transaction takes the session with it.
my $dying = psql_start(pooled('one'), "BEGIN; $present; $insert ('dying'); SELECT pg_sleep(600);");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $session AND wait_event = 'PgSleep'"),
	'A is in its transaction');
$dying->{run}->kill_kill(grace => 0);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $session"),
	'... dies, and its session ends');
($session) = client('SELECT pg_backend_pid()');
no_token_left('a client that died');
is(rows_of('dying'), 0, '... and what it wrote is gone');

# What is not safe: a plain SET stays in the session, for whoever comes next.
is(rows_of('stranger'), 0, 'no stranger has written so far');
foreach my $set ("SET lease.token = '$token'", "BEGIN; SET lease.token = '$token'; COMMIT",
	"SELECT set_config('lease.token', '$token', false)")
{
	client($set);
	my ($out, $err) = client(
		qq{SELECT pg_backend_pid(), coalesce(current_setting('lease.token', true), ''); $insert ('leaked')});
	is($out, "$session|$token", "after $set the next client finds A's token");
	is($err, '', '... and writes under it');
	client('RESET lease.token');
	no_token_left('RESET');
}
is(rows_of('leaked'), 3, 'the leaked writes are there');
client("SET lease.token = '$token'");
is($node->safe_psql('postgres', q{
	SELECT outcome FROM lease_break('accounts', 1, 'test');
	SELECT outcome, fence FROM lease_claim('accounts', 'B')}),
	"broken\nclaimed|2", 'B is granted the lease');
like((client("$insert ('leaked')"))[1], qr/ERROR:  LE001: /, '... or is refused on account of a lease that it never had');
client('DISCARD ALL');
no_token_left('DISCARD ALL');

# Twenty clients on two sessions.  Each works under a lease of its own, tries to
# write under its neighbour's, and goes for one that all of them want.
my $script = <<'PGBENCH';
\set next (:client_id + 1) % :clients
INSERT INTO said (client, verb, ok, outcome, fence)
	SELECT :client_id, 'claim', ok, outcome, fence FROM lease_claim('own-' || :client_id, 'owner-' || :client_id, ttl => '1 h')
	RETURNING fence \gset
INSERT INTO said (client, verb, ok, outcome, fence)
	SELECT :client_id, 'renew', ok, outcome, fence FROM lease_renew('own-' || :client_id, 'owner-' || :client_id, :fence);
BEGIN;
SELECT ok FROM lease_present('own-' || :client_id, 'owner-' || :client_id, :fence);
INSERT INTO ledger VALUES ('own-' || :client_id, 'owner-' || :client_id);
COMMIT;
BEGIN;
SELECT set_config('lease.token', lease_token('default', 'own-' || :client_id, 'owner-' || :client_id, :fence), true);
INSERT INTO ledger VALUES ('own-' || :client_id, 'owner-' || :client_id);
COMMIT;
DO $$
BEGIN
	INSERT INTO ledger VALUES ('own-' || :next, 'owner-' || :client_id);
EXCEPTION WHEN SQLSTATE 'LE003' THEN
	INSERT INTO said (client, verb, ok, outcome) VALUES (:client_id, 'intrude', false, 'no token');
END $$;
INSERT INTO said (client, verb, ok, outcome, fence)
	SELECT :client_id, 'shared claim', ok, outcome, fence FROM lease_claim('shared', 'owner-' || :client_id, ttl => '1 h')
	RETURNING ok::int AS got, coalesce(fence, 0) AS shared \gset
\if :got
BEGIN;
SELECT ok FROM lease_present('shared', 'owner-' || :client_id, :shared);
INSERT INTO ledger VALUES ('shared', 'owner-' || :client_id);
COMMIT;
INSERT INTO said (client, verb, ok, outcome, fence)
	SELECT :client_id, 'shared release', ok, outcome, fence FROM lease_release('shared', 'owner-' || :client_id, :shared);
\endif
INSERT INTO said (client, verb, ok, outcome, fence)
	SELECT :client_id, 'release', ok, outcome, fence FROM lease_release('own-' || :client_id, 'owner-' || :client_id, :fence);
PGBENCH
append_to_file("$dir/script", $script);
command_ok([ 'pgbench', '-n', '-M', 'simple', '-c', $clients, '-t', $rounds, '-D', "clients=$clients",
		'-f', "$dir/script", pooled('two') ], "$clients clients run $rounds rounds on two sessions, without an error");

my $each = $clients * $rounds;
is($node->safe_psql('postgres', q{
	SELECT verb, ok, outcome, count(*) FROM said WHERE verb !~ 'shared' GROUP BY 1, 2, 3 ORDER BY 1}),
	"claim|t|claimed|$each\nintrude|f|no token|$each\nrelease|t|released|$each\nrenew|t|renewed|$each",
	'... each gets its own lease every time, and nobody a neighbour\'s');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT pid) <= 2, count(DISTINCT client) FROM said}),
	"t|$clients", '... in two sessions at most');
is($node->safe_psql('postgres', q{
	SELECT count(*), count(DISTINCT fence), bool_and(owner = 'owner-' || substr(name, 5)) FROM ledger WHERE name <> 'shared'
	GROUP BY name}),
	join("\n", (2 * $rounds . "|$rounds|t") x $clients), '... every guarded write under its own writer\'s fence');
is($node->safe_psql('postgres', q{
	SELECT DISTINCT ok, outcome FROM said WHERE verb = 'shared claim' AND outcome NOT IN ('claimed', 'held', 'busy')}),
	'', '... the shared lease is granted, held or busy');
is($node->safe_psql('postgres', q{
	SELECT array(SELECT (client, fence) FROM said WHERE verb = 'shared claim' AND ok ORDER BY fence)
		= array(SELECT (substr(owner, 7)::int, fence) FROM ledger WHERE name = 'shared' ORDER BY fence),
	(SELECT count(*) > 0 FROM ledger WHERE name = 'shared')}),
	't|t', '... each of its grants has one write, its own');
is_healthy($node, 'afterwards');

done_testing();
