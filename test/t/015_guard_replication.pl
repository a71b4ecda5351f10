# What logical replication applies to a guarded table follows the guard's
# setting: it is trusted, or refused.
#
# So for the first copy and for what follows, of tables and partitions, by a
# worker that runs with session_replication_role = replica.  What a subscriber's
# own sessions write is guarded in any case.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher  = new_node('publisher', allows_streaming => 'logical');
my $subscriber = new_node('subscriber', allows_streaming => 'logical',
	conf => "wal_retrieve_retry_interval = 50ms\nmax_logical_replication_workers = 12\nmax_worker_processes = 20\nmax_sync_workers_per_subscription = 2\n");
my @tables = qw(plain by_row per_value parted stamped);

foreach my $node ($publisher, $subscriber)
{
	$node->safe_psql(
		'postgres', q{
		CREATE TABLE plain (id int PRIMARY KEY, job text);
		CREATE TABLE by_row (id int PRIMARY KEY, job text);
		CREATE TABLE per_value (id int PRIMARY KEY, job text);
		CREATE TABLE parted (id int PRIMARY KEY, job text) PARTITION BY RANGE (id);
		CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
		CREATE TABLE stamped (id int PRIMARY KEY, job text, fence bigint)});
}
$publisher->safe_psql('postgres', "INSERT INTO $_ VALUES (1, 'job'), (2, 'job')") foreach @tables;

sub guard
{
	my ($replication) = @_;

	$subscriber->safe_psql(
		'postgres', qq{
		SELECT lease_guard('plain', 'job', replication => '$replication'),
			lease_guard('by_row', 'job', mode => 'high_water', replication => '$replication'),
			lease_guard('per_value', name_column => 'job', replication => '$replication'),
			lease_guard('parted', 'job', replication => '$replication'),
			lease_guard('stamped', 'job', fence_column => 'fence', replication => '$replication')});
}

sub rows_of
{
	my ($node, $table) = @_;

	return $node->safe_psql('postgres', "SELECT string_agg(t::text, ' ' ORDER BY id) FROM $table t");
}

sub log_size { return -s $subscriber->logfile }

# Wait for the workers to say that they were refused, so many times.
sub refused
{
	my ($since, $table) = @_;
	my $lease = $table eq 'per_value' ? 'a lease that is not named' : 'lease "job" of namespace "default"';
	my $said;

	wait_for(
		sub {
			$said = slurp_file($subscriber->logfile, $since);
			return $said =~ /the guard refuses what replication brings\n.*?Table "$table": $lease: it comes from replication/;
		},
		"the refusal of $table");
	return $said;
}

my $connstr = $publisher->connstr('postgres');
$connstr =~ s/'/''/g;

# Trusted, from the first copy on.
guard('trust');
$publisher->safe_psql('postgres', 'CREATE PUBLICATION pub FOR TABLE ' . join(', ', @tables));
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connstr' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($publisher, 'sub');
is(rows_of($subscriber, $_), rows_of($publisher, $_), "trust: the first copy of $_") foreach @tables;
foreach my $table (@tables)
{
	$publisher->safe_psql(
		'postgres', qq{
		INSERT INTO $table VALUES (3, 'job');
		UPDATE $table SET job = 'other' WHERE id = 1;
		DELETE FROM $table WHERE id = 2});
}
$publisher->wait_for_catchup('sub');
is(rows_of($subscriber, $_), rows_of($publisher, $_), "trust: changes of $_") foreach @tables;
$publisher->safe_psql('postgres', 'TRUNCATE per_value, parted');
$publisher->wait_for_catchup('sub');
is(rows_of($subscriber, $_), '', "trust: TRUNCATE of $_") foreach qw(per_value parted);
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM lease_catalog.mark'), 0, 'trust: no mark was raised');

# What is trusted does not stop where the guard itself is broken.
$subscriber->safe_psql('postgres', q{ALTER TABLE plain ADD lane text;
	SELECT lease_guard('plain', name_column => 'lane'); ALTER TABLE plain RENAME lane TO track});
$publisher->safe_psql('postgres', q{INSERT INTO plain VALUES (4, 'job'); UPDATE plain SET job = 'third' WHERE id = 4});
$publisher->wait_for_catchup('sub');
is_error($subscriber, 'DELETE FROM plain', '42703', 'trust: a session is told of a broken guard');
$subscriber->safe_psql('postgres', 'ALTER TABLE plain DROP track');
is(rows_of($subscriber, 'plain'), rows_of($publisher, 'plain'), '... and replication does not stop at it');
guard('trust');

# The subscriber's own sessions are not replication, whatever they set.
foreach my $table (@tables)
{
	is_error($subscriber, "INSERT INTO $table VALUES (9, 'job')", 'LE003', "trust: a session cannot write $table");
	is_error($subscriber, "SET session_replication_role = replica; INSERT INTO $table VALUES (9, 'job')",
		'LE003', "... nor as a replica");
}
is($subscriber->safe_psql('postgres', q{SELECT count(*) FROM lease_guards WHERE open <> '{}'}), 0, 'nothing is open');

# Refused: the worker stops at the first row, and goes on when it is trusted.
guard('refuse');
is($subscriber->safe_psql('postgres', q{SELECT count(*) FROM lease_guards WHERE open <> '{}'}), 0, 'nothing is open');
foreach my $table (@tables)
{
	my %change = (
		insert   => "INSERT INTO $table VALUES (5, 'job')",
		update   => "UPDATE $table SET job = 'third' WHERE id = 5",
		delete   => "DELETE FROM $table WHERE id = 5",
		truncate => "TRUNCATE $table");
	my $leaf = $table eq 'parted' ? 'parted_1' : $table;

	foreach my $what (qw(insert update delete truncate))
	{
		my $since  = log_size();
		my $before = rows_of($subscriber, $table);

		$publisher->safe_psql('postgres', $change{$what});
		# a TRUNCATE may name the parent first
		my $said = refused($since, $what eq 'truncate' ? "(?:$table|$leaf)" : $leaf);
		like($said, qr/the guard refuses what replication brings/, "refuse: $what of $table");
		is(rows_of($subscriber, $table), $before, '... has not come');
		guard('trust');
		$publisher->wait_for_catchup('sub');
		is(rows_of($subscriber, $table), rows_of($publisher, $table), '... and comes when it is trusted');
		guard('refuse');
	}
}

# The first copy is refused too.
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION sub');
$publisher->safe_psql('postgres', "INSERT INTO $_ VALUES (10, 'job')") foreach @tables;
my $since = log_size();
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$connstr' PUBLICATION pub");
refused($since, $_ eq 'parted' ? 'parted_1' : $_) foreach @tables;
is(rows_of($subscriber, $_), '', "refuse: no first copy of $_") foreach @tables;
# A token does not open it: the setting is the database's answer to replication.
claim($subscriber, 'job', owner => 'R');
$subscriber->safe_psql('postgres', sprintf q{ALTER DATABASE postgres SET lease.token = 'default/job/R/%d'}, fence_of($subscriber, 'job'));
$since = log_size();
refused($since, 'plain');
is(rows_of($subscriber, 'plain'), '', 'refuse: not with a token either');
# Weakened for the whole server it comes, and so when it is trusted.
$subscriber->append_conf('postgresql.conf', q{lease.enforcement = 'observe'});
$subscriber->reload;
$subscriber->wait_for_subscription_sync($publisher, 'sub');
is(rows_of($subscriber, $_), rows_of($publisher, $_), "observe: the first copy of $_") foreach @tables;

done_testing();
