"""Labelled lines.

    name: NAME
    arguments: {…}

The labels may come in either order; others that a call has (`id`, `type`) are markup. A JSON object or
array in the same place is read as such.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..jsontext import VALUE_START, read_arguments
from ..literals import Literals
from ..reader import Step
from ..shapes import Labels
from .base import CALL, NOTHING, Outcome, ShapeReader
from .json_calls import KNOWN_KEYS, JsonCallsReader

if TYPE_CHECKING:
    from ..driver import Run

_LINE: Final = re.compile(r"[^\r\n<]*")
_OTHERS: Final = Literals([f"{label}:" for label in KNOWN_KEYS])


class LabelsReader(ShapeReader):
    """Labelled lines."""

    def __init__(self, shape: Labels) -> None:
        super().__init__(shape)
        self._name_label: str = shape.name_label
        self._argument_labels: tuple[str, ...] = shape.argument_labels
        labels = (shape.name_label, *shape.argument_labels, *KNOWN_KEYS)
        self._labels: Literals = Literals([f"{label}:" for label in labels])
        self._drift = JsonCallsReader(shape.drift)

    def may_start(self, character: str) -> bool:
        return self._drift.may_start(character) or character.isalpha()

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        if self._drift.may_start((yield from r.peek())):
            return (yield from self._drift.read(run))
        name = ""
        early: list[str] | None = None
        complete = False
        while True:
            label = yield from self._label(run)
            if label == self._name_label and not name:
                name = yield from self._rest_of_line(run)
                if not name:
                    return NOTHING
                if early is not None:
                    r.start_call(name)
                    for piece in early:
                        r.arguments(piece)
                    break
            elif label in self._argument_labels and early is None:
                yield from r.skip_space()
                if (yield from r.peek()) not in VALUE_START:
                    return self._without_arguments(run, name, early, (yield from run.at_closer()))
                if name:
                    r.start_call(name)
                    complete = yield from read_arguments(r, run.marks, r.arguments)
                    break
                early = []
                complete = yield from read_arguments(r, run.marks, early.append)
            elif label in KNOWN_KEYS:
                yield from self._rest_of_line(run)
            else:
                return self._without_arguments(run, name, early, (yield from run.at_closer()))
            yield from r.skip_space()
        r.end_call(complete)
        if complete:
            yield from self._other_lines(run)
        return CALL

    def _without_arguments(
        self, run: Run, name: str, early: list[str] | None, closed: bool
    ) -> Outcome:
        if not closed or not name or early is not None:
            return NOTHING
        run.r.call_without_arguments(name)
        return CALL

    def _label(self, run: Run) -> Step[str]:
        """Read `label:` if one of ours stands here, else nothing."""
        r = run.r
        found = yield from self._labels.here(r)
        r.take(r.pos + len(found))
        return found[:-1]

    def _rest_of_line(self, run: Run) -> Step[str]:
        """Read to the end of the line, or to a closer; without quotes around it."""
        r = run.r
        pieces = []
        while True:
            found = _LINE.match(r.text, r.pos)
            if found:
                pieces.append(r.take(found.end()))
            c = yield from r.peek()
            if c in ("", "\r", "\n") or (yield from run.at_closer()):
                line = "".join(pieces).strip()
                return line[1:-1] if len(line) > 1 and line[0] == line[-1] == '"' else line
            if c == "<":
                pieces.append(r.take(r.pos + 1))

    def _other_lines(self, run: Run) -> Step[None]:
        """Behind the arguments: the call's other labels are markup."""
        r = run.r
        while True:
            r.gap((yield from r.skip_space()))
            found = yield from _OTHERS.here(r)
            if not found:
                return
            r.gap_is_markup()
            r.take(r.pos + len(found))
            yield from self._rest_of_line(run)
