# A subscriber to the lease tables that begins to grant starts above its
# publisher, also where it lacks the publisher's last grants.
#
# The apply worker runs with session_replication_role = replica: what it
# deletes and truncates leaves floors behind all the same.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $publisher  = new_node('publisher', allows_streaming => 'logical');
my $subscriber = new_node('subscriber', allows_streaming => 'logical');

# Floors are not published: those of the subscriber are its own triggers' work.
$publisher->safe_psql(
	'postgres', q{
	CREATE PUBLICATION leases FOR TABLE lease_catalog.lease;
	CREATE PUBLICATION ledger FOR TABLE lease_catalog.generation, lease_catalog.request,
		lease_catalog.history, lease_catalog.namespace WITH (publish = 'insert, update')});
my $id   = '00000000-0000-4000-8000-000000000001';
my $held = claim($publisher, 'held', rest => "request_id => '$id'");
raise_fence($publisher, 'free', 3);

my $connstr = $publisher->connstr('postgres');
$connstr =~ s/'/''/g;
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connstr' PUBLICATION leases, ledger");
$subscriber->wait_for_subscription_sync($publisher, 'sub');

# What the subscriber follows: grants, renewals, a release, rows that go.
answer($publisher, "lease_renew('held', 'A', $held->{fence})");
raise_fence($publisher, 'deleted', 30);
$publisher->safe_psql('postgres', q{DELETE FROM lease_catalog.lease WHERE name = 'deleted'});
$publisher->wait_for_catchup('sub');
my $get = answer($subscriber, q{lease_get('held')});
is_deeply([ @$get{qw(outcome owner fence version)} ], [ 'held', 'A', $held->{fence}, $held->{version} + 1 ],
	'the subscriber has what its publisher has');
is($subscriber->safe_psql('postgres', 'SELECT max(fence) FROM lease_catalog.floor'),
	30, 'what the apply worker deletes leaves its fence behind');
is(claim($subscriber, 'held', rest => "request_id => '$id'")->{outcome}, 'replayed', 'a request id is known');

my $floor = claim($publisher, 'truncated')->{fence};
$publisher->safe_psql('postgres', 'TRUNCATE lease_catalog.lease');
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM lease_catalog.lease'), 0, 'a TRUNCATE is followed');
is($subscriber->safe_psql('postgres', 'SELECT max(fence) FROM lease_catalog.floor'), $floor,
	'... and leaves the fences behind too');

is_healthy($subscriber, 'the subscriber');

# A subscriber that grants although it still follows: the publisher's next
# change of the row takes its place, and still no fence comes back.
my $both = claim($publisher, 'both');
$publisher->wait_for_catchup('sub');
answer($subscriber, "lease_break('both', $both->{fence}, 'test')");
my $own = raise_fence($subscriber, 'both', 3);
answer($publisher, "lease_renew('both', 'A', $both->{fence})");
$publisher->wait_for_catchup('sub');
is(fence_of($subscriber, 'both'), $both->{fence}, 'a row of the subscriber\'s own is written over');
answer($subscriber, "lease_break('both', $both->{fence}, 'test')");
cmp_ok(one_epoch($subscriber, 'both'), '>', $own, '... and its fences are not given again');

# The cut-over, without the publisher's last grants, while the publisher goes on.
claim($publisher, 'live');
raise_fence($publisher, 'free', 5);
$publisher->wait_for_catchup('sub');
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION sub DISABLE');
$subscriber->poll_query_until('postgres',
	q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'logical replication worker')})
  or die 'the subscription goes on';
my $last = raise_fence($publisher, 'free', 20);
is(answer($subscriber, q{lease_renew('live', 'A', (lease_get('live')).fence)})->{outcome}, 'renewed',
	'a live epoch goes on at the subscriber');
cmp_ok(one_epoch($subscriber, $_), '>', $last, "the subscriber grants above its publisher: $_")
  foreach qw(free deleted truncated brand-new);
$last = raise_fence($publisher, 'free', 20);
cmp_ok(one_epoch($subscriber, 'free'), '>', $last, '... also above what that gives meanwhile');

# Who publishes all tables, as people do, publishes these; whatever removes rows
# goes on.
$publisher->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
answer($publisher, "lease_offer('task$_')") foreach 1 .. 3;
my %polled =
  map { split /\|/ } split /\n/, $publisher->safe_psql('postgres', q{SELECT name, fence FROM lease_poll('A', 3)});
is(answer($publisher, "lease_complete('task1', 'A', $polled{task1})")->{outcome}, 'completed',
	'a task is completed beside a publication of all tables');
is(answer($publisher, "lease_fail('task2', 'A', $polled{task2}, 'test', final => true)")->{outcome},
	'failed', '... or fails for good');
is(answer($publisher, q{lease_cancel('task3', 'test', '0')})->{outcome}, 'cancel_requested', '... or is cancelled');
$publisher->safe_psql('postgres', q{SELECT lease_admit('resource', 7)});
is($publisher->safe_psql('postgres', q{SELECT lease_mark_reset('resource', 3, 'test')}), 7, 'a mark is taken down');
$publisher->safe_psql('postgres', q{SET lease.history_retention = 0; SELECT count(*) FROM lease_sweep()});
is($publisher->safe_psql('postgres', 'SELECT count(*) FROM lease_catalog.history'), 0, 'history is swept');

done_testing();
