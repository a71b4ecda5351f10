"""Owners that claim, renew, lose and forget leases, and write under old tokens.

Every owner has a session of its own and keeps the tokens that it was given,
also those that it should have thrown away.  A heart renews whatever somebody
has, an operator breaks epochs and ends backends.  What was granted and written
is read from the server's log of changes afterwards; here it is only counted.
"""

import random
import threading
import time
from collections import Counter, namedtuple

import psycopg

LEASES = ("a", "b", "c", "d", "e")
ROWS = 3
OWNERS = 10

# Answers that a writer may get; others are faults of the run.
REFUSED = {"LE001": "stale", "LE002": "expired", "LE007": "busy", "LE008": "ended"}
TRANSIENT = {"40001", "40P01", "55P03"}

Token = namedtuple("Token", "lease owner fence")


class Run:
    """What the threads of one run share."""

    def __init__(self, seed, seconds):
        self.seed = seed
        self.deadline = time.monotonic() + seconds
        self.counts = Counter()
        self.faults = []
        self.held = {}              # the newest token of each lease, as far as is known
        self.lock = threading.Lock()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, who, error):
        with self.lock:
            self.faults.append(f"{who}: {type(error).__name__}: {error}")

    def going(self):
        return time.monotonic() < self.deadline and not self.faults


class Actor(threading.Thread):
    """A thread with a session, which it opens again whenever that is ended."""

    def __init__(self, run, name):
        super().__init__(name=name)
        self.shared = run
        self.random = random.Random(f"{run.seed} {name}")
        self.session = None

    def run(self):
        try:
            while self.shared.going():
                try:
                    if self.session is None:
                        self.session = psycopg.connect(application_name=f"guards {self.name}",
                                                       autocommit=True)
                    self.act()
                except psycopg.OperationalError as error:
                    self.survive(error)
        except Exception as error:  # pylint: disable=broad-except
            self.shared.fault(self.name, error)
        finally:
            if self.session is not None:
                self.session.close()

    def survive(self, error):
        """Go on after the session was ended, and after nothing else."""
        if error.sqlstate in TRANSIENT:
            self.shared.count("transient")
        elif error.sqlstate == "57P01" or self.session.broken:
            self.session.close()
            self.session = None
            self.shared.count("sessions ended")
        else:
            raise error

    def one(self, statement, *values):
        return self.session.execute(statement, values).fetchone()

    def nap(self, longest):
        time.sleep(self.random.uniform(0, longest))


class Lingering:
    """What is done in it is often not committed yet when others look."""

    def __init__(self, actor):
        self.actor = actor
        self.transaction = actor.session.transaction(force_rollback=actor.random.random() < 0.1)

    def __enter__(self):
        self.transaction.__enter__()

    def __exit__(self, *error):
        if error[0] is None and self.actor.random.random() < 0.5:
            self.actor.nap(0.15)
        return self.transaction.__exit__(*error)


class Owner(Actor):
    """Claims, writes, releases, and has a long memory."""

    def __init__(self, run, name):
        super().__init__(run, name)
        self.tokens = []

    def act(self):
        what = self.random.random()
        if what < 0.3:
            self.claim()
        elif what < 0.88:
            self.write()
        elif what < 0.94:
            self.release()
        else:
            self.nap(0.2)

    def claim(self):
        lease = self.random.choice(LEASES)
        outcome, ok, fence = self.one(
            "SELECT outcome, ok, fence FROM lease_claim(%s, %s,"
            " ttl => make_interval(secs => %s), wait => make_interval(secs => %s))",
            lease, self.name, self.random.uniform(0.15, 0.6), self.random.choice((0, 0, 0.3)))
        self.shared.count(f"claim {outcome}")
        if ok:
            self.tokens = self.tokens[-7:] + [Token(lease, self.name, fence)]
            self.shared.held[lease] = self.tokens[-1]

    def release(self):
        if self.tokens:
            self.one("SELECT outcome FROM lease_release(%s, %s, %s)", *self.tokens[-1])

    def choose(self):
        """One token or two: mostly the newest, sometimes any, of different leases."""
        chosen = []
        for _ in range(self.random.choice((1, 1, 1, 2))):
            token = self.tokens[-1] if self.random.random() < 0.6 else self.random.choice(self.tokens)
            if token.lease not in [other.lease for other in chosen]:
                chosen.append(token)
        return chosen

    def write(self):
        if not self.tokens:
            return
        self.session.isolation_level = self.random.choice(
            (None, None, None, psycopg.IsolationLevel.REPEATABLE_READ))
        self.shared.count("begun")
        chosen = self.choose()
        try:
            with self.session.transaction(force_rollback=self.random.random() < 0.1):
                if self.random.random() < 0.2:
                    self.one("SELECT count(*) FROM account")
                    self.nap(0.2)
                for token in chosen:
                    self.write_under(token)
                    self.nap(self.random.choice((0.01, 0.05, 0.6)))
        except psycopg.Error as error:
            if error.sqlstate not in REFUSED:
                raise
            self.shared.count(f"write {REFUSED[error.sqlstate]}")
            if self.random.random() < 0.3:
                self.tokens = [token for token in self.tokens if token not in chosen]
        finally:
            if not self.session.closed:
                self.session.isolation_level = None

    def write_under(self, token):
        """A look at the lease, the token, and some rows."""
        if self.random.random() < 0.5:
            self.one("SELECT outcome FROM lease_present(%s, %s, %s, prove => false)", *token)
        else:
            self.one("SELECT set_config('lease.token', concat_ws(' ',"
                     " current_setting('lease.token'), lease_token('default', %s, %s, %s)), true)",
                     *token)
        self.session.execute(
            "INSERT INTO seen SELECT %s, %s, outcome, coalesce(fence, 0), server_time"
            " FROM lease_get(%s)", (token.lease, token.fence, token.lease))
        for row in sorted(self.random.sample(range(ROWS), self.random.randint(1, ROWS))):
            self.session.execute("UPDATE account SET fence = %s WHERE lease = %s AND id = %s",
                                 (token.fence, token.lease, row))
            if self.random.random() < 0.3:
                self.nap(0.1)


class Heart(Actor):
    """Renews the newest epoch of some lease, also while its owner writes."""

    def act(self):
        token = self.shared.held.get(self.random.choice(LEASES))
        if token is not None:
            with Lingering(self):
                outcome, = self.one("SELECT outcome FROM lease_renew(%s, %s, %s,"
                                    " ttl => make_interval(secs => %s))",
                                    *token, self.random.uniform(0.15, 0.6))
            self.shared.count(f"renew {outcome}")
        self.nap(0.1)


class Operator(Actor):
    """Breaks epochs and ends backends."""

    def act(self):
        if self.random.random() < 0.7:
            token = self.shared.held.get(self.random.choice(LEASES))
            if token is not None:
                with Lingering(self):
                    outcome, = self.one("SELECT outcome FROM lease_break(%s, %s, 'at random')",
                                        token.lease, token.fence)
                self.shared.count(f"break {outcome}")
        else:
            ended = self.one("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                             " WHERE application_name = %s AND datname = current_database()",
                             f"guards owner {self.random.randrange(OWNERS)}")
            if ended is not None:
                self.shared.count("kill")
        self.nap(0.3)


def play(seed, seconds):
    """Let them loose for so long; the run's counts and faults."""
    run = Run(seed, seconds)
    actors = [Owner(run, f"owner {number}") for number in range(OWNERS)]
    actors += [Heart(run, "heart"), Operator(run, "operator")]
    for actor in actors:
        actor.start()
    for actor in actors:
        actor.join(seconds + 60)
        if actor.is_alive():
            raise RuntimeError(f"{actor.name} hangs")
    return run
