"""An object with bare keys and strings in quotes of its own: `call:NAME{k:<|"|>v<|"|>,n:42}`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.format import Format
from ...core.layout import Layout
from ...core.shape import Piece, Shape, refuse_gap
from ..json_calls import JsonCalls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .read import BareKeysReader


@dataclass(frozen=True, slots=True)
class BareKeys(Shape):
    """A prefix, a name, and an object with bare keys."""

    looks: ClassVar[str] = 'call:NAME{k:<|"|>v<|"|>,n:42}'
    order: ClassVar[int] = 60

    quote: str
    prefix: str = "call:"
    drift: JsonCalls = field(default_factory=JsonCalls)

    def __post_init__(self) -> None:
        refuse_gap("BareKeys.quote", self.quote)
        refuse_gap("BareKeys.prefix", self.prefix)

    def read(self) -> BareKeysReader:
        from .read import BareKeysReader

        return BareKeysReader(self)

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        from .write import written

        return written(arguments, self.quote, layout.sorted_keys)

    def example(self, layout: Layout) -> str:
        from .write import written

        return written({"k": "v", "n": 42}, self.quote, layout.sorted_keys)

    def constrain(self, parameters: Any, format: Format) -> Piece:
        from .constrain import constrain

        return constrain(parameters, self.quote, format.written)

    def any_arguments(self, format: Format) -> Piece:
        from ..grammar import text_up_to_end

        return text_up_to_end(format)

    @property
    def inner_delimiters(self) -> tuple[str, ...]:
        return (self.quote,)
