"""Reads C source just far enough for the checks beside this file: tells
comments, strings and the rest apart."""

import collections
import re

Token = collections.namedtuple("Token", "kind text line")

LEXEME = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>'(?:\\.|[^'\\\n])*')
  | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<word>\w+)
  | (?P<other>\S)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)


def tokens(text):
    line, at = 1, 0
    for match in LEXEME.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield Token(match.lastgroup, match.group(), line)


def value(literal):
    """What a string literal stands for, as far as SQL text needs it."""
    escapes = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda match: escapes.get(match[1], match[1]), literal[1:-1])
