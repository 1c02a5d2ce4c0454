"""Calls as Python writes them, in a list or one on each line.

[NAME(k="v"), NAME2(n=1)]
"""

from __future__ import annotations

from typing import Final

from ...core.block import LIST
from ...core.callargs import CallArguments, arguments_begin
from ...core.driver import CALL, NOTHING, Outcome, Run, ShapeReader
from ...core.loose import Dialect
from ...core.names import PLAIN, word_ahead
from ...core.window import Step, Window

_DIALECT: Final = Dialect()


class PythonicReader(ShapeReader):
    """Calls as Python writes them."""

    def may_start(self, character: str) -> bool:
        return character in PLAIN

    def begins(self, window: Window) -> bool | None:
        first = window.peek()
        return None if first is None else first == "[" or first in PLAIN

    def read(self, run: Run) -> Step[Outcome]:
        w, out = run.window, run.out
        while (first := w.peek()) is None:
            yield
        if first == "[":
            w.take(w.pos + 1)
            run.saw(LIST)
            while w.space() is None:
                yield
        while (name := word_ahead(w)) is None:
            yield
        if not name or not run.allowed(name) or not (name[0].isalpha() or name[0] == "_"):
            return NOTHING
        if w.peek(len(name)) != "(":
            return NOTHING
        w.take(w.pos + len(name) + 1)
        while w.space() is None:
            yield
        if not (yield from arguments_begin(w, bare_words=False)):
            return NOTHING
        run.start_call(name)
        arguments = CallArguments(
            w,
            run.delimiters,
            _DIALECT,
            run.tool(name),
            out,
            declared=name in (run.tools or {}),
            text_like=False,
        )
        out.end_call((yield from arguments.read()))
        return CALL
