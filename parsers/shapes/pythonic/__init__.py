"""Calls as Python writes them, in a list or one a line: `[NAME(k="v"), NAME2(n=1)]`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...core.shape import Shape
from ..json_calls import JsonCalls
from .arguments import PythonArguments

if TYPE_CHECKING:
    from .read import PythonicReader


@dataclass(frozen=True, slots=True)
class Pythonic(PythonArguments, Shape):
    """Calls as Python writes them."""

    looks: ClassVar[str] = '[NAME(k="v", n=42)]'
    order: ClassVar[int] = 70

    drift: JsonCalls = field(default_factory=JsonCalls)

    def read(self) -> PythonicReader:
        from .read import PythonicReader

        return PythonicReader(self)

    @property
    def separators(self) -> str:
        return ",]"

    @property
    def bare_start(self) -> str:
        return r"\[|```"
