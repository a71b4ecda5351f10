# A transaction that has changed a lease cannot be prepared.
#
# A prepared grant would outlive a promotion and commit under a generation
# that is over.  What changed nothing, or was rolled back with a savepoint,
# does not stand in the way of PREPARE TRANSACTION.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $node = new_node('node', conf => "max_prepared_transactions = 10\n");

claim($node, 'held');
claim($node, 'to-release');
claim($node, 'to-break');
claim($node, 'lapsed', ttl => '100 ms');
one_epoch($node, 'free');
ok(wait_for(sub { answer($node, q{lease_get('lapsed')})->{outcome} eq 'expired' }, 'the lapse'), 'a lease has lapsed');

my $table = q{SELECT l, l.xmin, l.ctid FROM lease_catalog.lease l ORDER BY name};
my $before = $node->safe_psql('postgres', $table);
foreach my $change (
	q{lease_claim('new', 'A')},
	q{lease_claim('free', 'A')},
	q{lease_claim('asked', 'A', request_id => '00000000-0000-4000-8000-000000000001')},
	q{lease_takeover('lapsed', 'B', 1)},
	q{lease_renew('held', 'A', 1)},
	q{lease_renew_many('{held}', 'A', '{1}')},
	q{lease_release('to-release', 'A', 1)},
	q{lease_release_many('{to-release}', 'A', '{1}')},
	q{lease_release('lapsed', 'A', 1)},
	q{lease_break('to-break', 1, 'test')},
	q{lease_fences_advance(1000)},
	q{lease_purge('1 us')})
{
	is_error($node, "BEGIN; SELECT * FROM $change; PREPARE TRANSACTION 'p'", '0A000', "not after $change");
	is_error($node, "BEGIN; SAVEPOINT s; SELECT * FROM $change; RELEASE s; PREPARE TRANSACTION 'p'",
		'0A000', '... nor in a savepoint');
}
is_error(
	$node,
	q{BEGIN; SELECT lease_claim('new', 'A'); SAVEPOINT s; SELECT lease_claim('newer', 'A'); ROLLBACK TO s; PREPARE TRANSACTION 'p'},
	'0A000', 'not after a change before a savepoint');
is($node->safe_psql('postgres', $table), $before, 'nothing has changed');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), 0, 'nothing is prepared');

# What leaves no change behind.
my $n = 0;
foreach my $harmless (
	q{SELECT lease_claim('held', 'B')},
	q{SELECT lease_renew('held', 'B', 1)},
	q{SELECT lease_renew_many('{held}', 'B', '{1}')},
	q{SELECT lease_takeover('held', 'B', 1)},
	q{SELECT lease_release('held', 'A', 7)},
	q{SELECT lease_get('held'); SELECT count(*) FROM lease_status},
	q{SAVEPOINT s; SELECT lease_claim('new', 'A'); ROLLBACK TO s},
	q{SAVEPOINT s; SELECT lease_claim('new', 'A'); SAVEPOINT t; SELECT lease_renew('held', 'A', 1); RELEASE t; ROLLBACK TO s})
{
	my $id = 'p' . ++$n;

	$node->safe_psql('postgres', "BEGIN; CREATE TABLE $id (); $harmless; PREPARE TRANSACTION '$id'");
	$node->safe_psql('postgres', "COMMIT PREPARED '$id'");
	is($node->safe_psql('postgres', "SELECT to_regclass('$id') IS NOT NULL"), 't', "a transaction with $harmless can be prepared");
}
is($node->safe_psql('postgres', $table), $before, 'nothing has changed');
like(
	$node->safe_psql(
		'postgres', q{
		SELECT lease_claim('new', 'A');
		BEGIN; CREATE TABLE after (); PREPARE TRANSACTION 'q';
		COMMIT PREPARED 'q';
		SELECT 'committed'}),
	qr/\ncommitted$/, 'a change of an earlier transaction does not count');

# A refusal leaves nothing locked behind a prepared transaction.
$node->safe_psql(
	'postgres', q{
	BEGIN;
	SELECT lease_renew('held', 'B', 1);
	SELECT lease_claim('held', 'B');
	CREATE TABLE last ();
	PREPARE TRANSACTION 'r'});
is(answer($node, q{lease_renew('held', 'A', 1)})->{outcome}, 'renewed', 'a prepared refusal keeps nobody waiting');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'r'});

done_testing();
