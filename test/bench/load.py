"""One run of one side: pgbench, and what its log says.

Promises: what is counted is what happened after the sessions had settled; a
run in which a single call did not renew is an error, not a figure.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile

import server

# How long sessions may take to connect and to warm up, in seconds; and the least
# of it that must be left to warm up.
SETTLING = 2
WARM = 0.5


@dataclasses.dataclass(frozen=True)
class Side:
    """Something that renews leases: a script, and the table that it works on."""
    script: str
    table: str
    leases: int = 1             # that one call renews


RENEW = Side("renew.sql", server.LEASES)
UPDATE = Side("update.sql", server.YARDSTICK)
PLPGSQL = Side("plpgsql.sql", server.YARDSTICK)
LIBRARY = Side("library.sql", server.YARDSTICK)


def renew_many(leases):
    return Side("renew-many.sql", server.LEASES, leases)


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
    """Let so many clients renew leases drawn from a range of names (all of
    them, if none is given): the figures of one run."""
    first, count = names or (0, database.leases)
    first += server.FIRST_NAME
    variables = {"first": first, "last": first + count - 1}
    if side.leases > 1:
        variables = {"names": array(range(first, first + count)),
                     "fences": array([1] * count)}
    before = database.renewals(side.table)
    with tempfile.TemporaryDirectory(dir=os.environ.get("LEASE_TMP")) as scratch:
        calls = pgbench(database, side, clients, length, variables, seed, scratch)
        figures = read_logs(pathlib.Path(scratch), length)
    renewed = database.renewals(side.table) - before
    if renewed != calls * side.leases:
        raise RuntimeError(f"{side.script}: {calls} calls renewed {renewed} leases")
    return figures


def array(values):
    return "{" + ",".join(map(str, values)) + "}"


def pgbench(database, side, clients, length, variables, seed, scratch):
    """How many calls were made."""
    command = ["pgbench", "-n", "-M", "prepared", "-U", server.ROLE,
               "-c", str(clients), "-j", str(min(clients, os.cpu_count())),
               *length.arguments(clients), f"--random-seed={seed}",
               "-l", f"--log-prefix={scratch}/log", "-f", str(server.SQL / side.script)]
    for name, value in variables.items():
        command += ["-D", f"{name}={value}"]
    done = subprocess.run([*command, database.name], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    calls = re.search(r"^number of transactions actually processed: (\d+)", done.stdout, re.M)
    failed = re.search(r"^number of failed transactions: (\d+)", done.stdout, re.M)
    if done.returncode or not calls or (failed and int(failed[1])):
        raise RuntimeError(f"pgbench, {side.script}:\n{done.stdout}")
    return int(calls[1])


def read_logs(directory, length):
    """The figures of the calls that ended in the time that counts, which is the
    last part of a run."""
    ends, times = [], []
    for path in directory.iterdir():
        with contextlib.closing(path.open()) as lines:
            for line in lines:
                _, _, time, _, second, microsecond = line.split()[:6]
                ends.append(int(second) * 1_000_000 + int(microsecond))
                times.append(int(time))
    start, stop = min(ends), max(ends)
    if length.seconds:
        first, start = start, stop - length.seconds * 1_000_000
        if start - first < WARM * 1_000_000:
            raise RuntimeError(f"sessions needed more than {SETTLING - WARM} s to connect")
    counted = sorted(time for end, time in zip(ends, times) if start <= end <= stop)
    return {
        "calls": len(counted),
        "seconds": (stop - start) / 1e6,
        "p50_us": percentile(counted, 50),
        "p99_us": percentile(counted, 99),
        "max_us": counted[-1],
    }


def percentile(ordered, percent):
    return ordered[-(-len(ordered) * percent // 100) - 1]
