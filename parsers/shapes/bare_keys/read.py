"""An object with keys that have no quotes, and strings in quotes of their own.

call:NAME{k:<|"|>v<|"|>,n:42}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.dialects import Dialect
from ...core.driver import Run
from ...core.literals import Literals
from ...core.loose import LooseReader
from ...core.names import read_word
from ...core.shape_reader import CALL, NOTHING, Outcome
from ...core.window import Step, Window
from ..json_calls.drift import DriftingReader

if TYPE_CHECKING:
    from . import BareKeys


class BareKeysReader(DriftingReader):
    """A prefix, a name, and an object with bare keys."""

    def __init__(self, shape: BareKeys) -> None:
        super().__init__(shape, shape.drift)
        # A model may forget the word, or all of it.
        self._prefix: Literals = Literals([shape.prefix, shape.prefix[-1]])
        self._dialect = Dialect(
            quotes=(shape.quote, '"', "'"), raw=(shape.quote,), python=False, spacing_kept=False
        )

    def may_start(self, character: str) -> bool:
        return self._prefix.may_start(character) or self._drift.may_start(character)

    def begins(self, window: Window) -> bool | None:
        return self._prefix.stands(window)

    def read_own(self, run: Run) -> Step[Outcome]:
        w = run.window
        while (prefix := self._prefix.here(w)) is None:
            yield
        if not prefix and not run.inside_all():
            return NOTHING
        w.take(w.pos + len(prefix))
        while w.space() is None:
            yield
        while (name := read_word(w, run.delimiters)) is None:
            yield
        if not run.allowed(name):
            return NOTHING
        run.named(name)
        while w.space() is None:
            yield
        while (closer := run.closer()) is None:
            yield
        if closer and prefix:
            run.call_without_arguments(name)
            return CALL
        if w.peek() not in ("{", "("):
            return NOTHING
        run.start_call(name)
        loose = LooseReader(w, run.delimiters, self._dialect)
        run.out.end_call((yield from loose.container(run.out, run.tool(name).kind)))
        return CALL
