# What somebody planted before the library is loaded does not come into force.
#
# Until then a name "lease.…" means nothing to PostgreSQL, and any role may set
# it in its session.  When the library comes it must throw out what only a
# superuser may set, with a warning, and keep what a superuser has set.  What
# outlasts a session (for a role, a database, a function) is refused at once.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $node = new_node('node');
$node->safe_psql(
	'postgres', q{
	CREATE ROLE plain LOGIN;
	CREATE ROLE trusted LOGIN;
	GRANT CREATE ON SCHEMA public TO plain;
	CREATE DATABASE plains OWNER plain;
	CREATE FUNCTION plains() RETURNS void LANGUAGE sql AS '';
	ALTER FUNCTION plains() OWNER TO plain;
	SELECT lease_grant('default', 'public', 'use')});

# Each setting, what would be planted, and what it must be instead.
my %planted = (
	'lease.clock'             => [ '2001-01-01', '' ],
	'lease.enforcement'       => [ 'off',        'enforce' ],
	'lease.history_retention' => [ '1s',         '7d' ],
	'lease.lock_wait'         => [ '1h',         '1s' ],
	'lease.max_ttl'           => [ '3600d',      '1d' ],
	'lease.max_wait'          => [ '1h',         '1min' ],
	'lease.poll_push'         => [ '1',          '100' ],
	'lease.request_retention' => [ '1s',         '1d' ]);
my $settings = $node->safe_psql('postgres',
	q{SELECT FROM lease_get('x'); SELECT name FROM pg_settings WHERE name LIKE 'lease.%' AND context = 'superuser' ORDER BY 1});
$settings =~ s/^\s+//;
is(join("\n", sort keys %planted), $settings, 'every setting of a superuser is tried');

# A session of the role, whose first statement loads the library; what it says
# and what the setting then is.
sub loaded
{
	my ($setting, $role, $database, $first, $connstr) = @_;
	my ($status, $out, $err) = $node->psql(
		$database,
		($first // '') . "SELECT outcome FROM lease_get('x'); SHOW $setting;",
		on_error_stop => 0,
		connstr       => $node->connstr($database) . " user=$role" . ($connstr // ''));

	return ($out, $err);
}

sub is_rejected
{
	my ($setting, $what, @session) = @_;
	my ($out, $err) = loaded($setting, @session);
	my $right = $planted{$setting}->[1];

	like($out, qr/^not_found\n\Q$right\E$/, "$what: $setting is not in force");
	like($err, qr/WARNING:.*"\Q$setting\E"/, "$what: ... and a warning says so");
}

foreach my $setting (sort keys %planted)
{
	my $value = $planted{$setting}->[0];

	is_error($node, "$_ SET $setting = '$value'", '42501', "$_ SET $setting is refused to a plain role", role => 'plain')
	  foreach 'ALTER ROLE plain', 'ALTER DATABASE plains', 'ALTER FUNCTION plains()';

	is_rejected($setting, 'SET', 'plain', 'postgres', "SET $setting = '$value';");
	is_rejected($setting, 'SET LOCAL', 'plain', 'postgres', "BEGIN; SET LOCAL $setting = '$value';");
	is_rejected($setting, 'a connection option', 'plain', 'postgres', '', " options='-c $setting=$value'");

	$node->safe_psql('postgres', "ALTER ROLE trusted SET $setting = '$value'");
	my ($out, $err) = loaded($setting, 'trusted', 'postgres');
	like($out, qr/^not_found\n\Q$value\E$/, "ALTER ROLE by a superuser: $setting is in force");
	unlike($err, qr/WARNING/, '... without a warning');
	$node->safe_psql('postgres', "ALTER ROLE trusted RESET $setting");
}

# Whom a superuser trusts with it may set it, also before.
$node->safe_psql('postgres', 'GRANT SET ON PARAMETER lease.clock TO trusted');
my ($out, $err) = loaded('lease.clock', 'trusted', 'postgres', q{SET lease.clock = '2001-01-01';});
like($out, qr/^not_found\n2001-01-01$/, 'who has been granted the setting may set it');
$node->safe_psql('postgres', q{ALTER ROLE trusted SET lease.clock = '2002-01-01'}, extra_params => [ '-U', 'trusted' ]);
($out, $err) = loaded('lease.clock', 'trusted', 'postgres');
like($out, qr/^not_found\n2002-01-01$/, '... for itself');

# A name that the library does not know is thrown out too.
($out, $err) = loaded('lease.max_ttl', 'plain', 'postgres', q{SET lease.no_such_setting = 'x';});
like($err, qr/WARNING:  invalid configuration parameter name "lease.no_such_setting"/, 'a misspelt setting is told of');

# In postgresql.conf they are an administrator's.
$node->append_conf('postgresql.conf', q{lease.max_ttl = '2h'});
$node->reload;
ok(wait_for(
		sub { (loaded('lease.max_ttl', 'plain', 'postgres'))[0] =~ /\n2h$/ }, 'the new setting'),
	'what postgresql.conf says is in force for everybody');
my $ttl = $node->safe_psql('postgres', q{
	SELECT lease_namespace_alter('default', max_ttl => '10 h');
	SELECT ttl FROM lease_claim('long', 'A', ttl => '5 h')});
like($ttl, qr/\n02:00:00$/, '... and clamps what a namespace allows');

done_testing();
