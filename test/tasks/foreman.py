"""The foreman: offers the tasks, does what operators do, and sees to it that all
of it ends.

The workers' processes, their kills and stops are the torture's (director.py);
here is what happens to tasks meanwhile: offers, holds of a task or of all,
cancels, breaks, hand-overs, retries and sweeps, all drawn from the seed.

Promises: drain() leaves no task open, or says which are, after a time in which a
poll that sees every task that is due has had each of them.
"""

import time

import psycopg

from director import Director
from record import Client, Refused
from worker import Worker

TASKS = 500
KILLS = 20
# Offered by then, as a part of the run.
OFFERED_BY = 0.8

ACTS = {"hold_task": 4, "hold_again": 3, "hold_all": 1, "cancel_task": 4, "break_": 5, "hand_over": 5,
        "retry": 4, "sweep": 4, "resume_tasks": 6}
# Longer than any lease, delay, deadline or hold of the run.
DRAINED_WITHIN = 20

NOT_OVER = "SELECT name FROM lease_catalog.lease WHERE task = 'open' ORDER BY name"


class Foreman(Director):
    session = Worker
    between = (0.05, 0.2)

    def __init__(self, directory, seed, seconds):
        super().__init__(directory, seed, seconds, 0, KILLS)
        self.offered = 0
        self.handed = 0
        self.stuck = []
        self.foreman = Client(directory / "foreman.jsonl", "torture foreman",
                              "-c search_path=unsafe,public -c lease.lock_wait=200ms")
        self.foreman.connect()
        self.offer(TASKS // 10)
        self.foreman.close()

    def ask(self, verb, **arguments):
        rows = self.foreman.ask(verb, **arguments)
        self.done[verb] += 1
        return rows

    def task(self):
        return f"t{self.random.randrange(self.offered):03}"

    def offer(self, until):
        while self.offered < min(until, TASKS):
            self.ask("lease_offer", name=f"t{self.offered:03}", payload=str(self.offered),
                     priority=self.random.choice((0, 0, 5)),
                     delay=f"{self.random.choice((0, 0, 200))} ms",
                     max_attempts=self.random.randint(2, 8))
            self.offered += 1

    def disturb(self):
        # no connection is open while it forks
        self.foreman.connect()
        try:
            passed = (time.monotonic() - self.since) / self.seconds
            self.offer(int(TASKS * passed / OFFERED_BY) + 1)
            for act in self.random.choices(list(ACTS), ACTS.values(), k=3):
                getattr(self, act)()
        except Refused:
            self.done["foreman refused"] += 1
        finally:
            self.foreman.close()
        return True

    def current(self):
        """A task that somebody may have, and its fence; None where nobody has one."""
        with psycopg.connect(autocommit=True) as connection:
            found = connection.execute(
                "SELECT name, fence FROM lease_catalog.lease WHERE task = 'open' AND owner IS NOT NULL"
                " AND ended_by IS NULL ORDER BY md5(name || %s) LIMIT 1",
                (str(self.random.random()),)).fetchone()
        return found or (self.task(), 1)

    def hold_task(self):
        self.ask("lease_hold", name=self.task(), reason="at random",
                 stop=self.random.random() < 0.3)

    def hold_again(self):
        """Until soon: no longer than what may have been there."""
        with psycopg.connect(autocommit=True) as connection:
            held = connection.execute("SELECT name FROM lease_catalog.lease WHERE hold_at IS NOT NULL"
                                      " AND task = 'open' ORDER BY name LIMIT 1").fetchone()
        self.ask("lease_hold", name=held[0] if held else self.task(), reason="shorter",
                 until="300 ms")

    def hold_all(self):
        self.ask("lease_namespace_hold", namespace="default", reason="at random", until="200 ms",
                 stop=self.random.random() < 0.3)

    def cancel_task(self):
        name, _ = self.current()
        self.ask("lease_cancel", name=name, reason="at random",
                 deadline=f"{self.random.choice((0, 100, 500))} ms")

    def break_(self):
        name, fence = self.current()
        self.ask("lease_break", name=name, expected_fence=fence, reason="at random",
                 hold=self.random.random() < 0.3)

    def hand_over(self):
        name, fence = self.current()
        self.handed += 1
        self.ask("lease_break", name=name, expected_fence=fence, reason="at random",
                 new_owner=f"operator/{self.handed}",
                 ttl=f"{self.random.randint(100, 500)} ms")

    def retry(self):
        self.ask("lease_retry", name=self.task(), reason="at random")

    def resume_tasks(self):
        with psycopg.connect(autocommit=True) as connection:
            held = connection.execute("SELECT name FROM lease_catalog.lease"
                                      " WHERE hold_at IS NOT NULL ORDER BY hold_at").fetchall()
        for name, in held[:3]:
            self.ask("lease_resume", name=name)

    def sweep(self):
        with psycopg.connect(autocommit=True) as connection:
            self.done["swept"] += connection.execute(
                "SELECT count FROM lease_sweep(5) WHERE what = 'tasks'").fetchone()[0]

    def look(self):
        """Wait for the workers' backends to end; then bring everything to its end."""
        self.await_backends()
        self.foreman.connect()
        self.offer(TASKS)
        self.drain()
        self.foreman.close()

    def drain(self):
        with psycopg.connect(autocommit=True) as connection:
            for number, (name,) in enumerate(connection.execute(
                    "SELECT name FROM lease_catalog.lease WHERE hold_at IS NOT NULL").fetchall()):
                if number % 2:
                    self.ask("lease_resume", name=name)
                else:
                    self.ask("lease_hold", name=name, reason="shorter", until="300 ms")
            polls = 0
            deadline = time.monotonic() + DRAINED_WITHIN
            while connection.execute(NOT_OVER).fetchone():
                if time.monotonic() > deadline:
                    self.stuck = [name for name, in connection.execute(NOT_OVER)]
                    return
                polls += 1
                owner = f"drain/{polls}"
                for row in self.ask("lease_poll", owner=owner, max_count=50, ttl="1 min",
                                    wait="200 ms"):
                    if row[0]:
                        self.ask("lease_complete", name=row[2], owner=owner, fence=row[4])
                connection.execute("SELECT FROM lease_sweep()")
