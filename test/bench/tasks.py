"""What tasks cost: works as those of works.py are.

A worker's poll is a call by itself, as are the offer that makes sure that it
finds something, and the completion of what it found; each is a figure.
"""

import load
import server
import works

# Tasks that wait from the beginning, so that there are always some to choose from.
BACKLOG = 1000

STEPS = ("offer", "poll", "complete")

CATALOG = "lease_catalog.lease, lease_catalog.task, lease_catalog.due"

TASK = load.Side("task.sql", CATALOG,
                 f"count(*) FILTER (WHERE task = 'done') FROM {server.LEASES}", steps=STEPS)
BY_HAND = load.Side("queue-by-hand.sql", "yardstick.job",
                    "count(*) FILTER (WHERE status = 'done') FROM yardstick.job", steps=STEPS)

# Of held tasks, which are the owner's; others come and go beside them.
RENEW = load.Side("renew.sql", CATALOG,
                  f"sum(version) FILTER (WHERE owner = 'worker') FROM {server.LEASES}")
CHECKPOINT = load.Side("renew-checkpoint.sql", CATALOG, RENEW.counter)

# What beats beside a poll: a million leases, each every twenty minutes, come to
# some 833 renewals a second.  The few are renewed as often, all together, so
# that it is their number alone that differs.
BEATS = 833
BEATERS = 4

# They go on for so much longer, in seconds: before a run what is done is counted.
COUNTING = 1

RENEWERS = 16


def queue(database, clients, plan):
    """Offer, poll and complete, against the statements that people write."""
    def side(which):
        return lambda number: works.turn(database, which, clients, plan.length, number)
    turns = works.take_turns(plan.rounds, {"lease": side(TASK), "hand": side(BY_HAND)})
    return {"work": "tasks", "clients": clients,
            "sides": {f"{side}_{step}": [run[step] for run in runs]
                      for step in STEPS for side, runs in turns.items()}}


def catch_up(database):
    """See to what has come due while nobody polled, as polls would have done
    meanwhile, each its share."""
    database.run("LOAD 'lease'; SET lease.poll_push = 1000000;"
                 " SELECT lease_poll('poller')")


def poll_beside_held(few, many, plan):
    """The same poll with few and with many tasks that others hold, while these
    are being renewed, and now and then one of them has to be pushed on."""
    def side(database, held):
        def take(number):
            names = database.leases, held
            seconds = load.SETTLING + plan.length.seconds + COUNTING
            catch_up(database)
            database.run(f"VACUUM {TASK.table}")
            with load.beside(database, RENEW, BEATS, BEATERS, seconds, names) as renewed:
                figures = load.perform(database, TASK, 1, plan.length, number)["poll"]
            return figures | {"renewals_beside": renewed[0] / seconds}
        return take
    return {"work": "held tasks", "clients": 1, "beats": BEATS,
            "held_tasks": {"few": plan.held_few, "many": plan.held_many},
            "sides": works.take_turns(plan.rounds, {"few": side(few, plan.held_few),
                                                    "many": side(many, plan.held_many)})}


def renewal(database, plan):
    """Renewals of tasks, also with a checkpoint, against those of plain leases."""
    def side(which, first):
        def take(number):
            before = database.updates(server.LEASES, 0)
            figures = works.turn(database, which, RENEWERS, plan.length, number,
                                 names=(first, database.leases))
            updates, hot = database.updates(server.LEASES, before[0] + figures["calls"])
            return figures | {"updates": updates - before[0], "hot": hot - before[1]}
        return take
    return {"work": "task renewal", "clients": RENEWERS, "leases": database.leases,
            "sides": works.take_turns(plan.rounds, {
                "lease_renew": side(RENEW, 0),
                "task_renew": side(RENEW, database.leases),
                "checkpoint": side(CHECKPOINT, database.leases)})}
