"""What is kept of a performance: the report and its digest, and what is shown
of it: the table.

The digest is taken over the canonical form of the report: sorted keys, no
blanks, and without what two performances need not share (versions, ports,
where rows lie, and what a run says varies in it).  So two performances agree
exactly if their digests do.
"""

import hashlib
import json

NEVER_SHARED = ("versions", "port", "xmin", "ctid", "whole", "varies")

HEADINGS = ("what is tried", "A's late act", "on record afterwards", "effects",
            "verdict")

INTRODUCTION = """\
The heartbeat race, on PostgreSQL {server} with lease {extension}.

A holds a lease from 1000 to 1060 (seconds of a logical clock) and falls asleep.
B takes over and acts on the resource, a process behind HTTP.  Then A wakes and
sends the heartbeat that was due.  Does A still act?

In the last six runs A is a process that is stopped (SIGSTOP) past its expiry, and
in five of them the resource is a table, with and without a guard.
"""

LEGEND = """\
CONFLICT  a former owner acted, or was told that it still holds the lease
REJECTED  the row was corrupted, and the resource turned the former owner away
REFUSED   the database turned the former owner away, and changed nothing
OK        the owner acted in time, and nobody could get in its way

The five runs called unsafe must end in CONFLICT: without the conflict there,
the others would show nothing.
"""


def record(run, stage, late_act, on_record):
    verdict = stage.verdict()
    stage.figure(f"the verdict is {' or '.join(run.verdict)}", True, verdict in run.verdict)
    return {"run": run.title, "late_act": late_act, "on_record": on_record,
            "effects": stage.effects, "verdict": verdict, "calls": stage.calls,
            "figures": stage.figures, "varies": run.varies}


def figures(report):
    return [(run["run"], figure) for run in report["runs"] for figure in run["figures"]]


def differing(report):
    return [(run, figure) for run, figure in figures(report) if not figure["agrees"]]


def canonical(report):
    return json.dumps(without(report, NEVER_SHARED), sort_keys=True,
                      separators=(",", ":")).encode()


def digest(report):
    return hashlib.sha256(canonical(report)).hexdigest()


def without(value, keys):
    if isinstance(value, dict):
        keys = {*keys, *value.get("varies", ())}
        return {key: without(part, keys) for key, part in value.items() if key not in keys}
    if isinstance(value, list):
        return [without(part, keys) for part in value]
    return value


def text(report):
    """What a person is shown."""
    wrong = differing(report)
    lines = [INTRODUCTION.format(**report["versions"]), *table(report), "", LEGEND]
    lines += [f"WRONG: {run}: {figure['figure']}: expected {figure['expected']!r},"
              f" saw {figure['seen']!r}" for run, figure in wrong]
    lines += [f"{len(figures(report))} figures compared, "
              + (f"{len(wrong)} differ." if wrong else "all as expected."),
              f"SHA-256 of the canonical report: {digest(report)}"]
    return "\n".join(lines)


def table(report):
    rows = [(run["run"], run["late_act"], run["on_record"],
             "" if run["effects"] is None else str(len(run["effects"])), run["verdict"])
            for run in report["runs"]]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows)]
    for row in (HEADINGS, ["-" * width for width in widths], *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
