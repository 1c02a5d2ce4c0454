"""`NAME(k="v")` in plain text, for models that were never trained on tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.shape import Shape
from ..pythonic.arguments import PythonArguments
from .infer import find, infer
from .read import CallTextReader


@dataclass(frozen=True, slots=True)
class CallText(PythonArguments, Shape):
    """`Name(args)` in plain text."""

    looks: ClassVar[str] = 'NAME(k="v", n=42) in plain text, with nothing around it'

    def read(self) -> CallTextReader:
        return CallTextReader(self)

    infer = classmethod(infer)
    find = classmethod(find)

    @property
    def separators(self) -> str:
        return ""

    @property
    def needs_wrappers(self) -> bool:
        return False
