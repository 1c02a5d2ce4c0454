"""The name in markup, the arguments as JSON.

    NAME\\n{…}        NAME[ARGS]{…}        functions.NAME:0<|tool_call_argument_begin|>{…}

A whole JSON object or array in the same place (a model that drifts) is read as such.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..jsontext import VALUE_START, read_arguments
from ..literals import literals
from ..names import read_word
from ..reader import Step
from ..shape import Outcome, Shape
from .json_calls import JsonCalls

if TYPE_CHECKING:
    from ..driver import Run


@dataclass(frozen=True, slots=True)
class NamedJson(Shape):
    """A name, perhaps an id, a separator, and the arguments."""

    #: what stands between name and arguments; a newline will do where this is empty
    separator: tuple[str, ...] = ()
    #: what stands before the call's id, where it has one
    id_separator: tuple[str, ...] = ()
    #: how to take the name out of the header; the whole header is then the call's id
    header: str = ""
    drift: JsonCalls = field(default_factory=JsonCalls)

    def may_start(self, character: str) -> bool:
        return self.drift.may_start(character)

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        if self.drift.may_start((yield from r.peek())):
            return (yield from self.drift.read(run))
        if not run.inside_all():
            return Outcome.NOTHING
        word = yield from read_word(r)
        name, id = self._name_and_id(word)
        if not run.allowed(name):
            return Outcome.NOTHING
        space = yield from r.skip_space()
        if (yield from self._skip(run, self.id_separator)):
            id = (yield from read_word(r)) or None
            space = yield from r.skip_space()
        separated = (yield from self._skip(run, self.separator)) or "\n" in space
        yield from run.skip_fence()
        first = yield from r.peek()
        if first and (yield from run.at_closer()):
            r.call_without_arguments(name, id)
            return Outcome.CALL
        if first != "{" and not (separated and first in VALUE_START):
            return Outcome.NOTHING
        r.start_call(name, id)
        r.end_call((yield from read_arguments(r, run.marks, r.arguments)))
        return Outcome.CALL

    def _name_and_id(self, word: str) -> tuple[str, str | None]:
        if not self.header:
            return word, None
        found = re.fullmatch(self.header, word)
        return (found["name"], word) if found else ("", None)

    def _skip(self, run: Run, spellings: tuple[str, ...]) -> Step[bool]:
        found = yield from literals(spellings).here(run.r)
        if found:
            run.r.take(run.r.pos + len(found))
            yield from run.r.skip_space()
        return bool(found)
