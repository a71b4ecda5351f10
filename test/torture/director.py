"""The director: starts the sessions, and does to them what operators, crashes
and the kernel do.

At moments drawn from the seed a backend is terminated or its query cancelled, a
session's process is killed, to come back at once under the same owner, or is
stopped and goes on some time later; now and then all leases are truncated
away, which the record says too.

Promises: every process that it forked has ended when run() returns, also by an
exception.  No connection is open while it forks.  A session is the leader of
its process group, so that an interrupt from the terminal reaches the director
alone; it ends when it finds that the director is gone.
"""

import collections
import mmap
import os
import random
import signal
import sys
import time
import traceback

import psycopg

from record import Client, Refused
from session import NAMES, Session

SESSIONS = 20
# A twin of a verb goes before the verb itself; a row that is locked for longer
# than a session waits for it is common.
OPTIONS = "-c search_path=unsafe,public -c lease.lock_wait=50ms"
BACKENDS = "FROM pg_stat_activity WHERE application_name LIKE 'torture s%'"

LONGER = 3
PAUSE = 0.25
ACTS = {"terminate": 35, "cancel": 20, "kill": 20, "stop": 25}
STOPPED = (0.05, 0.5)
BETWEEN_TRUNCATES = (3, 6)
# How long a session may take to finish its last call, and a backend to end.
PATIENCE = 30


class Director:
    session = Session           # what each process is
    between = BETWEEN_TRUNCATES # how often they are all disturbed, in seconds

    def __init__(self, directory, seed, seconds, calls, kills):
        """Let them go on for so many seconds; where fewer calls or kills have come
        of it, for up to LONGER times as many."""
        self.directory = directory
        self.seed = seed
        self.since = time.monotonic()
        self.seconds = seconds
        self.calls = calls
        self.kills = kills
        # seen by all processes: the calls of each session, and whether it is over
        self.shared = memoryview(mmap.mmap(-1, 8 * (SESSIONS + 1))).cast("q")
        self.random = random.Random(f"{seed}/director")
        self.lives = collections.Counter()
        self.sessions = {}          # number -> process id
        self.resume_at = {}         # number -> when a stopped one goes on
        self.done = collections.Counter()
        self.operator = Client(directory / "operator.jsonl", "torture operator")

    def run(self):
        try:
            for number in range(SESSIONS):
                self.start(number)
            disturb_at = self.later(*self.between)
            while not self.enough():
                if time.monotonic() > disturb_at:
                    disturbed = self.disturb()
                    disturb_at = self.later(*self.between if disturbed else STOPPED)
                act, = self.random.choices(list(ACTS), ACTS.values())
                getattr(self, act)(self.random.randrange(SESSIONS))
                self.wait(self.random.expovariate(1 / PAUSE))
            self.shared[SESSIONS] = True
            self.finish()
        finally:
            for number in list(self.sessions):
                self.end(number)
        self.look()

    def later(self, least, most):
        return time.monotonic() + self.random.uniform(least, most)

    # The processes.

    def start(self, number):
        self.lives[number] += 1
        name = f"s{number:02}.{self.lives[number]}"
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            os._exit(self.live(number, name, parent))
        self.sessions[number] = pid

    def live(self, number, name, parent):
        """The session's own process, from beginning to end: its status."""
        try:
            os.setpgid(0, 0)
            for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(each, signal.SIG_DFL)
            client = Client(self.directory / f"{name}.jsonl", f"torture {name}", OPTIONS)
            session = self.session(client, self.seed, number, self.lives[number])
            session.live(lambda: self.goes_on(number, parent))
            return 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            return 1

    def goes_on(self, number, parent):
        """A session asks so before each call, or transaction of several."""
        self.shared[number] += 1
        return not self.shared[SESSIONS] and os.getppid() == parent

    def enough(self):
        passed = time.monotonic() - self.since
        return passed > self.seconds * LONGER or passed > self.seconds and \
            sum(self.shared[:SESSIONS]) > self.calls and self.killed() > self.kills

    def killed(self):
        return self.done["pg_terminate_backend"] + self.done["SIGKILL"]

    def wait(self, seconds):
        """Let time pass, and those go on that were stopped for long enough."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            for number in [number for number, at in self.resume_at.items() if at <= now]:
                self.resume(number)
            time.sleep(min(until - now, 0.01))

    def resume(self, number):
        del self.resume_at[number]
        os.kill(self.sessions[number], signal.SIGCONT)

    def end(self, number):
        """Kill it, whatever it does: what became of it, as a negative signal number
        or its own status."""
        pid = self.sessions.pop(number)
        self.resume_at.pop(number, None)
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def finish(self):
        """Let every session come to its own end, and hear how it was."""
        for number in list(self.resume_at):
            self.resume(number)
        deadline = time.monotonic() + PATIENCE
        while self.sessions:
            for number, pid in list(self.sessions.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    del self.sessions[number]
                    if status:
                        raise RuntimeError(f"session {number} ended with status {status}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"sessions {sorted(self.sessions)} do not end")
            time.sleep(0.01)

    # What happens to them.

    def terminate(self, number):
        self.signal_backend(number // 2, "pg_terminate_backend")

    def cancel(self, number):
        self.signal_backend(number // 4, "pg_cancel_backend")

    def signal_backend(self, place, function):
        """The backends stand in a row, those at work before those at rest."""
        with psycopg.connect(autocommit=True) as connection:
            self.done[function] += connection.execute(
                f"SELECT count(*) FILTER (WHERE {function}(pid)) FROM (SELECT pid {BACKENDS}"
                f" ORDER BY state <> 'active', application_name OFFSET {place} LIMIT 1) AS one"
            ).fetchone()[0]

    def kill(self, number):
        if (status := self.end(number)) != -signal.SIGKILL:
            raise RuntimeError(f"session {number} had ended with status {status}")
        self.start(number)
        self.done["SIGKILL"] += 1

    def stop(self, number):
        if number not in self.resume_at:
            os.kill(self.sessions[number], signal.SIGSTOP)
            self.resume_at[number] = self.later(*STOPPED)
            self.done["SIGSTOP"] += 1

    def disturb(self):
        """Truncate all leases away: whether that was possible.  A stopped session may
        hold the table; then nobody waits for long behind the one who would."""
        self.operator.connect()
        try:
            self.operator.tell("SET lock_timeout = '200 ms'")
            self.operator.tell("TRUNCATE lease_catalog.lease")
            self.done["TRUNCATE"] += 1
            return True
        except Refused:
            return False
        finally:
            self.operator.close()

    def await_backends(self):
        """Wait for those of the sessions to end."""
        with psycopg.connect(autocommit=True) as connection:
            deadline = time.monotonic() + PATIENCE
            while connection.execute(f"SELECT count(*) {BACKENDS}").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise TimeoutError("backends do not end")
                time.sleep(0.01)

    def look(self):
        """What is on record after all, once no backend is left to change it."""
        self.await_backends()
        self.operator.connect()
        for name in NAMES:
            self.operator.ask("lease_get", name=name)
        self.operator.close()
