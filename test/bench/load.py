"""One run of one side: pgbench, and what its log says.

Promises: what is counted is what happened after the sessions had settled; a
run in which a single call did not do what it was made for is an error, not a
figure.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import typing

import server

# How long sessions may take to connect and to warm up, in seconds; and the least
# of it that must be left to warm up.
SETTLING = 2
WARM = 0.5


@dataclasses.dataclass(frozen=True)
class Side:
    """Something that changes rows, such as a renewal."""
    script: str
    table: str                  # or several, which it leaves to be vacuumed
    counter: str = ""           # SQL: rises by 1 with each row changed
    rows: int = 1               # that one call changes
    schema: str = ""            # where the script's tables are looked for first
    token: str = ""             # lease.token of each session
    steps: tuple = ("",)        # what a client's calls do in turn; the last is counted
    variables: dict = dataclasses.field(default_factory=dict)

    def count(self, database):
        counted, = database.numbers(self.counter or f"sum(version) FROM {self.table}")
        return counted


RENEW = Side("renew.sql", server.LEASES)
UPDATE = Side("update.sql", server.YARDSTICK)
PLPGSQL = Side("plpgsql.sql", server.YARDSTICK)
LIBRARY = Side("library.sql", server.YARDSTICK)


def renew_many(first, leases):
    first += server.FIRST_NAME
    return Side("renew-many.sql", server.LEASES, rows=leases,
                variables={"names": array(range(first, first + leases)),
                           "fences": array([1] * leases)})


@dataclasses.dataclass(frozen=True)
class Length:
    """Of a run: so many seconds after it has settled, or so many calls in all."""
    seconds: int = 0
    calls: int = 0

    def arguments(self, clients):
        if self.calls:
            return ["-t", str(-(-self.calls // clients))]
        return ["-T", str(SETTLING + self.seconds)]


def perform(database, side, clients, length, seed, names=None):
    """Let so many clients change rows drawn from a range of names (those of all
    leases, if none is given): the figures of one run, by step if it has steps."""
    before = side.count(database)
    with tempfile.TemporaryDirectory(dir=os.environ.get("LEASE_TMP")) as scratch:
        pgbench(database, side, clients, length.arguments(clients),
                names or (0, database.leases), seed,
                "-l", f"--log-prefix={scratch}/log")
        calls = read_logs(pathlib.Path(scratch), side.steps)
    made = sum(call.step == side.steps[-1] for call in calls)
    changed = side.count(database) - before
    if changed != made * side.rows:
        raise RuntimeError(f"{side.script}: {made} calls changed {changed} rows")
    figures = count_calls(calls, length, side.steps)
    return figures if len(side.steps) > 1 else figures[side.steps[0]]


def array(values):
    return "{" + ",".join(map(str, values)) + "}"


@contextlib.contextmanager
def beside(database, side, rate, clients, seconds, names):
    """Meanwhile so many clients change rows at a rate: a second's number of them,
    all together, for so long.  Yields a list that has the number of calls in the end."""
    before = side.count(database)
    made = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        load = pool.submit(pgbench, database, side, clients,
                           ["-T", str(seconds), "-R", str(rate)], names, 0)
        yield made
        calls = load.result()
    changed = side.count(database) - before
    if changed != calls:
        raise RuntimeError(f"{side.script}: {calls} calls beside changed {changed} rows")
    made.append(calls)


def pgbench(database, side, clients, length, names, seed, *options):
    """How many calls were made."""
    first, count = names
    first += server.FIRST_NAME
    variables = {"first": first, "last": first + count - 1, "step": 0} | side.variables
    command = ["pgbench", "-n", "-M", "prepared", "-U", server.ROLE,
               "-c", str(clients), "-j", str(min(clients, os.cpu_count())),
               *length, f"--random-seed={seed}", *options,
               "-f", str(server.SQL / side.script)]
    for name, value in variables.items():
        command += ["-D", f"{name}={value}"]
    environment = dict(os.environ)
    settings = {"search_path": side.schema and f"{side.schema},public",
                "lease.token": side.token}
    environment["PGOPTIONS"] = " ".join(f"-c {name}={value}"
                                        for name, value in settings.items() if value)
    done = subprocess.run([*command, database.name], text=True, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    calls = re.search(r"^number of transactions actually processed: (\d+)", done.stdout, re.M)
    failed = re.search(r"^number of failed transactions: (\d+)", done.stdout, re.M)
    if done.returncode or not calls or (failed and int(failed[1])):
        raise RuntimeError(f"pgbench, {side.script}:\n{done.stdout}")
    return int(calls[1])


class Call(typing.NamedTuple):
    end: int                    # these in microseconds
    time: int
    step: str


def read_logs(directory, steps):
    """All calls.  A client's lines are in one file, in order."""
    calls, made = [], collections.Counter()
    for path in directory.iterdir():
        with contextlib.closing(path.open()) as lines:
            for line in lines:
                client, _, time, _, second, microsecond = line.split()[:6]
                calls.append(Call(int(second) * 1_000_000 + int(microsecond), int(time),
                                  steps[made[client] % len(steps)]))
                made[client] += 1
    return calls


def count_calls(calls, length, steps):
    """The figures, by step, of the calls that ended in the time that counts: the
    last part of a run, if that has a length in time."""
    by_step = {step: [call for call in calls if call.step == step] for step in steps}
    if not length.seconds:
        return {step: figures(made, min(call.end - call.time for call in made),
                              max(call.end for call in made))
                for step, made in by_step.items()}
    stop = max(call.end for call in calls)
    start = stop - length.seconds * 1_000_000
    if start - min(call.end for call in calls) < WARM * 1_000_000:
        raise RuntimeError(f"sessions needed more than {SETTLING - WARM} s to connect")
    return {step: figures([call for call in made if call.end >= start], start, stop)
            for step, made in by_step.items()}


def figures(calls, start, stop):
    times = sorted(call.time for call in calls)
    return {
        "calls": len(times),
        "seconds": (stop - start) / 1e6,
        "mean_us": round(statistics.mean(times)),
        "p50_us": percentile(times, 50),
        "p99_us": percentile(times, 99),
        "max_us": times[-1],
    }


def percentile(ordered, percent):
    return ordered[-(-len(ordered) * percent // 100) - 1]
