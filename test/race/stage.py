"""What one run plays on, and what it leaves behind.

A Stage has the processes that a run asks for (cast.py), which end with it.  It
writes down every call with its answer, in the order of the answers, and every
figure that was expected beside the one that was seen.  What the run amounts
to, its verdict, is computed from that record; no run states its own.
"""

import contextlib

import cast
from coordinator import Session

TOKEN_VERBS = ("lease_renew", "lease_release", "lease_complete", "lease_fail")


class Stage(contextlib.ExitStack):
    def __init__(self, lease, scratch):
        super().__init__()
        self.lease = lease
        self.scratch = scratch
        self.calls = []
        self.figures = []
        self.effects = None
        self.row = None
        self.observer = Session()
        self.callback(self.observer.close)

    def owner(self, label):
        return cast.Owner(self, label)

    def renewal_server(self, mode):
        return cast.RenewalServer(self, mode)

    def resource(self, mode):
        return cast.Resource(self, mode)

    def table(self, guarded):
        return cast.Table(self, guarded)

    def note(self, who, at, call, arguments, answer):
        self.calls.append({"who": who, "at": at, "call": call,
                           "arguments": arguments, "answer": answer})
        return answer

    def look(self):
        """The row as it is stored now."""
        self.row = self.observer.row(self.lease)
        self.note("observer", None, "look at the row", {}, dict(self.row))
        return self.row

    def expect(self, what, seen, **expected):
        for key, value in expected.items():
            self.figure(f"{what}: {key}", value, seen.get(key))

    def figure(self, figure, expected, seen):
        self.figures.append({"figure": figure, "expected": expected, "seen": seen,
                             "agrees": expected == seen})

    def expect_untouched(self, what, before):
        """The row did not change in any way since it was looked at."""
        after = self.look()
        changed = [column for column in before if before[column] != after[column]]
        self.figure(f"{what}: columns changed, xmin and ctid among them", [], changed)

    def count_effects(self, resource, expected):
        """Of an HTTP resource or a table."""
        self.effects = resource.read()["effects"]
        self.figure("effects", expected, len(self.effects))

    def on_record(self, logical=True):
        """The row in a few words; its expiry only if that is logical time."""
        row = self.row
        until = f", until {row['expires_at']}" if logical else ""
        return f"{row['owner']}, fence {row['fence']}, v{row['version']}{until}"

    def verdict(self):
        """CONFLICT  a former epoch acted, or was told that it still holds
        REJECTED  it tried to act, and the resource turned it away
        REFUSED   it tried to act, and the database turned it away
        OK        nobody tried"""
        fences = [effect["fence"] for effect in self.effects or ()]
        answers = [(call["call"], call["answer"]) for call in self.calls]
        told = [(answer["owner"], answer["fence"]) for _, answer in answers
                if answer.get("acknowledged")]
        if fences != sorted(fences) or any(
                epoch != (self.row["owner"], self.row["fence"]) for epoch in told):
            return "CONFLICT"
        if any(answer.get("accepted") is False for _, answer in answers):
            return "REJECTED"
        if any(refused(call, answer) for call, answer in answers):
            return "REFUSED"
        return "OK"


def refused(call, answer):
    """A refusal of an epoch; that a row was busy says nothing about one."""
    if call == "SQL":
        return not answer["done"]
    answer = answer.get("answer") or answer
    return (call in TOKEN_VERBS or call == "heartbeat") \
        and not answer.get("ok") and answer.get("outcome") != "busy"
