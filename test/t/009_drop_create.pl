# DROP and CREATE EXTENSION under twelve busy sessions.
#
# Whoever is caught in the middle gets an error that a client can tell: that
# something does not exist, or a deadlock.  No internal error, no crash, no
# hang, and the sessions that were there before work on afterwards with what
# they have cached.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = 12;
my $rounds   = 8;
my $node     = new_node('node', conf => "deadlock_timeout = 50ms\n");

# What may be answered: an undefined schema, function, table or object, a
# deadlock.  A function or type that goes between its look-up and its use is
# PostgreSQL's own matter, whose words are XX000 nevertheless.
my $clean = qr/ERROR:  (3F000|42883|42P01|42704|40P01): /;
my $core  = qr/ERROR:  XX000: cache lookup failed for (function|type) \d+\n/;

# What a session does, over and over: psql has no loop, and enough is more than
# the rounds last.
sub script
{
	my ($n) = @_;
	my $work = qq{
		SELECT outcome FROM lease_claim('x' || $n % 4, 's$n', '1 h');
		SELECT outcome FROM lease_claim('own-$n', 's$n', '1 h', request_id => gen_random_uuid());
		SELECT r.outcome FROM lease_get('own-$n') g, lease_renew('own-$n', 's$n', coalesce(g.fence, 1)) r;
		SELECT outcome FROM lease_renew_many('{own-$n,x0,x1}', 's$n', '{1,1,1}');
		SELECT outcome FROM lease_takeover('x0', 's$n', 1);
		SELECT count(*) FROM lease_status;
		SELECT count(*) FROM lease_history;
		SELECT r.outcome FROM lease_get('x' || $n % 4) g, lease_release('x' || $n % 4, 's$n', coalesce(g.fence, 1)) r;
		SELECT outcome FROM lease_break('own-$n', 1, 'test');
		SELECT lease_purge('1 ms', max => 5);
		SELECT count(*) FROM lease_sweep();
	};

	return "\\set VERBOSITY verbose\n" . $work x 5000;
}

my @psqls = map { psql_start($node->connstr('postgres') . ' application_name=busy', script($_)) } 1 .. $sessions;
ok(wait_for(
		sub { $node->safe_psql('postgres', q{SELECT count(*) FROM lease_catalog.history}) > 100 },
		'the sessions work'),
	'the sessions are busy');

my $failed = 0;
foreach my $round (1 .. $rounds)
{
	my $history = q{SELECT count(*) > 20 FROM lease_catalog.history};

	# DROP may be the one that a deadlock strikes.
	wait_for(sub { $node->psql('postgres', 'DROP EXTENSION lease', stderr => \my $err) == 0 }, 'DROP EXTENSION');
	$node->safe_psql('postgres', 'CREATE EXTENSION lease');
	$failed++ unless wait_for(sub { $node->safe_psql('postgres', $history) eq 't' }, 'work goes on');
}
is($failed, 0, 'after each round the sessions work on');

my $alive = $node->safe_psql(
	'postgres', q{
	SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'busy'});
cmp_ok($alive, '>', 0, 'sessions from before the first round are at it to the end');
psql_finish($_) foreach @psqls;

my (%seen, @unclean);
foreach my $psql (@psqls)
{
	my $said = psql_said($psql, 'err');

	while ($said =~ /(ERROR:  [^\n]*\n)/g)
	{
		my $error = $1;

		$seen{$1}++ if $error =~ /ERROR:  (\w+): /;
		push @unclean, $error if $error !~ $clean && $error !~ $core;
	}
}
note("$_: $seen{$_}") foreach sort keys %seen;
cmp_ok(scalar(keys %seen), '>', 0, 'sessions were caught in the middle');
is_deeply(\@unclean, [], 'each of them got a clean error');

my $log = slurp_file($node->logfile);
unlike($log, qr/terminated by signal|PANIC|TRAP:/, 'nothing crashed');

# What comes after starts anew, and works.
my $claimed = claim($node, 'after', owner => 'A');
is($claimed->{outcome}, 'claimed', 'the extension works');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT generation) FROM lease_catalog.generation WHERE generation > 0}),
	1, '... as one history');

# One that sleeps in a call while the extension is replaced at one stroke.
answer($node, q{lease_claim('awaited', 'A', '1 h')});
my $waiter = psql_start($node->connstr('postgres') . ' application_name=waiter',
	"\\set VERBOSITY verbose\nSELECT outcome FROM lease_claim('awaited', 'B', wait => '1 min')");
$node->poll_query_until('postgres',
	q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'waiter' AND wait_event = 'Extension')})
  or die 'nobody waits';
$node->safe_psql('postgres', 'BEGIN; DROP EXTENSION lease; CREATE EXTENSION lease; COMMIT');
psql_finish($waiter);
unlike(psql_said($waiter, 'err'), qr/XX000/, 'a claim that waits meanwhile meets no internal error');
is(answer($node, q{lease_get('awaited')})->{outcome} eq 'held', psql_said($waiter, 'out') =~ /claimed/,
	'... and has what it was told that it has');

# Without the extension the functions are not there, and a session that has
# used it knows nothing better.
is_error(
	$node,
	q{SELECT ok FROM lease_claim('x', 'A'); DROP EXTENSION lease; SELECT lease_claim('x', 'A')},
	'42883', 'after DROP EXTENSION a verb is an undefined function');

done_testing();
