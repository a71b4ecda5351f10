"""An owner of leases: a process with its own sessions, its own belief, and its
own way to the resource.

It does what each command says, one a line, at the logical time that comes
with it, and answers with what it got:

    {"do": "set", "setting": ..., "value": ...}
    {"do": "call", "verb": "lease_...", "arguments": {...}, "at": ...}
    {"do": "poll", "owner": ..., "ttl": ..., "at": ...}
    {"do": "blind heartbeat", "at": ...}
    {"do": "effect", "port": ..., "effect": ...}
    {"do": "bear token"}
    {"do": "execute", "statement": ..., "lines": ...}

It keeps a copy of what its grant told it, as any client does, and believes that
it holds the lease until a renewal is refused or it asks for a release.  It
sends an effect to the resource only while it believes that.

To tables it writes in a session of its own, which bears its token (lease.token)
from then on, and which its heartbeats do not share: they go on while a
transaction is open there.
"""

import functools
import http.client
import json

import psycopg

import unsafe
from children import serve
from coordinator import Session


class Owner:
    def __init__(self):
        self.session = Session()
        self.copy = None
        self.holds = False

    @functools.cached_property
    def work(self):
        return Session()

    def obey(self, command):
        act = {"set": self.set, "call": self.call, "poll": self.poll, "effect": self.effect,
               "blind heartbeat": self.blind_heartbeat, "bear token": self.bear_token,
               "execute": self.execute}[command.pop("do")]
        return act(**command)

    def set(self, setting, value):
        self.session.set(setting, value)
        return {}

    def call(self, verb, arguments, at):
        self.session.set_clock(at)
        answer = self.session.call(verb, arguments)
        if verb in ("lease_claim", "lease_takeover") and answer["ok"]:
            self.copy, self.holds = answer, True
        elif verb == "lease_renew" and answer["outcome"] != "busy":
            self.holds = answer["ok"]
        elif verb in ("lease_release", "lease_complete", "lease_fail"):
            self.holds = False
        return answer

    def poll(self, at, **arguments):
        self.session.set_clock(at)
        answer = self.session.poll(**arguments)
        if answer.get("ok"):
            self.copy, self.holds = answer, True
        return answer

    def blind_heartbeat(self, at):
        self.session.set_clock(at)
        rows = unsafe.blind_heartbeat(self.session, self.copy)
        self.holds = rows == 1
        return {"rows": rows, "owner": self.copy["owner"], "fence": self.copy["fence"]}

    def effect(self, port, effect):
        if not self.holds:
            return {"sent": False}
        request = {"owner": self.copy["owner"], "fence": self.copy["fence"], "effect": effect}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/effects", json.dumps(request))
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return {"sent": True, "owner": request["owner"], "fence": request["fence"],
                "status": response.status, **answer}

    def bear_token(self):
        copy = self.copy
        token = self.work.one("SELECT lease_token(%s, %s, %s, %s) AS token", copy["namespace"],
                              copy["name"], copy["owner"], copy["fence"])
        self.work.set("lease.token", token["token"])
        return token

    def execute(self, statement, lines):
        cursor = self.work.connection.cursor()
        try:
            if lines is None:
                cursor.execute(statement)
            else:
                with cursor.copy(statement) as copy:
                    copy.write(lines)
        except psycopg.Error as error:
            # Of a lost connection libpq reports what it happens to notice first.
            lost = self.work.connection.broken
            return {"done": False, "error": "connection lost" if lost else error.sqlstate}
        return {"done": True, "command": cursor.statusmessage}


if __name__ == "__main__":
    serve(Owner().obey)
