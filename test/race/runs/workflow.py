"""A workflow server that hands tasks out by polls, and takes heartbeats for its workers.

A polls at 1000 for 60 seconds.  Its heartbeat reaches the server at 1055, and the
check finds A in possession.  At 1070, before the server goes on, B polls.  Then
the server renews.  The row is never edited from here: only the barriers and the
time are ours, and every grant is what a poll answered.
"""

ROUNDS = 40


def offered(stage, at=1000):
    stage.observer.set_clock(at)
    stage.expect("the offer", operator(stage, at, "lease_offer"), ok=True, outcome="offered")


def operator(stage, at, verb, **arguments):
    stage.observer.set_clock(at)
    arguments = {"name": stage.lease, **arguments}
    return stage.note("operator", at, verb, arguments, stage.observer.call(verb, arguments))


def polled_by_a(stage):
    """A task, offered and polled, and both workers."""
    a, b = stage.owner("A"), stage.owner("B")
    offered(stage)
    stage.expect("A polls", a.poll(at=1000), rows=1, name=stage.lease, ok=True,
                 outcome="claimed", owner="A", fence=1, attempt=1, expires_at=1060)
    return a, b


def polled_between(stage, mode):
    (_, b), server = polled_by_a(stage), stage.renewal_server(mode)
    server.heartbeat("A", fence=1, at=1055)
    stage.expect("B polls", b.poll(at=1070), rows=1, name=stage.lease, ok=True,
                 outcome="taken_over", owner="B", fence=2, attempt=2, version=2, expires_at=1130)
    before = stage.look()
    stage.expect("the row after B's poll", before, owner="B", fence=2, version=2, expires_at=1130)
    server.go_on(at=1075)
    return b, server.commit(), before


def by_id(stage):
    b, told, _ = polled_between(stage, "by-id")
    stage.expect("the server tells A", told, acknowledged=True, owner="A", fence=1)
    row = stage.look()
    stage.expect("the row", row, owner="B", fence=2, version=3, expires_at=1135)
    on_record = stage.on_record()
    b.call("lease_complete", at=1080, owner="B", fence=2)
    return f"told: {told.get('owner')} renewed", on_record


def by_lease_renew(stage):
    b, told, before = polled_between(stage, "lease_renew")
    stage.expect("the server tells A", told, acknowledged=False)
    stage.expect("the renewal", told["answer"], ok=False, outcome="stale_fence",
                 owner="B", fence=2, version=2, expires_at=1130)
    stage.expect_untouched("the renewal", before)
    on_record = stage.on_record()
    stage.expect("B completes", b.call("lease_complete", at=1080, owner="B", fence=2),
                 ok=True, outcome="completed")
    return f"refused: {told['answer']['outcome']}", on_record


def poll_during_renewal(stage):
    """The renewal is decided in time, at 1055, and not yet committed when B polls
    past the old expiry.  Neither then nor later is B handed what was renewed."""
    (a, b), server = polled_by_a(stage), stage.renewal_server("lease_renew")
    server.heartbeat("A", fence=1, at=1055)
    server.go_on(at=1055)
    before = stage.look()
    during = b.poll(at=1070)
    stage.expect("B's poll while the renewal is open", during, rows=0)
    stage.expect_untouched("B's poll", before)
    told = server.commit()
    stage.expect("the server tells A", told, acknowledged=True, owner="A", fence=1)
    stage.expect("the renewal", told["answer"], ok=True, outcome="renewed", fence=1,
                 version=2, expires_at=1115)
    before = stage.look()
    after = [b.poll(at=1070), b.poll(at=1114)]
    stage.figure("tasks that B's polls get once it is committed", [0, 0],
                 [answer["rows"] for answer in after])
    stage.expect_untouched("B's polls", before)
    stage.expect("the row", before, owner="A", fence=1, version=2, expires_at=1115)
    on_record = stage.on_record()
    stage.expect("B's poll when the renewal has lapsed", b.poll(at=1115), rows=1,
                 name=stage.lease, outcome="taken_over", owner="B", fence=2, attempt=2)
    stage.expect("B completes", b.call("lease_complete", at=1116, owner="B", fence=2), ok=True)
    return f"poll: {during['rows']} tasks, then {after[0]['rows']}", on_record


def raced(stage):
    """No barrier: the heartbeat of 1055 and the poll of 1070 set off together, each
    first in every other round.  Whoever wins completes the task; the other cannot."""
    a, b = stage.owner("A"), stage.owner("B")
    a.set("lease.lock_wait", "30s")
    first, winners = stage.lease, []
    for number in range(ROUNDS):
        stage.lease = f"{first}-{number}"
        offered(stage)
        a.poll(at=1000)
        beat = lambda: a.begin("lease_renew", at=1055, owner="A", fence=1)
        grab = lambda: b.begin_poll(at=1070)
        for start in (beat, grab) if number % 2 else (grab, beat):
            start()
        winners.append(winner(stage, a, b, a.finish(), b.finish()))
    agreed = sum(who is not None for who in winners)
    stage.figure("rounds in which exactly one won, and completed the task", ROUNDS, agreed)
    return (f"renewed {winners.count('A')}, refused {winners.count('B')}",
            f"the one winner, {agreed} of {ROUNDS}")


def winner(stage, a, b, renewal, poll):
    """Who won, or None if answers, row and ends do not agree."""
    row = stage.look()
    seen = (renewal["outcome"], renewal["fence"], poll["rows"], row["owner"], row["fence"],
            row["expires_at"])
    ends = [owner.call("lease_complete", at=1075, owner=owner.label, fence=fence)["outcome"]
            for owner, fence in ((b, 2), (a, 1))]
    if (seen, ends) == (("renewed", 1, 0, "A", 1, 1115), ["unknown_fence", "completed"]):
        return "A"
    if (seen, ends) == (("stale_fence", 2, 1, "B", 2, 1130), ["completed", "stale_fence"]):
        return "B"
    return None


VERBS = {"lease_renew": {}, "lease_complete": {}, "lease_fail": {"error": "broken"}}


def refusals(stage):
    """Everything that can be in a worker's way, each in its own word, and changing
    nothing: whether it wants to renew, to complete or to fail."""
    a, b = polled_by_a(stage)
    a.set("lease.lock_wait", "100ms")
    words = {}

    def refused(why, at, outcome, owner="A", fence=1, **more):
        before = None if more else stage.look()
        for verb, extra in VERBS.items():
            answer = a.call(verb, at=at, owner=owner, fence=fence, **extra, **more)
            stage.expect(f"{why}: {verb}", answer, ok=False, outcome=outcome)
        if before is not None:
            stage.expect_untouched(why, before)
        words[why] = answer["outcome"]

    refused("another's", 1010, "not_owner", owner="B")
    refused("never granted", 1010, "unknown_fence", fence=9)
    refused("no such task", 1010, "not_found", name="nowhere")
    for statement in ("SET lease.clock = 1010", "BEGIN", f"SELECT lease_renew('{stage.lease}', 'A', 1)"):
        stage.expect(f"B's {statement}", b.execute(statement), done=True)
    refused("locked by another session", 1010, "busy")
    stage.expect("B's ROLLBACK", b.execute("ROLLBACK"), done=True)
    refused("lapsed", 1070, "expired")
    stage.expect("the hold", operator(stage, 1010, "lease_hold", reason="an incident", stop=True),
                 ok=True, outcome="hold_set")
    refused("on hold", 1010, "on_hold")
    stage.expect("the resume", operator(stage, 1010, "lease_resume"), ok=True)
    stage.expect("B polls", b.poll(at=1070), rows=1, outcome="taken_over", fence=2, attempt=2)
    refused("an earlier attempt's", 1075, "stale_fence")
    stage.expect("the cancel", operator(stage, 1080, "lease_cancel", reason="enough", deadline="10 s"),
                 ok=True, outcome="cancel_requested", cancel_deadline=1090)
    stage.expect("B's heartbeat before the deadline",
                 b.call("lease_renew", at=1085, owner="B", fence=2), ok=True, outcome="renewed",
                 expires_at=1090, cancel_deadline=1090)
    refused("cancelled", 1090, "cancelled", owner="B", fence=2)
    stage.expect("the retry", operator(stage, 1090, "lease_retry"), ok=True, outcome="reopened")
    stage.expect("A polls", a.poll(at=1090), rows=1, outcome="claimed", fence=3, attempt=1)
    stage.expect("A completes", a.call("lease_complete", at=1100, owner="A", fence=3),
                 ok=True, outcome="completed")
    before = stage.look()
    over = [a.call("lease_renew", at=1100, owner="A", fence=3),
            a.call("lease_fail", at=1100, owner="A", fence=3, error="broken"),
            b.call("lease_claim", at=1100, owner="B")]
    stage.figure("what is over: renew, fail, claim", ["done"] * 3,
                 [answer["outcome"] for answer in over])
    stage.expect("a poll for what is over", b.poll(at=1100), rows=0)
    stage.expect_untouched("what is over", before)
    words["over"] = over[0]["outcome"]
    stage.figure("refusals in words of their own", len(words), len(set(words.values())))
    return (f"{len(words)} reasons, {len(set(words.values()))} words",
            f"done, fence {stage.row['fence']}, v{stage.row['version']}")
