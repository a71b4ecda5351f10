"""The checker: a history, name by name, before the rules.

The evidence of a name is put together here, and rules.py judges it.  Nothing
that an act shows counts as being on record while it is its own transaction's
alone (history.py).
"""

import bisect
import collections
import dataclasses
import functools

import rules
from history import KEPT, UNKNOWN

KINDS = {
    "I1": "fences only rise",
    "I2": "one holder",
    "I3": "expiry is a one-way door",
    "I4": "a promise is kept",
    "I5": "a refusal changes nothing",
    "I6": "the clock is read after the lock",
    "I9": "an unknown outcome can be resolved",
    "now": "answers are about now",
}


@dataclasses.dataclass
class Violation:
    kind: str
    name: str
    what: str
    acts: list

    def __str__(self):
        return "\n".join([f"{self.kind}, {self.name}: {self.what}",
                          *(f"    {act}" for act in self.acts)])


class Name:
    """What the acts on one name amount to."""

    def __init__(self, name, acts, removals, judged):
        self.name = name
        self.acts = acts
        self.judged = judged
        self.removals = [act for act in removals
                         if act.fate == UNKNOWN or act.fate == KEPT and act.count != 0]
        self.truncates = [act for act in self.removals if act.verb == "TRUNCATE"]
        self.kept = [act for act in acts if act.fate == KEPT and act.made]
        self.grants = sorted((act for act in self.kept if act.grants),
                             key=lambda act: act.state.fence)
        self.lost = [act for act in acts if act.fate == UNKNOWN]
        self.states = {}            # (fence, version) -> what is on record
        self.seen = {}              # the same -> the act that was first to show it
        self.differences = []
        for act in sorted(acts, key=lambda act: act.answered):
            if act.state and (act.fate == KEPT if act.may_have_made else not act.own):
                self.note(act)
        self.keys = sorted(self.states)

    def note(self, act):
        key = act.state.key
        first = self.seen.setdefault(key, act)
        if self.states.setdefault(key, act.state) != act.state:
            self.differences.append(
                ("I5", "one version, and two states", [first, act]))

    def before(self, act):
        """The state that a grant replaced, if that is known for certain."""
        place = bisect.bisect_left(self.keys, (act.state.fence, 0))
        if not place or act.purged:
            return None
        fence, version = self.keys[place - 1]
        if act.state.version > 1:
            version = act.state.version - 1
        return self.states.get((fence, version))

    def root(self, act):
        """The greatest key that an act can have stood on, of what others saw."""
        if act.base:
            return act.base.state.key
        if not act.made:
            return act.state.key
        if not act.grants:
            return act.state.fence, act.state.version - 1
        before = self.before(act)
        return before.key if before and act.state.version > 1 else (act.state.fence, 0)

    def removable(self, since, until):
        """Whether the row can have been removed between two moments."""
        return any(act.begun <= until and act.settled >= since for act in self.removals)

    @functools.cached_property
    def shown(self):
        """Each act that shows what is on record, with the one that made the greatest
        state of those acknowledged before it began."""
        pairs = []
        acknowledged = sorted(self.kept, key=lambda act: act.settled)
        place, known = 0, None
        for act in sorted(self.acts, key=lambda act: act.begun):
            while place < len(acknowledged) and acknowledged[place].settled < act.begun:
                if known is None or acknowledged[place].state.key > known.state.key:
                    known = acknowledged[place]
                place += 1
            if known and act.outcome is not None and (act.may_have_made or not act.own):
                pairs.append((act, known))
        return pairs


def judge(history):
    """The violations of all names, and how often each rule has judged."""
    violations = []
    judged = collections.Counter()
    for name, acts in sorted(history.acts.items()):
        evidence = Name(name, acts, history.removals, judged)
        for stage in rules.STAGES:
            found = [Violation(kind, name, what, culprits)
                     for rule in stage for kind, what, culprits in rule(evidence)]
            violations += found
            if found:
                break
    return violations, judged
