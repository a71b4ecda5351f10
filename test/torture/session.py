"""A session: what one process asks of the leases, by the dice.

It draws verb, name and arguments from the seed; what it has last heard of a
name makes the token that it then presents, often a good one, sometimes a stale
one, somebody else's, or one that never was.  A few sessions share each owner,
as the processes of one service do: they adopt each other's epochs, renew them
side by side, and ask with the same request ids.  It keeps no promise to
anybody: it forgets to renew, breaks what others hold, and may be stopped or
killed at any moment.
"""

import collections
import random
import time
import uuid

from record import Lost, Refused

NAMES = [f"n{number:02}" for number in range(50)]
OWNERS = 4
# For so long, in seconds, all sessions of an owner ask for a name with one id,
# and everybody crowds round one name.
REQUEST_LASTS = 2
CROWD_LASTS = 1

PAUSE = 0.005
PAUSE_IN_TRANSACTION = 0.01

ACTS = {"claim": 20, "takeover": 14, "repeat": 6, "renew": 32, "release": 3,
        "renew_many": 8, "release_many": 1, "break_": 2, "get": 8, "purge": 1,
        "transaction": 14}
STEPS = {"claim": 8, "takeover": 8, "renew": 26, "release": 2, "break_": 2, "get": 2,
         "purge": 1}
LEVELS = ("READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")


class Session:
    def __init__(self, client, seed, number, life):
        self.client = client
        self.seed = seed
        self.random = random.Random(f"{seed}/{number}/{life}")
        self.owner = f"o{number % OWNERS}"
        self.heard = {}
        self.requests = collections.deque(maxlen=8)

    def live(self, goes_on):
        self.client.connect()
        while goes_on():
            try:
                self.perform(ACTS)
            except Refused:
                pass
            except Lost:
                self.client.connect()
            self.rest(PAUSE)

    def chance(self, probability):
        return self.random.random() < probability

    def rest(self, average):
        time.sleep(self.random.expovariate(1 / average))

    def perform(self, acts, *arguments):
        act, = self.random.choices(list(acts), acts.values())
        getattr(self, act)(*arguments)

    def ask(self, verb, **arguments):
        for _, _, name, owner, fence, version, *_ in self.client.ask(verb, **arguments):
            former_owner, former_fence, _ = self.heard.pop(name, (None, None, None))
            if fence is not None:
                if fence == former_fence:
                    owner = owner or former_owner
                self.heard[name] = (owner, fence, version)

    # What to ask about.

    def name(self):
        if self.chance(0.5):
            slot = int(time.monotonic() / CROWD_LASTS)
            return random.Random(f"{self.seed}/{slot}").choice(NAMES)
        return self.random.choice(NAMES)

    def name_of_ours(self):
        """One whose epoch was an own one when last heard of; it may have ended."""
        return self.lately(name for name, (owner, _, _) in self.heard.items()
                           if owner == self.owner)

    def name_heard_of(self):
        return self.lately(self.heard)

    def lately(self, names):
        """Mostly one of the last that were heard of."""
        names = list(names)
        back = int(self.random.expovariate(1 / 3))
        return names[-1 - back] if back < len(names) else self.name()

    def fence(self, name):
        _, fence, _ = self.heard.get(name, (None, 1, None))
        if self.chance(0.06):
            return max(fence - 1, 1)
        return fence + 10**9 if self.chance(0.02) else fence

    def ttl(self):
        return f"{self.random.randint(100, 400)} ms"

    def request(self, verb, name):
        slot = int(time.monotonic() / REQUEST_LASTS)
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.seed}/{self.owner}/{verb}/{name}/{slot}"))

    # What is asked.

    def claim(self, name=None, verb="lease_claim", **arguments):
        name = name or self.name()
        arguments = {"name": name, "owner": self.owner, **arguments, "ttl": self.ttl()}
        if self.chance(0.5):
            arguments["request_id"] = self.request(verb, name)
            self.requests.append((verb, arguments))
        if self.chance(0.1):
            arguments["wait"] = f"{self.random.randint(10, 200)} ms"
        if verb == "lease_claim" and self.chance(0.4):
            arguments["hold_at_least"] = f"{self.random.randint(200, 600)} ms"
        self.ask(verb, **arguments)

    def takeover(self, name=None):
        name = name or self.name_heard_of()
        self.claim(name, "lease_takeover", expected_fence=self.fence(name))

    def repeat(self):
        if self.requests:
            verb, arguments = self.random.choice(self.requests)
            self.ask(verb, **arguments)

    def renew(self, name=None):
        name = name or self.name_of_ours()
        arguments = {"name": name, "owner": self.owner, "fence": self.fence(name)}
        _, _, version = self.heard.get(name, (None, None, 1))
        if self.chance(0.5):
            arguments["version"] = version - self.chance(0.5)
        if self.chance(0.5):
            arguments["ttl"] = self.ttl()
        self.ask("lease_renew", **arguments)

    def release(self, name=None):
        name = name or self.name_of_ours()
        self.ask("lease_release", name=name, owner=self.owner, fence=self.fence(name))

    def many(self, verb):
        names = [self.name_of_ours() for _ in range(self.random.randint(2, 6))]
        self.ask(verb, names=names, owner=self.owner,
                 fences=[self.fence(name) for name in names])

    def renew_many(self):
        self.many("lease_renew_many")

    def release_many(self):
        self.many("lease_release_many")

    def break_(self, name=None):
        name = name or (self.name_heard_of() if self.chance(0.5) else self.name_of_ours())
        self.ask("lease_break", name=name, expected_fence=self.fence(name), reason="torture")

    def get(self, name=None):
        self.ask("lease_get", name=name or self.name())

    def purge(self, _=None):
        self.client.ask("lease_purge", idle=f"{self.random.randint(20, 1000)} ms", max=1)

    # Several of it, kept or given up together.

    def transaction(self):
        name = self.name_of_ours() if self.chance(0.5) else self.name()
        if self.chance(0.5):
            self.get(name)
        self.client.tell(f"BEGIN ISOLATION LEVEL {self.random.choice(LEVELS)}")
        try:
            self.steps(name)
            if self.chance(0.4):
                self.savepoint(name)
            self.client.tell("COMMIT" if self.chance(0.6) else "ROLLBACK")
        except Refused:
            self.client.tell("ROLLBACK")

    def savepoint(self, name):
        self.client.tell("SAVEPOINT s")
        try:
            self.steps(name)
            back = self.chance(0.5)
        except Refused:
            back = True
        if back:
            self.client.tell("ROLLBACK TO SAVEPOINT s")
            self.steps(name)

    def steps(self, name):
        for _ in range(self.random.randint(1, 3)):
            self.perform(STEPS, name if self.chance(0.9) else self.name())
            self.rest(PAUSE_IN_TRANSACTION)
