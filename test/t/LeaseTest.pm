# LeaseTest: what the tests of this directory share.
#
# A node is a cluster of its own, made and ended by PostgreSQL::Test::Cluster;
# this adds the extension to it and reads the answers of the verbs.

package LeaseTest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use File::Spec;
use File::Temp;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(
  new_node answer claim fence_of one_epoch raise_fence
  error_of is_error is_healthy
  detach standby_node
  wait_for await_node psql_start psql_said psql_runs psql_finish
  %changes %reads
);

# A call of each function that changes something, and of each that does not, for
# a lease "held" of A's and a table "guarded".
our %changes = (
	lease_claim            => q{('held', 'A')},
	lease_takeover         => q{('held', 'A', 1)},
	lease_renew            => q{('held', 'A', 1)},
	lease_renew_many       => q{('{held}', 'A', '{1}')},
	lease_release          => q{('held', 'A', 1)},
	lease_release_many     => q{('{held}', 'A', '{1}')},
	lease_break            => q{('held', 1, 'test')},
	lease_grant            => q{('default', 'public', 'use')},
	lease_revoke           => q{('default', 'public', 'use')},
	lease_namespace_create => q{('tenant')},
	lease_namespace_alter  => q{('default', grace => '1 s')},
	lease_namespace_drop   => q{('tenant')},
	lease_fences_advance   => q{(1000)},
	lease_purge            => q{('1 h')},
	lease_sweep            => q{()},
	lease_offer            => q{('task')},
	lease_poll             => q{('A')},
	lease_complete         => q{('held', 'A', 1)},
	lease_fail             => q{('held', 'A', 1, 'test')},
	lease_retry            => q{('held')},
	lease_hold             => q{('held', 'test')},
	lease_resume           => q{('held')},
	lease_cancel           => q{('held', 'test')},
	lease_namespace_hold   => q{('default', 'test')},
	lease_namespace_resume => q{('default')},
	lease_present          => q{('held', 'A', 1)},
	lease_guard            => q{('guarded', 'held')},
	lease_unguard          => q{('guarded')},
	lease_admit            => q{('resource', 1)},
	lease_mark_reset       => q{('resource', 1, 'test')});
our %reads = (
	lease_check    => q{()},
	lease_explain  => q{('held')},
	lease_get      => q{('held')},
	lease_outcomes => q{()},
	lease_task_get => q{('held')},
	lease_token    => q{('default', 'held', 'A', 1)});

# The columns of lease_result that the tests look at, as SQL gives them.
my @columns = qw(ok outcome owner fence version remaining expires_at);

# A running node with the extension in database "postgres".  What is given as
# conf is added to postgresql.conf, the rest goes to init().
sub new_node
{
	my ($name, %params) = @_;
	my $conf = delete $params{conf} // '';
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--encoding=UTF8', '--locale=C' ], %params);
	$node->append_conf('postgresql.conf', "log_statement = none\n$conf");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION lease');
	return $node;
}

# The answer of a verb that gives one lease_result, as a hash.
sub answer
{
	my ($node, $call, $database) = @_;
	my $line = $node->safe_psql(
		$database // 'postgres', qq{
		SELECT ok, outcome, coalesce(owner, ''), coalesce(fence, 0),
			coalesce(version, 0), coalesce(extract(epoch FROM remaining), 0),
			coalesce(expires_at::text, '')
		FROM $call});
	my %answer;

	@answer{@columns} = split /\|/, $line, -1;
	$answer{ok} = $answer{ok} eq 't' ? 1 : 0;
	$answer{remaining} += 0;
	return \%answer;
}

sub claim
{
	my ($node, $name, %params) = @_;
	my $owner = $params{owner} // 'A';
	my $ttl   = $params{ttl}   // '1 h';
	my $rest  = $params{rest} ? ", $params{rest}" : '';

	return answer($node, "lease_claim('$name', '$owner', ttl => '$ttl'$rest)",
		$params{database});
}

# Claim and release: one more epoch, whose fence is answered.
sub one_epoch
{
	my ($node, $name, $database) = @_;
	my $claimed = claim($node, $name, database => $database);

	die "no epoch of $name: $claimed->{outcome}" unless $claimed->{ok};
	answer($node, "lease_release('$name', 'A', $claimed->{fence})", $database);
	return $claimed->{fence};
}

# So many epochs; the last fence is answered.
sub raise_fence
{
	my ($node, $name, $times, $database) = @_;

	return $node->safe_psql(
		$database // 'postgres', qq{
		DO \$\$
		BEGIN
			FOR i IN 1 .. $times LOOP
				PERFORM (lease_release('$name', 'A', (lease_claim('$name', 'A')).fence)).ok;
			END LOOP;
		END \$\$;
		SELECT fence FROM lease_get('$name')});
}

# The fence on record.
sub fence_of
{
	my ($node, $name, $database) = @_;

	return answer($node, "lease_get('$name')", $database)->{fence};
}

# What psql says about statements of which one must fail, with SQLSTATEs.
sub error_of
{
	my ($node, $sql, %params) = @_;
	my ($status, $out, $err) = $node->psql(
		$params{database} // 'postgres',
		"\\set VERBOSITY verbose\n$sql",
		extra_params => $params{role} ? [ '-U', $params{role} ] : []);

	return $status == 0 ? "no error, but: $out" : $err;
}

sub is_error
{
	my ($node, $sql, $state, $what, %params) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	like(error_of($node, $sql, %params), qr/ERROR:  $state: /, $what);
}

# lease_check finds nothing wrong with what is on record.
sub is_healthy
{
	my ($node, $what, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is($node->safe_psql($database // 'postgres', q{SELECT code, object, detail FROM lease_check() WHERE severity = 'error'}),
		'', "$what: lease_check finds no error");
}

# Poll until the condition holds; false where it did not in time.
sub wait_for
{
	my ($condition, $what) = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;

	until ($condition->())
	{
		if (time > $deadline)
		{
			diag("waited in vain: $what");
			return 0;
		}
		usleep(20_000);
	}
	return 1;
}

# A hot standby that follows the root, from a backup of it.
sub standby_node
{
	my ($name, $root, $backup) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($root, $backup, has_streaming => 1);
	$node->start;
	return $node;
}

# Let a standby receive nothing more.
sub detach
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{ALTER SYSTEM SET primary_conninfo = ''});
	$node->reload;
	$node->poll_query_until('postgres',
		q{SELECT current_setting('primary_conninfo') = '' AND NOT EXISTS (SELECT FROM pg_stat_wal_receiver)})
	  or die 'the standby is still connected';
}

# Wait until a node that restarts by itself takes connections.  A psql that
# cannot connect may be gone before it has been given its script, and that is an
# error that poll_query_until would not survive.
sub await_node
{
	my ($node) = @_;

	wait_for(
		sub {
			(eval { $node->safe_psql('postgres', 'SELECT NOT pg_is_in_recovery()') } // '') eq 't';
		},
		'the server') or die 'the server did not come back';
}

# A psql that runs a script beside the test.  The script and both outputs are
# files: nobody need look after a pipe, and none breaks when the server dies.
sub psql_start
{
	my ($connstr, $sql, @options) = @_;
	my %file = map { $_ => File::Temp->new(DIR => $PostgreSQL::Test::Utils::tmp_check) } qw(in out err);
	my $in = $file{in};

	print $in $sql;
	$in->close;
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $connstr, @options, '-f', $in->filename ],
		'<', File::Spec->devnull, '>', $file{out}->filename, '2>', $file{err}->filename,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return { %file, run => $run };
}

# What such a psql has said so far, on "out" or "err".
sub psql_said
{
	my ($psql, $where) = @_;

	return slurp_file($psql->{$where}->filename);
}

sub psql_runs
{
	my ($psql) = @_;

	return $psql->{run}->pumpable;
}

# Wait for its end; answers its exit status.
sub psql_finish
{
	my ($psql) = @_;

	$psql->{run}->finish;
	return $psql->{run}->result(0);
}

1;
