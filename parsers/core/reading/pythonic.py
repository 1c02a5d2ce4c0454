"""Calls as Python writes them, in a list or one on each line.

[NAME(k="v"), NAME2(n=1)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..callargs import CallArguments, Output, arguments_begin, char_ahead, word_ahead
from ..loose import Dialect
from ..names import PLAIN
from ..reader import Step
from .base import CALL, NOTHING, Outcome, ShapeReader

if TYPE_CHECKING:
    from ..driver import Run

_DIALECT: Final = Dialect()


class PythonicReader(ShapeReader):
    """Calls as Python writes them."""

    def may_start(self, character: str) -> bool:
        return character in PLAIN

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        while (first := r.next()) is None:
            yield
        if first == "[":
            r.take(r.pos + 1)
            run.listed = True
            yield from r.skip_space()
        name = yield from word_ahead(r, 0)
        if not name or not run.allowed(name) or not (name[0].isalpha() or name[0] == "_"):
            return NOTHING
        if (yield from char_ahead(r, len(name))) != "(":
            return NOTHING
        r.take(r.pos + len(name) + 1)
        if r.space() is None:
            yield from r.skip_space()
        if not (yield from arguments_begin(r, bare_words=False)):
            return NOTHING
        r.start_call(name)
        arguments = CallArguments(
            r,
            run.marks,
            _DIALECT,
            run.tool(name),
            Output(r.arguments),
            declared=name in (run.tools or {}),
            text_like=False,
        )
        r.end_call((yield from arguments.read()))
        return CALL
