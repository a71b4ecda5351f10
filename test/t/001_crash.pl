# A crash loses nothing that was answered.
#
# Eight sessions claim, renew and release while the server is stopped without
# a word, or a backend of it is killed.  After recovery each answered grant
# and renewal is on record, no fence was handed out twice, and the next ones
# are above all of them; also with synchronous_commit off, where PostgreSQL
# itself would lose the last moments.  Then: a restart in the middle of an
# epoch is no end of it, and no longer life either.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseTest;
use Test::More;

my $sessions = 8;

# What is not flushed by a commit stays unflushed: the WAL writer sleeps, the
# buffers hold all of it.
my $node = new_node(
	'crash',
	conf => q{
wal_writer_delay = 10s
wal_buffers = 16MB
autovacuum = off
restart_after_crash = on
});

# The columns of the answers that a session keeps.
my $kept = 'r.name, r.owner, r.outcome, r.fence, r.version, r.expires_at';

# A session's work: its own lease, which it only renews, and shared ones.
sub script
{
	my ($n, $synchronous) = @_;
	my $own = "own-$n";
	my $sql = "SET synchronous_commit = $synchronous;\n"
	  . "SELECT $kept FROM lease_claim('$own', 's$n', '1 h') r;\n";

	for my $i (1 .. 2000)
	{
		my $shared = 'shared-' . ($i * 7 + $n) % 5;

		$sql .= "SELECT $kept FROM lease_get('$own') g, lease_renew('$own', 's$n', g.fence) r;\n"
		  . "SELECT $kept FROM lease_claim('$shared', 's$n', '1 h') r;\n"
		  . "SELECT $kept FROM lease_get('$shared') g, lease_release('$shared', 's$n', g.fence) r;\n";
	}
	return $sql;
}

# Let all sessions work, crash, and answer what they had been answered by then.
sub work_until
{
	my ($synchronous, $crash) = @_;
	my $before = $node->safe_psql('postgres', 'SELECT coalesce(sum(version), 0) FROM lease_catalog.lease');
	my $enough = "SELECT sum(version) - $before >= 400 FROM lease_catalog.lease";
	my @psqls  = map {
		psql_start($node->connstr('postgres') . ' application_name=load', script($_, $synchronous))
	} 1 .. $sessions;

	wait_for(sub { $node->safe_psql('postgres', $enough) eq 't' }, 'the sessions work');
	$crash->();
	psql_finish($_) foreach @psqls;
	return map { split /\n/, psql_said($_, 'out') } @psqls;
}

sub check
{
	my ($what, $lines) = @_;
	my (%last, %grants, @lost, @twice);

	foreach my $line (@$lines)
	{
		my ($name, $owner, $outcome, $fence, $version, $expires_at) = split /\|/, $line;
		my $last = $last{$name};

		next if $outcome !~ /^(claimed|taken_over|renewed|released)$/;
		if ($outcome =~ /^(claimed|taken_over)$/)
		{
			push @twice, "$name $fence" if $grants{"$name $fence"}++;
		}
		$last{$name} = [ $version, $fence, $expires_at ]
		  if !$last || $version > $last->[0];
	}
	cmp_ok(scalar(keys %grants), '>', 50, "$what: there was something to lose");

	my $record = $node->safe_psql('postgres',
		'SELECT name, version, fence, expires_at FROM lease_catalog.lease');
	my %record = map { my ($name, @rest) = split /\|/; $name => \@rest } split /\n/, $record;

	foreach my $name (sort keys %last)
	{
		my ($version, $fence, $expires_at) = @{ $last{$name} };
		my $now = $record{$name};

		push @lost, "$name: answered version $version, fence $fence; on record "
		  . ($now ? "@$now" : 'nothing')
		  if !$now || $now->[0] < $version || $now->[1] < $fence
		  || ($now->[0] == $version && $expires_at ne '' && $now->[2] ne $expires_at);
	}
	is_deeply(\@twice, [], "$what: no fence was granted twice");
	is_deeply(\@lost, [], "$what: every answer is on record");
	is_healthy($node, $what);

	my @low;
	foreach my $name (sort keys %last)
	{
		my $highest = $last{$name}->[1];

		answer($node, "lease_break('$name', " . fence_of($node, $name) . ", 'crash test')");
		my $next = claim($node, $name);
		push @low, "$name: $next->{outcome} $next->{fence} after $highest"
		  unless $next->{ok} && $next->{fence} > $highest;
		answer($node, "lease_release('$name', 'A', $next->{fence})");
	}
	is_deeply(\@low, [], "$what: the next fences are above all of them");
}

my $stop = sub { $node->stop('immediate') };
my @lines = work_until('on', $stop);
$node->start;
check('immediate stop', \@lines);

@lines = work_until('off', $stop);
$node->start;
check('immediate stop, synchronous_commit off', \@lines);

@lines = work_until(
	'off',
	sub {
		kill 'KILL', $node->safe_psql('postgres',
			"SELECT pid FROM pg_stat_activity WHERE application_name = 'load' LIMIT 1");
	});
await_node($node);
check('a killed backend, synchronous_commit off', \@lines);

is($node->safe_psql('postgres', 'SELECT count(DISTINCT generation), max(generation) FROM lease_catalog.generation WHERE generation > 0'),
	'1|1', 'recovery after a crash goes on with the same history');

# An answer that says ok is on disk, whichever verb gave it.
my $off  = 'SET synchronous_commit = off';
my @acts = (
	[ 'claim' => "lease_claim('one', 'A', '1 h')" ],
	[ 'renew' => "lease_renew('one', 'A', 1, ttl => '2 h')" ],
	[ 'renew_many' => "lease_renew_many('{one}', 'A', '{1}', ttl => '3 h')" ],
	[ 'break' => "lease_break('one', 1, 'test')" ],
	[ 'claim again' => "lease_claim('one', 'A', '100 ms')" ],
	[ 'takeover' => "lease_takeover('one', 'A', 2, '1 h', wait => '1 min')" ],
	[ 'release' => "lease_release('one', 'A', 3)" ],
	[ 'claim of a free one' => "lease_claim('one', 'A')" ],
	[ 'release_many' => "lease_release_many('{one}', 'A', '{4}')" ]);
foreach my $act (@acts)
{
	my ($verb, $call) = @$act;
	my $table = q{SELECT fence, version, expires_at, ended_by FROM lease_catalog.lease WHERE name = 'one'};
	my $answered = $node->safe_psql('postgres', "$off; SELECT ok FROM $call");
	my $before = $node->safe_psql('postgres', $table);

	$node->stop('immediate');
	$node->start;
	is($answered . $node->safe_psql('postgres', $table), "t$before", "$verb was answered and so is on record");
}
my $floor = $node->safe_psql('postgres', "$off; SELECT lease_fences_advance(1000)");
$node->stop('immediate');
$node->start;
cmp_ok(one_epoch($node, 'another'), '>', $floor, 'so is lease_fences_advance');

# So is a mark that rose or was set, with the write that raised it.
my $marked = q{SELECT name, max(fence) FROM lease_catalog.mark GROUP BY 1 ORDER BY 1};
$node->safe_psql('postgres', q{
	CREATE TABLE guarded (id int); CREATE TABLE away (id int);
	SELECT lease_guard('guarded', 'job'), lease_guard('away', 'elsewhere', mode => 'high_water')});
my $job = claim($node, 'job')->{fence};
foreach my $raise (
	"SET lease.token = 'default/job/A/$job'; INSERT INTO guarded VALUES (1)",
	q{SET lease.token = 'default/elsewhere/Z/5'; INSERT INTO away VALUES (1)},
	q{SELECT lease_admit('resource', 7)},
	q{SELECT lease_mark_reset('resource', 3, 'test')})
{
	my $before = $node->safe_psql('postgres', $marked);

	$node->safe_psql('postgres', "$off; $raise");
	my $after = $node->safe_psql('postgres', $marked);
	$node->stop('immediate');
	$node->start;
	isnt($after, $before, "a mark moved: $raise");
	is($node->safe_psql('postgres', $marked), $after, '... and is on record');
}
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM guarded), (SELECT count(*) FROM away)'), '1|1',
	'... with what was written');

# A restart with live leases: neither the end of an epoch nor more life.
my $id = '00000000-0000-4000-8000-000000000001';
my $long = claim($node, 'long', ttl => '1 h');
my $short = claim($node, 'short', ttl => '3 s', rest => "request_id => '$id'");

$node->stop('immediate');
$node->start;
my $get = answer($node, q{lease_get('long')});
is_deeply([ @$get{qw(outcome owner fence version expires_at)} ],
	[ 'held', @$long{qw(owner fence version expires_at)} ],
	'a live lease lives on');
is(claim($node, 'long', owner => 'B')->{outcome}, 'held', '... and keeps others out');
my $renewed = answer($node, "lease_renew('long', 'A', $long->{fence}, $long->{version})");
is_deeply([ @$renewed{qw(outcome fence version)} ], [ 'renewed', $long->{fence}, $long->{version} + 1 ],
	'... and its holder renews it');

my $next = $node->safe_psql(
	'postgres', q{
	SELECT outcome, fence, server_time >= '} . $short->{expires_at} . q{'
	FROM lease_claim('short', 'B', '1 h', wait => '1 min')});
is($next, 'taken_over|' . ($short->{fence} + 1) . '|t', 'a successor gets the next fence, at the promised instant');
is(claim($node, 'short', rest => "request_id => '$id'")->{outcome}, 'replayed_ended',
	'the request that was granted before the restart is not granted again');
is(answer($node, "lease_renew('short', 'A', $short->{fence})")->{outcome}, 'stale_fence',
	'the holder from before the restart is refused');

$node->restart;
is(claim($node, 'long')->{outcome}, 'held', 'the same owner, started anew with the server, is not taken for the holder');

done_testing();
