"""Readers of shapes whose models fall back to JSON, inside the wrappers of their own format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.driver import Run
from ...core.shape_reader import NOTHING, Outcome, ShapeReader
from ...core.window import Step
from .read import JsonCallsReader

if TYPE_CHECKING:
    from ...core.shape import Shape
    from . import JsonCalls


class DriftingReader(ShapeReader):
    """Asks first whether a call in JSON stands there; what does not is for `read_own`."""

    def __init__(self, shape: Shape, drift: JsonCalls) -> None:
        super().__init__(shape)
        self._drift = JsonCallsReader(drift)

    def read(self, run: Run) -> Step[Outcome]:
        """No generator itself: each token would pay for one more."""
        drifts = self._drift.begins(run.window)
        if drifts is None:
            return self._read_once_told(run)
        return self._drift.read(run) if drifts else self.read_own(run)

    def _read_once_told(self, run: Run) -> Step[Outcome]:
        while (drifts := self._drift.begins(run.window)) is None:
            yield
        return (yield from (self._drift.read(run) if drifts else self.read_own(run)))

    def read_own(self, run: Run) -> Step[Outcome]:
        """Read one call as the shape itself has it."""
        yield from ()
        return NOTHING
