# pg_upgrade carries leases and policy over, and the fences go on above.
#
# Where an older server with this extension is at hand (LEASE_OLD_BINDIR names
# its programs' directory), the upgrade is from that one too; one to the same
# version takes the same way through binary-upgrade mode and is always tried.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

sub try_upgrade
{
	my ($what, $old_bindir, $new_bindir) = @_;
	my $path = $ENV{PATH};
	local $ENV{PATH} = "$old_bindir:$path";
	my $old = new_node("old_$what");
	$old->safe_psql('postgres', q{SELECT lease_namespace_create('tenant', grace => '1 s')});
	my $held = claim($old, 'held', ttl => '1 h');
	claim($old, 'short', ttl => '100 ms');
	my $last = raise_fence($old, 'free', 7);
	$old->safe_psql('postgres', q{SELECT lease_claim('purged', 'A'); DELETE FROM lease_catalog.lease WHERE name = 'purged'});
	$old->stop;

	$ENV{PATH} = $path;
	my $new = PostgreSQL::Test::Cluster->new("new_$what");
	$new->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	my $directory = PostgreSQL::Test::Utils::tempdir_short;
	chdir $directory or die;
	command_ok(
		[
			'pg_upgrade', '--no-sync',
			'-d' => $old->data_dir,
			'-D' => $new->data_dir,
			'-b' => $old_bindir,
			'-B' => $new_bindir,
			'-s' => $new->host,
			'-p' => $old->port,
			'-P' => $new->port
		],
		"$what: pg_upgrade");
	chdir '/';
	$new->start;

	my $get = answer($new, q{lease_get('held')});
	is_deeply([ @$get{qw(outcome owner fence version expires_at)} ],
		[ 'held', @$held{qw(owner fence version expires_at)} ],
		"$what: a live lease is live");
	is(answer($new, "lease_renew('held', 'A', $held->{fence})")->{outcome}, 'renewed', "$what: ... and is renewed");
	is(answer($new, q{lease_get('short')})->{outcome}, 'expired', "$what: one whose time has passed has lapsed");
	is($new->safe_psql('postgres', q{SELECT grace FROM lease_catalog.namespace}), '00:00:01', "$what: policy is there");
	cmp_ok(one_epoch($new, $_), '>', $last, "$what: the next fence of $_ is above")
	  foreach qw(free short purged brand-new);

	# Nobody forbids to start the old one again.
	$ENV{PATH} = "$old_bindir:$path";
	$old->start;
	$last = raise_fence($old, 'free', 10);
	cmp_ok(one_epoch($new, 'free'), '>', $last, "$what: also above what the old cluster gives after the upgrade");
	$old->stop;
}

chomp(my $bindir = `pg_config --bindir`);
try_upgrade('same', $bindir, $bindir);

SKIP:
{
	my $old = $ENV{LEASE_OLD_BINDIR};

	skip 'pg_upgrade from an older version: LEASE_OLD_BINDIR names no server', 1 unless $old;
	try_upgrade('older', $old, $bindir);
}

done_testing();
