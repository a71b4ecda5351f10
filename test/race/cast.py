"""The director's ends of the processes that take part in a run.

Each hands its process one command at a time and has the stage note the call
with its answer.  The other ends are owner.py, renewal_server.py, resource.py.
"""

import http.client
import json
import os

from children import Child


class Owner:
    def __init__(self, stage, label):
        self.stage = stage
        self.label = label
        self.child = stage.enter_context(Child("owner.py"))

    def set(self, setting, value):
        self.child.ask({"do": "set", "setting": setting, "value": value})

    def call(self, verb, at=None, **arguments):
        self.begin(verb, at, **arguments)
        return self.finish()

    def begin(self, verb, at=None, **arguments):
        """Send a call whose answer is fetched later."""
        arguments = {"name": self.stage.lease, **arguments}
        self.sent = (at, verb, arguments)
        self.child.tell({"do": "call", "verb": verb, "arguments": arguments, "at": at})

    def bear_token(self):
        return self.stage.note(self.label, None, "SET lease.token", {},
                               self.child.ask({"do": "bear token"}))

    def execute(self, statement, lines=None):
        self.begin_to_execute(statement, lines)
        return self.finish()

    def begin_to_execute(self, statement, lines=None):
        arguments = {"statement": statement, "lines": lines}
        self.sent = (None, "SQL", arguments)
        self.child.tell({"do": "execute", **arguments})

    def finish(self):
        return self.stage.note(self.label, *self.sent, self.child.hear())

    def claim(self, at=None, **arguments):
        return self.call("lease_claim", at, owner=self.label, **arguments)

    def poll(self, at):
        self.begin_poll(at)
        return self.finish()

    def begin_poll(self, at):
        arguments = {"owner": self.label, "ttl": "60 s"}
        self.sent = (at, "lease_poll", arguments)
        self.child.tell({"do": "poll", **arguments, "at": at})

    def blind_heartbeat(self, at):
        answer = self.child.ask({"do": "blind heartbeat", "at": at})
        return self.stage.note(self.label, at, "blind UPDATE", {}, answer)

    def effect(self, resource, effect, at):
        answer = self.child.ask({"do": "effect", "port": resource.port, "effect": effect})
        return self.stage.note(self.label, at, "POST /effects", {"effect": effect}, answer)


class RenewalServer:
    def __init__(self, stage, mode):
        self.stage = stage
        self.child = stage.enter_context(Child("renewal_server.py", mode))

    def heartbeat(self, owner, fence, at):
        """Hand in a heartbeat; the server halts at its first barrier."""
        self.request = {"name": self.stage.lease, "owner": owner, "fence": fence}
        self.at = at
        self.child.tell({**self.request, "at": at})
        self.halted_at("checked")

    def go_on(self, at):
        """Open the first barrier; the server halts at its second one."""
        self.at = at
        self.child.tell({"at": at})
        self.halted_at("renewed")

    def commit(self):
        self.child.tell({"at": self.at})
        return self.stage.note("server", self.at, "heartbeat", self.request, self.child.hear())

    def halted_at(self, barrier):
        said = self.child.hear()
        if said.get("reached") != barrier:
            raise RuntimeError(f"the server never reached {barrier!r}, it said {said}")


class Resource:
    def __init__(self, stage, mode):
        self.stage = stage
        self.mode = mode
        self.path = os.path.join(stage.scratch, f"{stage.lease}.effects")
        self.start()

    def start(self):
        self.child = self.stage.enter_context(Child("resource.py", self.path, self.mode))
        self.port = self.child.hear()["port"]

    def crash_and_restart(self):
        self.child.crash()
        self.start()

    def read(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/effects")
        content = json.loads(connection.getresponse().read())
        connection.close()
        return content


class Table:
    """A table of the application, guarded by the stage's lease or not.

    Its effects are not what writers say that they did: they are the changes
    that the observer sees, in the order in which they become visible.
    """

    def __init__(self, stage, guarded):
        self.stage = stage
        self.name = stage.lease.replace("-", "_")
        self.effects = []
        session = stage.observer
        session.connection.execute(
            f"CREATE TABLE {self.name} (entry text PRIMARY KEY, note text)")
        if guarded:
            session.one("SELECT lease_guard(%s, name => %s)::text", self.name, stage.lease)
        self.content = self.select()

    def select(self):
        return self.stage.observer.connection.execute(
            f"SELECT * FROM {self.name} ORDER BY entry").fetchall()

    def watch(self, owner, fence):
        """Put down to this epoch what has changed since the last look; whether
        anything has."""
        before, self.content = self.content, self.select()
        if before != self.content:
            self.effects.append({"owner": owner, "fence": fence, "rows": self.content})
        return before != self.content

    def read(self):
        return {"effects": self.effects}
