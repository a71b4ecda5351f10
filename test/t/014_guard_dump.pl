# A guarded table is dumped with its guard and its marks.
#
# A full dump restores, for the triggers come after the data; the marks come with
# it and go on from where they were.  A restore of data alone into a guarded
# table is refused as any other write, and what pg_restore --disable-triggers
# leaves behind is reported, and mended by lease_guard.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir  = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('node');

# What comes of a statement under a token: "ok" or the SQLSTATE.
sub tried
{
	my ($database, $token, $sql) = @_;
	my $error = error_of($node, "SET lease.token = '$token'; $sql", database => $database);

	return $error =~ /ERROR:  (\w{5}): / ? $1 : 'ok';
}

sub one
{
	my ($database, $sql) = @_;

	return $node->safe_psql($database, $sql);
}

$node->safe_psql('postgres', 'CREATE DATABASE app');
$node->safe_psql(
	'app', q{
	CREATE EXTENSION lease;
	CREATE TABLE account (id int PRIMARY KEY, v int);
	CREATE TABLE event (id int, job text, fence bigint) PARTITION BY LIST (id);
	CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1, 2);
	CREATE TABLE event_2 PARTITION OF event DEFAULT;
	CREATE TABLE away (id int);
	SELECT lease_guard('account', 'job'), lease_guard('event', name_column => 'job', fence_column => 'fence'),
		lease_guard('away', 'elsewhere', mode => 'high_water', replication => 'refuse')});
raise_fence($node, 'job', 4, 'app');
claim($node, 'job', owner => 'B', ttl => '1 h', database => 'app');
$node->safe_psql(
	'app', q{
	SET lease.token = 'default/job/B/5 default/elsewhere/Z/77';
	INSERT INTO account VALUES (1, 1), (2, 2);
	INSERT INTO event VALUES (1, 'job'), (7, 'job');
	INSERT INTO away VALUES (1)});
is(tried('app', 'default/job/A/4', 'UPDATE account SET v = 3'), 'LE001', 'the original is guarded');

my $guards = q{SELECT * FROM lease_guards ORDER BY target::text};
my $marks  = q{SELECT namespace, name, max(fence) FROM lease_catalog.mark GROUP BY 1, 2 ORDER BY 2};
my $data   = q{SELECT 'account', a::text FROM account a UNION ALL SELECT 'event', e::text FROM event e UNION ALL SELECT 'away', w::text FROM away w ORDER BY 1, 2};
my %was    = map { $_ => one('app', $_) } $guards, $marks, $data;
unlike($was{$guards}, qr/trigger|partition/, 'nothing is open in the original');

$node->command_ok([ 'pg_dump', '-Fc', '-d', 'app', '-f', "$dir/full" ], 'pg_dump');
$node->command_ok([ 'pg_dump', '-d', 'app', '-f', "$dir/plain.sql" ], 'pg_dump, as text');

# Restored, every guard is as it was, with the data and the marks.
sub check_restored
{
	my ($database, $what) = @_;

	is(one($database, $_), $was{$_}, "$what: as it was: " . substr($_, 0, 40)) foreach $guards, $marks, $data;
	is(one($database, q{SELECT count(*) FROM pg_trigger WHERE tgfoid = 'lease_fence_check'::regproc AND tgenabled <> 'A'}),
		0, "$what: every trigger is an ALWAYS one");
	is(tried($database, '', $_), 'LE003', "$what: guarded: $_")
	  foreach 'UPDATE account SET v = 3', 'TRUNCATE account', 'DELETE FROM event_2', 'TRUNCATE event_1', 'INSERT INTO away VALUES (2)';
	is(tried($database, 'default/job/B/5', 'UPDATE account SET v = v'), 'ok', "$what: the token that was good is good");
	is(tried($database, 'default/elsewhere/Z/76', 'INSERT INTO away VALUES (2)'), 'LE005', "$what: below the mark");
	is(one($database, q{SELECT outcome, high_water FROM lease_admit('elsewhere', 76)}),
		'below_high_water|77', "$what: ... for lease_admit too");
	# Made again, it finds the triggers that were restored by their names.
	one($database, q{SELECT lease_guard('event', name_column => 'job', fence_column => 'fence')});
	is(one($database, $guards), $was{$guards}, "$what: the guard can be made again");
	is(one($database, q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'event_1'::regclass AND tgfoid = 'lease_fence_check'::regproc}),
		3, "$what: ... without a trigger too many");
	is(one($database, q{SELECT lease_unguard('event')}), 't', "$what: ... and be taken away");
	is(one($database, q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'event_1'::regclass AND tgfoid = 'lease_fence_check'::regproc}),
		0, "$what: ... with all that is its own");
}

$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0; CREATE DATABASE plain TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', "$dir/full" ], 'pg_restore');
check_restored('restored', 'restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'plain', '-f', "$dir/plain.sql" ], 'psql: plain.sql');
check_restored('plain', 'plain text');

# The holder's epoch is of another history now: its next has a higher fence, and
# the mark follows.
$node->safe_psql('restored', q{SELECT lease_release('job', 'B', 5)});
my $next = claim($node, 'job', owner => 'C', database => 'restored');
cmp_ok($next->{fence}, '>', 5, 'the next epoch of the restored database');
is(tried('restored', "default/job/C/$next->{fence}", 'UPDATE account SET v = v'), 'ok', '... writes');
is(tried('restored', 'default/job/B/5', 'UPDATE account SET v = v'), 'LE001', '... and the one before does not');

# Data alone, into the guarded table of another database: refused, and nothing
# is written.
$node->safe_psql('postgres', "CREATE DATABASE data TEMPLATE template0");
$node->command_ok([ 'pg_restore', '--schema-only', '--exit-on-error', '-d', 'data', "$dir/full" ], 'pg_restore --schema-only');
my @data_only = ('pg_restore', '--data-only', '--exit-on-error', '-t', 'account', '-d', 'data', "$dir/full");
$node->command_fails_like(\@data_only, qr/no token was presented/, 'pg_restore --data-only is refused');
is(one('data', 'SELECT count(*) FROM account'), 0, '... and wrote nothing');

# With a token it passes, if there is such a lease; with --disable-triggers in
# any case, and then the guard is not what it was.
claim($node, 'job', owner => 'D', database => 'data');
{
	local $ENV{PGOPTIONS} = '-c lease.token=default/job/D/' . fence_of($node, 'job', 'data');

	$node->command_ok(\@data_only, 'pg_restore --data-only under a token');
}
is(one('data', 'SELECT count(*) FROM account'), 2, '... wrote');
$node->command_ok(
	[ 'pg_restore', '--data-only', '--disable-triggers', '--exit-on-error', '-t', 'event_1', '-t', 'away', '-d', 'data', "$dir/full" ],
	'pg_restore --data-only --disable-triggers');
is(one('data', 'SELECT count(*) FROM event'), 1, '... wrote');
like(one('data', q{SELECT open FROM lease_guards WHERE target = 'away'::regclass}),
	qr/does not fire where session_replication_role is replica/, '... and lease_guards tells what it left');
like(one('data', q{SELECT open FROM lease_guards WHERE target = 'event'::regclass}),
	qr/of event_1 does not fire/, '... of a partition too');
is(tried('data', '', q{SET session_replication_role = replica; INSERT INTO away VALUES (3)}), 'ok', '... which is open');
$node->safe_psql(
	'data', q{SELECT lease_guard('event', name_column => 'job', fence_column => 'fence'),
	lease_guard('away', 'elsewhere', mode => 'high_water', replication => 'refuse')});
is(one('data', $guards), $was{$guards}, '... and lease_guard mends it');
is(tried('data', '', q{SET session_replication_role = replica; INSERT INTO away VALUES (3)}), 'LE003', '... which is closed');

# A dump of the guarded tables alone, without the extension: what restores it
# first has to make the extension.
$node->safe_psql('postgres', 'CREATE DATABASE part TEMPLATE template0');
$node->command_ok([ 'pg_dump', '-t', 'account', '-d', 'app', '-f', "$dir/part.sql" ], 'pg_dump -t');
$node->command_fails_like([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'part', '-f', "$dir/part.sql" ],
	qr/lease_fence_check/, '... cannot restore the guard without the extension');
$node->safe_psql('part', 'DROP TABLE account; CREATE EXTENSION lease');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'part', '-f', "$dir/part.sql" ], '... and can with it');
is(tried('part', '', 'DELETE FROM account'), 'LE003', '... which is guarded');
is(tried('part', 'default/job/B/5', 'DELETE FROM account'), 'LE006', '... by a lease that there is not');

is_healthy($node, 'the original', 'app');
done_testing();
