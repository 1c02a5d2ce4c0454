"""The name in markup, the arguments as JSON.

    NAME\\n{…}        NAME[ARGS]{…}        functions.NAME:0<|tool_call_argument_begin|>{…}

A whole JSON object or array in the same place (a model that drifts) is read as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..jsontext import VALUE_START, read_arguments
from ..literals import Literals
from ..names import read_word, word
from ..reader import Matches, Reader, Step
from ..shapes import NamedJson
from .base import CALL, NOTHING, Outcome, ShapeReader
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
        while (first := r.next()) is None:
            yield
        if self._drift.may_start(first):
            return (yield from self._drift.read(run))
        if not run.inside_all():
            return NOTHING
        header = word(r)
        if header is None:
            header = yield from read_word(r)
        name, id = self._name_and_id(header)
        if not run.allowed(name):
            return NOTHING
        space = r.space()
        if space is None:
            space = yield from r.skip_space()
        if self._id_separator and (yield from self._skip(r, self._id_separator)):
            id = (yield from read_word(r)) or None
            space = yield from r.skip_space()
        separated = (yield from self._skip(r, self._separator)) or "\n" in space
        while (first := r.next()) is None:
            yield
        if first == "`":
            yield from run.skip_fence()
            first = yield from r.peek()
        while (closer := run.marks.closes.seen(r)) is None:
            yield
        if closer:
            r.call_without_arguments(name, id)
            return CALL
        if first != "{" and not (separated and first in VALUE_START):
            return NOTHING
        r.start_call(name, id)
        r.end_call((yield from read_arguments(r, run.marks, r.arguments)))
        return CALL

    def _name_and_id(self, header: str) -> tuple[str, str | None]:
        if self._header is None:
            return header, None
        found = self._header(header)
        return (found["name"] or "", header) if found else ("", None)

    def _skip(self, r: Reader, spellings: Literals) -> Step[bool]:
        while (found := spellings.seen(r)) is None:
            yield
        if found:
            r.take(r.pos + len(found))
            if r.space() is None:
                yield from r.skip_space()
        return bool(found)
