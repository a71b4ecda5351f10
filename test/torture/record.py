"""What is asked and what is answered, written down as it happens.

A Client is one session with the server, and a file with a line, a JSON array,
for each moment of it:

    ["ask", at, wall, what, arguments]    written before it is sent
    ["answer", at, wall, rows]            a verb's rows, or a statement's status
    ["error", at, wall, sqlstate]         the server refused and rolled back
    ["lost", at, wall, sqlstate]          no answer came, and none will

`at` is the monotonic clock, one for all processes of a machine, and orders what
happened here; `wall` is the clock that the server, on the same machine, decides
by.  Both are in microseconds; `at` and `wall` of an ask are read before it is
sent, those of an answer after it has come.  A line is one write to a file, so
it outlives whoever wrote it; a process that was killed may leave half a line,
which counts as not written.
"""

import json
import os
import time

import psycopg

# The columns that an answer is written down with; history.py reads them.
COLUMNS = ("ok", "outcome", "name", "owner", "fence", "version",
           "expires_at", "ttl", "server_time")
MICROSECONDS = ("expires_at", "ttl", "server_time")
ANSWER = ", ".join(f"(extract(epoch FROM a.{column}) * 1000000)::bigint"
                   if column in MICROSECONDS else f"a.{column}" for column in COLUMNS)
# How long it may take to connect, in seconds.
PATIENCE = 10

TYPES = {"names": "text[]", "fences": "bigint[]"}


class Refused(Exception):
    """The statement ended in an error: the SQLSTATE."""


class Lost(Exception):
    """The connection is gone, and with it the answer."""


class Client:
    def __init__(self, path, name, options=""):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        self.name = name
        self.options = options
        self.texts = {}
        self.connection = None

    def connect(self):
        """Once more if need be: whoever ends backends may end this one at birth."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.connection = psycopg.connect(
                    autocommit=True, application_name=self.name, options=self.options)
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise

    def close(self):
        self.connection.close()

    def ask(self, verb, **arguments):
        """The rows that a verb answers with, each a list of COLUMNS."""
        key = (verb, *arguments)
        if key not in self.texts:
            self.texts[key] = text(verb, arguments)
        return self.perform(verb, arguments, self.texts[key],
                            lambda cursor: [list(row) for row in cursor.fetchall()])

    def tell(self, statement):
        """The status of any other statement."""
        return self.perform(statement, {}, statement, lambda cursor: cursor.statusmessage)

    def perform(self, what, arguments, statement, result):
        self.write("ask", time.monotonic_ns() // 1000, time.time_ns() // 1000, what, arguments)
        try:
            cursor = self.connection.execute(statement, tuple(arguments.values()) or None)
            answer = result(cursor)
        except psycopg.Error as error:
            if self.connection.closed or self.connection.broken:
                self.write("lost", *self.instant(), error.sqlstate)
                raise Lost(error.sqlstate) from error
            self.write("error", *self.instant(), error.sqlstate)
            raise Refused(error.sqlstate) from error
        self.write("answer", *self.instant(), answer)
        return answer

    @staticmethod
    def instant():
        return time.monotonic_ns() // 1000 + 1, time.time_ns() // 1000 + 1

    def write(self, *moment):
        os.write(self.file, json.dumps(moment).encode() + b"\n")


def text(verb, arguments):
    given = ", ".join(f"{name} => %s" + (f"::{TYPES[name]}" if name in TYPES else "")
                      for name in arguments)
    columns = "a" if verb == "lease_purge" else ANSWER
    return f"SELECT {columns} FROM {verb}({given}) AS a"


def moments(path):
    """Each ask of a file with the moment that followed it, or None."""
    asked = None
    with open(path, "rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            moment = json.loads(line)
            if moment[0] != "ask":
                yield asked, moment
                asked = None
                continue
            asked = moment
    if asked:
        yield asked, None
