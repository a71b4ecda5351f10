"""The checker finds what it is there to find, and nothing else."""

import unittest
from datetime import datetime, timedelta, timezone

from checker import check
from history import Epoch, Seen, Write, parse

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def at(seconds):
    return START + timedelta(seconds=seconds)


def epoch(fence, expires=10, ended=False, lease="x"):
    return Epoch(lease, fence, ended, at(expires))


def writer(fence, row=0, when=1, state="held", current=None, lease="x"):
    return [Seen(lease, fence, state, fence if current is None else current, at(when)),
            Write(lease, row, fence)]


class Right(unittest.TestCase):
    def expect(self, history):
        verdict = check(history)
        self.assertEqual(verdict.violations, [])
        return verdict.counts

    def test_in_turn(self):
        counts = self.expect([[epoch(1)], writer(1), writer(1, row=1), [epoch(2, 30)], writer(2, when=20)])
        self.assertEqual((counts["grants"], counts["lapses"], counts["writers"]), (2, 1, 3))

    def test_ended_while_it_was_in_flight(self):
        counts = self.expect([[epoch(1)], [epoch(1, ended=True)], writer(1), [epoch(2)]])
        self.assertEqual((counts["ends"], counts["ended in flight"], counts["lapses"]), (1, 1, 0))

    def test_renewed_in_time_and_committed_later(self):
        self.expect([[epoch(1, 10)], [epoch(1, 30)], writer(1, when=11, state="expired")])

    def test_two_leases(self):
        self.expect([[epoch(1)], [epoch(7, lease="y")],
                     writer(1) + writer(7, lease="y"), writer(7, lease="y")])


class Wrong(unittest.TestCase):
    def expect(self, history, *words):
        violations = check(history).violations
        self.assertEqual(len(violations), len(words), violations)
        for violation, word in zip(violations, words):
            self.assertIn(word, violation)

    def test_row_falls(self):
        self.expect([[epoch(1)], [epoch(2)], writer(2), writer(1)],
                    "fell from fence 2 to 1", "when 2 was on record")

    def test_committed_after_the_next_grant(self):
        self.expect([[epoch(1)], [epoch(2)], writer(1)], "when 2 was on record")

    def test_never_granted(self):
        self.expect([writer(1)], "when 0 was on record")

    def test_presented_after_the_end(self):
        self.expect([[epoch(1)], [epoch(1, ended=True)], writer(1, state="free")], "seen free")

    def test_presented_after_the_takeover(self):
        self.expect([[epoch(1)], writer(1, current=2)], "under 2 before")

    def test_presented_after_expiry(self):
        self.expect([[epoch(1, 10)], writer(1, when=11, state="expired")], "not renewed")

    def test_nothing_seen(self):
        self.expect([[epoch(1)], [Write("x", 0, 1)]], "without a look")

    def test_second_lease_of_a_transaction(self):
        self.expect([[epoch(1)], [epoch(2, lease="y")], writer(1) + writer(1, lease="y")],
                    "lease y when 2 was on record")

    def test_fence_goes_back(self):
        self.expect([[epoch(2)], [epoch(1)]], "back to 1")


class Parsed(unittest.TestCase):
    def test_decoding(self):
        lines = [
            "BEGIN 7",
            "table lease_catalog.lease: INSERT: namespace[text]:'default' name[text]:'x''y'"
            " owner[text]:'o' fence[bigint]:3 ended_by[text]:null"
            " expires_at[timestamp with time zone]:'2026-01-01 00:00:01.5+00'",
            "table lease_catalog.history: INSERT: fence[bigint]:3",
            "COMMIT 7",
            "BEGIN 8",
            "COMMIT 8",
            "BEGIN 9",
            "table public.seen: INSERT: lease[text]:'x' fence[bigint]:3 state[text]:'held'"
            " current[bigint]:3 at[timestamp with time zone]:'2026-01-01 00:00:01+00'",
            "table public.account: UPDATE: lease[text]:'x' id[integer]:2 fence[bigint]:3",
            "COMMIT 9",
        ]
        self.assertEqual(parse(lines), [
            [Epoch("x'y", 3, False, at(1.5))],
            [Seen("x", 3, "held", 3, at(1)), Write("x", 2, 3)],
        ])


if __name__ == "__main__":
    unittest.main()
