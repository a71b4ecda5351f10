"""The server that is measured: its databases, and the facts that a figure
depends on.

Whoever enters a Database gets one of the benchmark's own, which is gone when
the block ends; the role that the load runs under is made and dropped with
measuring_role().  Facts name the machine's kind, never the machine.
"""

import contextlib
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

SQL = pathlib.Path(__file__).resolve().parent / "sql"

# No superuser, for whom privileges would cost nothing.
ROLE = f"lease_bench_{os.getpid()}"

LEASES = "lease_catalog.lease"
YARDSTICK = "yardstick.lease"

# Every name has as many bytes as this number has digits.
FIRST_NAME = 10 ** 15

# What a figure depends on, among the server's settings.
SETTINGS = ("server_version", "fsync", "synchronous_commit", "wal_sync_method",
            "full_page_writes", "shared_buffers", "max_wal_size", "checkpoint_timeout",
            "max_connections", "autovacuum", "autovacuum_naptime")


def psql(database, *arguments, **variables):
    """The lines that psql answers with."""
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database]
    for name, value in variables.items():
        command += ["-v", f"{name}={value}"]
    return subprocess.run([*command, *map(str, arguments)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.splitlines()


def maintenance(statement):
    return psql(os.environ.get("PGDATABASE", "postgres"), "-c", statement)


@contextlib.contextmanager
def measuring_role():
    maintenance(f"CREATE ROLE {ROLE} LOGIN")
    try:
        yield
    finally:
        maintenance(f"DROP ROLE {ROLE}")


class Database:
    """Leases, all of one worker, and what else the scripts make, such as the
    yardsticks' copy of them."""

    def __init__(self, purpose, leases, *scripts, **variables):
        self.name = f"{ROLE}_{purpose}"
        self.leases = leases
        self.scripts = ["leases.sql", *scripts]
        self.variables = variables

    def __enter__(self):
        maintenance(f"CREATE DATABASE {self.name} TEMPLATE template0")
        try:
            for script in self.scripts:
                psql(self.name, "-f", SQL / script, role=ROLE, first=FIRST_NAME,
                     leases=self.leases, **self.variables)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        maintenance(f"DROP DATABASE {self.name} WITH (FORCE)")

    def run(self, statement):
        psql(self.name, "-c", statement)

    def numbers(self, expressions):
        """What SELECT answers, if that is one row of whole numbers."""
        line, = psql(self.name, "-c", f"SELECT {expressions}")
        return [int(number) for number in line.split("|")]

    def sizes(self, table):
        """Bytes of the table, and of its index."""
        return self.numbers(f"pg_relation_size('{table}'), pg_indexes_size('{table}')")

    def updates(self, table, least):
        """How many updates there were, and how many of them heap-only, once the
        sessions that made them have reported."""
        deadline = time.monotonic() + 30
        while True:
            counted = self.numbers(
                "n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables,"
                f" pg_stat_force_next_flush() WHERE relid = '{table}'::regclass")
            if counted[0] >= least:
                return counted
            if time.monotonic() > deadline:
                raise TimeoutError(f"{table}: {counted[0]} updates counted, not {least}")
            time.sleep(0.05)

    @contextlib.contextmanager
    def snapshot_held(self):
        """A transaction that has read something, and is left open."""
        with subprocess.Popen(["psql", "-XAtq", "-d", self.name], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as session:
            try:
                session.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
                                    f"SELECT count(*) FROM {LEASES};\n")
                session.stdin.flush()
                if not session.stdout.readline():
                    raise RuntimeError("the session that was to hold a snapshot has ended")
                yield
            finally:
                session.stdin.close()


def sync_time():
    """How long it takes to write 8 kB and have them on disk: the median, in µs.
    The scratch directory lies beside the data directory."""
    with tempfile.TemporaryFile(dir=os.environ.get("LEASE_TMP")) as file:
        descriptor, block, times = file.fileno(), bytes(8192), []
        sync = getattr(os, "fdatasync", os.fsync)
        for _ in range(500):
            start = time.perf_counter()
            os.pwrite(descriptor, block, 0)
            sync(descriptor)
            times.append(time.perf_counter() - start)
    return round(statistics.median(times) * 1e6)


def processor():
    """The processor's name, and whether it is a virtual machine's."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine(), None
    facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    return (facts.get("model name", platform.machine()),
            "hypervisor" in facts.get("flags", "").split())


def facts():
    name, virtual = processor()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    settings = {setting: maintenance(f"SHOW {setting}")[0] for setting in SETTINGS}
    return {
        "processor": name,
        "virtual": virtual,
        "processors": os.cpu_count(),
        "memory_gib": round(memory / 2 ** 30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "sync_us": sync_time(),
        "load_average": round(os.getloadavg()[0], 2),
        "settings": settings,
    }
