"""Labelled lines: `name: NAME`, and below it `arguments: {…}`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...core.shape import Shape, check_spellings, refuse_gap
from ..json_arguments import JsonArguments
from ..json_calls import JsonCalls

if TYPE_CHECKING:
    from .read import LabelsReader


@dataclass(frozen=True, slots=True)
class Labels(JsonArguments, Shape):
    """Labelled lines."""

    looks: ClassVar[str] = "name: NAME, and a line arguments: {…}"
    order: ClassVar[int] = 40

    name_label: str = "name"
    argument_labels: tuple[str, ...] = ("arguments", "parameters")
    drift: JsonCalls = field(default_factory=JsonCalls)

    def __post_init__(self) -> None:
        check_spellings(self)
        refuse_gap("Labels", self.name_label, *self.argument_labels)

    def read(self) -> LabelsReader:
        from .read import LabelsReader

        return LabelsReader(self)
