"""Sessions with the coordinator: PostgreSQL with the lease extension.

Every verb goes through Session.call, which answers with plain values that
JSON can carry: an instant is a number of seconds since the epoch, a duration
a number of seconds.  Nothing here writes to the extension's tables; the only
SQL that does is in unsafe.py.
"""

import contextlib
import datetime
import os

import psycopg
from psycopg import sql
from psycopg.rows import dict_row


def plain(value):
    """The value as JSON can carry it."""
    if isinstance(value, datetime.datetime):
        value = value.timestamp()
    elif isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class Session:
    """One connection.  Each statement is a transaction, unless the caller
    opens one on the connection itself."""

    def __init__(self):
        self.connection = psycopg.connect(autocommit=True, row_factory=dict_row)

    def close(self):
        self.connection.close()

    def one(self, statement, *values):
        row = self.connection.execute(statement, values).fetchone()
        return {column: plain(value) for column, value in row.items()}

    def set(self, setting, value):
        """For the session: a rolled back transaction does not undo it."""
        self.connection.execute("SELECT set_config(%s, %s, false)", (setting, value))

    def set_clock(self, at):
        """The logical time of this session's decisions; None: the real clock."""
        self.set("lease.clock", "" if at is None else str(at))

    def call(self, verb, arguments):
        """One call of a verb, its arguments given by name."""
        statement = sql.SQL("SELECT * FROM {}({})").format(
            sql.Identifier(verb),
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder())
                for name in arguments))
        return self.one(statement, *arguments.values())

    def poll(self, **arguments):
        """One task, if there is one; how many rows the poll gave."""
        cursor = self.connection.execute(
            "SELECT * FROM lease_poll(%(owner)s, ttl => %(ttl)s)", arguments)
        rows = cursor.fetchall()
        first = rows[0] if rows else {}
        return {"rows": len(rows), **{column: plain(value) for column, value in first.items()}}

    def row(self, name):
        """The lease as it is stored: the columns that are promised by name,
        where it lies (xmin and ctid), and all of it as one text, so that two
        looks agree only if nothing whatever was written between them."""
        return self.one(
            "SELECT l.owner, l.fence, l.version, l.granted_at, l.renewed_at,"
            " l.expires_at, l.ttl, l.ended_by, l.xmin::text, l.ctid::text,"
            " l::text AS whole FROM lease_catalog.lease AS l"
            " WHERE l.namespace = 'default' AND l.name = %s", name)

    def rows(self):
        """Every lease, by name, as one text with its xmin and ctid."""
        cursor = self.connection.execute(
            "SELECT l.name, concat_ws(' ', l.xmin, l.ctid, l) AS whole"
            " FROM lease_catalog.lease AS l")
        return {row["name"]: row["whole"] for row in cursor}

    def versions(self):
        return self.one(
            "SELECT current_setting('server_version') AS server,"
            " (SELECT extversion FROM pg_catalog.pg_extension"
            " WHERE extname = 'lease') AS extension")


@contextlib.contextmanager
def private_database():
    """A database of the demonstration's own, into which every session, here
    and in child processes, is led by PGDATABASE until the block ends."""
    outer = os.environ.get("PGDATABASE", "postgres")
    inner = f"lease_race_{os.getpid()}"
    with psycopg.connect(dbname=outer, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(inner)))
        try:
            os.environ["PGDATABASE"] = inner
            with psycopg.connect(autocommit=True) as inside:
                inside.execute("CREATE EXTENSION lease")
            yield
        finally:
            os.environ["PGDATABASE"] = outer
            connection.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(inner)))
