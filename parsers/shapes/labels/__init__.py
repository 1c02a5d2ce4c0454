"""Labelled lines: `name: NAME`, and below it `arguments: {…}`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ...core.shape import Shape, check_spellings, refuse_gap
from ..json_arguments import JsonArguments
from ..json_calls import JsonCalls
from .infer import find, infer
from .read import LabelsReader


@dataclass(frozen=True, slots=True)
class Labels(JsonArguments, Shape):
    """Labelled lines."""

    looks: ClassVar[str] = "name: NAME, and a line arguments: {…}"

    name_label: str = "name"
    argument_labels: tuple[str, ...] = ("arguments", "parameters")
    drift: JsonCalls = field(default_factory=JsonCalls)

    def __post_init__(self) -> None:
        check_spellings(self)
        refuse_gap("Labels", self.name_label, *self.argument_labels)

    def read(self) -> LabelsReader:
        return LabelsReader(self)

    infer = classmethod(infer)
    find = staticmethod(find)
