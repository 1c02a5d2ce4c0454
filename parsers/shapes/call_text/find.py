"""Finds calls that look like code in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...core.format import Format
from ...core.samples import Call
from ...schema.tools import Tool
from ..find_code import calls_read
from . import CallText


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """The calls that the shape itself reads: it needs nothing around them."""
    return calls_read(Format("text", CallText()), text, tools)
