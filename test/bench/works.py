"""What is measured: each work, with its yardsticks, as a record of raw figures.

The sides of a work take turns on one server, in another order each round, and
draw the same names.  Whoever begins a work makes a checkpoint, and none comes
while it is measured, so that no side pays for the other's full-page images.
"""

import load
import server

# What one call of lease_renew_many renews.
BATCH = 100

# Renewals that are many for their own sake are made by so many clients, and
# looked at in so many steps.
CLIENTS = 16
STEPS = 10


def take_turns(rounds, sides):
    """The figures of each side, a round at a time.  A side is a function of the
    round's number."""
    record = {name: [] for name in sides}
    order = list(sides)
    for number in range(1, rounds + 1):
        for name in order:
            record[name].append(sides[name](number))
        order.append(order.pop(0))
    return record


def turn(database, side, clients, length, number, names=None):
    database.run(f"VACUUM {side.table}")
    return load.perform(database, side, clients, length, number, names)


def single(database, clients, plan):
    """One renewal against the three yardsticks."""
    def side(which):
        return lambda number: turn(database, which, clients, plan.length, number)
    return {"work": "renewal", "clients": clients, "leases": database.leases,
            "sides": take_turns(plan.rounds, {
                "lease_renew": side(load.RENEW),
                "update": side(load.UPDATE),
                "plpgsql": side(load.PLPGSQL),
                "library": side(load.LIBRARY)})}


def batch(database, plan):
    """A worker's leases in one call against one call for each; another worker
    each round."""
    def side(which):
        def take(number):
            names = number * BATCH % database.leases, BATCH
            return turn(database, which(names), 1, plan.length, number, names)
        return take
    return {"work": "batch", "clients": 1, "leases": database.leases, "batch": BATCH,
            "sides": take_turns(plan.rounds, {
                "lease_renew_many": side(lambda names: load.renew_many(*names)),
                "lease_renew": side(lambda _: load.RENEW)})}


def scale(few, many, plan):
    """The same call on few leases and on many, in pages that have been written
    to since the checkpoint."""
    def side(database):
        return lambda number: turn(database, load.RENEW, 1, plan.length, number)
    for database in (few, many):
        database.run(
            "SELECT count(*) FROM (SELECT DISTINCT ON ((ctid::text::point)[0]) name"
            f" FROM {server.LEASES}) AS page, lease_renew(name, 'worker', 1)")
    return {"work": "scale", "clients": 1,
            "leases": {"few": few.leases, "many": many.leases},
            "sides": take_turns(plan.rounds, {"few": side(few), "many": side(many)})}


def grow(database, side, plan, number):
    """A step of the planned renewals, and what it did to the table, which is left
    to itself and autovacuum."""
    before = database.updates(side.table, 0)
    figures = load.perform(database, side, CLIENTS,
                           load.Length(calls=plan.renewals // STEPS), number)
    updates, hot = database.updates(side.table, before[0] + figures["calls"])
    heap, index = database.sizes(side.table)
    return figures | {"updates": updates - before[0], "hot": hot - before[1],
                      "heap_bytes": heap, "index_bytes": index}


def hot(database, plan):
    """Renewals without end: are they heap-only, and does the table stay small?"""
    heap, index = database.sizes(server.LEASES)
    return {"work": "hot", "clients": CLIENTS, "leases": database.leases,
            "before": {"heap_bytes": heap, "index_bytes": index},
            "steps": take_turns(STEPS, {
                "lease_renew": lambda number: grow(database, load.RENEW, plan, number)
            })["lease_renew"]}


def idle_snapshot(free, held, plan):
    """The same beside a transaction that holds its snapshot all the while, with
    the bare UPDATE, which suffers from that no less; and once it has ended.
    Snapshots of another database do not count."""
    def side(database, which):
        return lambda number: grow(database, which, plan, number)
    sides = {"free": side(free, load.RENEW), "lease_renew": side(held, load.RENEW),
             "update": side(held, load.UPDATE)}
    with held.snapshot_held():
        beside = take_turns(STEPS, sides)
    held.run("VACUUM")
    return {"work": "idle snapshot", "clients": CLIENTS, "leases": held.leases,
            "held": beside, "ended": take_turns(2, sides)}
