"""The judge finds what it is there to find, and nothing else."""

import pathlib
import sys
import unittest
from dataclasses import replace
from datetime import datetime, timedelta, timezone

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "guards"), str(HERE.parent / "torture")]

from judge import Judge, judge
from log import Effect, Poll, Row, commits, held_until, length, told

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def at(seconds):
    return START + timedelta(seconds=seconds)


OFFERED = Row("t", None, 0, None, None, None, None, "open", 0, None, False)


def granted(row, owner, when, ttl=10, **changes):
    values = {"owner": owner, "fence": row.fence + 1, "granted_at": at(when), "renewed_at": at(when),
              "expires_at": at(when + ttl), "ended": None, "attempts": row.attempts + 1, **changes}
    return replace(row, **values)


def renewed(row, when, ttl=10):
    return replace(row, renewed_at=at(when), expires_at=at(when + ttl))


ONE = granted(OFFERED, "a", 0)
DONE = replace(ONE, ended="completed", task="done")
FAILED = replace(ONE, ended="failed")


class Log(unittest.TestCase):
    def expect(self, rows, *kinds):
        judged = Judge()
        for entry in rows:
            judged.commit([entry])
        self.assertEqual([line.split(":")[0] for line in judged.violations], list(kinds),
                         judged.violations)
        return judged

    def test_right(self):
        two = granted(ONE, "b", 11)
        judged = self.expect([OFFERED, ONE, renewed(ONE, 1), two, Effect("t", 2),
                              replace(two, ended="completed", task="done")])
        self.assertEqual(judged.counts["takeovers"], 1)
        self.assertEqual(judged.tasks["t"].ends, 1)

    def test_right_after_an_end(self):
        self.expect([OFFERED, ONE, FAILED, granted(FAILED, "b", 1)])

    def test_right_in_flight(self):
        judged = self.expect([OFFERED, ONE, FAILED, Effect("t", 1)])
        self.assertEqual(judged.counts["ended in flight"], 1)

    def test_right_by_an_operator(self):
        held = replace(ONE, held_until=datetime.max)
        self.expect([OFFERED, ONE, held, granted(held, "operator/1", 1)])

    def test_right_after_a_hold(self):
        held = replace(OFFERED, held_until=at(5))
        self.expect([OFFERED, held, granted(held, "b", 5)])

    def test_right_opened_again(self):
        again = replace(DONE, task="open", attempts=0)
        judged = self.expect([OFFERED, ONE, DONE, again, granted(again, "b", 20)])
        self.assertEqual(judged.tasks["t"].openings, 2)

    def test_overlap(self):
        self.expect([OFFERED, ONE, granted(ONE, "b", 9)], "overlap")
        self.expect([OFFERED, ONE, renewed(ONE, 5), granted(ONE, "b", 11)], "overlap")

    def test_same_fence(self):
        self.expect([OFFERED, ONE, replace(ONE, owner="b")], "owner")

    def test_fence_falls(self):
        two = granted(ONE, "b", 11)
        self.expect([OFFERED, ONE, two, granted(two, "c", 30, fence=1)], "fence")

    def test_same_attempt(self):
        self.expect([OFFERED, ONE, granted(ONE, "b", 11, attempts=1)], "attempt")

    def test_on_hold(self):
        held = replace(OFFERED, held_until=datetime.max)
        self.expect([OFFERED, held, granted(held, "b", 1)], "hold")

    def test_cancelled(self):
        cancelled = replace(ONE, cancelled=True)
        self.expect([OFFERED, ONE, cancelled, granted(cancelled, "b", 11)], "cancel")

    def test_over(self):
        self.expect([OFFERED, ONE, DONE, granted(DONE, "b", 20, task="open")], "over")

    def test_revived(self):
        self.expect([OFFERED, ONE, renewed(ONE, 10)], "renewal")

    def test_ended_twice(self):
        self.expect([OFFERED, ONE, FAILED, replace(FAILED, ended="expired")], "end")
        self.expect([OFFERED, ONE, DONE, replace(DONE, task="failed")], "state")

    def test_superseded_effect(self):
        self.expect([OFFERED, ONE, granted(ONE, "b", 11), Effect("t", 1)], "effect")


class Whole(unittest.TestCase):
    def expect(self, rows, *kinds, polls=(), answers=(), history=((("t", 1, "completed")),),
               expected=("t",)):
        judged = judge([[row] for row in rows], polls, answers, history, expected)
        self.assertEqual([line.split(":")[0] for line in judged.violations], list(kinds),
                         judged.violations)

    RIGHT = (OFFERED, ONE, DONE)
    POLL = Poll("a", 1, (("t", 1),), True)

    def test_right(self):
        self.expect(self.RIGHT, polls=[self.POLL])
        self.expect(self.RIGHT, polls=[replace(self.POLL, told=None, kept=None), self.POLL])
        self.expect(self.RIGHT, polls=[replace(self.POLL, told=None, kept=None)])
        self.expect(self.RIGHT, polls=[self.POLL],
                    answers=[("lease_complete", {"name": "t", "fence": 1}, "completed", True)])

    def test_lost(self):
        self.expect(self.RIGHT, "lost", polls=[self.POLL], expected=("t", "u"))

    def test_stuck(self):
        self.expect((OFFERED, ONE, FAILED), "stuck", "stuck", polls=[self.POLL],
                    history=[("t", 1, "failed")])

    def test_ends_on_record(self):
        self.expect(self.RIGHT, "end", polls=[self.POLL], history=[])
        self.expect(self.RIGHT, "end", polls=[self.POLL], history=[("t", 1, "completed")] * 2)
        self.expect(self.RIGHT, "end", polls=[self.POLL],
                    history=[("t", 1, "completed"), ("t", 2, "expired")])

    def test_granted_and_not_told(self):
        self.expect(self.RIGHT, "poll", polls=[replace(self.POLL, told=())])
        self.expect(self.RIGHT, "poll", polls=[replace(self.POLL, kept=False)])
        self.expect(self.RIGHT, "poll")

    def test_told_and_not_granted(self):
        self.expect(self.RIGHT, "poll", polls=[self.POLL, Poll("b", 1, (("t", 2),), True)])

    def test_told_to_two(self):
        self.expect(self.RIGHT, "poll", "poll", polls=[self.POLL, Poll("b", 1, (("t", 1),), True)])

    def test_more_than_asked(self):
        other = replace(OFFERED, name="u")
        mine = replace(ONE, name="u")
        self.expect((*self.RIGHT, other, mine, replace(mine, ended="completed", task="done")),
                    "poll", "poll", polls=[replace(self.POLL, told=(("t", 1), ("u", 1)))],
                    history=[("t", 1, "completed"), ("u", 1, "completed")], expected=("t", "u"))

    def test_acknowledged_and_not_done(self):
        self.expect(self.RIGHT, "acknowledged", polls=[self.POLL],
                    answers=[("lease_complete", {"name": "t", "fence": 7}, "completed", True)])


class Told(unittest.TestCase):
    ROW = [True, "claimed", "t", "a", 1]
    ASK = ["ask", 0, 0, "lease_poll", {"owner": "a", "max_count": 1}]

    @staticmethod
    def moments(*pairs):
        return [(["ask", 0, 0, what, {}] if isinstance(what, str) else what,
                 said and [said[0], 0, 0, said[1]]) for what, said in pairs]

    def kept(self, *pairs):
        polls, _ = told(self.moments(*pairs))
        return [(poll.kept, poll.told) for poll in polls]

    def test_alone(self):
        one = (("t", 1),)
        self.assertEqual(self.kept((self.ASK, ("answer", [self.ROW]))), [(True, one)])
        self.assertEqual(self.kept((self.ASK, ("error", "57014"))), [(False, None)])
        self.assertEqual(self.kept((self.ASK, ("lost", None))), [(None, None)])
        self.assertEqual(self.kept((self.ASK, None)), [(None, None)])

    def test_in_a_transaction(self):
        begin = ("BEGIN", ("answer", "BEGIN"))
        poll = (self.ASK, ("answer", [self.ROW]))
        one = (("t", 1),)
        self.assertEqual(self.kept(begin, poll, ("COMMIT", ("answer", "COMMIT"))), [(True, one)])
        self.assertEqual(self.kept(begin, poll, ("ROLLBACK", ("answer", "ROLLBACK"))), [(False, one)])
        self.assertEqual(self.kept(begin, poll, ("COMMIT", ("lost", None))), [(None, one)])
        self.assertEqual(self.kept(begin, poll), [(None, one)])


class Decoded(unittest.TestCase):
    def test_commits(self):
        lease = ("table lease_catalog.lease: UPDATE: namespace[text]:'default' name[text]:'t'"
                 " fence[bigint]:1 version[bigint]:1"
                 " granted_at[timestamp with time zone]:'2026-01-01 00:00:00+00'"
                 " renewed_at[timestamp with time zone]:'2026-01-01 00:00:00+00'"
                 " expires_at[timestamp with time zone]:'2026-01-01 00:00:10+00'"
                 " ended_by[text]:null owner[text]:'a' hold_at[timestamp with time zone]:null"
                 " hold_length[interval]:null cancel_at[timestamp with time zone]:null"
                 " task[text]:'open' attempts[integer]:1")
        self.assertEqual(list(commits([
            "BEGIN 1", lease, "table lease_catalog.due: DELETE: (no-tuple-data)", "COMMIT 1",
            "BEGIN 2", "COMMIT 2",
            "BEGIN 3", "table public.effect: INSERT: name[text]:'t' fence[bigint]:1", "COMMIT 3",
        ])), [[ONE], [Effect("t", 1)]])

    def test_holds(self):
        self.assertEqual(length("00:00:00.3"), timedelta(seconds=0.3))
        self.assertEqual(length("1 day 01:00:00"), timedelta(hours=25))
        self.assertIsNone(held_until({"hold_at": None, "hold_length": None}))
        self.assertEqual(held_until({"hold_at": "2026-01-01 00:00:00+00", "hold_length": "00:00:05"}), at(5))


if __name__ == "__main__":
    unittest.main()
