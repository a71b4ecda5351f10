"""Histories of a few calls, one for each way in which a rule can be broken.

A story is told in two versions: where s.wrong is not set it breaks no rule; where
it is set, those that it is named with.

Instants are milliseconds: a call is sent at `at`, decided one later and answered
one after that, unless it says otherwise; the server's clock and the monotonic
clock agree.  A state is (fence, version, owner, expiry), or (fence, version) of
a lease that is free.
"""

import json

import history

TTL = 100
STORIES = []


class Story:
    def __init__(self, directory, wrong):
        self.directory = directory
        self.wrong = wrong

    def happen(self, who, at, what, arguments, kind, said, answered):
        with open(self.directory / f"{who}.jsonl", "a") as file:
            for moment in (("ask", at * 1000, at * 1000, what, arguments),
                           (kind, answered * 1000, answered * 1000, said)):
                print(json.dumps(moment), file=file)

    def tell(self, who, at, statement, kind="answer", status=None):
        self.happen(who, at, statement, {}, kind, status or statement.split()[0], at + 2)

    def call(self, who, at, verb, outcome, state=None, decided=None, answered=None, **arguments):
        """A verb as A, B, … on the name n; outcome None: the answer is lost."""
        verb = f"lease_{verb}"
        arguments = {"name": "n", **arguments}
        if verb != "lease_break":
            arguments.setdefault("owner", who[0])
        answered = answered or at + 2
        if outcome is None:
            return self.happen(who, at, verb, arguments, "lost", None, answered)
        row = self.row(verb, outcome, state, decided or at + 1)
        self.happen(who, at, verb, arguments, "answer", [row], answered)

    @staticmethod
    def row(verb, outcome, state, decided):
        fence, version, owner, expires = (*(state or (None, None)), None, None)[:4]
        ok = outcome in ("replayed", *history.MADE.get(verb, ()))
        return [ok, outcome, "n", owner, fence, version, expires and expires * 1000,
                expires and TTL * 1000, decided * 1000]


def story(*kinds):
    def keep(tell):
        STORIES.append((tell, set(kinds)))
        return tell
    return keep


@story("I1")
def a_fence_is_granted_twice(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 20, "release", "released", (1, 2), fence=1)
    s.call("B", 30, "claim", "claimed", (1 if s.wrong else 2, 3, "B", 130))


@story("I1")
def a_fence_falls_with_its_row(s):
    s.call("A", 10, "claim", "claimed", (7, 1, "A", 110))
    s.tell("operator", 20, "TRUNCATE lease_catalog.lease", status="TRUNCATE TABLE")
    s.call("B", 30, "claim", None)
    s.call("C", 40, "get", "held", (1 if s.wrong else 8, 1, "B", 130))


@story("I1")
def what_was_committed_is_granted_again(s):
    s.tell("A", 10, "BEGIN")
    s.call("A", 20, "claim", "claimed", (1, 1, "A", 120))
    s.tell("A", 30, "COMMIT" if s.wrong else "ROLLBACK")
    s.call("B", 130, "claim", "claimed", (1, 1, "B", 230))


@story("I1")
def what_a_savepoint_kept_is_granted_again(s):
    s.tell("A", 10, "BEGIN")
    s.tell("A", 20, "SAVEPOINT s")
    s.call("A", 30, "claim", "claimed", (1, 1, "A", 130))
    if not s.wrong:
        s.tell("A", 40, "ROLLBACK TO SAVEPOINT s", status="ROLLBACK")
    s.tell("A", 50, "COMMIT")
    s.call("B", 140, "claim", "claimed", (1, 1, "B", 240))


@story("I2", "I3")
def a_former_holder_renews(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("B", 120, "takeover", "taken_over", (2, 2, "B", 220), expected_fence=1)
    if s.wrong:
        s.call("A", 130, "renew", "renewed", (2, 3, "B", 230), fence=1)
    else:
        s.call("A", 130, "renew", "stale_fence", (2, 2, "B", 220), fence=1)


@story("I2", "I6")
def a_former_holder_renews_and_rolls_back(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 500))
    s.tell("A", 20, "BEGIN")
    s.call("A", 30, "renew", "renewed", (1, 2, "A", 130), fence=1, answered=90,
           decided=80 if s.wrong else 31)
    s.tell("A", 95, "ROLLBACK")
    s.call("A2", 50, "release", "released", (1, 2), fence=1)
    s.call("B", 60, "claim", "claimed", (2, 3, "B", 160))


@story("I3")
def an_expired_lease_is_renewed(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    at = 109 if s.wrong else 108
    s.call("A", at, "renew", "renewed", (1, 2, "A", at + TTL), fence=1)


@story("I3")
def an_expired_lease_is_renewed_and_rolled_back(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.tell("A", 20, "BEGIN")
    at = 120 if s.wrong else 90
    s.call("A", at, "renew", "renewed", (1, 2, "A", at + TTL), fence=1)
    s.tell("A", 130, "ROLLBACK")


@story("I3")
def a_renewal_for_less_is_renewed_too_late(s):
    s.tell("A", 5, "BEGIN")
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 20, "renew", "renewed", (1, 2, "A", 50 if s.wrong else 120), fence=1)
    s.call("A", 60, "renew", "renewed", (1, 3, "A", 160), fence=1)
    s.tell("A", 70, "COMMIT")


@story("I3")
def a_released_lease_is_renewed(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 20, "release", "released", (1, 2), fence=1)
    s.call("A", 30, "renew", *(("renewed", (1, 3)) if s.wrong else ("released", (1, 2))), fence=1)


@story("I4")
def a_lease_is_granted_too_early(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 20, "renew", "renewed", (1, 2, "A", 120), fence=1)
    at = 110 if s.wrong else 119
    s.call("B", at, "claim", "taken_over", (2, 3, "B", at + TTL))


@story("I4")
def a_lease_is_granted_without_its_release(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    if s.wrong:
        s.call("A", 20, "get", "held", (1, 1, "A", 110))
    else:
        s.call("O", 20, "break", "broken", (1, 2), expected_fence=1)
    s.call("B", 30, "claim", "claimed", (2, 2 if s.wrong else 3, "B", 130))


@story("I4")
def a_lease_is_granted_too_early_and_rolled_back(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.tell("B", 20, "BEGIN")
    if not s.wrong:
        s.call("B", 25, "break", "broken", (1, 2), expected_fence=1)
    s.call("B", 30, "claim", "claimed", (2, 2 if s.wrong else 3, "B", 130))
    s.tell("B", 40, "ROLLBACK")


@story("I4")
def a_row_goes_before_its_promise(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    if s.wrong:
        s.happen("O", 20, "lease_purge", {"idle": "1 ms"}, "answer", [[1]], 22)
    else:
        s.tell("O", 20, "TRUNCATE lease_catalog.lease", status="TRUNCATE TABLE")
    s.call("B", 30, "claim", "claimed", (2, 1, "B", 130))


@story("I5")
def a_version_is_seen_with_two_expiries(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("B", 20, "claim", "held", (1, 1, "A", 111 if s.wrong else 110))


@story("I5")
def a_batch_shows_one_lease_in_two_states(s):
    s.call("A", 10, "claim", "claimed", (2, 1, "A", 110))
    verb = "lease_renew_many"
    renewed = s.row(verb, "renewed", (2, 2, "A", 121), 21)
    refused = s.row(verb, "stale_fence", (2, 2, "A", 120 if s.wrong else 121), 21)
    s.happen("A", 20, verb, {"names": ["n", "n", "n"], "owner": "A", "fences": [2, 1, 2]},
             "answer", [renewed, refused, renewed], 22)


@story("I5")
def a_version_is_made_by_nobody(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    if not s.wrong:
        s.call("A", 20, "renew", None, fence=1)
    s.call("B", 30, "claim", "held", (1, 2, "A", 121))


@story("I5")
def a_version_is_made_by_a_refusal(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 20, "renew", "stale_version", (1, 1, "A", 110), fence=1, version=7)
    s.call("A", 30, "release", "released", (1, 3 if s.wrong else 2), fence=1)


@story("I5")
def a_lost_call_explains_what_was_there_before_it(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A2", 30 if s.wrong else 19, "renew", None, fence=1)
    s.call("B", 20, "claim", "held", (1, 2, "A", 120))


@story("I5")
def a_lost_call_explains_two_versions(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A2", 20, "renew", None, fence=1)
    s.call("A", 30, "renew", "renewed", (1, 4 if s.wrong else 3, "A", 130), fence=1)


@story("I5")
def a_call_that_failed_has_made_a_version(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.happen("A", 20, "lease_renew", {"name": "n", "owner": "A", "fence": 1},
             "error" if s.wrong else "lost", "57014", 22)
    s.call("B", 30, "claim", "held", (1, 2, "A", 121))


@story("I5")
def a_connection_goes_before_commit(s):
    s.tell("A", 10, "BEGIN")
    s.call("A", 20, "claim", "claimed", (1, 1, "A", 120))
    if not s.wrong:
        s.tell("A", 30, "COMMIT", "lost")
    s.call("B", 130, "takeover", "taken_over", (2, 2, "B", 230), expected_fence=1)


@story("I5")
def two_renewals_make_one_version(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A2", 20, "renew", "renewed", (1, 2, "A", 120), fence=1)
    s.call("A3", 20, "renew", "renewed", (1, 2 if s.wrong else 3, "A", 120), fence=1)


@story("I5")
def a_late_release_is_written_twice(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 120, "release", "expired", (1, 2), fence=1)
    s.call("A", 130, "release", "expired", (1, 2), fence=1)
    s.call("B", 140, "claim", "claimed", (2, 4 if s.wrong else 3, "B", 240))


@story("I5")
def an_epoch_is_granted_to_nobody(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("C" if s.wrong else "B", 120, "claim", None)
    s.call("A", 130, "renew", "stale_fence", (2, 2, "B", 221), fence=1)


@story("I5")
def a_row_is_made_anew_that_nobody_removed(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.happen("O", 120, "lease_purge", {"idle": "1 ms"}, "answer", [[0 if s.wrong else 1]], 122)
    s.call("B", 130, "claim", "claimed", (2, 1, "B", 230))


@story("I5")
def a_purge_that_rolls_back_has_raised_a_fence(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.tell("B", 120, "BEGIN")
    s.happen("B", 122, "lease_purge", {"idle": "1 ms"}, "answer", [[1]], 124)
    s.call("B", 130, "takeover", "taken_over", (3, 2, "B", 230), expected_fence=1)
    s.tell("B", 140, "ROLLBACK")
    if not s.wrong:
        s.tell("O", 150, "TRUNCATE lease_catalog.lease", status="TRUNCATE TABLE")
    s.call("C", 160, "claim", "claimed", (2, 1, "C", 260))


@story("I6")
def the_clock_is_read_before_a_renewal_that_commits(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A2", 40, "renew", "renewed", (1, 2, "A", 140), fence=1)
    s.call("A3", 30, "renew", "renewed", (1, 3, "A", 145), fence=1, answered=50,
           decided=35 if s.wrong else 45)


@story("I6")
def the_clock_is_read_before_a_takeover_that_rolls_back(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.tell("B", 50, "BEGIN")
    s.call("B", 120 if s.wrong else 60, "get", "held", (1, 1, "A", 110))
    s.call("B", 130, "claim", "taken_over", (2, 2, "B", 230))
    s.tell("B", 140, "ROLLBACK")
    s.call("A", 100, "renew", *(("renewed", (1, 2, "A", 201)) if s.wrong else
                                ("expired", (1, 1, "A", 110))),
           fence=1, answered=150, decided=101 if s.wrong else 145)


@story("I6")
def the_clock_is_read_before_the_second_of_two_acts(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.tell("A", 20, "BEGIN")
    s.call("A", 30, "renew", "renewed", (1, 2, "A", 130), fence=1)
    s.call("A", 50, "renew", "renewed", (1, 3, "A", 150), fence=1)
    s.tell("A", 60, "ROLLBACK")
    s.call("A2", 40, "renew", "renewed", (1, 2, "A", 165), fence=1, answered=70,
           decided=45 if s.wrong else 65)


@story("I6")
def a_late_release_locks_only_what_it_frees(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 120, "release", "expired", (1, 2), fence=1)
    s.tell("A2", 130, "BEGIN")
    s.call("A2", 132, "release", "expired", (1, 2), fence=1)
    s.call("B", 140, "claim", "claimed", (2, 3, "B", 240))
    state = (2, 3, "A", 350) if s.wrong else (3, 4, "A", 350)
    s.call("A2", 136, "claim", "claimed" if s.wrong else "taken_over", state,
           decided=250, answered=252)
    s.tell("A2", 260, "ROLLBACK")


@story("I6")
def the_clock_is_read_before_the_epoch_itself(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("B", 150, "takeover", "taken_over", (2, 2, "B", 250), expected_fence=1)
    s.call("B2", 120, "renew", "renewed", (2, 3, "B", 251), fence=2, answered=160,
           decided=121 if s.wrong else 155)


@story("I6")
def the_transactions_clock_decides(s):
    s.tell("A", 10, "BEGIN")
    s.call("A", 50, "claim", "claimed", (1, 1, "A", 110), decided=10 if s.wrong else 51)
    s.tell("A", 60, "COMMIT")


@story("I9")
def a_request_makes_two_epochs(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110), request_id="r")
    s.call("A", 120, "claim", "taken_over", (2, 2, "A", 220), request_id="r" if s.wrong else "q")


@story("I9")
def a_lost_request_makes_an_epoch_too(s):
    s.call("A", 10, "claim", None, request_id="r")
    s.call("A", 120, "claim", "taken_over", (2, 2, "A", 220), request_id="r" if s.wrong else "q")


@story("I9")
def a_request_is_replayed_as_another_epoch(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110), request_id="r")
    s.call("A", 120, "claim", "taken_over", (2, 2, "A", 220), request_id="q")
    s.call("A", 130, "claim", "replayed", (2, 2, "A", 220), request_id="r" if s.wrong else "q")


@story("I9")
def a_request_is_replayed_after_its_expiry(s):
    s.call("A", 10, "claim", None, request_id="r")
    s.call("A", 110 if s.wrong else 50, "claim", "replayed", (1, 1, "A", 110), request_id="r")


@story("I9")
def a_request_is_replayed_that_nobody_was_granted(s):
    s.call("A", 10, "claim", *((None,) if s.wrong else ("claimed", (1, 1, "A", 110))),
           request_id="q" if s.wrong else "r")
    s.call("A", 20, "claim", "replayed", (1, 1, "A", 110), request_id="r")


@story("I9")
def a_request_revives_its_epoch(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110), request_id="r")
    s.tell("A", 15, "BEGIN")
    s.call("A", 20, "release", "released", (1, 2), fence=1)
    s.call("A", 30, "claim", "replayed_ended", (1, 2), request_id="r")
    s.tell("A", 40, "ROLLBACK")
    if s.wrong:
        s.call("A", 50, "claim", "replayed_ended", (1, 1, "A", 110), request_id="r")
    s.call("A", 60, "claim", "replayed", (1, 1, "A", 110), request_id="r")


@story("now")
def an_old_state_is_shown(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.call("A", 20, "renew", "renewed", (1, 2, "A", 120), fence=1)
    s.call("B", 30 if s.wrong else 19, "get", "held", (1, 1, "A", 110))


@story("now")
def what_was_committed_later_is_shown_too_late(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.tell("A", 15, "BEGIN")
    s.call("A", 20, "renew", "renewed", (1, 2, "A", 120), fence=1)
    s.tell("A", 30, "COMMIT")
    s.call("B", 33 if s.wrong else 31, "get", "held", (1, 1, "A", 110))


@story("now")
def a_lease_is_not_found_that_is_there(s):
    s.call("A", 10, "claim", "claimed", (1, 1, "A", 110))
    s.happen("O", 120, "lease_purge", {"idle": "1 ms"}, *(
        ("answer", [[0]]) if s.wrong else ("lost", None)), 122)
    s.call("B", 130, "get", "not_found")
