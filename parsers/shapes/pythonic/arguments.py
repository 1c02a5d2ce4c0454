"""What shapes have in common that write a call's arguments as Python does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.format import Format
from ...core.layout import Layout
from ...core.shape import Piece


class PythonArguments:
    """Arguments between parentheses: `k="v", n=42`."""

    __slots__ = ()

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        from .write import written

        return written(arguments, layout.python_words)

    def example(self, layout: Layout) -> str:
        from .write import written

        return written({"k": "v", "n": 42}, layout.python_words)

    def constrain(self, parameters: Any, format: Format) -> Piece:
        from .constrain import constrain

        return constrain(parameters, format)

    def any_arguments(self, format: Format) -> None:
        """Free arguments between parentheses have no end that a grammar could tell."""
