# A hot standby reads leases and grants none.
#
# lease_get and the views work there, on what has been replayed, judged by the
# clock: a lapse is seen without being told.  Every function that changes
# something answers 25006, there and in a read-only transaction; the list of
# functions is the catalogue's, so that a new one cannot be forgotten.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $primary = new_node('primary', allows_streaming => 1);

$primary->safe_psql('postgres', q{CREATE ROLE stranger LOGIN});
$primary->backup('base');
my $standby = standby_node('standby', $primary, 'base');

my $held   = claim($primary, 'held');
my $lapsed = claim($primary, 'lapsed', ttl => '1 s');
my $free   = one_epoch($primary, 'free');
claim($primary, 'broken');
$primary->safe_psql('postgres', 'CREATE TABLE guarded (id int)');
answer($primary, q{lease_break('broken', 1, 'test')});
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $get = answer($standby, q{lease_get('held')});
is_deeply([ @$get{qw(ok outcome owner fence version expires_at)} ],
	[ 1, 'held', 'A', @$held{qw(fence version expires_at)} ], 'a held lease, as the primary answered');
cmp_ok($get->{remaining}, '>', 3000, '... with what remains of it');
$get = answer($standby, q{lease_get('free')});
is_deeply([ @$get{qw(ok outcome owner fence)} ], [ 1, 'free', '', $free ], 'a free lease');
is(answer($standby, q{lease_get('nobody')})->{outcome}, 'not_found', 'a name that there is not');
is_error($standby, q{SELECT lease_get('held')}, '42501', 'a stranger is refused', role => 'stranger');

# The clock alone ends an epoch: nothing has been replayed since.
my $negative = 0;
ok(wait_for(
		sub {
			$get = answer($standby, q{lease_get('lapsed')});
			$negative++ if $get->{remaining} < 0;
			return $get->{outcome} eq 'expired';
		},
		'the lease lapses'),
	'a lapsed lease reads as expired');
is($negative, 0, 'what remains was never negative');
is($get->{remaining}, 0, '... and is nothing after the end');

my $status = q{SELECT name, state, coalesce(owner, ''), fence, remaining >= '0' FROM lease_status ORDER BY name};
is( $standby->safe_psql('postgres', $status),
	join("\n", 'broken|free||1|', 'free|free||1|', 'held|held|A|1|t', 'lapsed|expired|A|1|t'),
	'so says lease_status');
is($standby->safe_psql('postgres', 'SELECT name, ended_by FROM lease_history ORDER BY name'),
	"broken|broken\nfree|released", 'lease_history is there');
is($standby->safe_psql('postgres', 'SELECT intent, name, reason FROM lease_intents'),
	'break|broken|test', 'lease_intents is there');
is_healthy($standby, 'the standby');

# A standby that lags shows an old epoch, but never as more than it was.
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres', q{SELECT pg_get_wal_replay_pause_state() = 'paused'});
my $taken = answer($primary, "lease_takeover('lapsed', 'B', $lapsed->{fence}, '1 h')");
is($taken->{outcome}, 'taken_over', 'the primary goes on');
$get = answer($standby, q{lease_get('lapsed')});
is_deeply([ @$get{qw(outcome owner fence remaining)} ], [ 'expired', 'A', $lapsed->{fence}, 0 ],
	'a standby that lags does not call the old epoch held');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
is(fence_of($standby, 'lapsed'), $taken->{fence}, 'once it has caught up it shows the new one');

# Whatever changes something is refused, and says so.
my $functions = $primary->safe_psql(
	'postgres', q{
	SELECT DISTINCT p.proname
	FROM pg_depend d
	JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'lease'
	JOIN pg_proc p ON d.objid = p.oid
	WHERE d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
		AND d.refclassid = 'pg_extension'::regclass
		AND p.pronamespace <> 'lease_catalog'::regnamespace
		AND p.prorettype <> 'trigger'::regtype
	ORDER BY 1});

is(join("\n", sort(keys %changes, keys %reads)), $functions, 'every function is tried');
foreach my $function (sort keys %changes)
{
	my $call = "SELECT * FROM $function$changes{$function}";

	is_error($standby, $call, '25006', "$function on a standby");
	is_error($primary, "BEGIN READ ONLY; $call", '25006', "$function in a read-only transaction");
}
foreach my $function (sort keys %reads)
{
	my $call = "SELECT count(*) > 0 FROM $function$reads{$function}";

	is($standby->safe_psql('postgres', $call), 't', "$function works on a standby");
	is($primary->safe_psql('postgres', "BEGIN READ ONLY; $call"), 't', "$function in a read-only transaction");
}
is(answer($primary, q{lease_get('held')})->{version}, $held->{version}, 'nothing has changed');

done_testing();
