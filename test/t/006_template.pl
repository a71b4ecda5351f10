# A database made from another as its template is a history of its own: its
# fences are above those of the original, and the original counts on.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $node = new_node('node');

sub copied
{
	my ($original, $copy, $strategy) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $copy TEMPLATE $original STRATEGY $strategy");
	return $copy;
}

$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', 'CREATE EXTENSION lease');
my $held = claim($node, 'held', database => 'original');
my $last = raise_fence($node, 'free', 3, 'original');

foreach my $strategy (qw(wal_log file_copy))
{
	my $copy = copied('original', "by_$strategy", $strategy);

	is(answer($node, "lease_renew('held', 'A', $held->{fence})", $copy)->{outcome}, 'renewed',
		"$strategy: a live epoch is live in the copy");
	my $most = raise_fence($node, 'free', 5, 'original');
	is($most, $last + 5, "$strategy: the original counts on");
	$last = $most;
	my $first = one_epoch($node, 'free', $copy);
	cmp_ok($first, '>', $last, "$strategy: the copy starts above it");
	is(one_epoch($node, 'free', $copy), $first + 1, "$strategy: ... and counts from there");
	cmp_ok(one_epoch($node, 'brand-new', $copy), '>', $last, "$strategy: so does a new name");

	my $second = copied($copy, "second_$strategy", $strategy);
	$most = raise_fence($node, 'free', 5, $copy);
	cmp_ok(one_epoch($node, 'free', $second), '>', $most, "$strategy: a copy of the copy starts above that");
}

# Neither a new name nor a new place is another history.
my $fence = fence_of($node, 'free', 'original');
$node->safe_psql('postgres', 'ALTER DATABASE original RENAME TO renamed');
is(one_epoch($node, 'free', 'renamed'), $fence + 1, 'a renamed database counts on');
$node->safe_psql('renamed', 'VACUUM FULL lease_catalog.lease; CLUSTER lease_catalog.lease USING lease_pkey');
is(one_epoch($node, 'free', 'renamed'), $fence + 2, '... also where its tables were rewritten');

done_testing();
