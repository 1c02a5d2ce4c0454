"""The name in markup, the arguments as JSON: `NAME[ARGS]{…}`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...core.shape import Shape, check_pattern, check_spellings
from ..json_arguments import JsonArguments
from ..json_calls import JsonCalls

if TYPE_CHECKING:
    from .read import NamedJsonReader


@dataclass(frozen=True, slots=True)
class NamedJson(JsonArguments, Shape):
    """A name, perhaps an id, a separator, and the arguments."""

    looks: ClassVar[str] = "NAME[ARGS]{…}"
    order: ClassVar[int] = 50

    #: what stands between name and arguments; a newline will do where this is empty
    separator: tuple[str, ...] = ()
    #: what stands before the call's id, where it has one
    id_separator: tuple[str, ...] = ()
    #: how to take the name out of the header; the whole header is then the call's id
    header: str = ""
    drift: JsonCalls = field(default_factory=JsonCalls)
    #: what stands between the call's id and the name, where the id comes first
    name_separator: tuple[str, ...] = ()
    #: names that say that text follows, and no arguments
    text_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_spellings(self)
        check_pattern("NamedJson.header", self.header)

    def read(self) -> NamedJsonReader:
        from .read import NamedJsonReader

        return NamedJsonReader(self)

    @property
    def inner_delimiters(self) -> tuple[str, ...]:
        return (*self.separator, *self.id_separator, *self.name_separator)
