"""Calls as Python writes them, in a list or one a line: `[NAME(k="v"), NAME2(n=1)]`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ...core.shape import Shape
from ..json_calls import JsonCalls
from .arguments import PythonArguments
from .infer import find, infer
from .read import PythonicReader


@dataclass(frozen=True, slots=True)
class Pythonic(PythonArguments, Shape):
    """Calls as Python writes them."""

    looks: ClassVar[str] = '[NAME(k="v", n=42)]'

    drift: JsonCalls = field(default_factory=JsonCalls)

    def read(self) -> PythonicReader:
        return PythonicReader(self)

    infer = classmethod(infer)
    find = classmethod(find)

    @property
    def separators(self) -> str:
        return ",]"

    @property
    def bare_start(self) -> str:
        return r"\[|```"
