# A library and an install script that do not go together say so.
#
# The catalogue is made to name another version than the library was built
# for, as after an upgrade of one without the other.  Every function that
# touches a table then answers 55000, with a hint; nothing is read or written
# by columns that may mean something else.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $node = new_node('node');
$node->safe_psql('postgres', q{CREATE ROLE plain LOGIN; SELECT lease_grant('default', 'public', 'use')});
my $held = claim($node, 'held');
$node->safe_psql('postgres', 'CREATE TABLE guarded (id int)');

my %calls = (%changes, %reads, map { $_ => '' } qw(lease_guards lease_status lease_history lease_intents));
delete @calls{qw(lease_outcomes lease_token)};
my $known = $node->safe_psql(
	'postgres', q{
	SELECT DISTINCT coalesce(p.proname, c.relname) AS name
	FROM pg_depend d
	JOIN pg_extension e ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass AND e.extname = 'lease'
	LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		AND p.pronamespace <> 'lease_catalog'::regnamespace
	LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind = 'v'
	WHERE d.deptype = 'e' AND coalesce(p.proname, c.relname) NOT IN ('lease_outcomes', 'lease_token', 'lease_fence_check')
	ORDER BY 1});
is(join("\n", sort keys %calls), $known, 'every function and view is tried');

# As an update script would: a new version, and a table that has been altered.
sub set_version
{
	my ($version) = @_;

	$node->safe_psql(
		'postgres', qq{
		BEGIN;
		UPDATE pg_extension SET extversion = '$version' WHERE extname = 'lease';
		ALTER TABLE lease_catalog.lease SET (fillfactor = 50);
		COMMIT});
}

my $ours = $node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'lease'});
my $before = $node->safe_psql('postgres', 'SELECT l, l.xmin, l.ctid FROM lease_catalog.lease l');
my $old_session = $node->background_psql('postgres', on_error_stop => 0);
is($old_session->query(q{SELECT outcome FROM lease_get('held')}), 'held', 'a session has used the library');

foreach my $version ('0.9', '9.9')
{
	set_version($version);
	foreach my $function (sort keys %calls)
	{
		my $error = error_of($node, "SELECT * FROM $function$calls{$function}");

		like(
			$error,
			qr/ERROR:  55000: extension "lease" has version \Q$version\E, but the library is for version \Q$ours\E\nHINT:  \S/,
			"script $version: $function");
	}
	is_error($node, q{SELECT lease_claim('x', 'A')}, '55000', "script $version: a plain role is told the same", role => 'plain');
	is_error($node, q{DELETE FROM lease_catalog.lease}, '55000', "script $version: the triggers too");
	is_error($node, q{TRUNCATE lease_catalog.lease}, '55000', "script $version: ... all of them");
	cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM lease_outcomes()'), '>', 20,
		"script $version: what touches no table works");
	isnt($old_session->query(q{SELECT outcome FROM lease_get('held')}), 'held',
		"script $version: a session from before hears of it");
}

set_version($ours);
is($node->safe_psql('postgres', 'SELECT l, l.xmin, l.ctid FROM lease_catalog.lease l'), $before, 'nothing was changed');
is(answer($node, "lease_renew('held', 'A', $held->{fence})")->{outcome}, 'renewed', 'with the right version all goes on');
is($old_session->query(q{SELECT outcome FROM lease_get('held')}), 'held', '... also in the session from before');
$old_session->quit;

done_testing();
