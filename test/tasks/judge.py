"""Judges a run: was every task handed out as promised, and did each end once?

In the order of the commits, for each task:
  - a grant's fence is above all before it, and it is the next attempt;
  - no grant while an epoch is current, on hold, cancelled or over, but that an
    operator's hand-over passes over the first two; no renewal of what has lapsed;
  - an epoch that has ended stays ended; a task ends once, and once more for each
    time that it was opened again;
  - an effect commits under the fence on record.
In the end every task is over, and each epoch that was granted ended once.

For each poll: what it was granted is what it returned, never more than it asked
for, and told to nobody else; where its answer was lost, only how much it was.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from log import Effect, Row


@dataclass
class Task:
    """What is on record of a task, and what has been."""
    row: Row
    ends: int = 0
    openings: int = 1
    granted: dict = field(default_factory=dict)     # fence -> owner
    ended: dict = field(default_factory=dict)       # fence -> how


class Judge:
    """Walks along the log; violations, and how often it could have come to one."""

    def __init__(self):
        self.tasks = {}
        self.violations = []
        self.counts = Counter()

    def violation(self, kind, text):
        self.violations.append(f"{kind}: {text}")

    def commit(self, entries):
        for entry in entries:
            if isinstance(entry, Effect):
                self.effect(entry)
        for entry in entries:
            if isinstance(entry, Row):
                self.version(entry)

    def effect(self, effect):
        self.counts["effects"] += 1
        row = self.tasks[effect.name].row
        if row.fence != effect.fence:
            self.violation("effect", f"of {effect.name} under fence {effect.fence}, when"
                                     f" {row.fence} was on record")
        elif row.ended is not None:
            self.counts["ended in flight"] += 1

    def version(self, row):
        task = self.tasks.get(row.name)
        if task is None:
            task = self.tasks[row.name] = Task(row)
            if row.owner is not None:
                self.violation("grant", f"of {row.name} before it was offered")
            return
        before = task.row
        if row.fence < before.fence:
            self.violation("fence", f"of {row.name} fell from {before.fence} to {row.fence}")
        elif row.fence > before.fence:
            self.grant(task, before, row)
        else:
            self.same_epoch(before, row)
        self.state(task, before, row)
        if row.ended is not None:
            task.ended[row.fence] = row.ended
        task.row = row

    def grant(self, task, before, row):
        self.counts["grants"] += 1
        operator = row.owner.startswith("operator/")
        what = f"of {row.name} to {row.owner}, fence {row.fence},"
        if before.owner is not None and before.ended is None:
            self.counts["hand-overs" if operator else "takeovers"] += 1
            if row.granted_at < before.expires_at and not operator:
                self.violation("overlap", f"{what} while {before.owner} had it under {before.fence}")
        if before.held_until is not None and not operator and \
                row.granted_at < before.held_until.replace(tzinfo=row.granted_at.tzinfo):
            self.violation("hold", f"{what} while it was on hold")
        if before.cancelled:
            self.violation("cancel", f"{what} after it was cancelled")
        if before.task != "open":
            self.violation("over", f"{what} after it was {before.task}")
        if row.attempts != before.attempts + 1:
            self.violation("attempt", f"{what} is attempt {row.attempts} after {before.attempts}")
        task.granted[row.fence] = row.owner

    def same_epoch(self, before, row):
        if row.owner != before.owner:
            self.violation("owner", f"of {row.name} under fence {row.fence} changed from"
                                    f" {before.owner} to {row.owner}")
        if before.ended is not None and row.ended != before.ended:
            self.violation("end", f"of {row.name} under fence {row.fence} was {before.ended}"
                                  f" and became {row.ended}")
        if before.owner is not None and row.renewed_at != before.renewed_at:
            self.counts["renewals"] += 1
            if row.expires_at < before.expires_at:
                self.counts["renewals for less"] += 1
            if row.renewed_at >= before.expires_at:
                self.violation("renewal", f"of {row.name} under fence {row.fence} after it had lapsed")

    def state(self, task, before, row):
        if row.task == before.task:
            return
        self.counts[f"became {row.task}"] += 1
        if row.task == "open":
            task.openings += 1
        elif before.task != "open":
            self.violation("state", f"of {row.name} went from {before.task} to {row.task}")
        else:
            task.ends += 1
            if row.task == "done" and row.ended != "completed":
                self.violation("state", f"{row.name} is done, and was {row.ended}")

    def outcome(self, history, expected):
        """The end of it: `history` has (name, fence, how) of each epoch that ended."""
        ended = defaultdict(list)
        for name, fence, how in history:
            ended[name, fence].append(how)
        for name in expected:
            task = self.tasks.get(name)
            if task is None:
                self.violation("lost", f"{name} was offered, and is not on record")
                continue
            if task.row.task == "open":
                self.violation("stuck", f"{name} is not over")
            if task.ends != task.openings:
                self.violation("stuck" if task.ends < task.openings else "state",
                               f"{name} ended {task.ends} times, and was opened {task.openings} times")
            for fence in task.granted:
                hows = ended.pop((name, fence), [])
                if len(hows) != 1:
                    self.violation("end", f"{name} under fence {fence} ended {len(hows)} times: {hows}")
        for name, fence in ended:
            self.violation("end", f"{name} under fence {fence} ended, and was never granted")

    def polls(self, polls):
        granted = defaultdict(set)
        for name, task in self.tasks.items():
            for fence, owner in task.granted.items():
                granted[owner].add((name, fence))
        told_to = {}
        asked = defaultdict(list)
        for poll in polls:
            asked[poll.owner].append(poll)
        for owner, its in asked.items():
            told = set()
            for poll in its:
                self.counts["polls"] += 1
                self.counts["polls lost"] += poll.kept is None
                self.counts["polls rolled back"] += poll.kept is False
                if poll.told is not None and len(poll.told) > poll.max_count:
                    self.violation("poll", f"{owner} asked for {poll.max_count} and was told of"
                                           f" {len(poll.told)}")
                if poll.kept:
                    told.update(poll.told)
                    self.counts["polls empty"] += not poll.told
            for one in told:
                if told_to.setdefault(one, owner) != owner:
                    self.violation("poll", f"{one} was told to {told_to[one]} and {owner}")
            self.one_poll(owner, granted.pop(owner, set()), told, its)
        for owner, its in granted.items():
            if not owner.startswith("operator/"):
                self.violation("poll", f"{owner} was granted {sorted(its)}, and never asked")

    def one_poll(self, owner, granted, told, its):
        if len(granted) > its[0].max_count:
            self.violation("poll", f"{owner} asked for {its[0].max_count} and was granted {len(granted)}")
        if told - granted:
            self.violation("poll", f"{owner} was told of {sorted(told - granted)}, and not granted it")
        if granted - told and all(poll.kept is not None for poll in its):
            self.violation("poll", f"{owner} was granted {sorted(granted - told)}, and not told")

    def answers(self, answers):
        for verb, arguments, outcome, ok in answers:
            self.counts[f"{verb} {outcome}"] += 1
            if verb == "lease_complete" and ok:
                name, fence = arguments["name"], arguments["fence"]
                task = self.tasks.get(name)
                # opened again, it has been completed all the same
                if task is None or task.ended.get(fence) != "completed":
                    self.violation("acknowledged", f"{name} under fence {fence} as completed, and is not")


def judge(commits, polls, answers, history, expected):
    judged = Judge()
    for entries in commits:
        judged.commit(entries)
    judged.outcome(history, expected)
    judged.polls(polls)
    judged.answers(answers)
    return judged
