"""An object with keys that have no quotes, and strings in quotes of their own.

call:NAME{k:<|"|>v<|"|>,n:42}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..literals import Literals
from ..loose import Dialect, LooseReader
from ..names import read_word
from ..reader import Step
from ..shapes import BareKeys
from .base import CALL, NOTHING, Outcome, ShapeReader
from .json_calls import JsonCallsReader

if TYPE_CHECKING:
    from ..driver import Run


class BareKeysReader(ShapeReader):
    """A prefix, a name, and an object with bare keys."""

    def __init__(self, shape: BareKeys) -> None:
        super().__init__(shape)
        self._prefix: Literals = Literals([shape.prefix])
        self._dialect = Dialect(quotes=(shape.quote, '"'), escapes=False, spacing_kept=False)
        self._drift = JsonCallsReader(shape.drift)

    def may_start(self, character: str) -> bool:
        return self._prefix.may_start(character) or self._drift.may_start(character)

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        if self._drift.may_start((yield from r.peek())):
            return (yield from self._drift.read(run))
        prefix = yield from self._prefix.here(r)
        if not prefix:
            return NOTHING
        r.take(r.pos + len(prefix))
        name = yield from read_word(r)
        if not run.allowed(name):
            return NOTHING
        yield from r.skip_space()
        if (yield from run.at_closer()):
            r.call_without_arguments(name)
            return CALL
        if (yield from r.peek()) != "{":
            return NOTHING
        r.start_call(name)
        loose = LooseReader(r, run.marks, self._dialect)
        r.end_call((yield from loose.container(r.arguments, run.tool(name).kind)))
        return CALL
