# lease_fences_advance() without a number passes every history that may have been:
# on a server that has been promoted several times within minutes, so that its
# generations are ahead of the time of day, and also where nothing of them is on
# record any more.  What is promoted after it begins above it.

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

is_healthy($_, 'after all that') foreach $one, $other, $successor;

done_testing();
