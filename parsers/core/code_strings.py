"""Strings in code: which quote ends one, where those inside of it were not escaped.

Models write shell commands into strings as they stand: `bash(command='sed -n '3p' a.txt')`. Python knows
no such strings, so what a quote means is read from what stands behind it: it ends the string only if
Python could go on from there. Once a quote was text, so may be any other, and only one counts behind
which the next argument begins, or the call ends. What Python knows is read as Python reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ..schema.tools import Tool
from .loose import LooseReader
from .names import IN_NAME, LETTERS, LONGEST, word_ahead
from .window import Step

#: what may stand behind a string that is a value, or where a value that Python would have to work out
#: goes on
_GOES_ON: Final = re.compile(
    r"""[,)\]}]|:\s|[=!]=|\+[\s"'(A-Za-z_]|%[\s(]|\*[\s\d]|\.[A-Za-z_]\w{0,40}\("""
    r"""|\[-?\d{0,9}(?::-?\d{0,9})?\]|(?:if|for|in|and|or|not|is)\s"""
).match
#: … which of these is to be looked at more closely, and how far
_MAY_GO_ON: Final = frozenset(":=!+%*.[ifano")
_FAR_ENOUGH: Final = 48
#: behind an argument: the next one, or the end of the call
_NEXT: Final = re.compile(
    rf",\s{{0,64}}(?:\)|[A-Za-z_{LETTERS}]{IN_NAME}{{0,{LONGEST}}}[ \t]{{0,8}}=(?!=))"
).match
_NEXT_BEGUN: Final = re.compile(rf",\s{{0,64}}(?:{IN_NAME}{{1,{LONGEST}}}[ \t]{{0,8}}=?)?\Z").match
#: the end of a call, and the space behind it
_CALL_END: Final = re.compile(r"\)(\s{0,64})").match
_AFTER_SENTENCE: Final = frozenset(".,;:!?`]}")


def ends_string(loose: LooseReader, space: str) -> Step[bool]:
    """Behind a quote, and the space behind that: whether it may end its string."""
    w = loose.window
    while (c := w.peek()) is None:
        yield
    if not c or "\n" in space or c in ",)]}":
        return True
    if c in loose.initials and (yield from _at_delimiter(loose)):
        return True
    if c not in _MAY_GO_ON:
        return False
    while w.has(_FAR_ENOUGH) is None:
        yield
    return _GOES_ON(w.text, w.pos) is not None


def ends_odd_string(
    loose: LooseReader, keyworded: bool, in_prose: bool, tools: Mapping[str, Tool]
) -> Step[bool]:
    """The same, where a quote inside of the string was text. `keyworded`: only keywords may follow.
    `in_prose`: any text may stand behind a call; else a line behind one may begin with a call, too."""
    w = loose.window
    while (c := w.peek()) is None:
        yield
    if not c:
        return True
    if c == ",":
        while not w.eof and _NEXT_BEGUN(w.text, w.pos):
            yield
        if not keyworded or _NEXT(w.text, w.pos):
            return True
        return w.eof and _NEXT_BEGUN(w.text, w.pos) is not None
    if c == ")":
        return (yield from _ends_call(loose, in_prose, tools))
    return c in loose.initials and c not in "]}" and (yield from _at_delimiter(loose))


def _ends_call(loose: LooseReader, in_prose: bool, tools: Mapping[str, Tool]) -> Step[bool]:
    """At a parenthesis: whether the call may end with it."""
    w = loose.window
    while (found := _CALL_END(w.text, w.pos)) is None or (found.end() == len(w.text) and not w.eof):
        yield
    space, length = found[1], found.end() - found.start()
    c = w.text[found.end() : found.end() + 1]
    if not c or c in ",]" or (c in loose.initials and c not in "}"):
        return True
    if in_prose:
        return bool(space) or c in _AFTER_SENTENCE
    if "\n" not in space:
        return False
    while (name := word_ahead(w, length)) is None:
        yield
    return not tools or name in tools


def _at_delimiter(loose: LooseReader) -> Step[bool]:
    while (found := loose.at_delimiter()) is None:
        yield
    return found
