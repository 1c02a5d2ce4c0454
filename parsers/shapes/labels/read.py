"""Labelled lines.

    name: NAME
    arguments: {…}

The labels may come in either order; others that a call has (`id`, `type`) are markup. A JSON object or
array in the same place is read as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ...core.driver import Run
from ...core.jsontext import VALUE_START, read_arguments
from ...core.literals import Literals
from ...core.shape_reader import CALL, NOTHING, Outcome
from ...core.sinks import Pieces
from ...core.window import Step, Window
from ..json_calls.drift import DriftingReader
from ..json_calls.read import KNOWN_KEYS

if TYPE_CHECKING:
    from . import Labels

_LINE: Final = re.compile(r"[^\r\n]*").match
_OTHERS: Final = Literals([f"{label}:" for label in KNOWN_KEYS])


class LabelsReader(DriftingReader):
    """Labelled lines."""

    def __init__(self, shape: Labels) -> None:
        super().__init__(shape, shape.drift)
        self._name_label: str = shape.name_label
        self._argument_labels: tuple[str, ...] = shape.argument_labels
        labels = (shape.name_label, *shape.argument_labels, *KNOWN_KEYS)
        self._labels: Literals = Literals([f"{label}:" for label in labels])

    def may_start(self, character: str) -> bool:
        return self._drift.may_start(character) or character.isalpha()

    def begins(self, window: Window) -> bool | None:
        return self._labels.stands(window)

    def read_own(self, run: Run) -> Step[Outcome]:
        w = run.window
        name = ""
        early: Pieces | None = None
        complete = False
        while True:
            label = yield from self._label(run)
            if label == self._name_label and not name:
                name = yield from self._rest_of_line(run)
                if not run.allowed(name):
                    return NOTHING
                run.named(name)
                if early is not None:
                    run.start_call(name)
                    run.out.write(early.take())
                    break
            elif label in self._argument_labels and early is None:
                if not (yield from self._value_begins(run)):
                    return (yield from self._without_arguments(run, name))
                if name:
                    run.start_call(name)
                    complete = yield from read_arguments(w, run.delimiters, run.out)
                    break
                early = Pieces()
                complete = yield from read_arguments(w, run.delimiters, early)
                yield from run.end_fence()
            elif label in KNOWN_KEYS:
                yield from self._rest_of_line(run)
            else:
                return (yield from self._without_arguments(run, name if early is None else ""))
            while w.space() is None:
                yield
        run.out.end_call(complete)
        if complete:
            yield from run.end_fence()
            yield from self._other_lines(run)
        return CALL

    def _value_begins(self, run: Run) -> Step[bool]:
        """Behind the label of arguments: read whitespace, and what begins a code fence; whether a value
        follows."""
        w = run.window
        while w.space() is None:
            yield
        while (first := w.peek()) is None:
            yield
        if first == "`" and (yield from run.skip_fence()):
            while (first := w.peek()) is None:
                yield
        return first in VALUE_START

    def _without_arguments(self, run: Run, name: str) -> Step[Outcome]:
        """Where no label follows: a name alone is a call if its block ends."""
        while (closer := run.closer()) is None:
            yield
        if not closer or not name:
            return NOTHING
        run.call_without_arguments(name)
        return CALL

    def _label(self, run: Run) -> Step[str]:
        """Read `label:` if one of ours stands here, else nothing."""
        w = run.window
        while (found := self._labels.here(w)) is None:
            yield
        w.take(w.pos + len(found))
        return found[:-1]

    def _rest_of_line(self, run: Run) -> Step[str]:
        """Read to the end of the line, or to a closer; without quotes around it."""
        w = run.window
        pieces: list[str] = []
        while True:
            end = _LINE(w.text, w.pos).end()  # type: ignore[union-attr]  # always matches
            closer = run.delimiters.closer_in(w, end, pieces[-1] if pieces else "")
            if closer is None:
                yield
                continue
            if closer > w.pos:
                pieces.append(w.take(closer))
            if closer < end or end < len(w.text) or w.eof:
                line = "".join(pieces).strip()
                return line[1:-1] if len(line) > 1 and line[0] == line[-1] == '"' else line
            yield

    def _other_lines(self, run: Run) -> Step[None]:
        """Behind the arguments: the call's other labels are markup."""
        w, out = run.window, run.out
        while True:
            while (space := w.space()) is None:
                yield
            run.gap(space)
            while (found := _OTHERS.here(w)) is None:
                yield
            if not found:
                return
            out.gap_is_markup()
            w.take(w.pos + len(found))
            yield from self._rest_of_line(run)
