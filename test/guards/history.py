"""What was committed, in the order of the commits, as logical decoding tells it.

A history is a list of commits, each a list of these, in the order in which the
transaction wrote them.
"""

import re
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Epoch:
    """A row of lease_catalog.lease: one epoch's grant, renewal or end."""
    lease: str
    fence: int
    ended: bool
    expires_at: datetime


@dataclass(frozen=True)
class Seen:
    """What a transaction saw of a lease before it wrote to what it guards."""
    lease: str
    fence: int                  # that it was about to present
    state: str                  # of lease_get
    current: int                # the fence on record
    at: datetime


@dataclass(frozen=True)
class Write:
    """A write to a row of the guarded table."""
    lease: str
    row: int
    fence: int


COLUMN = re.compile(r"(\w+)\[[^]]*\]:(null|'(?:[^']|'')*'|\S+)")
CHANGE = re.compile(r"table (\w+\.\w+): (\w+): (.*)", re.DOTALL)


def columns(text):
    """The columns of a change, as test_decoding prints them."""
    values = {}
    for name, value in COLUMN.findall(text):
        if value == "null":
            values[name] = None
        else:
            values[name] = value[1:-1].replace("''", "'") if value[0] == "'" else value
    return values


def instant(text):
    """A timestamptz of a session whose time zone is UTC."""
    return datetime.fromisoformat(text.replace("+00", "+00:00"))


def change(line):
    """One line of test_decoding as an entry of a commit, or None."""
    table, what, text = CHANGE.fullmatch(line).groups()
    if what == "DELETE":
        raise ValueError(f"nothing deletes here: {line}")
    row = columns(text)
    if table == "lease_catalog.lease":
        return Epoch(row["name"], int(row["fence"]), row["ended_by"] is not None,
                     instant(row["expires_at"]))
    if table == "public.seen":
        return Seen(row["lease"], int(row["fence"]), row["state"], int(row["current"]),
                    instant(row["at"]))
    if table == "public.account":
        return Write(row["lease"], int(row["id"]), int(row["fence"]))
    return None


def parse(lines):
    """The history that the lines of test_decoding tell."""
    history = []
    commit = None
    for line in lines:
        if line.startswith("BEGIN"):
            commit = []
        elif line.startswith("COMMIT"):
            if commit:
                history.append(commit)
            commit = None
        else:
            entry = change(line)
            if entry is not None:
                commit.append(entry)
    return history
