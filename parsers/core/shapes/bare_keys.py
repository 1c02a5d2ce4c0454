"""An object with keys that have no quotes, and strings in quotes of their own.

call:NAME{k:<|"|>v<|"|>,n:42}
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..literals import literals
from ..loose import Dialect, LooseReader
from ..names import read_word
from ..reader import Step
from ..shape import Outcome, Shape
from .json_calls import JsonCalls

if TYPE_CHECKING:
    from ..driver import Run


@dataclass(frozen=True, slots=True)
class BareKeys(Shape):
    """A prefix, a name, and an object with bare keys."""

    quote: str
    prefix: str = "call:"
    drift: JsonCalls = field(default_factory=JsonCalls)

    def may_start(self, character: str) -> bool:
        return character == self.prefix[0] or self.drift.may_start(character)

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        if self.drift.may_start((yield from r.peek())):
            return (yield from self.drift.read(run))
        prefix = yield from literals((self.prefix,)).here(r)
        if not prefix:
            return Outcome.NOTHING
        r.take(r.pos + len(prefix))
        name = yield from read_word(r)
        if not run.allowed(name):
            return Outcome.NOTHING
        yield from r.skip_space()
        if (yield from run.at_closer()):
            r.call_without_arguments(name)
            return Outcome.CALL
        if (yield from r.peek()) != "{":
            return Outcome.NOTHING
        r.start_call(name)
        dialect = Dialect(quotes=(self.quote, '"'), escapes=False, spacing_kept=False)
        loose = LooseReader(r, run.marks, dialect)
        r.end_call((yield from loose.container(r.arguments, run.tool(name).kind)))
        return Outcome.CALL
