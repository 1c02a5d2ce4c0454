"""A call's arguments as a tree of elements: one for each parameter, and in it one for each of its parts.

<invoke name="NAME"><K>V</K><L><item>V</item></L></invoke>
<call name="NAME"><value name="K" type="raw">V</value></call>
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.format import Format
from ...core.layout import Layout
from ...core.literals import any_of
from ...core.shape import Piece, Shape
from ...errors import ToolwireError
from ..json_calls import JsonCalls
from .types import ElementTypes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .read import ElementsReader

__all__ = ["ElementTypes", "Elements"]

_WORD = re.compile(r"""[^\s<>/"'=]{1,64}""")


@dataclass(frozen=True, slots=True)
class Elements(Shape):
    """Elements for calls, parameters, and the parts of parameters."""

    looks: ClassVar[str] = '<do name="NAME"><K>V</K></do>'
    order: ClassVar[int] = 20

    #: what a call's element is called; its name is the attribute `name`
    call: str
    #: what all other elements are called, where their names are the attribute `name`, too; empty where
    #: an element is called like the parameter
    element: str = ""
    #: what the items of a list are called then
    item: str = "item"
    #: what stands before every tag
    marker: str = ""
    #: how an element says what it holds; without that, the tool's schema tells
    types: ElementTypes | None = None
    drift: JsonCalls = field(default_factory=JsonCalls)

    def __post_init__(self) -> None:
        for word in (self.call, self.item, *filter(None, [self.element])):
            if not _WORD.fullmatch(word):
                raise ToolwireError(f"Elements can't be called {word!r}: give a word, without <>.")
        if any(character.isspace() for character in self.marker):
            raise ToolwireError("Elements.marker can't have white space in it.")

    def read(self) -> ElementsReader:
        from .read import ElementsReader

        return ElementsReader(self)

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        from .write import written

        return written(self, arguments)

    def example(self, layout: Layout) -> str:
        from .write import written

        return written(self, {"K": "V"})

    def constrain(self, parameters: Any, format: Format) -> Piece:
        from .constrain import constrain

        return constrain(self, parameters, format)

    def any_arguments(self, format: Format) -> Piece:
        from ..grammar import text_up_to_end

        return text_up_to_end(format)

    @property
    def heads(self) -> tuple[str, ...]:
        return (f"{self.marker}<{self.call} ",)

    @property
    def closers(self) -> tuple[str, ...]:
        close = f"</{self.call}>"
        return tuple(dict.fromkeys([self.marker + close, close]))

    @property
    def inner_delimiters(self) -> tuple[str, ...]:
        close = f"</{self.element}>" if self.element else "</"
        return tuple(dict.fromkeys([f"{self.marker}<{self.element}", self.marker + close, close]))

    @property
    def separators(self) -> str:
        """Those that are not the beginning of another call."""
        return "".join(c for c in ",;]}" if not self.marker.startswith(c))

    @property
    def bare_start(self) -> str:
        return any_of(self.heads)

    # -- its tags, as they are written --------------------------------------------------------

    def opening(self, name: str | None, type: str = "") -> str:
        """The opening tag of an element; None is the name of a list's item."""
        if not self.element:
            return f"{self.marker}<{self.item if name is None else name}>"
        named = "" if name is None else f' name="{name}"'
        typed = f' {self.types.attribute}="{type}"' if self.types else ""
        return f"{self.marker}<{self.element}{named}{typed}>"

    def closing(self, name: str | None) -> str:
        word = self.element or (self.item if name is None else name)
        return f"{self.marker}</{word}>"
