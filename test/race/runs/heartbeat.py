"""A heartbeat that comes late, after a takeover.

A claims at 1000 for 60 seconds and falls asleep.  At 1070 B takes over and
applies an effect.  At 1075 A wakes, sends the heartbeat that was due, and, if
it believes that it still holds the lease, applies another effect.
"""


def replaced(stage, resource):
    """Up to B's effect: the part that three runs share."""
    a, b = stage.owner("A"), stage.owner("B")
    claim = a.claim(at=1000, ttl="60 s")
    stage.expect("A claims", claim, ok=True, outcome="claimed", owner="A", fence=1,
                 version=1, expires_at=1060)
    takeover = b.call("lease_takeover", at=1070, owner="B", expected_fence=1, ttl="60 s")
    stage.expect("B takes over", takeover, ok=True, outcome="taken_over", owner="B",
                 fence=2, version=2, expires_at=1130)
    stage.expect("B's effect", b.effect(resource, "B's", at=1070), status=200)
    return a


def blind(stage):
    resource = stage.resource("unsafe")
    a = replaced(stage, resource)
    beat = a.blind_heartbeat(at=1075)
    stage.expect("A's heartbeat", beat, rows=1)
    row = stage.look()
    stage.expect("the row", row, owner="A", fence=1, expires_at=1135)
    stage.expect("A's effect", a.effect(resource, "A's", at=1075), sent=True, status=200)
    stage.count_effects(resource, 2)
    return f"overwrites {beat['rows']} row", stage.on_record()


def compare_and_renew(stage):
    resource = stage.resource("unsafe")
    a = replaced(stage, resource)
    before = stage.look()
    beat = a.call("lease_renew", at=1075, owner="A", fence=1, version=1)
    stage.expect("A's heartbeat", beat, ok=False, outcome="stale_fence", owner="B",
                 fence=2, version=2, expires_at=1130)
    stage.expect_untouched("A's heartbeat", before)
    stage.expect("the row", before, owner="B", fence=2, version=2, expires_at=1130)
    stage.expect("A's effect", a.effect(resource, "A's", at=1075), sent=False)
    stage.count_effects(resource, 1)
    return f"refused: {beat['outcome']}", stage.on_record()


def defence_in_depth(stage):
    resource = stage.resource("fenced")
    a = replaced(stage, resource)
    beat = a.blind_heartbeat(at=1075)
    stage.expect("A's heartbeat", beat, rows=1)
    row = stage.look()
    stage.expect("the corrupted row", row, owner="A", fence=1, expires_at=1135)
    resource.crash_and_restart()
    stage.expect("the resource, killed and started again", resource.read(), mark=2)
    effect = a.effect(resource, "A's", at=1075)
    stage.expect("A's effect", effect, sent=True, status=409, accepted=False, mark=2)
    stage.count_effects(resource, 1)
    return f"row lost; resource says {effect.get('status')}", stage.on_record()


def control(stage):
    a = stage.owner("A")
    claim = a.claim(at=1000, ttl="60 s")
    stage.expect("A claims", claim, ok=True, fence=1, version=1, expires_at=1060)
    before = stage.observer.rows()
    beat = a.call("lease_renew", at=1030, owner="A", fence=1, version=1)
    stage.expect("A's heartbeat", beat, ok=True, outcome="renewed", owner="A", fence=1,
                 version=2, expires_at=1090)
    after = stage.observer.rows()
    stage.figure("leases that changed", [stage.lease],
                 [name for name in after if after[name] != before.get(name)])
    stage.figure("leases", sorted(before), sorted(after))
    row = stage.look()
    stage.expect("the row", row, owner="A", fence=1, version=2, expires_at=1090)
    return f"renewed: {claim['expires_at']} -> {beat['expires_at']}", stage.on_record()
