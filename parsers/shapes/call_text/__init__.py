"""`NAME(k="v")` in plain text, for models that were never trained on tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...core.shape import Shape
from ..pythonic.arguments import PythonArguments

if TYPE_CHECKING:
    from .read import CallTextReader


@dataclass(frozen=True, slots=True)
class CallText(PythonArguments, Shape):
    """`Name(args)` in plain text."""

    looks: ClassVar[str] = 'NAME(k="v", n=42) in plain text, with nothing around it'
    order: ClassVar[int] = 80

    def read(self) -> CallTextReader:
        from .read import CallTextReader

        return CallTextReader(self)

    @property
    def separators(self) -> str:
        return ""

    @property
    def needs_wrappers(self) -> bool:
        return False
