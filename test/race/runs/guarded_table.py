"""A writer of a table that is stopped past its expiry, on the real clock.

A claims, bears its token in the session in which it writes, and is stopped by
SIGSTOP right after a last, short heartbeat; the command of its next statement
waits in its pipe.  Either no transaction of A's is open then, and A goes on to
try every kind of write; or one is, and what waits is its COMMIT.  Every run is
played by the same two processes in the same steps: the unsafe ones have the
same table without the guard.
"""

import re

from .paused_owner import PATIENCE, await_expiry


def every_kind(table, who):
    """A statement of each kind that writes, and what COPY sends.  Each changes
    the table, whatever the ones before it did."""
    mine = table.name
    return (
        (f"TRUNCATE {mine}", None),
        (f"INSERT INTO {mine} VALUES ('{who} 1', 'inserted')", None),
        (f"COPY {mine} FROM STDIN", f"{who} 2\tcopied\n"),
        (f"INSERT INTO {mine} VALUES ('{who} 1', 'inserted'), ('{who} 3', 'inserted')"
         " ON CONFLICT (entry) DO UPDATE SET note = 'found'", None),
        (f"UPDATE {mine} SET note = 'updated by {who}'", None),
        (f"MERGE INTO {mine} AS t USING (VALUES ('{who} 1'), ('{who} 4')) AS s (entry)"
         " ON t.entry = s.entry WHEN MATCHED THEN UPDATE SET note = 'merged'"
         " WHEN NOT MATCHED THEN INSERT VALUES (s.entry, 'merged')", None),
        (f"DELETE FROM {mine} WHERE entry = (SELECT max(entry) FROM {mine})", None),
    )


def grant(stage, verb, owner, fence, **arguments):
    stage.expect(f"{owner.label}'s {verb}", owner.call(verb, owner=owner.label, **arguments),
                 ok=True, owner=owner.label, fence=fence)
    owner.bear_token()


def take_over(stage, b):
    grant(stage, "lease_takeover", b, 2, expected_fence=1, ttl="60 s")


def in_time(stage, a, table):
    """A claims and writes a row, well within its time."""
    grant(stage, "lease_claim", a, 1, ttl="60 s")
    stage.expect("A's write in time",
                 a.execute(f"INSERT INTO {table.name} VALUES ('A 0', 'in time')"), done=True)


def stop(stage, a, statement, lines=None):
    """A's last heartbeat renews for a moment only; then A is stopped, with a
    statement before it, until the lease has expired."""
    stage.expect("A's last heartbeat",
                 a.call("lease_renew", owner="A", fence=1, ttl="100 ms"),
                 ok=True, outcome="renewed", fence=1, version=2)
    a.child.stop()
    a.begin_to_execute(statement, lines)
    stage.expect("the lease of the stopped A", await_expiry(stage), outcome="expired",
                 owner="A", fence=1)


def resume(stage, a):
    """What waited in A's pipe is done only now."""
    stage.figure("A is still stopped", True, a.child.is_silent())
    a.child.resume()
    return a.finish()


def stopped_between_transactions(stage, guarded):
    """Every kind of write by B, then by A; answers A's answers, and how many
    of A's changed the table."""
    a, b, table = stage.owner("A"), stage.owner("B"), stage.table(guarded)
    in_time(stage, a, table)
    stage.figure("A's write in time is seen", True, table.watch("A", 1))
    due = every_kind(table, "A")
    stop(stage, a, *due[0])
    take_over(stage, b)
    for statement in every_kind(table, "B"):
        stage.expect(f"B's {statement[0]}", b.execute(*statement), done=True)
        stage.figure(f"B's {statement[0]} is seen", True, table.watch("B", 2))
    before = stage.look()

    answers, seen = [], 0
    for statement in due:
        answers.append(a.execute(*statement) if answers else resume(stage, a))
        seen += table.watch("A", 1)
    stage.expect_untouched("A's writes", before)
    stage.count_effects(table, 1 + len(due) + (0 if guarded else len(due)))
    return due, answers, seen


def unguarded(stage):
    due, answers, seen = stopped_between_transactions(stage, guarded=False)
    for (statement, _), answer in zip(due, answers):
        stage.expect(f"A's {statement}", answer, done=True)
    stage.figure("writes of A that are seen", len(due), seen)
    return f"{seen} of {len(due)} writes get in", stage.on_record(logical=False)


def guarded(stage):
    due, answers, seen = stopped_between_transactions(stage, guarded=True)
    for (statement, _), answer in zip(due, answers):
        stage.expect(f"A's {statement}", answer, done=False, error="LE001")
    stage.figure("writes of A that are seen", 0, seen)
    errors = sorted({str(answer.get("error")) for answer in answers})
    return (f"{len(due) - seen} writes refused: {', '.join(errors)}",
            stage.on_record(logical=False))


def stopped_in_transaction(stage, guarded):
    a, b, table = stage.owner("A"), stage.owner("B"), stage.table(guarded)
    grant(stage, "lease_claim", a, 1, ttl="60 s")
    stage.expect("A's BEGIN", a.execute("BEGIN"), done=True)
    stage.expect("A's open write",
                 a.execute(f"INSERT INTO {table.name} VALUES ('A 1', 'open')"), done=True)
    stop(stage, a, "COMMIT")
    stage.figure("A's open write is seen", False, table.watch("A", 1))
    return a, b, table


def told_busy(stage, b):
    """B's takeover beside A's open write; the row as it is left."""
    before = stage.look()
    answer = b.call("lease_takeover", owner="B", expected_fence=1, ttl="60 s")
    stage.expect("B's takeover beside A's open write", answer, ok=False, outcome="busy",
                 owner="A", fence=1)
    stage.expect_untouched("B's takeover", before)
    return answer, before


def writes(stage, b, table):
    stage.expect("B's write",
                 b.execute(f"INSERT INTO {table.name} VALUES ('B 1', 'written')"), done=True)
    stage.figure("B's write is seen", True, table.watch("B", 2))


def commits(stage, a, table):
    answer = resume(stage, a)
    stage.expect("A's COMMIT", answer, done=True, command="COMMIT")
    stage.figure("A's write is seen", True, table.watch("A", 1))


def entries(stage, table, *expected):
    stage.figure("the table", list(expected), [row["entry"] for row in table.select()])


def open_unguarded(stage):
    a, b, table = stopped_in_transaction(stage, guarded=False)
    take_over(stage, b)
    writes(stage, b, table)
    before = stage.look()
    commits(stage, a, table)
    stage.expect_untouched("A's COMMIT", before)
    entries(stage, table, "A 1", "B 1")
    stage.count_effects(table, 2)
    return "COMMIT goes through after B's", stage.on_record(logical=False)


def open_resumed(stage):
    a, b, table = stopped_in_transaction(stage, guarded=True)
    busy, before = told_busy(stage, b)
    commits(stage, a, table)
    stage.expect_untouched("A's COMMIT, before which nobody began,", before)
    take_over(stage, b)
    writes(stage, b, table)
    stage.look()
    entries(stage, table, "A 1", "B 1")
    stage.count_effects(table, 2)
    return f"takeover: {busy['outcome']}; COMMIT", stage.on_record(logical=False)


def open_terminated(stage):
    a, b, table = stopped_in_transaction(stage, guarded=True)
    busy, _ = told_busy(stage, b)
    stage.figure("backends in the way, as lease_explain names them, that ended", 1,
                 terminate_lockers(stage))
    take_over(stage, b)
    writes(stage, b, table)
    before = stage.look()
    answer = resume(stage, a)
    stage.expect("A's COMMIT", answer, done=False, error="connection lost")
    stage.figure("A's write is seen", False, table.watch("A", 1))
    stage.expect_untouched("A's COMMIT", before)
    entries(stage, table, "B 1")
    stage.count_effects(table, 1)
    return f"takeover: {busy['outcome']}; {answer.get('error')}", stage.on_record(logical=False)


def terminate_lockers(stage):
    """What an operator does: ask who is in the way and do what the answer says,
    then wait until that backend is gone.  How many were ended."""
    session, ended = stage.observer.connection, 0
    for row in session.execute("SELECT lease_explain(%s) AS told", (stage.lease,)).fetchall():
        for pid in re.findall(r"pg_terminate_backend\((\d+)\)", row["told"]):
            ended += session.execute("SELECT pg_terminate_backend(%s, %s) AS gone",
                                     (int(pid), PATIENCE * 1000)).fetchone()["gone"]
    return ended
