"""What happened, as the record tells it: acts on names, each with its fate.

An act is one verb on one name; a batch is as many acts as it names leases, a
repeated pair of name and fence counts once.  Its fate:

    kept      its transaction has committed, and the client was told so
    undone    it ended in an error, was rolled back, itself or with its savepoint,
              or its connection went before COMMIT was sent
    unknown   its answer, or that of its COMMIT, was lost: it may have happened

Within a transaction an act can stand on what an earlier one has made and nobody
else can see.  `base` is that earlier act; `own` says that what an act shows is
not yet anybody else's, so that it is no evidence of what is on record; and after
a purge of its own a transaction can be granted a fence far above the last.
"""

import collections
import dataclasses
import sys
import typing

import record

KEPT, UNDONE, UNKNOWN = "kept", "undone", "unknown"

# An instant after all others: what was never heard of.
NEVER = 2**62

# The verbs that change a row, and the outcomes that say that they have.
MADE = {
    "lease_claim": ("claimed", "taken_over"),
    "lease_takeover": ("taken_over",),
    "lease_renew": ("renewed",),
    "lease_renew_many": ("renewed",),
    "lease_release": ("released",),
    "lease_release_many": ("released",),
    "lease_break": ("broken",),
}
GRANTS = ("lease_claim", "lease_takeover")
RENEWALS = ("lease_renew", "lease_renew_many")
RELEASES = ("lease_release", "lease_release_many")
REMOVES = ("lease_purge", "TRUNCATE")


class State(typing.NamedTuple):
    """What is on record of a name; a lease that nobody holds has no owner.  No
    two states of one name share fence and version, and later ones are greater."""
    fence: int
    version: int
    owner: str | None = None
    expires: int | None = None
    ttl: int | None = None

    @property
    def key(self):
        return self[:2]


@dataclasses.dataclass(slots=True, eq=False)
class Act:
    who: str
    verb: str
    name: str | None
    owner: str | None = None        # as the caller gave them, like the next two
    fence: int | None = None
    request: str | None = None
    begun: int = 0                  # monotonic; just before it was sent
    answered: int = NEVER           # just after its answer came
    settled: int = NEVER            # just after it was known to be kept
    wall: tuple = (0, NEVER)        # begun and answered by the wall clock
    fate: str | None = None
    outcome: str | None = None      # None: no answer
    ok: bool | None = None
    state: State | None = None      # on record after it, as answered
    time: int | None = None         # the server's, at which it was decided
    count: int | None = None        # of leases that a purge has removed
    base: "Act | None" = None
    own: bool = False
    purged: bool = False            # its transaction has, before it

    @property
    def made(self):
        return self.outcome in MADE.get(self.verb, ())

    @property
    def grants(self):
        return self.made and self.verb in GRANTS

    @property
    def may_have_made(self):
        """Or it has found what it shows: a late release answers the same, whether
        it frees the row or finds it freed."""
        return self.made or self.verb in RELEASES and self.outcome == "expired"

    def holds(self, later):
        """Whether a later act of its transaction stands on this one.  A late release
        that found the row freed has locked nothing: others may have come between."""
        return self.made or later.state.version == self.state.version + 1

    def __str__(self):
        given = ", ".join(str(value) for value in (self.name, self.owner, self.fence)
                          if value is not None)
        said = f"{self.outcome} {tuple(self.state or ())} at {self.time}" \
            if self.outcome else "no answer"
        return f"{self.who} {self.verb}({given}) at {self.wall[0]}: {said}, {self.fate}"


@dataclasses.dataclass
class History:
    acts: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    removals: list = dataclasses.field(default_factory=list)
    calls: int = 0
    answers: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    refusals: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    errors: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    fates: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def add(self, act):
        if act.verb in REMOVES:
            self.removals.append(act)
        else:
            self.acts[act.name].append(act)


def read(directory):
    history = History()
    for path in sorted(directory.glob("*.jsonl")):
        reader = Reader(history, path.stem)
        for asked, reply in record.moments(path):
            reader.take(asked, reply)
        reader.end()
    for act in [act for acts in (*history.acts.values(), history.removals) for act in acts]:
        history.fates[act.fate] += 1
    return history


def settle(acts, fate, at=NEVER):
    for act in acts:
        if act.fate is None:
            act.fate = fate
            if fate == KEPT:
                act.settled = at


class Transaction:
    """What an open transaction has done so far."""

    def __init__(self):
        self.acts = []
        self.own = {}           # name -> the act that made its state
        self.purged = False
        self.mark = None

    def savepoint(self):
        self.mark = len(self.acts), dict(self.own), self.purged

    def back(self):
        done, own, self.purged = self.mark
        self.own = dict(own)
        settle(self.acts[done:], UNDONE)

    def take(self, acts):
        """The acts of one call, which has been answered."""
        for act in acts:
            act.purged = self.purged
            before = self.own.get(act.name)
            if before and act.may_have_made and before.holds(act):
                act.base = before
            self.purged = self.purged or act.verb == "lease_purge"
        self.own.update((act.name, act) for act in acts if act.may_have_made)
        for act in acts:
            made = self.own.get(act.name)
            if act.state is None:
                act.own = self.purged
            elif made is not None:
                act.own = made.state.key == act.state.key
        self.acts += acts


class Reader:
    """One session's part, moment by moment."""

    def __init__(self, history, who):
        self.history = history
        self.who = who
        self.transaction = None

    def take(self, asked, reply):
        _, begun, wall, what, arguments = asked
        kind, answered, wall_answered, said = reply or ("lost", NEVER, NEVER, None)
        if kind in ("error", "lost"):
            self.history.errors[said] += 1
        if not what.startswith(("lease_", "TRUNCATE")):
            return self.control(what, kind, answered, said)

        acts = list(self.acts(what, arguments, said if kind == "answer" else None))
        for act in acts:
            act.begun, act.wall = begun, (wall, wall_answered)
            if kind == "answer":
                act.answered = answered
            self.history.add(act)
        self.history.calls += what.startswith("lease_")
        if kind == "error":
            settle(acts, UNDONE)
        elif self.transaction is None:
            settle(acts, KEPT if kind == "answer" else UNKNOWN, answered)
        elif kind == "answer":
            self.transaction.take(acts)
        else:
            settle(acts, UNDONE)
            self.end()

    def control(self, what, kind, at, status):
        """BEGIN, SAVEPOINT, ROLLBACK TO SAVEPOINT, COMMIT or ROLLBACK."""
        transaction = self.transaction
        if what.startswith("BEGIN"):
            self.transaction = Transaction() if kind == "answer" else None
        elif transaction is None:
            pass
        elif what == "COMMIT":
            settle(transaction.acts, UNKNOWN if kind == "lost" else
                   KEPT if status == "COMMIT" else UNDONE, at)
            self.end()
        elif what == "ROLLBACK" or kind == "lost":
            self.end()
        elif what.startswith("ROLLBACK TO") and kind == "answer":
            transaction.back()
        elif what.startswith("SAVEPOINT") and kind == "answer":
            transaction.savepoint()

    def end(self):
        """Whatever is still open is rolled back."""
        if self.transaction is not None:
            settle(self.transaction.acts, UNDONE)
            self.transaction = None

    def acts(self, verb, arguments, rows):
        """The acts of one call, with what was answered to each."""
        if verb.startswith("TRUNCATE"):
            yield Act(self.who, "TRUNCATE", None)
        elif verb == "lease_purge":
            yield Act(self.who, verb, None, count=rows[0][0] if rows else None)
        elif "names" in arguments:
            judged = set()
            for place, pair in enumerate(zip(arguments["names"], arguments["fences"])):
                if pair not in judged:
                    judged.add(pair)
                    yield self.act(verb, *pair, arguments, rows and rows[place])
        else:
            yield self.act(verb, arguments["name"],
                           arguments.get("fence", arguments.get("expected_fence")),
                           arguments, rows and rows[0])

    def act(self, verb, name, fence, arguments, row):
        act = Act(self.who, verb, name, arguments.get("owner"), fence,
                  arguments.get("request_id"))
        if row:
            answer = dict(zip(record.COLUMNS, row))
            act.ok, act.outcome = answer["ok"], sys.intern(answer["outcome"])
            act.time = answer["server_time"]
            if answer["fence"] is not None:
                act.state = State(answer["fence"], answer["version"], answer["owner"],
                                  answer["expires_at"], answer["ttl"])
            self.history.answers[act.outcome] += 1
            if not act.ok:
                self.history.refusals[act.outcome] += 1
        return act
