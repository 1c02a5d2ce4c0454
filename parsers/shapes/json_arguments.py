"""What shapes have in common that write a call's arguments as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.format import Format
from ..core.layout import Layout
from ..core.shape import Piece


class JsonArguments:
    """Arguments as one JSON object."""

    __slots__ = ()

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        from .values import dumps

        return dumps(arguments, layout.compact, layout.sorted_keys)

    def constrain(self, parameters: Any, format: Format) -> Piece:
        from .json_grammar import json_object

        return json_object(parameters, format.written.sorted_keys, format.written.compact)

    def any_arguments(self, format: Format) -> Piece | None:
        from .json_grammar import json_object

        return json_object(None)
