"""The name in markup, the arguments as JSON.

    NAME\\n{…}        NAME[ARGS]{…}        functions.NAME:0<|tool_call_argument_begin|>{…}
    ID<|tool_call:name|>NAME<|tool_call:args|>{…}

A whole JSON object or array in the same place (a model that drifts) is read as such.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...core.driver import Run
from ...core.jsontext import VALUE_START, read_arguments
from ...core.literals import Literals
from ...core.names import Word, is_in_word, read_word, word_before
from ...core.shape_reader import CALL, NOTHING, Outcome
from ...core.sinks import Pieces
from ...core.window import Matches, Step, Window
from ...schema.tools import Tool
from ..json_calls.drift import DriftingReader

if TYPE_CHECKING:
    from . import NamedJson

#: What says that there are none.
_NO_ARGUMENTS: Final = Literals(["null", '""'])


class NamedJsonReader(DriftingReader):
    """A name, perhaps an id, a separator, and the arguments."""

    def __init__(self, shape: NamedJson) -> None:
        super().__init__(shape, shape.drift)
        self._separator: Literals = Literals(shape.separator)
        self._id_separator: Literals = Literals(shape.id_separator)
        self._word: Word = word_before(
            [*shape.separator, *shape.id_separator, *shape.name_separator]
        )
        self._name_separator: Literals = Literals(shape.name_separator)
        self._header: Matches | None = re.compile(shape.header).fullmatch if shape.header else None
        self.text_names = shape.text_names

    def may_start(self, character: str) -> bool:
        return self._drift.may_start(character)

    def begins(self, window: Window) -> bool | None:
        first = window.peek()
        return None if first is None else is_in_word(first) or self._name_separator.may_start(first)

    def read_own(self, run: Run) -> Step[Outcome]:
        w = run.window
        if not run.inside_all():
            return NOTHING
        while (header := read_word(w, run.delimiters, self._word)) is None:
            yield
        while (space := w.space()) is None:
            yield
        before = ""
        if self._name_separator and (yield from self._skip(w, self._name_separator)):
            before = header
            while (header := read_word(w, run.delimiters, self._word)) is None:
                yield
            while (space := w.space()) is None:
                yield
        name, id = self._name_and_id(header)
        if name in self.text_names and "\n" in space:
            run.commit()
            return CALL
        if not run.allowed(name):
            return NOTHING
        id = before or id
        if self._id_separator and (yield from self._skip(w, self._id_separator)):
            while (word := read_word(w, run.delimiters, self._word)) is None:
                yield
            id = word or None
            while (space := w.space()) is None:
                yield
        run.named(name, id)
        separator = yield from self._skip(w, self._separator)
        return (yield from self._arguments(run, name, id, separator, "\n" in space))

    def read_arguments(self, run: Run, name: str) -> Step[Outcome]:
        """Whatever stands in the part is the arguments: JSON, also in a code fence, or text as it is."""
        w = run.window
        mark = w.mark()
        first = yield from run.first_character()
        while first == '"' and w.has(2) is None:
            yield
        if first == "{" or w.text.startswith('"{', w.pos):
            run.start_call(name)
            run.out.end_call((yield from read_arguments(w, run.delimiters, run.out)))
            return CALL
        if (yield from self._skip(w, _NO_ARGUMENTS)) and w.peek() == "":
            run.call_without_arguments(name)
            return CALL
        begun = w.held_since(mark)
        run.start_call(name)
        run.out.write(begun)
        complete = False
        if first and not begun and first in VALUE_START:
            complete = yield from read_arguments(w, run.delimiters, run.out)
        run.out.end_call((yield from self._rest(run)) and complete)
        return CALL

    def _rest(self, run: Run) -> Step[bool]:
        """Write all that is left of a part. Returns whether that is nothing but whitespace."""
        w = run.window
        nothing = True
        while True:
            text = w.take(len(w.text))
            nothing = nothing and not text.strip()
            run.out.write(text)
            if w.eof:
                return nothing
            yield

    def _arguments(
        self, run: Run, name: str, id: str | None, separator: bool, new_line: bool
    ) -> Step[Outcome]:
        """Behind a name and what separates it from the arguments: a `separator`, or a `new_line`."""
        w = run.window
        first = yield from run.first_character()
        if first is None:
            return NOTHING
        if first == "`":  # the fence may have nothing in it
            yield from run.end_fence()
            while w.space() is None:
                yield
        while (closer := run.closer()) is None:
            yield
        while (opener := run.delimiters.opens.here(w)) is None:
            yield
        if closer or (opener and separator):
            run.call_without_arguments(name, id)
            return CALL
        if opener or not (first == "{" or (first in VALUE_START and (separator or new_line))):
            return NOTHING
        if id == name and run.tools is not None and name not in run.tools and _has_digit(name):
            return (yield from self._unnamed(run, name))
        run.start_call(name, id)
        run.out.end_call((yield from read_arguments(w, run.delimiters, run.out)))
        return CALL

    def _unnamed(self, run: Run, id: str) -> Step[Outcome]:
        """The header is nothing but an id: the call is to the tool whose parameters these are, if there
        is just one."""
        pieces = Pieces()
        complete = yield from read_arguments(run.window, run.delimiters, pieces)
        arguments = pieces.take()
        fitting = _fitting(run.tools or {}, arguments) if complete else []
        run.start_call(fitting[0] if len(fitting) == 1 else id, id)
        run.out.write(arguments)
        run.out.end_call(complete)
        return CALL

    def _name_and_id(self, header: str) -> tuple[str, str | None]:
        if self._header is None:
            return header, None
        found = self._header(header)
        return (found["name"] or "", header) if found else ("", None)

    def _skip(self, w: Window, spellings: Literals) -> Step[bool]:
        """Read one of these, and the whitespace behind it, if it stands here."""
        while (found := spellings.here(w)) is None:
            yield
        if found:
            w.take(w.pos + len(found))
            while w.space() is None:
                yield
        return bool(found)


def _fitting(tools: Mapping[str, Tool], arguments: str) -> list[str]:
    """The tools that could be called with these arguments."""
    try:
        keys = set(json.loads(arguments))
    except (TypeError, ValueError, RecursionError):  # no object
        return []
    return [
        name
        for name, tool in tools.items()
        if keys <= set(tool.parameters) and keys >= set(tool.required)
    ]


def _has_digit(text: str) -> bool:
    """Whether this may be an id: names of tools that are not declared have none, most often."""
    return any(map(str.isdigit, text))
