"""What a message is read with, in one value: its format, the caller's tools, the text as it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..schema.tools import KnownTools, Tool
from .format import Format
from .reasoning import ReasoningStyle
from .window import Window


class Context:
    """Everything that whoever reads a message has to know of it beforehand."""

    __slots__ = ("constrained", "format", "known", "style", "tools", "window")

    def __init__(
        self,
        format: Format,
        tools: Mapping[str, Tool] | None,
        window: Window,
        style: ReasoningStyle | None = None,
        known: KnownTools | None = None,
        constrained: bool = False,
    ) -> None:
        """`style`: how thoughts are marked, if any are looked for; `known`: the same tools, with more
        that is known of them; `constrained`: a grammar holds the model to its calls."""
        self.format: Final = format
        self.tools: Final = tools
        self.window: Final = window
        self.style: Final = style
        self.known: Final = known
        self.constrained: Final = constrained
