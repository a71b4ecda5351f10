# What a network does to leases: late heartbeats, lost answers, half-closed
# connections.
#
# A relay stands between client and server and holds, loses or cuts at one
# message that the test chooses.  A heartbeat that arrives after the takeover
# changes nothing; a claim whose answer was lost is resolved by asking again
# with its request id, and has been granted once; a client that is gone keeps
# nothing and is granted nothing.

use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;

use LeaseRelay;
use LeaseTest;
use Test::More;

my $node = new_node('node', conf => "listen_addresses = '127.0.0.1'\n");
my $relay = LeaseRelay->new($node->port);

# Run the relay until the condition holds.
sub relay_until
{
	my ($condition, $what) = @_;

	return wait_for(sub { $relay->turn; $condition->() }, $what);
}

# A client behind the relay.
sub client
{
	my ($sql) = @_;

	return psql_start($relay->connstr('postgres') . ' application_name=behind', $sql);
}

# Its end; answers what it was told.
sub end_of
{
	my ($client) = @_;

	relay_until(sub { !psql_runs($client) }, 'the client ends');
	psql_finish($client);
	return psql_said($client, 'out');
}

# Answers "hold" and the like at the first query that matches.
sub at_query
{
	my ($pattern, $does) = @_;

	return sub {
		my ($type, $body) = @_;

		return $type eq 'Q' && $body =~ $pattern ? $does : 'pass';
	};
}

# ... and at the first answer to a command.
sub at_answer
{
	my ($tag, $does) = @_;

	return sub {
		my ($type, $body) = @_;

		return $type eq 'C' && $body =~ /^$tag/ ? $does : 'pass';
	};
}

# No backend serves the client any more.
sub gone
{
	return $node->safe_psql('postgres',
		q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'behind')}) eq 't';
}

# How often a name was granted.
sub epochs
{
	my ($name) = @_;

	return $node->safe_psql('postgres',
		"SELECT (SELECT count(*) FROM lease_history WHERE name = '$name')"
		  . " + (SELECT count(*) FROM lease_status WHERE name = '$name' AND state <> 'free')");
}

sub row
{
	my ($name) = @_;

	return $node->safe_psql('postgres', "SELECT l, l.xmin, l.ctid FROM lease_catalog.lease l WHERE name = '$name'");
}

# A heartbeat that the network delays past the takeover.  The successor has the
# same owner's name, as a worker that was started anew has.
foreach my $successor ('B', 'A')
{
	my $name = "late-$successor";

	$relay->watch(client => at_query(qr/lease_renew/, 'hold'));
	my $client = client(
		qq{
		SELECT outcome, fence FROM lease_claim('$name', 'A', ttl => '1 s');
		SELECT ok, outcome FROM lease_renew('$name', 'A', 1)});
	ok(relay_until(sub { $relay->held }, 'the heartbeat'), "$name: the heartbeat is on its way");
	my $taken = answer($node, "lease_takeover('$name', '$successor', 1, '1 h', wait => '1 min')");
	is_deeply([ @$taken{qw(outcome fence)} ], [ 'taken_over', 2 ], "$name: meanwhile the lease lapses and is taken over");
	my $before = row($name);
	$relay->let_go;
	is(end_of($client), "claimed|1\nf|stale_fence\n", "$name: when the heartbeat arrives it is refused");
	is(row($name), $before, "$name: ... and has changed nothing");
	is(answer($node, "lease_renew('$name', '$successor', 2, $taken->{version})")->{outcome}, 'renewed',
		"$name: the successor's own is in order");
}

$relay->watch(client => at_query(qr/lease_renew/, 'hold'));
my $client = client(
	q{
	SELECT outcome FROM lease_claim('lapsed', 'A', ttl => '100 ms');
	SELECT ok, outcome FROM lease_renew('lapsed', 'A', 1)});
relay_until(
	sub { $relay->held && answer($node, q{lease_get('lapsed')})->{outcome} eq 'expired' },
	'the heartbeat is late');
my $before = row('lapsed');
$relay->let_go;
is(end_of($client), "claimed\nf|expired\n", 'a heartbeat past the expiry is refused, though nobody has taken over');
is(row('lapsed'), $before, '... and changes nothing');

# A connection that breaks at COMMIT: the client cannot know on which side.
my $asked = 0;
foreach my $case (
	[ 'COMMIT did not arrive', client => at_query(qr/^COMMIT/, 'cut'),            'claimed' ],
	[ 'the answer to COMMIT was lost', server => at_answer('COMMIT', 'cut'),      'replayed' ],
	[ 'the claim did not arrive', client => at_query(qr/lease_claim/, 'cut'),     'claimed' ],
	[ 'the answer to the claim was lost', server => at_answer('SELECT', 'cut'),   'replayed' ])
{
	my ($what, $from, $watch, $outcome) = @$case;
	my $name = 'unknown-' . ++$asked;
	my $id   = "00000000-0000-4000-8000-00000000000$asked";
	my $call = "lease_claim('$name', 'A', '1 h', request_id => '$id', wait => '1 min')";
	my $sql  = "SELECT outcome FROM $call;\n";

	$relay->watch($_ => undef) foreach qw(client server);
	$relay->watch($from => $watch);
	my $client = client($what =~ /COMMIT/ ? "BEGIN;\n${sql}COMMIT;\n" : $sql);
	my $heard = end_of($client);
	like(psql_said($client, 'err'), qr/server closed the connection|connection to server was lost/,
		"$what: the client has lost its connection");
	is($heard, $what =~ /COMMIT/ ? "claimed\n" : '', "$what: ... and does not know");

	my $again = answer($node, $call);
	is($again->{outcome}, $outcome, "$what: asked again, it is $outcome");
	is_deeply([ @$again{qw(ok fence)} ], [ 1, 1 ], "$what: ... under the first fence");
	is(epochs($name), 1, "$what: one epoch was granted");
	is(answer($node, $call)->{outcome}, 'replayed', "$what: asked once more, it is replayed");
	is(answer($node, "lease_release('$name', 'A', 1)")->{outcome}, 'released', "$what: it can be released");
	my $late = answer($node, $call);
	is_deeply([ @$late{qw(ok outcome fence)} ], [ 0, 'replayed_ended', 1 ], "$what: a late duplicate grants nothing");
	is(epochs($name), 1, "$what: ... really nothing");
}

# A heartbeat whose answer is lost: the version on record tells.
$relay->watch(client => undef);
my $held = claim($node, 'answered');
$relay->watch(server => at_answer('SELECT', 'cut'));
end_of(client("SELECT outcome FROM lease_renew('answered', 'A', $held->{fence}, $held->{version})"));
my $stale = answer($node, "lease_renew('answered', 'A', $held->{fence}, $held->{version})");
is_deeply([ @$stale{qw(ok outcome fence version)} ], [ 0, 'stale_version', $held->{fence}, $held->{version} + 1 ],
	'a repeated heartbeat with the old version is told the new one');
is(answer($node, "lease_renew('answered', 'A', $held->{fence}, $stale->{version})")->{outcome}, 'renewed',
	'... and goes on with it');
$relay->watch(server => undef);

# The client's side closes in the middle of a transaction: nothing is kept.
$relay->watch(client => at_query(qr/lease_get/, 'half'));
$client = client(
	q{
	BEGIN;
	SELECT outcome, fence FROM lease_claim('half', 'A', '1 h');
	SELECT outcome FROM lease_get('half');
	COMMIT});
is(end_of($client), "claimed|1\n", 'a claim is answered and its transaction is never ended');
is(claim($node, 'half', owner => 'B', rest => q{wait => '1 min'})->{outcome}, 'claimed',
	'... so the lease is free for the next');

# It closes right behind the question: the grant stands, and is answered.
$relay->watch(client => at_query(qr/lease_claim/, 'pass_half'));
is(end_of(client(q{SELECT outcome FROM lease_claim('behind', 'A', '1 h')})),
	"claimed\n", 'a claim is answered to a client that says no more');
is(epochs('behind'), 1, '... once');

# The server's side closes: the client believes that it has lost, and so it has.
$relay->watch(client => undef);
$relay->watch(server => at_answer('SELECT', 'half'));
$client = client(
	q{
	BEGIN;
	SELECT outcome, fence FROM lease_claim('silent', 'A', '1 h');
	COMMIT});
is(end_of($client), '', 'a claim is not answered');
ok(relay_until(\&gone, 'the backend'), '... and its backend ends with the client');
is(claim($node, 'silent', owner => 'B', rest => q{wait => '1 min'})->{outcome}, 'claimed',
	'... so the lease is free for the next');
$relay->watch(server => undef);

# A client that is gone while its claim waits is not granted anything, where
# the server is told to look.
$held = claim($node, 'waited', owner => 'B');
$relay->watch(client => at_query(qr/lease_claim/, 'pass_half'));
$client = client(
	q{
	SET client_connection_check_interval = '50ms';
	SELECT outcome FROM lease_claim('waited', 'A', '1 h', wait => '1 min')});
is(end_of($client), '', 'a claim that waits gets no answer');
ok(wait_for(\&gone, 'the backend'), '... and its backend does not outlive the client');
answer($node, "lease_release('waited', 'B', $held->{fence})");
my $get = answer($node, q{lease_get('waited')});
is_deeply([ @$get{qw(outcome fence)} ], [ 'free', $held->{fence} ], '... so that what is released stays free');

done_testing();
