"""The runs, in the order in which they are played.

A run is a function of a stage: it plays, and returns in a few words what
became of A's late act and what is on record afterwards.  `verdict` is what it
must amount to (stage.py says what the words mean).  `varies` names the keys of
its record that differ from one time to the next, and so are left out of the
digest.
"""

from typing import Callable, NamedTuple

from . import check_then_renew, guarded_table, heartbeat, paused_owner, workflow

INSTANTS = ("server_time", "granted_at", "renewed_at", "expires_at", "remaining")


class Run(NamedTuple):
    title: str
    play: Callable
    verdict: tuple
    varies: tuple = ()


RUNS = (
    Run("unsafe: blind heartbeat", heartbeat.blind, ("CONFLICT",)),
    Run("compare-and-renew", heartbeat.compare_and_renew, ("REFUSED",)),
    Run("defence in depth", heartbeat.defence_in_depth, ("REJECTED",)),
    Run("control", heartbeat.control, ("OK",)),
    Run("unsafe: check, renew by id", check_then_renew.by_id, ("CONFLICT",)),
    Run("check, then lease_renew", check_then_renew.by_lease_renew, ("REFUSED",)),
    Run("claim during a renewal", check_then_renew.claim_during_renewal, ("OK",)),
    Run("renewal and claim race", check_then_renew.raced, ("OK", "REFUSED"),
        ("calls", "late_act", "verdict")),
    Run("unsafe: poll, renew by id", workflow.by_id, ("CONFLICT",)),
    Run("poll, then lease_renew", workflow.by_lease_renew, ("REFUSED",)),
    Run("poll during a renewal", workflow.poll_during_renewal, ("OK",)),
    Run("renewal and poll race", workflow.raced, ("REFUSED",),
        ("calls", "late_act", "verdict")),
    Run("each refusal", workflow.refusals, ("REFUSED",)),
    Run("paused owner", paused_owner.stopped_past_expiry, ("REFUSED",), INSTANTS),
    Run("unsafe: table, no guard", guarded_table.unguarded, ("CONFLICT",), INSTANTS),
    Run("guarded table", guarded_table.guarded, ("REFUSED",), INSTANTS),
    Run("unsafe: open write, no guard", guarded_table.open_unguarded, ("CONFLICT",), INSTANTS),
    Run("open write, resumed", guarded_table.open_resumed, ("OK",), INSTANTS),
    Run("open write, terminated", guarded_table.open_terminated, ("REFUSED",), INSTANTS),
)
