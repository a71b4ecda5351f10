# What lease_explain and lease_check say where a server of its own is needed: of
# prepared transactions, of a hot standby, of the configuration file, and of a
# clock that steps.
use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A clock that can be stepped: gettimeofday(), which is the server's wall clock,
# plus the seconds that a file says.
my $tempdir = PostgreSQL::Test::Utils::tempdir;
my $offset = "$tempdir/offset";
my $shim = "$tempdir/step.so";

append_to_file("$tempdir/step.c", <<'EOC');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	int			(*real) (struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
	int			result = real(now, zone);
	FILE	   *file = fopen(getenv("LEASE_TEST_OFFSET"), "r");
	long		seconds;

	if (file != NULL)
	{
		if (fscanf(file, "%ld", &seconds) == 1)
			now->tv_sec += seconds;
		fclose(file);
	}
	return result;
}
EOC
my $steps = $^O eq 'linux'
  && system('cc', '-shared', '-fPIC', '-o', $shim, "$tempdir/step.c", '-ldl') == 0;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "max_prepared_transactions = 5\n");
{
	local %ENV = %ENV;
	@ENV{qw(LD_PRELOAD LEASE_TEST_OFFSET)} = ($shim, $offset) if $steps;
	$primary->start;
}
$primary->safe_psql('postgres', q{
	CREATE EXTENSION lease;
	SELECT lease_claim('job', 'A', ttl => '1 h');
});

# Transactions that no backend runs.
$primary->safe_psql('postgres', q{
	BEGIN; SAVEPOINT s; SELECT FROM lease_catalog.lease FOR KEY SHARE; PREPARE TRANSACTION 'it''s "reading"';
	BEGIN; UPDATE lease_catalog.lease SET version = version; PREPARE TRANSACTION 'writing';
	BEGIN; INSERT INTO lease_catalog.lease (namespace, name, fence, version) VALUES ('default', 'first', 0, 0); PREPARE TRANSACTION 'first';
});
my $said = $primary->safe_psql('postgres', q{SELECT lease_explain('job')});
like($said, qr/^Prepared transaction "it's "reading"", prepared at .* ago, has the row locked FOR KEY SHARE: .* the holder can renew/m, 'a prepared reader');
like($said, qr/^An operator can end it: ROLLBACK PREPARED 'it''s "reading"';$/m, 'and how to end him');
like($said, qr/^Prepared transaction "writing", prepared at .* ago, has changed the row and not committed:/m, 'a prepared writer');
$said = $primary->safe_psql('postgres', q{SELECT lease_explain('first')});
like($said, qr/^There is no lease "first".*^Prepared transaction "first", prepared at .* ago, has made the row and not committed:/ms, 'a prepared first row');

# The same transactions, as a hot standby sees them.
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
$primary->safe_psql('postgres', 'CREATE TABLE replayed ()');
$primary->wait_for_catchup($standby);
$said = $standby->safe_psql('postgres', q{SELECT lease_explain('job')});
like($said, qr/^Lease "job" of namespace "default" is held by owner "A" under fence 1, version 1\.$/m, 'a standby explains');
like($said, qr/^This server is a standby, and knows nothing of what the primary server has done since a transaction that ended at .*\.$/m, '... as of when');
unlike($primary->safe_psql('postgres', q{SELECT lease_explain('job')}), qr/standby/, '... and a primary as of now');
is(() = $said =~ /^Transaction \d+ of the primary server has (?:changed the row and not committed|the row locked FOR KEY SHARE): /mg, 2, 'who is in the way on the primary');
like($standby->safe_psql('postgres', q{SELECT lease_explain('first')}), qr/^Transaction \d+ of the primary server has made the row and not committed:/m, 'also of a first row');
is($standby->safe_psql('postgres', q{SELECT code FROM lease_check() WHERE severity = 'error'}), '', 'a standby checks');
$standby->stop;

$primary->safe_psql('postgres', qq{ROLLBACK PREPARED '$_'}) foreach q{it''s "reading"}, 'writing', 'first';
like($primary->safe_psql('postgres', q{SELECT lease_explain('job')}), qr/^No transaction has its row locked\.$/m, 'once they are ended nobody is in the way');

# lease.clock in the configuration file, before it is loaded.
my $clock = q{SELECT code, object, detail FROM lease_check() WHERE code ~ 'clock'};
is($primary->safe_psql('postgres', $clock), '', 'nothing is wrong with the clock');
$primary->append_conf('postgresql.conf', "lease.clock = ''\n");
is($primary->safe_psql('postgres', $clock), '', 'nor where the file says that it is the server\'s');
$primary->append_conf('postgresql.conf', "lease.clock = '1000'\n");
like($primary->safe_psql('postgres', $clock), qr/^clock_replaced\|line \d+ of .*postgresql\.conf\|It sets lease\.clock to "1000"\.$/, 'lease.clock in the configuration file');
$primary->append_conf('postgresql.conf', "lease.clock = ''\n");

# A table that a crash empties is found before the crash, and after it.
$primary->safe_psql('postgres', q{
	SELECT lease_admit('resource', 7);
	ALTER TABLE lease_catalog.mark SET UNLOGGED;
});
my $errors = q{SELECT code, object FROM lease_check() WHERE severity = 'error'};
my $unlogged = 'table_unlogged|table lease_catalog.mark';
is($primary->safe_psql('postgres', $errors), $unlogged, 'an unlogged table');
$primary->stop('immediate');
{
	local %ENV = %ENV;
	@ENV{qw(LD_PRELOAD LEASE_TEST_OFFSET)} = ($shim, $offset) if $steps;
	$primary->start;
}
is($primary->safe_psql('postgres', 'SELECT count(*) FROM lease_catalog.mark'), 0, '... which a crash empties');
is($primary->safe_psql('postgres', $errors), $unlogged, '... and which is still told of');
$primary->safe_psql('postgres', 'ALTER TABLE lease_catalog.mark SET LOGGED');
is($primary->safe_psql('postgres', $errors), '', '... until it is mended');

# A clock that steps in a session's life, to and fro.
SKIP:
{
	skip 'no way to step the clock here', 5 unless $steps;
	my @found = split /^--\n/m, $primary->safe_psql('postgres', qq{
		$clock;
		\\echo --
		\\! echo 100 >$offset
		$clock;
		\\echo --
		\\! echo -100 >$offset
		$clock;
		\\echo --
		\\! rm $offset
		$clock;
	});
	is($found[0], '', 'a clock that goes on');
	like($found[1], qr/\Aclock_stepped\|the server's clock\|Since the library was loaded, the wall clock has gone \S+ further than the monotonic clock\.\Z/, 'set forward');
	like($found[2], qr/^clock_stepped\|the server's clock\|Since the library was loaded, the wall clock has gone \S+ less far than the monotonic clock\.$/m, 'set back');
	like($found[2], qr/^clock_set_back\|the clock\|/m, 'behind what is on record');
	is($found[3] // '', '', 'and right again');
}
$primary->stop;

done_testing();
