"""What the raw figures amount to: ratios, goals, and whether these are met.

A ratio is taken within each round, between sides that took turns, and the
median of the rounds counts.
"""

import dataclasses
import statistics

NAMES = {"lease_renew": "`lease_renew`", "update": "bare UPDATE", "plpgsql": "PL/pgSQL",
         "library": "lock library", "lease_renew_many": "`lease_renew_many`",
         "unguarded": "unguarded", "one_lease": "one lease", "per_value": "per value",
         "per_value_10": "per value, ten in turns", "stamped": "one lease, stamped",
         "stamped_per_value": "per value, stamped", "lease_present": "`lease_present`",
         "longer": "unguarded, with `SELECT 1`", "lease.token": "`lease.token`",
         "shared": "`lease_present`, one lease for all",
         "session": "the session's `lease.token`, one lease for all",
         "lease_offer": "`lease_offer`", "lease_poll": "`lease_poll`",
         "lease_complete": "`lease_complete`", "hand_offer": "by hand: offer",
         "hand_poll": "by hand: poll", "hand_complete": "by hand: complete",
         "task_renew": "`lease_renew` of a task", "checkpoint": "`lease_renew`, checkpoint"}

# Works, and what is counted of them in a second.
TITLES = {"renewal": ("one renewal", "leases"), "batch": ("many renewals", "leases"),
          "scale": ("one renewal", "leases"),
          "guarded bulk": ("bulk UPDATE", "rows"),
          "guarded row": ("one-row transaction", "transactions"),
          "tasks": ("offer, poll, complete", "tasks"), "held tasks": ("poll", "tasks"),
          "task renewal": ("one renewal", "renewals")}

BULK_BOUNDS = {"one_lease": 1.05, "per_value": 1.5, "per_value_10": 1.5, "stamped": 2.2,
               "stamped_per_value": 2.2}


@dataclasses.dataclass(frozen=True)
class Seen:
    """A figure: the median of the rounds, and the range of them."""
    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values):
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self):
        return number(self.middle)

    @property
    def range(self):
        return f"{number(self.low)} – {number(self.high)}"


@dataclasses.dataclass(frozen=True)
class Goal:
    work: str
    yardstick: str
    bound: float | None         # none is set: it is only told
    at_least: bool
    unit: str
    seen: Seen
    of_rates: bool = False

    def __str__(self):
        if self.bound is None:
            return self.unit
        return f"{'≥' if self.at_least else '≤'} {self.bound:g} {self.unit}"

    @property
    def verdict(self):
        if self.bound is None:
            return ""
        met = self.seen.middle >= self.bound if self.at_least \
            else self.seen.middle <= self.bound
        return "PASS" if met else "MISS"


def count(things):
    """A number of things, its thousands set apart by a space that does not break."""
    return f"{things:,}".replace(",", "\N{NO-BREAK SPACE}")


def number(value):
    """Three digits, more or less."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def clients(work):
    return f"{work['clients']} client{'s' * (work['clients'] > 1)}"


def rate(run, rows=1):
    """Rows changed in a second, such as leases renewed."""
    return run["calls"] * rows / run["seconds"]


def rates(work, side):
    rows = work["batch"] if side == "lease_renew_many" else work.get("rows", 1)
    return [rate(run, rows) for run in work["sides"][side]]


def latencies(work, side):
    return [run["p50_us"] for run in work["sides"][side]]


def ratio(of, to):
    return Seen.of([a / b for a, b in zip(of, to)])


def size(at):
    return at["heap_bytes"] + at["index_bytes"]


def goals(works):
    """Every goal that the works can be held against."""
    make = {"renewal": renewal_goals, "batch": batch_goals, "scale": scale_goals,
            "hot": hot_goals, "guarded bulk": bulk_goals, "guarded row": row_goals,
            "tasks": queue_goals, "held tasks": held_goals, "task renewal": task_renewal_goals}
    return [goal for work in works if work["work"] in make
            for goal in make[work["work"]](work)]


def renewal_goals(work):
    ours = rates(work, "lease_renew")
    for side, bound in (("update", 0.9), ("plpgsql", 1.3), ("library", 2)):
        yield Goal(f"one renewal, {clients(work)}", NAMES[side], bound, True,
                   "× the rate", ratio(ours, rates(work, side)), of_rates=True)


def batch_goals(work):
    yield Goal(f"{work['batch']} renewals in one {NAMES['lease_renew_many']}",
               f"{work['batch']} single ones", 10, True, "× the rate",
               ratio(rates(work, "lease_renew_many"), rates(work, "lease_renew")),
               of_rates=True)


def scale_goals(work):
    yield Goal(f"one renewal, {count(work['leases']['many'])} leases",
               f"{count(work['leases']['few'])} leases", 1.3, False, "× the latency",
               ratio(latencies(work, "many"), latencies(work, "few")))


def hot_goals(work):
    steps = work["steps"]
    title = f"{count(sum(step['calls'] for step in steps))} renewals"
    yield Goal(title, "heap-only updates", 99, True, "%",
               Seen.of([100 * step["hot"] / step["updates"] for step in steps]))
    yield Goal(title, "size before them", 1.1, False, "× the size",
               Seen.of([size(steps[-1]) / size(work["before"])]))


def bulk_goals(work):
    for side, bound in BULK_BOUNDS.items():
        yield Goal(f"UPDATE of {count(work['rows'])} rows, {NAMES[side]}", NAMES["unguarded"],
                   bound, False, "× the time",
                   ratio(latencies(work, side), latencies(work, "unguarded")))


def row_goals(work):
    for side in work["sides"]:
        if side not in ("unguarded", "longer"):
            yield Goal(f"one-row transaction, {NAMES[side]}, {clients(work)}",
                       NAMES["unguarded"], 1.25, False, "× the latency",
                       ratio(latencies(work, side), latencies(work, "unguarded")))


def queue_goals(work):
    yield Goal(f"offer, poll and complete a task, {clients(work)}", "the same by hand", None,
               True, "× the rate", ratio(rates(work, "lease_poll"), rates(work, "hand_poll")))


def held_goals(work):
    """Pushing on what comes due falls on few polls: the mean has them in it."""
    few, many = (f"{count(work['held_tasks'][side])} held tasks" for side in ("few", "many"))
    means = {side: [run["mean_us"] for run in runs] for side, runs in work["sides"].items()}
    yield Goal(f"poll beside {many}", few, 1.5, False, "× the latency",
               ratio(latencies(work, "many"), latencies(work, "few")))
    yield Goal(f"poll beside {many}", few, 1.5, False, "× the mean latency",
               ratio(means["many"], means["few"]))


def task_renewal_goals(work):
    for side, what in (("task_renew", "renewal of a task"),
                       ("checkpoint", "renewal with a checkpoint")):
        yield Goal(f"{what}, {clients(work)}", "renewal of a lease", None, True, "× the rate",
                   ratio(rates(work, side), rates(work, "lease_renew")))
        yield Goal(f"{what}, {clients(work)}", "heap-only updates", 99, True, "%",
                   Seen.of([100 * run["hot"] / run["updates"] for run in work["sides"][side]]))


def goal_table(works):
    return [("work", "against", "goal", "seen", "all rounds", ""),
            *((goal.work, goal.yardstick, str(goal), str(goal.seen), goal.seen.range,
               goal.verdict) for goal in goals(works))]


def side_name(work, side):
    if "held_tasks" in work:
        return f"`lease_poll`, {count(work['held_tasks'][side])} held"
    return NAMES.get(side) or f"{count(work['leases'][side])} leases"


def run_table(works):
    """Rates and latencies are medians of the rounds, the maximum that of all."""
    works = [work for work in works if "sides" in work]
    counted = list(dict.fromkeys(TITLES[work["work"]][1] for work in works))
    rows = [("work", "clients", "side", f"{' or '.join(counted)}/s",
             "p50 ms", "p99 ms", "max ms")]
    for work in works:
        for side, runs in work["sides"].items():
            times = (statistics.median(run["p50_us"] for run in runs),
                     statistics.median(run["p99_us"] for run in runs),
                     max(run["max_us"] for run in runs))
            rows.append((TITLES[work["work"]][0], str(work["clients"]),
                         side_name(work, side),
                         count(round(statistics.median(rates(work, side)))),
                         *(f"{time / 1000:.2f}" for time in times)))
    return rows


def idle_table(works):
    """Renewals beside a held snapshot, and after it, step by step."""
    rows = [("snapshot", "renewals since", "alone /s", "beside it /s", "UPDATE /s",
             "slower by ×", "p99 ms", "% HOT", "alone MiB", "beside it MiB", "UPDATE MiB")]
    for phase, runs in ((phase, work[phase]) for phase in ("held", "ended")
                        for work in works if phase in work):
        renewals = 0
        for sides in zip(runs["free"], runs["lease_renew"], runs["update"]):
            free, beside, _ = sides
            renewals += beside["calls"]
            rows.append((phase, count(renewals), *(count(round(rate(side))) for side in sides),
                         number(rate(free) / rate(beside)), f"{beside['p99_us'] / 1000:.2f}",
                         f"{100 * beside['hot'] / beside['updates']:.0f}",
                         *(f"{size(side) / 2 ** 20:.1f}" for side in sides)))
    return rows


def text(content):
    """What a person at a terminal is shown."""
    tables = [make(content["works"]) for make in (goal_table, run_table, idle_table)]
    parts = ["\n".join(aligned(rows)) for rows in tables if len(rows) > 1]
    if content["trial"]:
        parts.append("A trial: these figures mean nothing.")
    return "\n\n".join(parts)


def aligned(rows):
    rows = [[cell.replace("`", "") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in rows]
