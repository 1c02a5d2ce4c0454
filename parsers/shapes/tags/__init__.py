"""A tag for the call and one for each parameter, or one for each key and each value.

<function=NAME><parameter=K>V</parameter></function>
NAME<arg_key>K</arg_key><arg_value>V</arg_value>
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.format import Format
from ...core.layout import Layout
from ...core.literals import any_of
from ...core.shape import Piece, Shape
from ..json_calls import JsonCalls
from .tag import Tag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .read import TagsReader

__all__ = ["Tag", "Tags"]


@dataclass(frozen=True, slots=True)
class Tags(Shape):
    """Tags for calls and parameters."""

    looks: ClassVar[str] = "<do=NAME><with=K>V</with></do>"
    order: ClassVar[int] = 30

    call: Tag | None
    parameter: Tag
    parameter_close: tuple[str, ...]
    close: tuple[str, ...] = ()
    #: what stands between a name without tag and the first parameter
    separator: tuple[str, ...] = ()
    #: a value stands on lines of its own: the newline on each side of it belongs to the tags
    value_on_own_lines: bool = False
    drift: JsonCalls = field(default_factory=JsonCalls)
    #: what may stand before arguments that are one JSON object (what closes that is in `close`)
    json_open: tuple[str, ...] = ()
    #: parameters whose value is all arguments if it is an object and the tool has no such parameter
    wrapped_in: tuple[str, ...] = ()
    #: a value may stand between `<![CDATA[` and `]]>`
    cdata: bool = False

    def read(self) -> TagsReader:
        from .read import TagsReader

        return TagsReader(self)

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        from .write import written

        return written(arguments, layout, self.parameter)

    def write_name(self, name: str) -> str:
        return self.call.written(name) if self.call else name

    def example(self, layout: Layout) -> str:
        from .write import written

        return written({"K": "V"}, layout, self.parameter)

    def constrain(self, parameters: Any, format: Format) -> Piece:
        from .constrain import constrain

        return constrain(parameters, format)

    def any_arguments(self, format: Format) -> Piece:
        from ..grammar import text_up_to_end

        return text_up_to_end(format)

    def with_value_lines(self, lines: bool) -> Tags:
        return replace(self, value_on_own_lines=lines)

    @property
    def heads(self) -> tuple[str, ...]:
        return self.call.begin if self.call else ()

    @property
    def closers(self) -> tuple[str, ...]:
        return self.close

    @property
    def bare_start(self) -> str:
        return any_of(self.heads)

    @property
    def inner_delimiters(self) -> tuple[str, ...]:
        tag = self.parameter
        between = [tag.key_close, tag.type_begin, tag.type_end, tag.end if tag.end != ">" else ""]
        inside = [literal for literal in between if literal]
        return (*tag.begin, *inside, *self.parameter_close, *self.separator, *self.json_open)
