"""Calls as Python writes them, in a list or one on each line.

[NAME(k="v"), NAME2(n=1)]

Calls as JSON objects in the same place (a model that drifts) are read as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...core.callargs import CallArguments, arguments_begin
from ...core.dialects import Dialect
from ...core.driver import Run
from ...core.loose import LooseReader
from ...core.names import in_name, may_begin_name, word_ahead
from ...core.shape_reader import CALL, NOTHING, OTHER, Outcome, ShapeReader
from ...core.window import Step, Window
from ..json_calls.read import JsonCallsReader

if TYPE_CHECKING:
    from . import Pythonic

_DIALECT: Final = Dialect()


class PythonicReader(ShapeReader):
    """Calls as Python writes them."""

    def __init__(self, shape: Pythonic) -> None:
        super().__init__(shape)
        self.quotes = "\"'"
        self.comments = True
        self._drift = JsonCallsReader(shape.drift)

    def may_start(self, character: str) -> bool:
        return in_name(character) or character in ("#", "{")

    def begins(self, window: Window) -> bool | None:
        first = window.peek()
        return None if first is None else first == "[" or may_begin_name(first)

    def read(self, run: Run) -> Step[Outcome]:
        w = run.window
        first = yield from run.first_character()
        if first is None:
            return NOTHING
        listed = w.mark()
        if first == "[":
            w.take(w.pos + 1)
            while w.space() is None:
                yield
            while (first := w.peek()) is None:
                yield
            run.begin_lists(listed)
        elif run.unmarked and not run.listed:
            return NOTHING
        if not run.bare and first == "{":
            return (yield from self._drift.read(run))
        mark = w.mark()
        name = yield from self._name(run)
        if not name:
            # Outside of a list, what looks neither like a call nor like a comment is prose at once.
            looks_so = run.listed or first == "#" or bool(w.held_since(mark))
            return (yield from self._other(run, mark)) if looks_so and not run.bare else NOTHING
        run.start_call(name)
        arguments = CallArguments(
            w, run.delimiters, _DIALECT, name, run.tool(name), run.tools, run.out, text_like=False
        )
        run.out.end_call((yield from arguments.read()))
        return CALL

    def _name(self, run: Run) -> Step[str]:
        """Read the name of a call and its parenthesis; "" if that is none, or no arguments follow."""
        w = run.window
        while (name := word_ahead(w)) is None:
            yield
        if not name or not run.allowed(name) or not may_begin_name(name[0]):
            return ""
        if w.peek(len(name)) != "(":
            return ""
        w.take(w.pos + len(name) + 1)
        while w.space() is None:
            yield
        return name if (yield from arguments_begin(w, bare_words=False)) else ""

    def _other(self, run: Run, mark: int) -> Step[Outcome]:
        """Between the format's tokens: read what is no call, a comment, or all up to the next comma, or
        to the end of the list or of the line. `mark`: where it begins."""
        w = run.window
        w.unread(w.held_since(mark))
        loose = LooseReader(w, run.delimiters, _DIALECT)
        while (first := w.peek()) is None:
            yield
        if first == "#":
            yield from loose.comment()
        else:
            yield from loose.word(",]", in_line=not run.listed)
        w.set_aside(mark)
        return OTHER
