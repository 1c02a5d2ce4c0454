"""An object with bare keys and strings in quotes of its own: `call:NAME{k:<|"|>v<|"|>,n:42}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...core.format import Format
from ...core.layout import Layout
from ...core.shape import Piece, Shape, refuse_gap
from ..grammar import text_up_to_end
from ..json_calls import JsonCalls
from .constrain import constrain
from .infer import find, infer
from .read import BareKeysReader
from .write import written


@dataclass(frozen=True, slots=True)
class BareKeys(Shape):
    """A prefix, a name, and an object with bare keys."""

    looks: ClassVar[str] = 'call:NAME{k:<|"|>v<|"|>,n:42}'

    quote: str
    prefix: str = "call:"
    drift: JsonCalls = field(default_factory=JsonCalls)

    def __post_init__(self) -> None:
        refuse_gap("BareKeys.quote", self.quote)
        refuse_gap("BareKeys.prefix", self.prefix)

    def read(self) -> BareKeysReader:
        return BareKeysReader(self)

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        return written(arguments, self.quote, layout.sorted_keys)

    def example(self, layout: Layout) -> str:
        return written({"k": "v", "n": 42}, self.quote, layout.sorted_keys)

    def constrain(self, parameters: Any, format: Format) -> Piece:
        return constrain(parameters, self.quote, format.written)

    def any_arguments(self, format: Format) -> Piece:
        return text_up_to_end(format)

    infer = classmethod(infer)
    find = staticmethod(find)

    @property
    def inner_delimiters(self) -> tuple[str, ...]:
        return (self.quote,)
