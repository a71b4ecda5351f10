# A point-in-time recovery to before the last grants hands none of them out again.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Cluster;
use Test::More;

# A server recovered from the backup, up to the restore point.
sub recovered
{
	my ($name, $root) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($root, 'base', has_restoring => 1, standby => 0);
	$node->append_conf(
		'postgresql.conf', q{
recovery_target_name = 'before'
recovery_target_action = 'promote'
});
	$node->start;
	await_node($node);
	return $node;
}

sub timeline
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int});
}

my $node = new_node('source', has_archiving => 1, allows_streaming => 1);

$node->backup('base');
my $held = claim($node, 'held');
raise_fence($node, 'free', 3);
$node->safe_psql('postgres', q{SELECT pg_create_restore_point('before')});

# What the recovery gives up.
my $id   = '00000000-0000-4000-8000-000000000001';
my $lost = claim($node, 'lost', rest => "request_id => '$id'");
answer($node, "lease_release('held', 'A', $held->{fence})");
raise_fence($node, 'held', 4);
my $highest = raise_fence($node, 'free', 10);
my $segment = $node->safe_psql('postgres', 'SELECT pg_walfile_name(pg_switch_wal())');
$node->poll_query_until('postgres', "SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver")
  or die 'the log was not archived';
$node->stop;

my $recovered = recovered('recovered', $node);
is(fence_of($recovered, 'free'), 3, 'recovered to before the last grants');
my $get = answer($recovered, q{lease_get('held')});
is_deeply([ @$get{qw(outcome owner fence)} ], [ 'held', 'A', $held->{fence} ], 'the epoch of that time is there');
is(answer($recovered, "lease_renew('held', 'A', 5)")->{outcome}, 'unknown_fence', 'one that came later is unknown');
is(answer($recovered, "lease_renew('held', 'A', $held->{fence})")->{outcome}, 'renewed',
	'the one on record is renewed');

my $next = one_epoch($recovered, 'free');
cmp_ok($next, '>', $highest, 'the next fence is above every one that was given');
$get = claim($recovered, 'lost', rest => "request_id => '$id'");
is($get->{outcome}, 'claimed', 'a request whose grant is gone is granted');
cmp_ok($get->{fence}, '>', $lost->{fence}, '... anew, and above');

is_healthy($recovered, 'after all that');

# Recovered once more, to the same point: a longer history by one timeline.
ok(wait_for(sub { -f $node->archive_dir . '/00000002.history' }, 'the archive'), 'the new timeline is archived');
my $again = recovered('again', $node);
is(timeline($recovered) . timeline($again), '23', 'each recovery is a timeline of its own');
cmp_ok(claim($again, 'free')->{fence}, '>', $next, 'a second recovery starts above the first');

# A copy of the data files is no other history, as far as anybody can tell: it
# gives the same numbers as the original, until the operator tells it where
# those are.
$recovered->stop;
$recovered->backup_fs_cold('copy');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($recovered, 'copy');
$_->start foreach $recovered, $copy;
is(one_epoch($copy, 'free'), one_epoch($recovered, 'free'), 'a copy on the same timeline gives the same fence');
$highest = raise_fence($recovered, 'free', 3);
$copy->safe_psql('postgres', "SELECT lease_fences_advance($highest)");
cmp_ok(one_epoch($copy, $_), '>', $highest, "... and a higher one after lease_fences_advance: $_")
  foreach qw(free brand-new);

done_testing();
