"""A worker: polls, works under a guard, keeps its tasks alive, and ends them.

It is a bad one.  It draws from the seed how many tasks it takes at once, how long
it pauses, whether it renews at all and how an attempt ends; it writes effects
also when its time is long up, and may be stopped or killed at any moment.  After
a lost answer it asks again with the same request id.

Each poll has an owner of its own, so that what was granted can be told from what
was returned, poll by poll.
"""

import random
import time
import uuid

from record import Lost, Refused

PAUSE = 0.03
LINGER = 0.08
TTL = (0.2, 0.8)

EFFECT = "INSERT INTO effect (name, fence) VALUES (%s, %s)"


class Worker:
    def __init__(self, client, seed, number, life):
        self.client = client
        self.random = random.Random(f"{seed}/worker/{number}/{life}")
        self.name = f"w{number:02}.{life}"
        self.polls = 0

    def live(self, goes_on):
        self.client.connect()
        while goes_on():
            owner, tasks = self.poll()
            for name, fence in tasks:
                self.survive(lambda name=name, fence=fence: self.attempt(name, owner, fence))

    def survive(self, act):
        """Whether it came to its end: not where the session was ended, or an act refused."""
        try:
            act()
            return True
        except Refused:
            return False
        except Lost:
            self.client.connect()
            return False

    def chance(self, probability):
        return self.random.random() < probability

    def rest(self, average):
        time.sleep(self.random.expovariate(1 / average))

    def seconds(self, least, most):
        return f"{self.random.randint(int(least * 1000), int(most * 1000))} ms"

    def poll(self):
        """Ask for some, until there is an answer: the owner, and (name, fence) of each."""
        self.polls += 1
        owner = f"{self.name}/{self.polls}"
        arguments = {"owner": owner, "max_count": self.random.choice((1, 1, 2, 4)),
                     "ttl": self.seconds(*TTL)}
        if self.chance(0.5):
            arguments["wait"] = self.seconds(0, 0.3)
        if self.chance(0.6):
            arguments["request_id"] = str(uuid.UUID(int=self.random.getrandbits(128)))
        tasks = []

        def ask():
            tasks.extend((row[2], row[4]) for row in self.client.ask("lease_poll", **arguments)
                         if row[0])

        if self.chance(0.3):
            kept = self.survive(lambda: self.in_transaction(ask, self.chance(0.8)))
        else:
            kept = self.survive(ask)
        if not kept:
            tasks.clear()
        if "request_id" in arguments and (not kept or self.chance(0.1)):
            tasks.clear()
            self.survive(ask)
        if not tasks:
            self.rest(PAUSE)
        return owner, tasks

    def in_transaction(self, act, keep):
        """Do it, and let others meet it uncommitted; a Refused where it is not kept."""
        level = self.random.choice(("READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"))
        self.client.tell(f"BEGIN ISOLATION LEVEL {level}")
        try:
            act()
            self.rest(LINGER)
        except Refused:
            self.client.tell("ROLLBACK")
            raise
        if not keep:
            self.client.tell("ROLLBACK")
            raise Refused("not kept")
        self.client.tell("COMMIT")

    def attempt(self, name, owner, fence):
        token = {"name": name, "owner": owner, "fence": fence}
        for _ in range(self.random.randint(0, 3)):
            self.rest(PAUSE)
            if self.chance(0.6):
                self.survive(lambda: self.work(token))
            if self.chance(0.5):
                self.renew(token)
            if self.chance(0.08):
                time.sleep(TTL[1])
        end = self.random.random()
        if end < 0.5:
            self.finish("lease_complete", result='"done"', **token)
        elif end < 0.7:
            self.finish("lease_fail", error="at random", final=self.chance(0.1), **token)
        elif end < 0.8:
            self.finish("lease_release", **token)

    def renew(self, token):
        arguments = dict(token)
        if self.chance(0.4):
            # also for less, and then it is due sooner
            arguments["ttl"] = self.seconds(0.1, TTL[1])
        if self.chance(0.3):
            arguments["checkpoint"] = '"so far"'
        self.client.ask("lease_renew", **arguments)

    def finish(self, verb, **arguments):
        self.survive(lambda: self.client.ask(verb, **arguments))
        if self.chance(0.1):
            # as if the answer had been lost
            self.survive(lambda: self.client.ask(verb, **arguments))

    def work(self, token):
        """An effect, under the task's token."""
        def act():
            self.client.ask("lease_present", **token)
            self.client.perform("effect", {"name": token["name"], "fence": token["fence"]},
                                EFFECT, lambda cursor: cursor.statusmessage)
        self.in_transaction(act, self.chance(0.9))
