"""Calls as JSON objects, one or several, in an array or not, in a code fence or not.

    {"name": "add", "arguments": {"a": 1}}                 the keys in any order
    [{…}, {…}]
    {"id": "x", "type": "function", "function": {…}}        OpenAI's own nesting
    {"tool_calls": [{…}]}                                   a marker by itself
    {"add": {"a": 1}}                                       `name_is_key`

Other members of a call's object are markup. Without any marker around it, an object whose keys are
not those of a call is prose at once, so that a plain JSON answer streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..jsontext import VALUE_START, ignore, read_arguments, read_key, read_name, read_value
from ..reader import Step
from ..shapes import JsonCalls
from .base import CALL, NOTHING, OTHER, Outcome, ShapeReader

if TYPE_CHECKING:
    from ..driver import Run

#: Members that a call's object may have beside name and arguments, where nothing else marks it.
KNOWN_KEYS: Final = frozenset({"id", "type", "function", "index", "call_id", "tool_call_id"})


class JsonCallsReader(ShapeReader):
    """Calls as JSON objects."""

    def __init__(self, shape: JsonCalls) -> None:
        super().__init__(shape)
        self.name_keys: tuple[str, ...] = shape.name_keys
        self.argument_keys: tuple[str, ...] = shape.argument_keys
        self.name_is_key: bool = shape.name_is_key

    def may_start(self, character: str) -> bool:
        return character in ("{", "[", "`")

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        while (c := r.next()) is None:
            yield
        if c == "`":
            yield from run.skip_fence()
            c = yield from r.peek()
        while c == "[":
            r.take(r.pos + 1)
            run.listed = True
            yield from r.skip_space()
            c = yield from r.peek()
        if c != "{":
            return NOTHING
        mark = r.mark()
        outcome = yield from _ObjectReader(self, run).read()
        if outcome == OTHER:
            r.set_aside(mark)
        return outcome


class _ObjectReader:
    """Reads one object that may be a call, from its brace on."""

    def __init__(self, shape: JsonCallsReader, run: Run) -> None:
        self.shape = shape
        self.run = run
        self.r = run.r
        self.depth = 0  # braces open: 2 inside OpenAI's nested "function"
        self.name = ""
        self.early: list[str] | None = None  # arguments that came before the name
        self.early_complete = False
        self.unknown = False  # a member that may be the arguments under a name nobody knows

    def read(self) -> Step[Outcome]:
        r = self.r
        while True:
            while (c := r.next()) is None:
                yield
            if c == "{" and not self.depth:
                r.take(r.pos + 1)
                self.depth = 1
            elif c == '"':
                outcome = yield from self._member()
                if outcome is not None:
                    return outcome
            elif c == "}":
                r.take(r.pos + 1)
                self.depth -= 1
                if not self.depth:
                    return self._end()
            elif c == ",":
                r.take(r.pos + 1)
            elif c and (yield from self.run.at_closer()):
                return self._end()  # the object was not closed, but its block was
            else:
                return NOTHING
            if r.space() is None:
                yield from r.skip_space()

    def _end(self) -> Outcome:
        """The object is over and had no arguments, or no name.

        A call without arguments is a call, but not if that would throw away an object in it.
        """
        if not self.name or self.run.unmarked or self.early is not None or self.unknown:
            return OTHER
        self.r.call_without_arguments(self.name)
        return CALL

    def _member(self) -> Step[Outcome | None]:
        """At a key: read it and its value. An outcome if that decides, else None."""
        r = self.r
        key = yield from read_key(r, self.run.marks)
        if key is None:
            return NOTHING
        while (first := r.next()) is None:
            yield
        if first not in VALUE_START:
            return NOTHING
        if self.shape.name_is_key:
            self.name = key
            return (yield from self._arguments()) if key else NOTHING
        if key in self.shape.argument_keys and self.early is None:
            return (yield from self._arguments())
        if first == '"' and not self.name and self._names(key):
            return (yield from self._read_name())
        if key == "function" and first == "{" and self.depth == 1:
            r.take(r.pos + 1)
            self.depth = 2
            return None
        if key == "tool_calls" and first == "[" and self.run.unmarked and self.depth == 1:
            return (yield from self._tool_calls())
        if self.run.unmarked and not (key in KNOWN_KEYS or self._names(key)):
            return NOTHING
        if first == "{" and key not in KNOWN_KEYS:
            self.unknown = True
        if not (yield from read_value(r, self.run.marks, ignore)):
            return NOTHING
        return None

    def _names(self, key: str) -> bool:
        return key in self.shape.name_keys or key == "function"

    def _read_name(self) -> Step[Outcome | None]:
        name = yield from read_name(self.r, self.run.marks)
        if name is None or not self.run.allowed(name):
            return NOTHING if self.run.unmarked or name is None else None
        self.name = name
        if self.early is None:
            return None
        self.r.start_call(name)
        for piece in self.early:
            self.r.arguments(piece)
        return (yield from self._end_call(self.early_complete))

    def _arguments(self) -> Step[Outcome | None]:
        """At the first character of the arguments."""
        r, marks = self.r, self.run.marks
        if self.name:
            r.start_call(self.name)
            complete = yield from read_arguments(r, marks, r.arguments)
            return (yield from self._end_call(complete))
        self.early = []
        self.early_complete = yield from read_arguments(r, marks, self.early.append)
        return None

    def _end_call(self, complete: bool) -> Step[Outcome]:
        self.r.end_call(complete)
        if complete:
            yield from self._rest()
        return CALL

    def _rest(self) -> Step[None]:
        """Behind the arguments: the object's other members and its closing braces are markup."""
        r = self.r
        while self.depth:
            space = r.space()
            if space is None:
                space = yield from r.skip_space()
            r.gap(space)
            while (c := r.next()) is None:
                yield
            if c == "}":
                self.depth -= 1
            elif c == '"':
                if not (yield from self._other_member()):
                    return
                continue
            elif c != ",":
                return
            r.gap_is_markup()
            r.take(r.pos + 1)

    def _other_member(self) -> Step[bool]:
        r = self.r
        r.hold()
        key = yield from read_name(r, self.run.marks)
        space = yield from r.skip_space()
        if key is None or (yield from r.peek()) != ":":
            r.gap_is_content()
            r.release()
            return False
        if self.shape.name_is_key:
            return (yield from self._next_named(key, space))
        r.drop()
        r.gap_is_markup()
        r.take(r.pos + 1)
        yield from r.skip_space()
        return (yield from read_value(r, self.run.marks, ignore))

    def _next_named(self, key: str, space: str) -> Step[bool]:
        """With `name_is_key`, the next member of the object is the next call."""
        r = self.r
        r.take(r.pos + 1)
        yield from r.skip_space()
        if not key or (yield from r.peek()) not in VALUE_START:
            r.gap_is_content()
            r.release()
            return False
        r.gap_is_markup()
        r.start_call(key)
        complete = yield from read_arguments(r, self.run.marks, r.arguments)
        r.end_call(complete)
        return complete

    def _tool_calls(self) -> Step[Outcome]:
        """At the array of `{"tool_calls": […]}`: the key is a marker, so every name is a call."""
        self.run.marked = True
        return (yield from self.shape.read(self.run))
