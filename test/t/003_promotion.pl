# No fence that a primary ever gave is given again after a failover.
#
# The standbys here lack the last grants, which the primary had answered: with
# asynchronous replication that is what a failover means.  The promoted one
# must start above all of them, also those that the old primary still gives
# because nobody has stopped it, and so must the next promotion after that,
# however little its standby has heard of the first.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use List::Util qw(max min);
use LeaseTest;
use Test::More;

my @names = qw(busy free purged unheard-of);

# The next epoch of each name, whatever state the name is in; answers the
# fences.  More names than the others know are given in addition.
sub grant_all
{
	my ($node, @more) = @_;
	my $list = join ',', @names, @more;

	$node->safe_psql(
		'postgres', qq{
		DO \$\$
		DECLARE
			lease text;
			on_record bigint;
		BEGIN
			FOREACH lease IN ARRAY '{$list}'::text[] LOOP
				on_record := coalesce((lease_get(lease)).fence, 0);
				PERFORM (lease_break(lease, on_record, 'test')).ok;
				IF NOT (lease_claim(lease, 'A')).ok THEN
					RAISE 'no epoch of %', lease;
				END IF;
			END LOOP;
		END \$\$});
	return split /\n/,
	  $node->safe_psql('postgres', "SELECT fence FROM unnest('{$list}'::text[]) n, lease_get(n)");
}

# Have a standby follow a primary from now on.
sub follow
{
	my ($node, $primary) = @_;
	my $connstr = $primary->connstr;

	$connstr =~ s/'/''/g;
	$node->safe_psql('postgres', "ALTER SYSTEM SET primary_conninfo = '$connstr'");
	$node->reload;
}

my $old = new_node('old', allows_streaming => 1);

$old->backup('base');
my $first  = standby_node('first', $old, 'base');
my $second = standby_node('second', $old, 'base');
my $third  = standby_node('third', $old, 'base');

claim($old, 'busy');
raise_fence($old, 'purged', 5);
raise_fence($old, 'free', 3);
# The one that is promoted goes last: those that are to follow it must not have
# heard more than it has.
foreach my $standby ($third, $second, $first)
{
	$old->wait_for_catchup($standby);
	detach($standby);
}

# What the standbys miss: renewals, more epochs, a row purged and made anew, a
# name that they have never heard of.
answer($old, q{lease_renew('busy', 'A', 1)});
ok(wait_for(
		sub { $old->safe_psql('postgres', q{SELECT lease_purge('1 ms')}) > 0 || fence_of($old, 'purged') == 0 },
		'the purge'),
	'the old primary purges');
raise_fence($old, 'purged', 2);
raise_fence($old, 'free', 4);
raise_fence($old, 'unheard-of', 20);
my $lost = max(map { fence_of($old, $_) } @names);
cmp_ok($lost, '>', 20, '... and goes on');

my $session = $first->background_psql('postgres');
is($session->query_safe(q{SELECT outcome FROM lease_get('busy')}), 'held', 'a session reads on the standby');
$first->promote;
is(fence_of($first, 'free'), 3, 'the promoted one lacks its last grants');
my $unknown = fence_of($old, 'free');
my $renewal = answer($first, "lease_renew('free', 'A', $unknown)");
is_deeply([ @$renewal{qw(ok outcome)} ], [ 0, 'unknown_fence' ], 'a token that it has lost is an unknown fence');
is(answer($first, q{lease_get('busy')})->{outcome}, 'held', 'an epoch that it knows lives on');
$renewal = answer($first, q{lease_renew('busy', 'A', 1)});
is_deeply([ @$renewal{qw(outcome fence)} ], [ 'renewed', 1 ], '... and is renewed under its own fence');

# The third sees the promotion and nothing of what comes after it.
$first->safe_psql('postgres', 'CREATE TABLE promoted ()');
follow($third, $first);
$third->poll_query_until('postgres', q{SELECT to_regclass('promoted') IS NOT NULL})
  or die 'the third standby does not follow';
detach($third);

cmp_ok($session->query_safe(q{SELECT fence FROM lease_claim('after', 'A')}), '>', $lost,
	'the session from before the promotion is granted a fence above what was lost');
$session->quit;
cmp_ok(min(grant_all($first, 'brand-new')), '>', $lost, 'after the promotion every fence is above what was lost');
is(answer($first, "lease_renew('free', 'A', $unknown)")->{outcome}, 'stale_fence', 'the lost token is now a stale one');

# Nobody has stopped the old one: turn by turn.
my (@of_old, @of_first);
for (1 .. 5)
{
	push @of_old, grant_all($old);
	push @of_first, grant_all($first);
}
cmp_ok(min(@of_first), '>', max(@of_old), 'also above what the old primary gives meanwhile');
is($first->safe_psql('postgres', 'SELECT count(*), max(timeline) FROM lease_catalog.generation'),
	'3|2', 'the new history is on record once');
is( $first->safe_psql(
		'postgres', q{
		SELECT generation >= trunc(extract(epoch FROM at - '2026-01-01 UTC') * 100)
		FROM lease_catalog.generation WHERE timeline = 2}),
	't', '... under a number that time alone would raise');

is_healthy($first, 'the promoted one');

# A second failover, to a standby that has followed for a while.
follow($second, $first);
$first->wait_for_catchup($second);
detach($second);
$lost = max(grant_all($first, 'brand-new'));
$second->promote;
cmp_ok(fence_of($second, 'brand-new'), '<', $lost, 'the second promotion loses grants too');
cmp_ok(min(grant_all($second, 'brand-new')), '>', $lost, '... and every fence after it is above them');
cmp_ok(min(grant_all($second)), '>', max(grant_all($first)), 'also while the first still grants');

# A second failover that comes at once: the standby lacks all that the first
# did since its promotion, the record of the new history too.
$lost = max(grant_all($first));
$third->promote;
cmp_ok(min(grant_all($third)), '>', $lost, 'a standby that lacks even the new history starts above it');

done_testing();
