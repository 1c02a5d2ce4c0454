"""The name in markup, the arguments as JSON.

    NAME\\n{…}        NAME[ARGS]{…}        functions.NAME:0<|tool_call_argument_begin|>{…}

A whole JSON object or array in the same place (a model that drifts) is read as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..jsontext import VALUE_START, read_arguments
from ..literals import Literals
from ..names import read_word
from ..reader import Matches, Step
from ..shapes import NamedJson
from .base import Outcome, ShapeReader
from .json_calls import JsonCallsReader

if TYPE_CHECKING:
    from ..driver import Run


class NamedJsonReader(ShapeReader):
    """A name, perhaps an id, a separator, and the arguments."""

    def __init__(self, shape: NamedJson) -> None:
        super().__init__(shape)
        self._separator: Literals = Literals(shape.separator)
        self._id_separator: Literals = Literals(shape.id_separator)
        self._header: Matches | None = re.compile(shape.header).fullmatch if shape.header else None
        self._drift = JsonCallsReader(shape.drift)

    def may_start(self, character: str) -> bool:
        return self._drift.may_start(character)

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        if self._drift.may_start((yield from r.peek())):
            return (yield from self._drift.read(run))
        if not run.inside_all():
            return Outcome.NOTHING
        word = yield from read_word(r)
        name, id = self._name_and_id(word)
        if not run.allowed(name):
            return Outcome.NOTHING
        space = yield from r.skip_space()
        if (yield from self._skip(run, self._id_separator)):
            id = (yield from read_word(r)) or None
            space = yield from r.skip_space()
        separated = (yield from self._skip(run, self._separator)) or "\n" in space
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
        if self._header is None:
            return word, None
        found = self._header(word)
        return (found["name"], word) if found else ("", None)

    def _skip(self, run: Run, spellings: Literals) -> Step[bool]:
        found = yield from spellings.here(run.r)
        if found:
            run.r.take(run.r.pos + len(found))
            yield from run.r.skip_space()
        return bool(found)
