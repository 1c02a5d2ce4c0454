"""Finds lists of calls that look like code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...core.format import Format
from ...core.samples import Call
from ...schema.tools import Tool
from ..find_code import calls_read, closing_parenthesis
from . import Pythonic

_NAME = r"[A-Za-z_][\w.-]*"
_LIST_START = re.compile(rf"\[\s*{_NAME}\(")
_NEXT_CALL = re.compile(rf"\s*,\s*{_NAME}\(")
_LIST_END = re.compile(r"[\s,]*\]")


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterator[Call]:
    """The calls in lists, wherever these stand."""
    for written in _lists(text):
        yield from calls_read(Format("list", Pythonic(), bare=True), written, tools)


def _lists(text: str) -> Iterator[str]:
    """The lists of calls in a text."""
    place = 0
    while opened := _LIST_START.search(text, place):
        call: re.Match[str] | None = opened
        while call:
            place = closing_parenthesis(text, call.end() - 1)
            if not place:
                return  # the text ends inside this call
            call = _NEXT_CALL.match(text, place)
        closed = _LIST_END.match(text, place)
        if closed:
            place = closed.end()
            yield text[opened.start() : place]
