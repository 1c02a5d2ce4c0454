"""A tag for the call, a tag for each parameter, values between them as they are.

    <function=NAME>\\n<parameter=K>\\nV\\n</parameter>\\n</function>
    <invoke name="NAME"><parameter name="K">V</parameter></invoke>
    NAME\\n<arg_key>K</arg_key>\\n<arg_value>V</arg_value>           (no tag of its own for the call)

The arguments may also be one JSON object: right behind the name, between tags of its own (`json_open`),
or in a parameter that the tool does not have (`wrapped_in`). How parameters are read, and where a value
ends, is in `parameters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.driver import Run
from ...core.jsontext import read_arguments
from ...core.literals import Literals
from ...core.names import is_in_word, read_word
from ...core.shape_reader import CALL, NOTHING, Outcome, ShapeReader
from ...core.window import Step, Window
from ..json_calls.read import JsonCallsReader
from .opening_tags import NoTag, Opening, OpeningTag
from .parameters import Parameters, Plan, first_tag

if TYPE_CHECKING:
    from . import Tags


class TagsReader(ShapeReader):
    """Tags for calls and parameters."""

    def __init__(self, shape: Tags) -> None:
        super().__init__(shape)
        self._starts: frozenset[str] = frozenset(head[0] for head in shape.heads)
        self._call: OpeningTag | None = OpeningTag(shape.call, True) if shape.call else None
        # A model may close the name as if it stood in a tag.
        self._separator: Literals = Literals(
            shape.separator if shape.call else (*shape.separator, ">")
        )
        self._json_open: Literals = Literals(shape.json_open)
        self.wrapped_in: tuple[str, ...] = shape.wrapped_in
        self._drift = JsonCallsReader(shape.drift)
        self.parameter = OpeningTag(shape.parameter)
        self.value_on_own_lines: bool = shape.value_on_own_lines
        self.cdata: bool = shape.cdata
        self._closers: tuple[tuple[str, ...], ...] = (shape.parameter_close, shape.close)
        self._plans: dict[int, Plan] = {}

    def plan(self, run: Run) -> Plan:
        """What to look for in the values of the call at hand."""
        plan = self._plans.get(run.opened)
        if plan is None:
            row = [close for close in (*self._closers, *run.closers_around()) if close]
            plan = self._plans[run.opened] = Plan(
                row,
                self.parameter.begin.spellings,
                self.parameter.has_key_tags,
                run.delimiters.turn_ends,
            )
        return plan

    def may_start(self, character: str) -> bool:
        return character in self._starts or self._drift.may_start(character)

    def begins(self, window: Window) -> bool | None:
        if self._call:
            head = self._call.begin.here(window)
            return None if head is None else bool(head)
        first = window.peek()
        return None if first is None else is_in_word(first)

    def read(self, run: Run) -> Step[Outcome]:
        w = run.window
        while (first := w.peek()) is None:
            yield
        if not run.bare and self._drift.may_start(first):
            return (yield from self._drift.read(run))
        name, closed = yield from self._name(run)
        if not run.allowed(name):
            return NOTHING
        if closed:
            run.call_without_arguments(name)
            return CALL
        run.named(name)
        return (yield from self.read_arguments(run, name))

    def read_arguments(self, run: Run, name: str) -> Step[Outcome]:
        """Behind a call's name."""
        w = run.window
        while w.space() is None:
            yield
        while (body := self._json_open.here(w)) is None:
            yield
        if body:
            w.take(w.pos + len(body))
            while w.space() is None:
                yield
        while (closer := run.closer()) is None:
            yield
        if closer:
            run.call_without_arguments(name)
            return CALL
        if w.peek() == "{":
            run.start_call(name)
            run.out.end_call((yield from read_arguments(w, run.delimiters, run.out)))
            return CALL
        opening = yield from first_tag(self.parameter, w, self.plan(run))
        w.take(w.pos + opening.length)
        if isinstance(opening, NoTag):
            return NOTHING
        run.start_call(name)
        run.out.end_call((yield from Parameters(self, run, name).read(opening)))
        return CALL

    def _name(self, run: Run) -> Step[tuple[str, bool]]:
        """Read what stands before the first parameter: the name, "" if there is none; and whether
        that is all of the call."""
        w = run.window
        if self._call:
            while (opening := self._call.here(w)) is None:
                yield
            w.take(w.pos + opening.length)
            if isinstance(opening, Opening):
                return opening.name, opening.closed
            return "", False
        if not run.inside_all():
            return "", False
        while (name := read_word(w, run.delimiters)) is None:
            yield
        while w.space() is None:
            yield
        while (separator := self._separator.here(w)) is None:
            yield
        w.take(w.pos + len(separator))
        return name, False
