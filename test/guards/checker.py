"""Judges a history: was every committed write made under the current epoch?

What has to hold, in the order of the commits:
  - the fences of a lease's grants rise;
  - the fence on a guarded row never falls;
  - whoever commits a write under a fence commits it while that is the fence on
    record, so no later epoch began before his transaction ended;
  - and when his transaction began to write the epoch had neither ended nor
    expired, as far as he himself could see before: what he saw was read earlier
    than what the guard judged by.  An expiry alone may have been passed by a
    renewal that was decided in time and committed since.
"""

from collections import Counter
from dataclasses import dataclass, field

from history import Epoch, Seen, Write


@dataclass
class Record:
    """What is on record of a lease."""
    fence: int
    ended: bool
    latest_expiry: object       # of all versions of the epoch


@dataclass
class Verdict:
    """Violations, and how often it could have come to one."""
    violations: list = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)


class Checker:
    """Walks along a history."""

    def __init__(self):
        self.records = {}
        self.rows = {}
        self.verdict = Verdict()

    def violation(self, number, text):
        self.verdict.violations.append(f"commit {number}: {text}")

    def epoch(self, number, entry):
        """A grant, renewal or end is on record from here on."""
        record = self.records.get(entry.lease)
        if record is None or entry.fence > record.fence:
            if record is not None and not record.ended:
                self.verdict.counts["lapses"] += 1
            self.verdict.counts["grants"] += 1
            self.records[entry.lease] = Record(entry.fence, entry.ended, entry.expires_at)
            return
        if entry.fence < record.fence:
            self.violation(number, f"lease {entry.lease} went from fence {record.fence}"
                                   f" back to {entry.fence}")
        if entry.ended and not record.ended:
            self.verdict.counts["ends"] += 1
        record.ended = record.ended or entry.ended
        record.latest_expiry = max(record.latest_expiry, entry.expires_at)

    def row(self, number, write):
        """The fence on a guarded row never falls."""
        key = (write.lease, write.row)
        last = self.rows.get(key, 0)
        if write.fence < last:
            self.violation(number, f"row {write.row} of lease {write.lease} fell from"
                                   f" fence {last} to {write.fence}")
        self.rows[key] = write.fence

    def writer(self, number, lease, fence, seen):
        """A transaction that wrote under a fence ends here."""
        record = self.records.get(lease)
        self.verdict.counts["writers"] += 1
        if record is None or record.fence != fence:
            on_record = 0 if record is None else record.fence
            self.violation(number, f"written under fence {fence} of lease {lease} when"
                                   f" {on_record} was on record")
            return
        if record.ended:
            self.verdict.counts["ended in flight"] += 1
        if seen is None:
            self.violation(number, f"written under lease {lease} without a look at it")
        elif seen.current != fence or seen.state not in ("held", "expired"):
            self.violation(number, f"written under fence {fence} of lease {lease}, which was"
                                   f" seen {seen.state} under {seen.current} before")
        elif seen.state == "expired" and record.latest_expiry <= seen.at:
            self.violation(number, f"written under fence {fence} of lease {lease}, which was"
                                   " seen expired before and not renewed")

    def commit(self, number, entries):
        seen = {}
        writers = {}
        for entry in entries:
            if isinstance(entry, Seen):
                # the first look: the guard's verdict is for the whole transaction
                seen.setdefault((entry.lease, entry.fence), entry)
            elif isinstance(entry, Write):
                writers[entry.lease, entry.fence] = True
                self.row(number, entry)
            elif isinstance(entry, Epoch):
                self.epoch(number, entry)
        for lease, fence in writers:
            self.writer(number, lease, fence, seen.get((lease, fence)))


def check(history):
    """The verdict on a history; commits are numbered from 1."""
    checker = Checker()
    for number, entries in enumerate(history, 1):
        checker.commit(number, entries)
    return checker.verdict
