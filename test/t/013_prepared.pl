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

# Nor after a token was accepted: by lease_present, by a guard, by a mark.
$node->safe_psql('postgres', q{
	CREATE TABLE guarded (id int); CREATE TABLE away (id int);
	SELECT lease_guard('guarded', 'held'), lease_guard('away', 'held', mode => 'high_water')});
my $token = q{SET LOCAL lease.token = 'default/held/A/1'};
foreach my $accepted (
	q{SELECT lease_present('held', 'A', 1)},
	q{SELECT lease_present('held', 'A', 1, prove => false)},
	q{SELECT lease_admit('resource', 1)},
	q{SELECT lease_mark_reset('resource', 1, 'test')},
	"$token; INSERT INTO guarded VALUES (1)",
	"$token; INSERT INTO away VALUES (1)")
{
	is_error($node, "BEGIN; $accepted; PREPARE TRANSACTION 'p'", '0A000', "not after $accepted");
	is_error($node, "BEGIN; SAVEPOINT s; $accepted; RELEASE s; PREPARE TRANSACTION 'p'", '0A000', '... nor in a savepoint');
}
$node->safe_psql('postgres', "BEGIN; $token; INSERT INTO away VALUES (1); COMMIT");
is_error($node, "BEGIN; $token; INSERT INTO away VALUES (1); PREPARE TRANSACTION 'p'", '0A000', 'not where the mark did not rise either');
is($node->safe_psql('postgres', $table), $before, 'nothing has changed');

# What leaves no change behind.
my $n = 0;
foreach my $harmless (
	q{SELECT lease_claim('held', 'B')},
	q{SELECT lease_renew('held', 'B', 1)},
	q{SELECT lease_renew_many('{held}', 'B', '{1}')},
	q{SELECT lease_takeover('held', 'B', 1)},
	q{SELECT lease_release('held', 'A', 7)},
	q{SELECT lease_get('held'); SELECT count(*) FROM lease_status},
	q{SAVEPOINT s; SELECT lease_present('held', 'A', 1); INSERT INTO guarded VALUES (1); ROLLBACK TO s},
	q{SET LOCAL lease.token = 'default/held/A/2'; DO 'BEGIN INSERT INTO guarded VALUES (1); EXCEPTION WHEN SQLSTATE ''LE006'' THEN NULL; END'},
	q{SET LOCAL lease.enforcement = 'observe'; SET LOCAL lease.token = 'default/held/A/2'; INSERT INTO guarded VALUES (1)},
	q{SELECT lease_admit('held', 0)},
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

# A prepared transaction of somebody else's that holds the row or the mark: busy.
$node->safe_psql('postgres', q{BEGIN; SELECT FROM lease_catalog.lease WHERE name = 'held' FOR UPDATE; PREPARE TRANSACTION 'row'});
my $busy = q{SET lease.lock_wait = '50 ms'; };
is_error($node, $busy . $_, 'LE007', "busy: $_")
  foreach q{SELECT lease_present('held', 'A', 1)}, "SET lease.token = 'default/held/A/1'; INSERT INTO guarded VALUES (1)";
is($node->safe_psql('postgres', $busy . q{SET lease.enforcement = 'observe'; SET lease.token = 'default/held/A/1'; INSERT INTO guarded VALUES (1), (2) RETURNING id}),
	"1\n2", 'an observing guard lets it through');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'row'});
$node->safe_psql('postgres', q{BEGIN; LOCK TABLE lease_catalog.lease; PREPARE TRANSACTION 'all'});
is_error($node, q{SET lock_timeout = '50 ms'; SET lease.token = 'default/held/A/1'; INSERT INTO guarded VALUES (3)}, '55P03', 'the table is locked');
is($node->safe_psql('postgres', q{SET lock_timeout = '50 ms'; SET lease.enforcement = 'observe'; SET lease.token = 'default/held/A/1'; INSERT INTO guarded VALUES (3) RETURNING id}),
	'3', '... and an observing guard lets it through');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'all'});
$node->safe_psql('postgres', q{
	BEGIN; INSERT INTO lease_catalog.mark VALUES ('default', 'held', 9, now()), ('default', 'resource', 9, now());
	PREPARE TRANSACTION 'mark'});
is_error($node, $busy . $_, 'LE007', "busy: $_")
  foreach "SET lease.token = 'default/held/A/1'; INSERT INTO away VALUES (1)", q{SELECT lease_mark_reset('resource', 1, 'test')};
is($node->safe_psql('postgres', $busy . q{SELECT * FROM lease_admit('resource', 5)}), 'f|busy|0', 'busy: lease_admit');
$node->safe_psql('postgres', q{COMMIT PREPARED 'mark'});
is($node->safe_psql('postgres', q{SELECT * FROM lease_admit('resource', 5)}), 'f|below_high_water|9', '... and below the mark then');

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

# Nor does a write that an observing guard let through: here it is the mark, and
# so the lease was locked when it was refused.
$node->safe_psql('postgres', "BEGIN; SET LOCAL lease.enforcement = 'observe'; $token; INSERT INTO guarded VALUES (1); PREPARE TRANSACTION 's'");
is(answer($node, q{lease_release('held', 'A', 1)})->{outcome}, 'released', 'a prepared write that was only observed');
is(claim($node, 'held')->{outcome}, 'claimed', '... keeps no successor waiting');
$node->safe_psql('postgres', q{COMMIT PREPARED 's'});

done_testing();
