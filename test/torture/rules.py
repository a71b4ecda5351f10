"""The rules that a history must not break, each as a function of one name.

A name's states are told apart by (fence, version): a new epoch has a greater
fence, and any other change of ownership or expiry has the next version.  So
what each answer shows is a piece of one chain, whoever saw it.  Instants are
the server's, out of the answers, where a rule says "at"; they are the monotonic
clock's where it says "before" or "after".

I1    Fences only rise.  In the order of the server's instants every kept grant
      has a fence above the one before it.  No answer shows a fence below one that
      had been acknowledged, its commit too, before the call was sent.
I2    One holder.  No renewal or release succeeds at an instant after that at
      which a later epoch was granted.
I3    Expiry is a one-way door.  A renewal succeeds only for the epoch on record,
      and only if that had not been ended and the expiry in force, that of the
      version before, had not come.
I4    A promise is kept.  No epoch is granted before the expiry in force of the
      one before it, unless that was released or broken, or the table truncated.
      (An earlier expiry is in force only if I3 let a renewal say so.)
I5    A refusal changes nothing.  One (fence, version) always reads the same.
      Each version comes from one change that succeeded, or from a call whose
      answer was lost, which explains one version at most, and none that was seen
      before it was sent; likewise each epoch, from a lost claim of its owner.
      Versions begin anew only where rows may have been removed.
I6    The clock is read after the lock.  Along the chain instants do not fall; a
      change that was rolled back was decided before the one that replaced what
      it stood on, for it held the row's lock; and each answer's instant lies
      within its call.
I9    An unknown outcome can be resolved.  A request id makes one epoch at most,
      its lost calls included; it is replayed only with that epoch's fence, while
      that is current, and never again once its end was answered.
now   Answers are about now.  No answer shows a version older than one that had
      been acknowledged before the call was sent, or no lease where nothing can
      have removed it.

An act that was rolled back is judged like any other by I2, I3, I4 and I6: it
was decided under the row's lock.  Where a state that a rule needs was made by a
call whose answer was lost and nobody saw it, the rule passes that act over;
check.py counts what each has judged.
"""

import bisect
import collections

from history import (GRANTS, KEPT, MADE, RELEASES, RENEWALS, UNDONE, UNKNOWN)


def rising(name):
    """I1"""
    last = None
    for act in sorted(name.grants, key=lambda act: act.time):
        name.judged["I1"] += 1
        if last and act.state.fence <= last.state.fence:
            yield "I1", "a fence that is not above the last", [last, act]
        last = act
    for act, known in name.shown:
        if act.state and act.state.fence < known.state.fence:
            yield "I1", "a lower fence than was acknowledged before", [known, act]


def one_holder(name):
    """I2"""
    fences = [act.state.fence for act in name.grants]
    for act in name.acts:
        if not act.made or act.verb not in RENEWALS + RELEASES:
            continue
        name.judged["I2"] += 1
        later = bisect.bisect_right(fences, act.fence)
        if later < len(fences) and name.grants[later].time < act.time:
            yield "I2", "two holders", [name.grants[later], act]


def one_way_door(name):
    """I3"""
    for act in name.acts:
        if not act.made or act.verb not in RENEWALS:
            continue
        if act.state.fence != act.fence:
            yield "I3", "renewed what is not on record", [act]
            continue
        before = act.base.state if act.base else name.states.get((act.fence, act.state.version - 1))
        if before is None:
            continue
        name.judged["I3"] += 1
        if before.owner is None:
            yield "I3", f"renewed after its end, {tuple(before)}", [act]
        elif act.time >= before.expires:
            yield "I3", f"renewed after its expiry, {tuple(before)}", [act]


def kept_promise(name):
    """I4"""
    for act in name.acts:
        if not act.grants:
            continue
        before = act.base.state if act.base else name.before(act)
        if before is None:
            continue
        name.judged["I4"] += 1
        if before.owner is None or act.time >= before.expires:
            continue
        if any(truncate.wall[0] <= act.time and truncate.wall[1] >= before.expires - before.ttl
               for truncate in name.truncates):
            continue
        if act.state.version == 1 and any(lost.fence == before.fence for lost in name.lost):
            continue
        yield "I4", f"granted before the expiry of {tuple(before)}", [act]


def clock_after_lock(name):
    """I6"""
    last = None
    chain = sorted(name.kept, key=lambda act: act.state.key)
    for act in chain:
        name.judged["I6"] += 1
        if last and act.time < last.time:
            yield "I6", "decided earlier than what it replaced", [last, act]
        last = act
    keys = [act.state.key for act in chain]
    for act in name.acts:
        if act.time is not None and not act.wall[0] <= act.time <= act.wall[1]:
            yield "I6", "decided at an instant outside of its call", [act]
        if not act.made or act.fate != UNDONE:
            continue
        root = act
        while root.base and root.base.fate == UNDONE:
            root = root.base
        later = bisect.bisect_right(keys, name.root(root))
        if later < len(chain):
            name.judged["I6"] += 1
            if chain[later].time < act.time:
                yield "I6", "decided earlier than an act that had the lock before", [act, chain[later]]


def unchanged(name):
    """I5"""
    yield from name.differences
    makers = {}
    for act in name.kept:
        other = makers.setdefault(act.state.key, act)
        if other is not act:
            yield "I5", "two changes made one version", [other, act]
    known = {act.state.key for act in name.acts if act.fate == KEPT and act.may_have_made}

    unmade = [name.seen[key].answered for key in name.keys if key not in known]
    before = (0, 0)
    for key in name.keys:
        name.judged["I5"] += 1
        missing = key[1] - before[1] - 1
        if key[1] <= before[1]:
            missing = key[1] - 1
            if not name.removable(name.seen[before].begun, name.seen[key].answered):
                yield "I5", f"the version began anew after {before}", [name.seen[key]]
        unmade += [name.seen[key].answered] * missing
        before = key

    writes = [act for act in name.lost
              if act.may_have_made or act.verb in MADE and act.outcome is None]
    spent = {request(act) for act in name.grants if act.request}
    offers = [act for act in writes if not act.request or request(act) not in spent]
    if not explained(unmade, offers):
        yield ("I9" if explained(unmade, writes) else "I5",
               f"versions that nobody made: {len(unmade)}", writes[:9])

    orphans = collections.defaultdict(list)
    granted = {act.state.fence for act in name.grants}
    for key in name.keys:
        state = name.states[key]
        if state.owner and state.fence not in granted:
            granted.add(state.fence)
            orphans[state.owner].append(name.seen[key].answered)
    for owner, instants in orphans.items():
        claims = [act for act in offers if act.verb in GRANTS and act.owner == owner]
        if not explained(instants, claims):
            yield "I5", f"epochs of {owner} that nobody granted: {len(instants)}", claims[:9]


def about_now(name):
    """now"""
    for act, known in name.shown:
        name.judged["now"] += 1
        if act.state is None:
            if not name.removable(known.begun, act.answered):
                yield "now", "no lease where there must be one", [known, act]
        elif act.state.key < known.state.key:
            yield "now", "an older state than was acknowledged before", [known, act]


def request_ids(name):
    """I9"""
    groups = collections.defaultdict(list)
    for act in name.acts:
        if act.request:
            groups[request(act)].append(act)
    for acts in groups.values():
        name.judged["I9"] += len(acts) > 1
        granted = [act for act in acts if act.grants and act.fate == KEPT]
        if len(granted) > 1:
            yield "I9", "two epochs for one request id", granted
        fences = {act.state.fence for act in granted}
        over = min((act.settled for act in acts
                    if act.outcome == "replayed_ended" and act.fate == KEPT), default=None)
        for act in acts:
            if over is not None and act.ok and act.begun > over:
                yield "I9", "granted or replayed after its end was answered", [act]
            if act.outcome != "replayed" or act.own:
                continue
            fences.add(act.state.fence)
            if len(fences) > 1:
                yield "I9", "replayed with another fence", [*granted, act]
            if act.state.owner != act.owner or act.time >= act.state.expires:
                yield "I9", "replayed though it is over", [act]
            if not granted and not any(
                    lost.begun < act.answered and (lost.grants or lost.outcome is None)
                    for lost in acts if lost.fate == UNKNOWN):
                yield "I9", "replayed though it was never granted", [act]


def request(act):
    return act.verb, act.owner, act.request


def explained(deadlines, acts):
    """Whether each deadline can have an act of its own that began before it."""
    begun = sorted(act.begun for act in acts)
    return all(bisect.bisect_left(begun, deadline) > number
               for number, deadline in enumerate(sorted(deadlines)))


# A name is judged stage by stage, up to the first one at which it fails: each
# takes for granted what the ones before it have found.
STAGES = ((rising,), (one_holder, one_way_door, clock_after_lock),
          (kept_promise, unchanged, about_now, request_ids))
