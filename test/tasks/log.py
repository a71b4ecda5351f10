"""What was committed, as logical decoding tells it, and what was told, as the
processes wrote it down."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import history          # the guards': how test_decoding prints columns
import record           # the torture's: what each process was told


@dataclass(frozen=True)
class Row:
    """A version of a task's row in lease_catalog.lease."""
    name: str
    owner: str              # None where nobody ever had it
    fence: int
    granted_at: datetime
    renewed_at: datetime
    expires_at: datetime
    ended: str              # how the epoch ended, or None
    task: str               # open, done, failed, cancelled
    attempts: int
    held_until: datetime    # None: no hold; datetime.max: until it is resumed
    cancelled: bool


@dataclass(frozen=True)
class Effect:
    """What a worker did under a fence."""
    name: str
    fence: int


@dataclass(frozen=True)
class Poll:
    """One answer to a poll, or none: told is None where the answer was lost."""
    owner: str
    max_count: int
    told: tuple             # of (name, fence)
    kept: bool              # False: rolled back; None: nobody knows


LENGTH = re.compile(r"(?:(\d+) days? ?)?(?:(\d+):(\d+):([\d.]+))?")


def length(text):
    """An interval of fixed length, as IntervalStyle postgres prints it."""
    days, hours, minutes, seconds = LENGTH.fullmatch(text).groups("0")
    return timedelta(days=int(days), hours=int(hours), minutes=int(minutes),
                     seconds=float(seconds))


def held_until(row):
    if row["hold_at"] is None:
        return None
    if row["hold_length"] is None:
        return datetime.max
    return history.instant(row["hold_at"]) + length(row["hold_length"])


def when(text):
    return None if text is None else history.instant(text)


def change(line):
    """One line of test_decoding as a Row or an Effect; None where it is neither."""
    if not line.startswith(("table lease_catalog.lease:", "table public.effect:")):
        return None
    table, _, text = history.CHANGE.fullmatch(line).groups()
    row = history.columns(text)
    if table == "public.effect":
        return Effect(row["name"], int(row["fence"]))
    if row["task"] is None:
        return None
    return Row(row["name"], row["owner"], int(row["fence"]), when(row["granted_at"]),
               when(row["renewed_at"]), when(row["expires_at"]), row["ended_by"], row["task"], int(row["attempts"]),
               held_until(row), row["cancel_at"] is not None)


def commits(lines):
    """Lists of entries, one for each commit, in the order of the commits."""
    entries = []
    for line in lines:
        if line.startswith("BEGIN"):
            entries = []
        elif line.startswith("COMMIT"):
            if entries:
                yield entries
        elif (entry := change(line)) is not None:
            entries.append(entry)


def settled(said, began):
    """Whether what a statement did stays: None where nobody knows yet."""
    if said is None or said[0] == "lost":
        return None
    if said[0] == "error":
        return False
    return True if began is None else None


def told(moments):
    """The polls of one process, and what its other verbs answered: (polls, answers),
    an answer being (verb, arguments, outcome, ok)."""
    polls = []
    answers = []
    began = None            # the first poll of the open transaction
    for asked, said in moments:
        what, arguments = asked[3], asked[4]
        answered = said is not None and said[0] == "answer"
        if what.startswith("BEGIN"):
            began = len(polls) if answered else None
        elif what in ("COMMIT", "ROLLBACK"):
            kept = what == "COMMIT" if answered else None
            if began is not None:
                polls[began:] = [replace(poll, kept=kept) for poll in polls[began:]]
            began = None
        elif what == "lease_poll":
            rows = said[3] if answered else None
            polls.append(Poll(arguments["owner"], arguments["max_count"],
                              None if rows is None else
                              tuple((row[2], row[4]) for row in rows if row[0]),
                              settled(said, began)))
            answers += [(what, arguments, row[1], row[0]) for row in rows or ()]
        elif answered and what.startswith("lease_"):
            answers += [(what, arguments, row[1], row[0]) for row in said[3]]
        elif said is not None and said[0] == "error":
            answers.append((what, arguments, said[3], False))
        if said is None or said[0] == "lost":
            began = None
    return polls, answers


def read(directory):
    """What all processes of a run were told."""
    polls = []
    answers = []
    for path in sorted(directory.glob("*.jsonl")):
        some_polls, some_answers = told(record.moments(path))
        polls += some_polls
        answers += some_answers
    return polls, answers
