# lease_fences_advance() without a number passes every history that may have been:
# on a server that has been promoted several times within minutes, so that its
# generations are ahead of the time of day, and also where nothing of them is on
# record any more.  What is promoted after it begins above it.  And histories that
# come of one another, however they are related, give no fence twice.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Cluster;
use Test::More;

# The next timeline of the same server.
sub promote_again
{
	my ($node) = @_;

	$node->stop if -f $node->data_dir . '/postmaster.pid';
	$node->set_standby_mode;
	$node->start;
	$node->promote;
	await_node($node);
	return $node;
}

# A copy of a server's files, promoted.
sub promoted_copy
{
	my ($name, $of) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($of, 'cold');
	return promote_again($node);
}

sub advance
{
	my ($node, $floor) = @_;

	return $node->safe_psql('postgres', 'SELECT lease_fences_advance(' . ($floor // '') . ')');
}

sub create_anew
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'DROP EXTENSION lease');
	$node->safe_psql('postgres', 'CREATE EXTENSION lease');
}

my $node = new_node('node', allows_streaming => 1);
one_epoch($node, 'job');
foreach (1 .. 4)
{
	promote_again($node);
	one_epoch($node, 'job');
}

# Two of one timeline, neither of which knows what the other has granted.
$node->stop;
$node->backup_fs_cold('cold');
my ($one, $other) = map { promoted_copy($_, $node) } qw(one other);
my $last  = raise_fence($one, 'job', 5);
my $floor = advance($other);
cmp_ok($floor, '>', $last, 'the floor is above what another of the same timeline has granted');
cmp_ok(one_epoch($other, $_), '>', $floor, "... and every fence above the floor: $_") foreach qw(job brand-new);
cmp_ok(advance($other), '>', fence_of($other, 'job'), 'once more, it is above all again');

# What begins after it begins above it, also where its grants are lost.
$other->stop;
$other->backup_fs_cold('cold');
$other->start;
$last = raise_fence($other, 'job', 5);
my $successor = promoted_copy('successor', $other);
cmp_ok(one_epoch($successor, $_), '>', $last, "a promotion that has lost grants begins above them: $_")
  foreach qw(job brand-new);

# Where nothing is on record: it was, and was asked before ...
$last  = fence_of($successor, 'job');
$floor = advance($successor);
create_anew($successor);
is(advance($successor, $floor), $floor, 'a number is handed over');
cmp_ok(one_epoch($successor, 'job'), '>', $last, '... from before DROP EXTENSION');

# ... or is not to be had.
$last = fence_of($one, 'job');
create_anew($one);
$floor = advance($one);
cmp_ok($floor, '>', $last, 'the floor is above what was granted before DROP EXTENSION');
create_anew($one);
cmp_ok(advance($one), '>', $floor, '... and the next one above it');

# Successors of one history know nothing of each other, and differ all the same: by
# when they begin, also a moment later and where the one before is ahead of its time ...
sub copied
{
	my ($of, $copy) = @_;

	$one->safe_psql('postgres', "CREATE DATABASE $copy TEMPLATE $of");
	return $copy;
}
$one->safe_psql('postgres', 'CREATE DATABASE origin');
$one->safe_psql('origin', 'CREATE EXTENSION lease');
one_epoch($one, 'job', 'origin');
foreach my $of (qw(origin first third))
{
	$last = 0;
	foreach my $copy ($of eq 'origin' ? qw(first second third) : map { "${_}_of_$of" } qw(a b c))
	{
		my $fence = one_epoch($one, 'job', copied($of, $copy));
		cmp_ok($fence, '>', $last, "the copy $copy of $of begins above the one before");
		$last = raise_fence($one, 'job', 5, $copy);
	}
	$one->safe_psql($_, 'SELECT lease_fences_advance()') foreach 'first', 'third';
}

# ... or by their timelines, where the clock was a day ahead when the one before began.
$one->safe_psql(
	'first', q{
	INSERT INTO lease_catalog.generation
		SELECT generation + 8640000, system_identifier, timeline, database_oid, table_oid, now() + '1 day'
		FROM lease_catalog.generation ORDER BY generation DESC LIMIT 1});
one_epoch($one, 'job', 'first');
$one->stop;
$one->backup_fs_cold('cold');
$one->start;
my $kept = fence_of($one, 'job', 'first');
$last = raise_fence($one, 'job', 5, copied('first', 'lost'));
my $early = promoted_copy('early', $one);
my $of_early = one_epoch($early, 'job', 'first');
cmp_ok($of_early, '>', $kept, 'a promotion begins above what it knows');
my $late = promote_again(promoted_copy('late', $one));
cmp_ok(one_epoch($late, 'job', 'first'), '>', raise_fence($early, 'job', 5, 'first'),
	'one of a later timeline above one of an earlier that it knows nothing of');

# An advance is above all advances before it, also where those are not known any more.
foreach (1 .. 3)
{
	$early->safe_psql('first', 'SELECT lease_fences_advance()');
	$last = one_epoch($early, 'job', 'first');
}
$early->safe_psql('first', $_) foreach 'DROP EXTENSION lease', 'CREATE EXTENSION lease', 'SELECT lease_fences_advance()';
cmp_ok(one_epoch($early, 'job', 'first'), '>', $last, 'the floor is above floors that nothing is known of');

# The first grants of all can be lost too.
my $young = new_node('young', allows_streaming => 1);
$young->stop;
$young->backup_fs_cold('cold');
$young->start;
is(one_epoch($young, 'job'), 1, 'a new installation counts from 1');
$last = raise_fence($young, 'job', 5);
my $heir = promoted_copy('heir', $young);
cmp_ok(one_epoch($heir, 'job'), '>', $last, 'who has lost all of them begins above them');

is_healthy($_, 'after all that') foreach $one, $other, $successor, $early, $late, $heir;

done_testing();
