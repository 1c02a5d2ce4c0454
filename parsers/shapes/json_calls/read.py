"""Calls as JSON objects, one or several, in an array or not, in a code fence or not.

    {"name": "add", "arguments": {"a": 1}}                 the keys in any order
    [{…}, {…}]
    {"id": "x", "type": "function", "function": {…}}        OpenAI's own nesting
    {"tool_calls": [{…}]}                                   a marker by itself
    {"add": {"a": 1}}                                       `name_is_key`
    {'name': 'add', 'arguments': {'a': True}}               `python`

Other members of a call's object are markup. Without any marker around it, an object whose keys are
not those of a call is prose at once, so that a plain JSON answer streams.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ...core.block import MARKER
from ...core.dialects import Dialect
from ...core.driver import Run
from ...core.jsontext import (
    IGNORE,
    VALUE_START,
    read_arguments,
    read_colon,
    read_key,
    read_name,
    read_value,
    write_inner,
)
from ...core.loose import LooseReader
from ...core.shape_reader import CALL, NOTHING, OTHER, Outcome, ShapeReader
from ...core.sinks import Pieces, Sink
from ...core.window import Step, Window
from ...core.words import literal
from ...schema.kinds import json_type
from ...schema.tools import UNDECLARED

if TYPE_CHECKING:
    from . import JsonCalls

_PYTHON: Final = Dialect(quotes=('"', "'"))
_PYTHON_VALUE_START: Final = VALUE_START | frozenset("'TFN")

#: Members that a call's object may have beside name and arguments, where nothing else marks it.
KNOWN_KEYS: Final = frozenset({"id", "type", "function", "index", "call_id", "tool_call_id"})

#: The member that is the call's id. (Cohere's `tool_call_id` is a number in the message.)
ID_KEY: Final = "id"


class JsonCallsReader(ShapeReader):
    """Calls as JSON objects."""

    def __init__(self, shape: JsonCalls) -> None:
        super().__init__(shape)
        self.name_keys: tuple[str, ...] = shape.name_keys
        self.argument_keys: tuple[str, ...] = shape.argument_keys
        self.name_is_key: bool = shape.name_is_key
        self.python: bool = shape.python
        self.no_call: tuple[str, ...] = shape.no_call
        self.quotes = "\"'" if shape.python else '"'

    def may_start(self, character: str) -> bool:
        return character in ("{", "[", "`")

    def begins(self, window: Window) -> bool | None:
        first = window.peek()
        return None if first is None else self.may_start(first)

    def read(self, run: Run) -> Step[Outcome]:
        w = run.window
        c = yield from run.first_character()
        if c is None:
            return NOTHING
        before = w.mark()
        lists = 0
        while c == "[":
            while (opener := run.delimiters.opens.here(w)) is None:
                yield
            if opener:  # of the next block, and no list
                return NOTHING
            lists += 1
            w.take(w.pos + 1)
            while w.space() is None:
                yield
            while (c := w.peek()) is None:
                yield
        if lists:  # also where its first member is none: others may follow
            run.begin_lists(before, lists)
        if c != "{":
            return NOTHING
        mark = w.mark()
        reader = (_PythonObjectReader if self.python else _ObjectReader)(self, run)
        outcome = yield from reader.read()
        if outcome == OTHER and not reader.around:
            w.set_aside(mark)
        return outcome


class _ObjectReader:
    """Reads one object that may be a call, from its brace on."""

    def __init__(self, shape: JsonCallsReader, run: Run) -> None:
        self.shape = shape
        self.run = run
        self.window = run.window
        self.quotes = '"'
        self.value_start = VALUE_START
        self.depth = 0  # braces open: 2 inside OpenAI's nested "function"
        self.name = ""
        self.id: str | None = None
        self.late_id: str | None = None  # … where it stands behind the arguments
        self.in_call = False  # one was begun, and not ended
        self.early: Pieces | None = None  # arguments that came before the name
        self.early_complete = False
        self.unknown = False  # a member that may be the arguments under a name nobody knows
        self.beside: list[str] = []  # other members that may be one argument each
        self.around = False  # it is the one around calls

    def read(self) -> Step[Outcome]:
        w = self.window
        while True:
            while (c := w.peek()) is None:
                yield
            if c == "{" and not self.depth:
                w.take(w.pos + 1)
                self.depth = 1
            elif c and c in self.quotes:
                outcome = yield from self._member()
                if outcome is not None:
                    return outcome
            elif c == "}":
                w.take(w.pos + 1)
                self.depth -= 1
                if not self.depth:
                    return self._end()
            elif c == ",":
                w.take(w.pos + 1)
            else:
                while (closer := self.run.closer()) is None:
                    yield
                # The object was not closed, but perhaps its block was.
                return self._end() if closer else NOTHING
            while w.space() is None:
                yield

    def _end(self) -> Outcome:
        """The object is over and had no arguments, or no name.

        A call without arguments is a call, but not if that would throw away what it says beside.
        """
        if not self.name or self.run.unmarked or self.early is not None or self.unknown:
            return OTHER
        tool = self.run.tool(self.name)
        if any(tool is UNDECLARED or tool.declares(key) for key in self.beside):
            return OTHER
        if self.name in self.shape.no_call:
            self.run.forget_repeat()
        else:
            self.run.call_without_arguments(self.name, self.id)
        return CALL

    def _member(self) -> Step[Outcome | None]:
        """At a key: read it and its value. An outcome if that decides, else None."""
        w = self.window
        key = yield from self._key()
        if key is None:
            return NOTHING
        while (first := w.peek()) is None:
            yield
        if first not in self.value_start:
            return NOTHING
        if self.shape.name_is_key:
            self.name = key
            return (yield from self._arguments()) if self.run.allowed(key) else NOTHING
        if key in self.shape.argument_keys and self.early is None:
            return (yield from self._arguments())
        if first in self.quotes and not self.name and self._names(key):
            return (yield from self._read_name())
        if key == "function" and first == "{" and self.depth == 1:
            w.take(w.pos + 1)
            self.depth = 2
            return None
        if key == "tool_calls" and first == "[" and self.run.unmarked and self.depth == 1:
            self.run.saw(MARKER)  # so every name in the array is a call's
            self.around = True
            return (yield from self.shape.read(self.run))
        if key == ID_KEY and first in self.quotes and self.id is None:
            return None if (yield from self._read_id()) else NOTHING
        if self.run.unmarked and not (key in KNOWN_KEYS or self._names(key)):
            return NOTHING
        if key in KNOWN_KEYS or self._names(key):
            finished = yield from self._ignored_value()
        else:
            finished = yield from self._unknown_value(key, first)
        return None if finished else NOTHING

    def _unknown_value(self, key: str, first: str) -> Step[bool]:
        """A member that nobody knows: it may be the arguments, as an object, a list or their text, or
        one of them. Returns whether it was finished."""
        pieces = Pieces()
        finished = yield from self._arguments_into(pieces)
        text = pieces.take().lstrip("\"' \t\r\n")
        if first in "{[" or (first in self.quotes and text[:1] in ("{", "[") and text != "{}"):
            self.unknown = True
        else:
            self.beside.append(key)
        return finished

    def _names(self, key: str) -> bool:
        return key in self.shape.name_keys or key == "function"

    def _read_name(self) -> Step[Outcome | None]:
        name = yield from self._text()
        if name is None or not (name in self.shape.no_call or self.run.allowed(name)):
            return NOTHING if self.run.unmarked or name is None else None
        self.name = name
        if self.early is None:
            if name not in self.shape.no_call:
                self.run.named(name, self.id)
            return None
        if name in self.shape.no_call:
            self.run.forget_repeat()
            yield from self._rest()
            return CALL
        self.run.start_call(name, self.id)
        self.run.out.write(self.early.take())
        return (yield from self._end_call(self.early_complete))

    def _arguments(self) -> Step[Outcome | None]:
        """At the first character of the arguments."""
        run = self.run
        if self.name and self.name in self.shape.no_call:
            run.forget_repeat()
            if (yield from self._arguments_into(IGNORE)):
                yield from self._rest()
            return CALL
        if self.name:
            run.start_call(self.name, self.id)
            complete = yield from self._arguments_into(run.out)
            return (yield from self._end_call(complete))
        self.early = Pieces()
        self.early_complete = yield from self._arguments_into(self.early)
        return None

    def _end_call(self, complete: bool) -> Step[Outcome]:
        if complete:  # it ends with its object: its id may stand behind its arguments
            self.in_call = True
            yield from self._rest()
            self._over()
        else:
            self.run.out.end_call(False)
        return CALL

    def _over(self) -> None:
        """The call at hand, if there is one, is over."""
        if self.in_call:
            self.in_call = False
            self.run.out.end_call(True, self.late_id)

    def _rest(self) -> Step[None]:
        """Behind the arguments: the object's other members and its closing braces are markup."""
        w, out = self.window, self.run.out
        while self.depth:
            while (space := w.space()) is None:
                yield
            self.run.gap(space)
            while (c := w.peek()) is None:
                yield
            if c == "}":
                self.depth -= 1
            elif c and c in self.quotes:
                if not (yield from self._other_member()):
                    return
                continue
            elif c != ",":
                return
            out.gap_is_markup()
            w.take(w.pos + 1)

    def _other_member(self) -> Step[bool]:
        """At the quote of another member, behind a call: read it. False if it is none."""
        w, run = self.window, self.run
        w.hold()
        key = yield from self._key()
        while (first := w.peek()) is None:
            yield
        named = self.shape.name_is_key
        if named or key is None:
            self._over()
        if key is None or (named and not (run.allowed(key) and first in self.value_start)):
            run.out.gap_is_content()
            run.release()
            return False
        run.out.gap_is_markup()
        if not named:
            run.commit()
            if key == ID_KEY and first in self.quotes and self.in_call and self.id is None:
                return (yield from self._read_id(late=True))
            return (yield from self._ignored_value())
        run.start_call(key)  # the next member of the object is the next call
        complete = yield from self._arguments_into(run.out)
        run.out.end_call(complete)
        return complete

    def _read_id(self, late: bool = False) -> Step[bool]:
        """At the call's id: read it. Returns whether it was finished."""
        pieces = Pieces()
        finished = yield from self._value_into(pieces)
        if finished:
            found = _text_of(pieces.take())
            self.id = found
            self.late_id = found if late else None
        return finished

    def _ignored_value(self) -> Step[bool]:
        """Read a value that nobody needs. Returns whether it was finished."""
        return (yield from self._value_into(IGNORE))

    # -- as JSON has them ---------------------------------------------------------------------

    def _key(self) -> Step[str | None]:
        """Read a key, its colon and the whitespace around that; None if there is none."""
        return (yield from read_key(self.window, self.run.delimiters))

    def _text(self) -> Step[str | None]:
        """Read a string; its text, or None if it is not finished."""
        return (yield from read_name(self.window, self.run.delimiters))

    def _arguments_into(self, sink: Sink) -> Step[bool]:
        """Read a call's arguments. Returns whether they were finished."""
        return (yield from read_arguments(self.window, self.run.delimiters, sink))

    def _value_into(self, sink: Sink) -> Step[bool]:
        """Read any value. Returns whether it was finished."""
        return (yield from read_value(self.window, self.run.delimiters, sink))


def _text_of(string: str) -> str | None:
    """The text of a JSON string; None where there is none in it, or it is no string."""
    try:
        text = json.loads(string, strict=False)
    except ValueError:
        return None
    return text if isinstance(text, str) and text else None


class _PythonObjectReader(_ObjectReader):
    """The same for an object as Python writes it. (What is JSON is nearly always that, too.)"""

    def __init__(self, shape: JsonCallsReader, run: Run) -> None:
        super().__init__(shape, run)
        self.quotes = "\"'"
        self.value_start = _PYTHON_VALUE_START
        self.loose = LooseReader(run.window, run.delimiters, _PYTHON)

    def _key(self) -> Step[str | None]:
        key = yield from self._text()
        return (yield from read_colon(self.window, key))

    def _text(self) -> Step[str | None]:
        pieces = Pieces()
        closed = yield from self._string(pieces)
        return str(json.loads(f'"{pieces.take()}"', strict=False)) if closed else None

    def _string(self, pieces: Pieces) -> Step[bool]:
        """Read a string into `pieces`, as JSON has it between quotes. Returns whether it was closed."""
        while (quote := self.loose.quote()) is None:
            yield
        return bool(quote) and (yield from self.loose.string(quote, pieces))

    def _arguments_into(self, sink: Sink) -> Step[bool]:
        w = self.window
        while (first := w.peek()) is None:
            yield
        if first in self.quotes:
            return (yield from self._quoted_arguments(sink))
        if first in ("{", "["):
            return (yield from self.loose.container(sink))
        word, finished = yield from self.loose.word(",}")
        value = "{}" if word in ("None", "null") else literal(word, None)
        if not finished and value.startswith('"'):
            value = value[:-1]
        sink.write(value)
        return json_type(value) is not None

    def _quoted_arguments(self, sink: Sink) -> Step[bool]:
        """A string that holds an object is that object."""
        pieces = Pieces()
        closed = yield from self._string(pieces)
        string = pieces.take()
        text = str(json.loads(f'"{string}"', strict=False))
        if closed and not text:
            sink.write("{}")
        elif text.lstrip().startswith("{"):
            return write_inner(text, sink) and closed
        else:
            sink.write(f'"{string}"' if closed else f'"{string}')
        return closed

    def _value_into(self, sink: Sink) -> Step[bool]:
        return (yield from self._arguments_into(sink))
