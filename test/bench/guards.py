"""What guarded writes cost, beside the same writes to a table without a guard.

Works as those of works.py are.  What is compared are latencies.
"""

import load
import works

# So many bulk UPDATEs a side and round, each a turn of its own: it is as long as
# it is, and begins with a vacuumed table.
BULK_TURNS = 2

# The leases that take turns from row to row where there are several.
LEDGERS = 10

BULK_SIDES = {"unguarded": 0, "one_lease": 1, "per_value": 1, "per_value_10": LEDGERS,
              "stamped": 1, "stamped_per_value": 1}

ROW_CLIENTS = (1, 16)


def account(script, schema, **more):
    table = f"{schema}.account"
    return load.Side(script, table, f"sum(balance) FROM {table}", schema=schema, **more)


def bulk(database, plan):
    """An UPDATE of all rows under each kind of guard."""
    def side(schema, leases):
        names = load.array(f"ledger{n}" for n in range(leases))
        which = account("bulk-guarded.sql" if leases else "bulk.sql", schema, rows=plan.rows,
                        steps=("first", "bulk"), variables={"names": names})
        return lambda number: works.turn(database, which, 1, load.Length(calls=2),
                                         number)["bulk"]
    return {"work": "guarded bulk", "clients": 1, "rows": plan.rows,
            "sides": works.take_turns(BULK_TURNS * plan.rounds, {
                schema: side(schema, leases) for schema, leases in BULK_SIDES.items()})}


def row(database, clients, plan):
    """A transaction that changes one row, under that row's own lease or under
    one that all clients have in common."""
    def side(script, schema, **more):
        which = account(script, schema, **more)
        return lambda number: works.turn(database, which, clients, plan.length, number)
    sides = {"unguarded": side("row.sql", "row_unguarded"),
             "longer": side("row-select.sql", "row_unguarded"),
             "lease_present": side("row-present.sql", "row_per_value"),
             "lease.token": side("row-token.sql", "row_per_value"),
             "session": side("row.sql", "row_one_lease", token="default/ledger0/worker/1")}
    if clients > 1:
        sides["shared"] = side("row-one-lease.sql", "row_one_lease")
    return {"work": "guarded row", "clients": clients, "leases": database.leases,
            "sides": works.take_turns(plan.rounds, sides)}
