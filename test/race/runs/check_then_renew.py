"""A server that checks in one transaction and renews in the next.

A holds the lease from 1000 to 1060.  Its heartbeat reaches the server at 1055,
and the check finds A in possession.  At 1070, before the server goes on, B
claims the lapsed lease.  Then the server renews.  The row is never edited
from here: only the barriers and the time are ours.
"""

ROUNDS = 40


def replaced_between(stage, mode):
    a, b, server = stage.owner("A"), stage.owner("B"), stage.renewal_server(mode)
    stage.expect("A claims", a.claim(at=1000, ttl="60 s"), ok=True, fence=1, expires_at=1060)
    server.heartbeat("A", fence=1, at=1055)
    stage.expect("B claims", b.claim(at=1070, ttl="60 s"), ok=True, outcome="taken_over",
                 owner="B", fence=2, version=2, expires_at=1130)
    before = stage.look()
    stage.expect("the row after B's claim", before, owner="B", fence=2, version=2,
                 expires_at=1130)
    server.go_on(at=1075)
    return server.commit(), before


def by_id(stage):
    told, _ = replaced_between(stage, "by-id")
    stage.expect("the server tells A", told, acknowledged=True, owner="A", fence=1)
    row = stage.look()
    stage.expect("the row", row, owner="B", fence=2, version=3, expires_at=1135)
    return f"told: {told.get('owner')} renewed", stage.on_record()


def by_lease_renew(stage):
    told, before = replaced_between(stage, "lease_renew")
    stage.expect("the server tells A", told, acknowledged=False)
    stage.expect("the renewal", told["answer"], ok=False, outcome="stale_fence",
                 owner="B", fence=2, version=2, expires_at=1130)
    stage.expect_untouched("the renewal", before)
    return f"refused: {told['answer']['outcome']}", stage.on_record()


def claim_during_renewal(stage):
    """The renewal is decided in time, at 1055, and not yet committed when B
    claims at 1070, past the old expiry."""
    a, b, server = stage.owner("A"), stage.owner("B"), stage.renewal_server("lease_renew")
    b.set("lease.lock_wait", "100ms")
    stage.expect("A claims", a.claim(at=1000, ttl="60 s"), ok=True, fence=1, expires_at=1060)
    server.heartbeat("A", fence=1, at=1055)
    server.go_on(at=1055)
    before = stage.look()
    during = b.claim(at=1070, ttl="60 s")
    stage.figure("B's claim while the renewal is open: ok", False, during["ok"])
    stage.figure("B's claim while the renewal is open: busy or held", True,
                 during["outcome"] in ("busy", "held"))
    stage.expect_untouched("B's claim", before)
    told = server.commit()
    stage.expect("the server tells A", told, acknowledged=True, owner="A", fence=1)
    stage.expect("the renewal", told["answer"], ok=True, outcome="renewed", fence=1,
                 version=2, expires_at=1115)
    before = stage.look()
    after = b.claim(at=1070, ttl="60 s")
    stage.expect("B's claim once it is committed", after, ok=False, outcome="held",
                 owner="A", fence=1, version=2, expires_at=1115)
    stage.expect_untouched("B's claim", before)
    stage.expect("the row", before, owner="A", fence=1, version=2, expires_at=1115)
    return f"claim: {during['outcome']}, then {after['outcome']}", stage.on_record()


def raced(stage):
    """No barrier: the heartbeat of 1055 and the claim of 1070 set off
    together, each first in every other round.  Whoever wins, the answers and
    the row tell the same story."""
    a, b = stage.owner("A"), stage.owner("B")
    a.set("lease.lock_wait", "30s")
    b.set("lease.lock_wait", "30s")
    first, stories = stage.lease, []
    for number in range(ROUNDS):
        stage.lease = f"{first}-{number}"
        a.claim(at=1000, ttl="60 s")
        beat = lambda: a.begin("lease_renew", at=1055, owner="A", fence=1)
        grab = lambda: b.begin("lease_claim", at=1070, owner="B", ttl="60 s")
        for start in (beat, grab) if number % 2 else (grab, beat):
            start()
        stories.append(story(a.finish(), b.finish(), stage.look()))
    agreed = sum(winner is not None for winner in stories)
    stage.figure("rounds in which exactly one won, and the row is the winner's",
                 ROUNDS, agreed)
    return (f"renewed {stories.count('A')}, refused {stories.count('B')}",
            f"the one winner, {agreed} of {ROUNDS}")


def story(renewal, claim, row):
    """Who won, or None if the three do not agree."""
    holder = (row["owner"], row["fence"])
    seen = (renewal["outcome"], claim["outcome"], holder, row["expires_at"])
    if seen in (("renewed", lost, ("A", 1), 1115) for lost in ("held", "busy")):
        return "A"
    if seen == ("stale_fence", "taken_over", ("B", 2), 1130):
        return "B"
    return None
