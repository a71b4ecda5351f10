"""A server that takes heartbeats for its clients: check, then renew.

    renewal_server.py by-id|lease_renew

It looks in one transaction whether the client still holds the lease, and
renews in a second one, which is how such servers are commonly written.  The
two modes differ in one line: the renewal addresses the lease by its id, or it
is lease_renew.

A command {"name", "owner", "fence", "at"} is one heartbeat.  On its way the
server halts at two barriers, after the check and before the commit; it says
which one it reached, and goes on at the time that the next line brings.  Its
last line is what the client would be told.
"""

import sys

import unsafe
from children import listen, say, serve
from coordinator import Session


class RenewalServer:
    def __init__(self, mode):
        self.session = Session()
        self.renew = {"by-id": self.renew_by_id, "lease_renew": self.lease_renew}[mode]

    def heartbeat(self, request):
        self.session.set_clock(request["at"])
        if not self.owns(**request):
            return {"acknowledged": False, "answer": None}
        self.barrier("checked")
        with self.session.connection.transaction():
            answer = self.renew(**request)
            self.barrier("renewed")
        if not answer["ok"]:
            return {"acknowledged": False, "answer": answer}
        return {"acknowledged": True, "answer": answer,
                "owner": request["owner"], "fence": request["fence"]}

    def owns(self, name, owner, fence, at):
        lease = self.session.call("lease_get", {"name": name})
        return (lease["outcome"], lease["owner"], lease["fence"]) == ("held", owner, fence)

    def renew_by_id(self, name, owner, fence, at):
        rows = unsafe.renew_by_id(self.session, name)
        return {"ok": rows == 1, "rows": rows}

    def lease_renew(self, name, owner, fence, at):
        return self.session.call("lease_renew", {"name": name, "owner": owner, "fence": fence})

    def barrier(self, reached):
        say({"reached": reached})
        at = listen()["at"]
        self.session.set_clock(at)


if __name__ == "__main__":
    serve(RenewalServer(sys.argv[1]).heartbeat)
