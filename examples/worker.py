#!/usr/bin/python3
"""A worker that polls for tasks, keeps alive the one it is at, and stops when it must.

    worker.py OWNER [TTL]         TTL in seconds, 30 if not given

Works off tasks one after the other until SIGTERM or SIGINT, and then gives its
task back.  What the work is stands in work(); put your own there.  All else
comes down to this: it writes only under its token, until a moment that it
reckons by its own monotonic clock, from when the last request that was granted
*left*.  Silence, errors and `busy` do not move that moment, and mean nothing
else.  The database is that of libpq's variables; its role has `use` there.
"""

import contextlib
import signal
import sys
import threading
import time
import uuid

import psycopg
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb

MARGIN = 0.1  # of the ttl: how much earlier than the server we hold a task for lost
WAIT = 2  # seconds for a task to come, for so long we may not notice that we are to stop

stopping = threading.Event()


class Stop(Exception):
    """Work no longer: the task is lost, or somebody wants us to stop."""


def work(task, attempt, db):
    """Import the lines that no attempt has imported yet."""
    lines = task.payload["lines"]
    for number in range(task.checkpoint["lines"] if task.checkpoint else 0, len(lines)):
        # One transaction for the line and for the note that it is done.
        with attempt.writing(db):
            db.execute("INSERT INTO imported (task, line, body) VALUES (%s, %s, %s)",
                       (task.name, number + 1, lines[number]))
            attempt.keep(db, {"lines": number + 1})
    return {"lines": len(lines)}


class Attempt:
    """One epoch of a task, its heartbeat, and its end by our own clock."""

    def __init__(self, task, left, db):
        self.token = (task.name, task.owner, task.fence)
        self.db = db
        self.why = None
        self.over = threading.Event()
        self.heed(task, left)
        threading.Thread(target=self.beat, daemon=True).start()

    def heed(self, answer, left):
        """An answer to a request that left then."""
        if answer.ok:
            ttl = answer.ttl.total_seconds()
            self.deadline = left + answer.remaining.total_seconds() - MARGIN * ttl
            self.beat_at = left + ttl / 3
        elif answer.outcome == "busy":
            self.beat_at = time.monotonic() + 0.1
        else:
            self.stop(answer.outcome)
        if answer.cancel_deadline is not None:
            self.stop("cancel requested")

    def beat(self):
        """In a thread and a session of its own, beside transactions of work()."""
        while not self.over.is_set():
            try:
                with connect() as db:
                    while not self.over.wait(min(self.beat_at, self.deadline) - time.monotonic()):
                        self.check()
                        left = time.monotonic()
                        self.heed(db.execute("SELECT * FROM lease_renew(%s, %s, %s)",
                                             self.token).fetchone(), left)
            except Stop as stop:
                self.stop(str(stop))
            except psycopg.OperationalError:
                self.over.wait(0.1)

    def stop(self, why):
        self.why = why
        self.over.set()
        self.db.cancel()

    def check(self):
        if self.why is None and time.monotonic() >= self.deadline:
            self.why = "out of time"
        if self.why is None and stopping.is_set():
            self.why = "interrupted"
        if self.why is not None:
            raise Stop(self.why)

    @contextlib.contextmanager
    def writing(self, db):
        """A transaction under the token; rolled back if it comes to its end too late."""
        self.check()
        with db.transaction():
            db.execute("SELECT lease_present(%s, %s, %s)", self.token)
            yield
            self.check()

    def keep(self, db, checkpoint):
        """How far the work has come, if the transaction commits: so no timer hangs on it."""
        answer = db.execute("SELECT * FROM lease_renew(%s, %s, %s, checkpoint => %s)",
                            (*self.token, Jsonb(checkpoint))).fetchone()
        if not answer.ok:
            raise Stop(answer.outcome)

    def settle(self, call, *values):
        """End the attempt; repeated until there is an answer, which does no harm."""
        while True:
            with contextlib.suppress(psycopg.OperationalError), connect() as db:
                answer = db.execute(f"SELECT * FROM {call}", (*self.token, *values)).fetchone()
                if answer.outcome != "busy":
                    return answer.outcome
            if time.monotonic() >= self.deadline:
                return "unknown"
            time.sleep(0.1)


def at(task, attempt, db):
    """The outcome of an attempt at a task, in a few words."""
    try:
        result = work(task, attempt, db)
        return attempt.settle("lease_complete(%s, %s, %s, result => %s)", Jsonb(result))
    except Exception as error:
        try:
            attempt.check()
        except Stop as stop:
            # Not ours any more, or to be given back: then a cancelled one is cancelled.
            return f"stopped, {stop}: {attempt.settle('lease_release(%s, %s, %s)')}"
        return attempt.settle("lease_fail(%s, %s, %s, %s)", storable(str(error) or repr(error)))
    finally:
        attempt.over.set()


def storable(text):
    """What a database takes: no zero bytes, and no half characters."""
    return text.replace("\0", "").encode(errors="replace").decode()


def connect():
    return psycopg.connect(autocommit=True, row_factory=namedtuple_row)


def main():
    owner, ttl = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 30
    request, db = uuid.uuid4(), None

    def interrupt(*_):
        stopping.set()
        with contextlib.suppress(psycopg.Error):
            db.cancel()
    while not stopping.is_set():
        try:
            with connect() as db:
                signal.signal(signal.SIGTERM, interrupt)
                signal.signal(signal.SIGINT, interrupt)
                left = time.monotonic()
                # What a poll waits for a task is time of the task's.
                task = db.execute(
                    "SELECT * FROM lease_poll(%s, ttl => make_interval(secs => %s),"
                    " wait => make_interval(secs => %s), request_id => %s)",
                    (owner, ttl, min(ttl / 3, WAIT), request)).fetchone()
                # That was the answer; only the twin of a poll in flight has none yet.
                if task is None or task.outcome != "busy":
                    request = uuid.uuid4()
                if task is not None and task.ok:
                    print(task.name, task.fence, at(task, Attempt(task, left, db), db), flush=True)
        except psycopg.OperationalError as error:
            # Not known: the same request again is told what it was granted.
            if not stopping.is_set():
                print(error, file=sys.stderr, flush=True)
                time.sleep(1)


if __name__ == "__main__":
    main()
