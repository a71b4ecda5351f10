"""An owner that is stopped past its expiry, on the real clock.

A, a process, claims for one second and is stopped by SIGSTOP.  Its heartbeat
falls due while it lies there: the command waits in its pipe.  B takes over.
When A goes on it sends that heartbeat, knowing nothing, and then a release.
"""

import time

PATIENCE = 30


def await_expiry(stage):
    """Ask the server, not a clock of ours, until the lease has expired."""
    deadline = time.monotonic() + PATIENCE
    while True:
        state = stage.observer.call("lease_get", {"name": stage.lease})
        if state["outcome"] != "held" or time.monotonic() > deadline:
            return stage.note("observer", None, "lease_get", {"name": stage.lease}, state)
        time.sleep(0.02)


def stopped_past_expiry(stage):
    a, b = stage.owner("A"), stage.owner("B")
    stage.expect("A claims", a.claim(ttl="1 s"), ok=True, outcome="claimed", fence=1,
                 version=1)
    a.child.stop()
    a.begin("lease_renew", owner="A", fence=1, version=1)
    stage.expect("the lease of the stopped A", await_expiry(stage), outcome="expired",
                 owner="A", fence=1)
    stage.expect("B takes over",
                 b.call("lease_takeover", owner="B", expected_fence=1, ttl="60 s"),
                 ok=True, outcome="taken_over", owner="B", fence=2, version=2)
    before = stage.look()
    stage.expect("the row", before, owner="B", fence=2, version=2)
    stage.figure("A is still stopped", True, a.child.is_silent())

    a.child.resume()
    renewal = a.finish()
    stage.expect("A's renewal", renewal, ok=False, outcome="stale_fence", owner="B",
                 fence=2, version=2)
    stage.expect_untouched("A's renewal", before)
    release = a.call("lease_release", owner="A", fence=1)
    stage.expect("A's release", release, ok=False, outcome="stale_fence", owner="B",
                 fence=2, version=2)
    stage.expect_untouched("A's release", before)
    return f"both refused: {renewal['outcome']}", stage.on_record(logical=False)
