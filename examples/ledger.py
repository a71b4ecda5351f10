#!/usr/bin/python3
"""A ledger in a database of its own that turns former holders away.

    ledger.py setup                       make the table, once
    ledger.py book FENCE ENTRY TEXT       ENTRY is a UUID; may be repeated safely
    ledger.py show

Exit status of book: 0 the entry is in the ledger; 3 it is not and never will be
under this fence, for a higher one has been here; 1 anything else: not known.

The leases are in another database, which this one never asks: `lease_admit`
keeps the highest fence that it has seen, here, in the transaction of the entry.
So mark and entry are committed together or not at all, and while a transaction
of one fence is open, none of another can come between.  The database is that of
libpq's variables (PGHOST, PGDATABASE, ...); it has the extension, and its role
has `use`.
"""

import argparse
import sys
import time
import uuid

import psycopg

RESOURCE = "ledger"
PATIENCE = 30

# After these nobody knows whether it has happened, and it may be tried again.
UNKNOWN = (psycopg.OperationalError, psycopg.errors.SerializationFailure,
           psycopg.errors.DeadlockDetected)


class BelowHighWater(Exception):
    pass


def setup():
    with psycopg.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS ledger ("
                           " entry uuid PRIMARY KEY, fence bigint NOT NULL,"
                           " body text NOT NULL, at timestamptz NOT NULL DEFAULT now())")


def book(fence, entry, text):
    """Book an entry under a fence; tries until it is known what became of it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if booked(fence, entry, text):
                return
            reason = "others write under another fence"
        except UNKNOWN as error:
            reason = str(error).strip()
        if time.monotonic() > deadline:
            raise TimeoutError(f"not known after {PATIENCE} s: {reason}")
        time.sleep(0.1)


def booked(fence, entry, text):
    """One transaction; False: the ledger was busy, and nothing was done."""
    with psycopg.connect() as connection:
        ok, outcome, high_water = connection.execute(
            "SELECT ok, outcome, high_water FROM lease_admit(%s, %s::bigint)",
            (RESOURCE, fence)).fetchone()
        if ok:
            connection.execute("INSERT INTO ledger (entry, fence, body) VALUES (%s, %s, %s)"
                               " ON CONFLICT (entry) DO NOTHING", (entry, fence, text))
            return True
        # An earlier try may have been committed, and its answer lost.
        if connection.execute("SELECT FROM ledger WHERE entry = %s", (entry,)).fetchone() is not None:
            return True
        if outcome == "busy":
            return False
        raise BelowHighWater(f"fence {fence} is below {high_water}")


def show():
    with psycopg.connect() as connection:
        for row in connection.execute("SELECT entry, fence, body FROM ledger ORDER BY at, entry"):
            print(*row, sep="\t")


def main():
    parser = argparse.ArgumentParser(description="A ledger that turns former holders away.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup")
    commands.add_parser("show")
    booking = commands.add_parser("book")
    booking.add_argument("fence", type=int)
    booking.add_argument("entry", type=uuid.UUID)
    booking.add_argument("text")
    arguments = vars(parser.parse_args())
    try:
        {"setup": setup, "show": show, "book": book}[arguments.pop("command")](**arguments)
    except BelowHighWater as refusal:
        print(refusal, file=sys.stderr)
        return 3
    except (psycopg.Error, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
