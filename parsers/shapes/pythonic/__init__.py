"""Calls as Python writes them, in a list or one a line: `[NAME(k="v"), NAME2(n=1)]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ...core.samples import Call, Inferred, Sample
from ...core.shape import Shape
from ...schema.tools import Tool
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

    @classmethod
    def infer(cls, samples: Sequence[Sample]) -> Inferred | None:
        return infer(cls, samples)

    @classmethod
    def find(cls, text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
        return find(cls, text, tools)

    @property
    def separators(self) -> str:
        return ",]"

    @property
    def bare_start(self) -> str:
        return r"\[|```"
