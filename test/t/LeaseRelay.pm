# LeaseRelay: a TCP relay between a client and a server, which the test rules.
#
# It reads PostgreSQL's messages as they pass and asks the test about each of
# them ("watch"): pass it on, hold it and all that follows, or do to the
# connection what networks do.  The test drives it by turn(); between two turns
# nothing moves, so nothing depends on how fast anything is.
#
# What a watch may answer about a message:
#	pass		hand it on
#	hold		keep it, and all behind it, until let_go()
#	cut		close both sides at once; the message is lost
#	pass_half	hand it on, and close that direction behind it
#	half		lose it, and close that direction

package LeaseRelay;

use strict;
use warnings FATAL => 'all';

use Errno qw(EAGAIN EINTR EWOULDBLOCK);
use IO::Select;
use IO::Socket::INET;

# A relay to a server that listens on 127.0.0.1.
sub new
{
	my ($class, $server_port) = @_;
	my $listener = IO::Socket::INET->new(
		LocalAddr => '127.0.0.1',
		LocalPort => 0,
		Listen    => 10,
		Proto     => 'tcp') or die "no port to listen on: $!";

	return bless {
		listener    => $listener,
		server_port => $server_port,
		links       => [],
		watch       => {},
		held        => 0
	}, $class;
}

# How psql gets here.
sub connstr
{
	my ($self, $database) = @_;

	return 'host=127.0.0.1 port=' . $self->{listener}->sockport
	  . " dbname=$database sslmode=disable gssencmode=disable";
}

# Ask a function about each message from the "client" or the "server": it is
# given the message's type and the rest of it.
sub watch
{
	my ($self, $from, $ask) = @_;

	$self->{watch}{$from} = $ask;
}

sub held
{
	my ($self) = @_;

	return $self->{held};
}

# Hand on what is held.
sub let_go
{
	my ($self) = @_;

	$self->{watch}{$_} = undef foreach keys %{ $self->{watch} };
	$self->{held} = 0;
	foreach my $link (@{ $self->{links} })
	{
		$self->_forward($link, $_) foreach qw(client server);
	}
}

# Move what there is to move, waiting for at most a moment.
sub turn
{
	my ($self) = @_;
	my %side;
	my $select = IO::Select->new($self->{listener});

	foreach my $link (@{ $self->{links} })
	{
		foreach my $from (qw(client server))
		{
			next if $link->{ended}{$from};
			$side{ $link->{$from} } = [ $link, $from ];
			$select->add($link->{$from});
		}
	}
	foreach my $socket ($select->can_read(0.02))
	{
		if ($socket == $self->{listener})
		{
			$self->_accept;
			next;
		}
		my ($link, $from) = @{ $side{$socket} };

		# what came first may have closed it
		$self->_read($link, $from) if $link->{$from} && !$link->{ended}{$from};
	}
	@{ $self->{links} } = grep { $_->{client} } @{ $self->{links} };
}

sub _accept
{
	my ($self) = @_;
	my $client = $self->{listener}->accept or return;
	my $server = IO::Socket::INET->new(
		PeerAddr => '127.0.0.1',
		PeerPort => $self->{server_port},
		Proto    => 'tcp') or die "no way to the server: $!";

	push @{ $self->{links} },
	  { client => $client, server => $server, buffer => { client => '', server => '' }, ended => {}, started => 0 };
}

sub _read
{
	my ($self, $link, $from) = @_;
	my $count = sysread($link->{$from}, $link->{buffer}{$from}, 65536, length $link->{buffer}{$from});

	return if !defined $count && ($! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR);
	$link->{ended}{$from} = 1 unless $count;
	$self->_forward($link, $from);
}

# The length of the message at the head of a buffer; undef where it is not all
# there.  The client's first one has no type.
sub _message
{
	my ($link, $from) = @_;
	my $start = $from eq 'client' && !$link->{started} ? 0 : 1;
	my $buffer = \$link->{buffer}{$from};

	return undef if length $$buffer < $start + 4;
	my $length = $start + unpack('N', substr($$buffer, $start, 4));
	return length $$buffer < $length ? undef : $length;
}

sub _forward
{
	my ($self, $link, $from) = @_;
	my $to = $from eq 'client' ? 'server' : 'client';

	while ($link->{$from} && defined(my $length = _message($link, $from)))
	{
		my $message = substr($link->{buffer}{$from}, 0, $length);
		my $does    = 'pass';

		if ($from eq 'client' && !$link->{started})
		{
			$link->{started} = 1;
		}
		elsif (my $ask = $self->{watch}{$from})
		{
			$does = $ask->(substr($message, 0, 1), substr($message, 5));
		}
		if ($does eq 'hold')
		{
			$self->{held} = 1;
			return;
		}
		if ($does eq 'cut')
		{
			_close($link);
			return;
		}
		substr($link->{buffer}{$from}, 0, $length) = '';
		_write($link->{$to}, $message) if $does =~ /^pass/;
		if ($does =~ /half$/)
		{
			shutdown($link->{$to}, 1);
			$link->{ended}{$from} = 1;
			return;
		}
	}
	return unless $link->{ended}{$from} && $link->{$to};
	if ($link->{ended}{$to})
	{
		_close($link);
	}
	else
	{
		shutdown($link->{$to}, 1);
	}
}

# The other side may be gone, which it will tell by itself.
sub _write
{
	my ($socket, $data) = @_;

	while (length $data)
	{
		my $count = syswrite($socket, $data);

		return unless defined $count;
		substr($data, 0, $count) = '';
	}
}

sub _close
{
	my ($link) = @_;

	foreach my $side (qw(client server))
	{
		close $link->{$side};
		$link->{$side} = undef;
	}
}

1;
