"""Calls as JSON objects, alone or in an array: `{"name": "NAME", "arguments": {…}}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.format import Format
from ...core.layout import Layout
from ...core.shape import NotExpressible, Piece, Shape
from ..json_arguments import JsonArguments
from ..values import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .read import JsonCallsReader


@dataclass(frozen=True, slots=True)
class JsonCalls(JsonArguments, Shape):
    """Calls as JSON objects."""

    looks: ClassVar[str] = '{"name": "NAME", "arguments": {…}}'
    order: ClassVar[int] = 10

    name_keys: tuple[str, ...] = ("name",)
    argument_keys: tuple[str, ...] = ("arguments", "parameters")
    name_is_key: bool = False
    #: objects are written as Python writes them: `{'name': 'NAME', 'arguments': {'k': True}}`
    python: bool = False
    #: names that say that nothing is called
    no_call: tuple[str, ...] = ()

    def read(self) -> JsonCallsReader:
        from .read import JsonCallsReader

        return JsonCallsReader(self)

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        return repr(arguments) if self.python else JsonArguments.write(self, arguments, layout)

    def write_name(self, name: str) -> str:
        text = dumps(name)[1:-1]
        return text.replace("'", "\\'") if self.python else text

    def constrain(self, parameters: Any, format: Format) -> Piece:
        if self.python:
            raise NotExpressible("values as Python writes them")
        return JsonArguments.constrain(self, parameters, format)

    def any_arguments(self, format: Format) -> Piece | None:
        return None if self.python else JsonArguments.any_arguments(self, format)

    @property
    def bare_start(self) -> str:
        return r"\{|\[|```"

    @property
    def inline_starts(self) -> str:
        return "{["
