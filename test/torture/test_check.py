#!/usr/bin/python3
"""The checker, tried on histories of a few calls (stories.py).

Each story is told twice: as it may happen, in which the checker must find
nothing, and with one thing gone wrong, in which it must find exactly the rules
named.  It is written down as sessions do and read from there.  Prints TAP.
"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True

import check
import history
from stories import STORIES, Story


def found(tell, wrong):
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        tell(Story(directory, wrong))
        return check.judge(history.read(directory))[0]


def main():
    number = failed = 0
    for tell, kinds in STORIES:
        for wrong in (False, True):
            violations = found(tell, wrong)
            good = {each.kind for each in violations} == (kinds if wrong else set())
            number += 1
            failed += not good
            title = tell.__name__.replace("_", " ")
            print(f"{'ok' if good else 'not ok'} {number} - {title}: "
                  + (" and ".join(sorted(kinds)) if wrong else "not so, nothing is found"))
            if not good:
                print("\n".join(f"# {line}" for each in violations for line in str(each).split("\n")))
    missing = set(check.KINDS) - set().union(*(kinds for _, kinds in STORIES))
    number += 1
    print(f"{'not ok' if missing else 'ok'} {number} - every rule has a story {missing or ''}")
    print(f"1..{number}")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
