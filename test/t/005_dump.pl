# A dump carries the leases, and a restored one gives higher fences.
#
# A full dump restores in every form, into another cluster, beside the original
# and over it, without an error and without a row too many: policy, history,
# request ids, privileges.  What the original granted after the dump is not
# granted again.  Of the partial forms it is shown what they lack, and that
# lease_fences_advance makes up for it.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

my @tables = qw(lease privilege namespace floor generation request history intent);
my $dir    = PostgreSQL::Test::Utils::tempdir;
my $id     = '00000000-0000-4000-8000-000000000001';

my $source = new_node('source');
$source->safe_psql('postgres', q{CREATE DATABASE app; CREATE ROLE worker LOGIN});
$source->safe_psql(
	'app', q{
	CREATE EXTENSION lease;
	SELECT lease_namespace_create('tenant', max_ttl => '10 min', max_leases => 3);
	SELECT lease_namespace_alter('default', default_ttl => '5 min', grace => '0');
	SELECT lease_grant('default', 'worker', 'use');
	SELECT lease_grant('tenant', 'public', 'observe')});
my $held = claim($source, 'held', database => 'app', rest => "request_id => '$id'");
raise_fence($source, 'free', 3, 'app');
claim($source, 'broken', database => 'app');
answer($source, q{lease_break('broken', 1, 'out of order')}, 'app');
answer($source, q{lease_claim('of-tenant', 'A', namespace => 'tenant')}, 'app');
raise_fence($source, 'purged', 50, 'app');
$source->safe_psql('app', q{DELETE FROM lease_catalog.lease WHERE name = 'purged'});

# All that the tables hold, as text.
sub contents
{
	my ($node, $database) = @_;

	return $node->safe_psql($database,
		# where the extension was created is not dumped
		join '', map { "\\echo $_\nSELECT t FROM lease_catalog.$_ t WHERE NOT to_jsonb(t) \@> '{\"generation\": 0}' ORDER BY t::text;\n" } @tables);
}

sub dump_as
{
	my ($file, @options) = @_;

	$source->command_ok([ 'pg_dump', '--no-sync', '-d', 'app', '-f', "$dir/$file", @options ], "pg_dump: $file");
}

# Restore into a new database of a node, stopping at the first error.
sub restore_into
{
	my ($node, $database, $file, @options) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	$node->command_ok(
		[ 'pg_restore', '--exit-on-error', '-d', $database, @options, "$dir/$file" ],
		"pg_restore: $file into $database");
}

dump_as('full', '-Fc');
dump_as('parallel', '-Fd', '-j2');
dump_as('plain.sql', '-Fp');
my $dumped = contents($source, 'app');
my $before = $source->safe_psql('app', 'SELECT max(id) FROM lease_catalog.intent');

# What comes after the dump, and is not in it.
my $last = raise_fence($source, 'free', 60, 'app');
cmp_ok($last, '>', 60, 'the original goes on after the dump');

# SQL that names the leases whose next fence is not above a number.
sub above
{
	my ($fence) = @_;

	return "SELECT r.* FROM unnest('{free,broken,purged,brand-new}'::text[]) n, lease_claim(n, 'B') r"
	  . " WHERE NOT r.ok OR r.fence <= $fence";
}

# A restored database: the same content, other numbers.
sub check_restored
{
	my ($node, $database, $what) = @_;

	is(contents($node, $database), $dumped, "$what: the tables are as they were dumped");
	is( $node->safe_psql(
			$database, q{
			SELECT namespace, default_ttl, max_ttl, max_leases FROM lease_catalog.namespace ORDER BY 1}),
		"default|00:05:00||\ntenant||00:10:00|3", "$what: the changed policy is in force");
	is(claim($node, 'held', database => $database, rest => "request_id => '$id'")->{outcome}, 'replayed',
		"$what: a request id is remembered");
	is(answer($node, "lease_renew('held', 'A', $held->{fence})", $database)->{outcome}, 'renewed',
		"$what: a live epoch is renewed");
	cmp_ok($node->safe_psql($database, 'SELECT count(*) FROM lease_history'), '>', 50, "$what: the history is there");
	is($node->safe_psql($database, above($last)), '', "$what: the next fences are above every one of the original");
	claim($node, 'to-break', database => $database);
	$node->safe_psql($database, q{SELECT lease_break('to-break', (lease_get('to-break')).fence, 'test')});
	cmp_ok($node->safe_psql($database, 'SELECT max(id) FROM lease_intents'), '>', $before,
		"$what: intents are numbered on");
	is_healthy($node, $what, $database);
}

my $as_worker = q{SELECT outcome FROM lease_claim('by-worker', 'W')};

# Into the same cluster, under another name: the roles are the same.
restore_into($source, 'beside', 'full');
check_restored($source, 'beside', 'same cluster');
is($source->safe_psql('beside', $as_worker, extra_params => [ '-U', 'worker' ]), 'claimed',
	'same cluster: a privilege holds, the role being the same');

# Over the original: it is dropped and made anew.
$source->command_ok([ 'pg_restore', '--clean', '--if-exists', '--exit-on-error', '-d', 'app', "$dir/full" ],
	'pg_restore --clean over the original');
check_restored($source, 'app', 'over the original');

# Into a new cluster, where "worker" is another number, and its number another role.
my $target = new_node('target');
my $number = $source->safe_psql('postgres', q{SELECT 'worker'::regrole::oid});
$target->safe_psql(
	'postgres', qq{
	DO \$\$
	DECLARE
		n int := 0;
	BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_roles WHERE oid >= $number) LOOP
			n := n + 1;
			EXECUTE format('CREATE ROLE other_%s LOGIN', n);
		END LOOP;
	END \$\$;
	CREATE ROLE worker LOGIN});
my $other = $target->safe_psql('postgres', "SELECT rolname FROM pg_roles WHERE oid = $number");
like($other, qr/^other_/, 'the number of a role means another one in another cluster');
restore_into($target, 'app', 'full');
check_restored($target, 'app', 'new cluster');
is_error($target, $as_worker, '42501', "new cluster: a privilege is inert where name and OID disagree: $_",
	database => 'app', role => $_)
  foreach 'worker', $other;
is($target->safe_psql('app', q{SELECT count(*) FROM lease_check() WHERE code = 'inert_grant'}),
	1, 'new cluster: lease_check tells of it');
$target->safe_psql('app', q{SELECT lease_grant('default', 'worker', 'use')});
is($target->safe_psql('app', $as_worker, extra_params => [ '-U', 'worker' ]), 'claimed',
	'new cluster: until it is granted anew');

restore_into($target, 'parallel', 'parallel', '-j4');
check_restored($target, 'parallel', 'parallel restore');

$target->safe_psql('postgres', 'CREATE DATABASE plain TEMPLATE template0');
$target->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'plain', '-f', "$dir/plain.sql" ],
	'psql: plain.sql into plain');
check_restored($target, 'plain', 'plain text');

# Data alone, into a database that has the extension: all of it makes a new
# history, as a full restore does.
$target->safe_psql('postgres', 'CREATE DATABASE data TEMPLATE template0');
$target->safe_psql('data', 'CREATE EXTENSION lease');
$target->command_ok([ 'pg_restore', '--data-only', '--exit-on-error', '-d', 'data', "$dir/full" ],
	'pg_restore --data-only');
check_restored($target, 'data', 'data alone');

# What pg_restore does to a trigger that it disables is no good to a floor.
$target->safe_psql('postgres', 'CREATE DATABASE disabled TEMPLATE template0');
$target->safe_psql('disabled', 'CREATE EXTENSION lease');
$target->command_ok(
	[ 'pg_restore', '--data-only', '--disable-triggers', '--exit-on-error', '-d', 'disabled', "$dir/full" ],
	'pg_restore --data-only --disable-triggers');
is($target->safe_psql('disabled', q{SELECT object FROM lease_check() WHERE code = 'trigger_missing' ORDER BY 1}),
	join("\n",
		(map { qq{trigger "$_" of table lease_catalog.namespace} } qw(forget_namespaces forget_namespaces_truncate)),
		(map { qq{trigger "$_" of table lease_catalog.privilege} } qw(forget_privileges forget_privileges_truncate)),
		(map { qq{trigger "$_" of table lease_catalog.lease} } qw(keep_floor keep_floor_truncate))),
	'lease_check tells of triggers that are enabled, but no longer always');

# A part of it says nothing of the history, and then the numbers go on from
# what is there.
sub check_partial
{
	my ($database, $what) = @_;

	cmp_ok(one_epoch($target, 'free', $database), '<=', $last, "$what: a fence is given again");
	my $answer = $target->safe_psql($database, "SELECT lease_fences_advance($last)");
	cmp_ok($answer, '>=', $last, "$what: lease_fences_advance answers the floor");
	is($target->safe_psql($database, above($last)), '', "$what: ... and after it never");
	is($target->safe_psql($database, 'SELECT lease_fences_advance(1)'), $answer, "$what: it never lowers them");
	cmp_ok(one_epoch($target, 'other', $database), '>', $last, "$what: ... nor the fences");
}

$target->safe_psql('postgres', 'CREATE DATABASE part TEMPLATE template0');
$target->safe_psql('part', 'CREATE EXTENSION lease');
$target->command_ok(
	[ 'pg_restore', '--data-only', '--exit-on-error', '--table=lease', '-d', 'part', "$dir/full" ],
	'pg_restore --data-only --table=lease');
check_partial('part', 'one table alone');

restore_into($target, 'schema', 'full', '--schema-only');
is($target->safe_psql('schema', 'SELECT count(*) FROM lease_status'), 0, 'a schema alone has no leases');
check_partial('schema', 'schema alone');

$target->safe_psql('plain', 'DROP EXTENSION lease; CREATE EXTENSION lease');
check_partial('plain', 'dropped and created');

done_testing();
