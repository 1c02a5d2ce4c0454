"""`Parser`: a format by its name, the caller's tools, and the text as it comes."""

from __future__ import annotations

from typing import Any

from .core.parser import EventParser
from .core.spec import Format
from .formats import get_format


class Parser(EventParser):
    """Reads one message of a model in one format.

    parser = Parser("hermes", tools=tools)
    for chunk in stream:
        for event in parser.feed(chunk): ...
    for event in parser.finish(): ...
    """

    __slots__ = ()

    def __init__(self, format: str | Format, tools: Any = None) -> None:
        super().__init__(format if isinstance(format, Format) else get_format(format), tools)
