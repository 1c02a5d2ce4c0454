"""`NAME(k="v")` in plain text, for models that were never trained on tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...core.samples import Call, Inferred, Sample
from ...core.shape import Shape
from ...schema.tools import Tool
from ..pythonic.arguments import PythonArguments
from .infer import find, infer
from .read import CallTextReader


@dataclass(frozen=True, slots=True)
class CallText(PythonArguments, Shape):
    """`Name(args)` in plain text."""

    looks: ClassVar[str] = 'NAME(k="v", n=42) in plain text, with nothing around it'

    def read(self) -> CallTextReader:
        return CallTextReader(self)

    @classmethod
    def infer(cls, samples: Sequence[Sample]) -> Inferred | None:
        return infer(cls, samples)

    @classmethod
    def find(cls, text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
        return find(cls, text, tools)

    @property
    def separators(self) -> str:
        return ""

    @property
    def needs_wrappers(self) -> bool:
        return False
