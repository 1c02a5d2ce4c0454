"""Which calls are in a model's output, as far as it can be told without knowing its format.

Every shape is asked; the first that finds any calls is believed. It is a guess: `toolwire new-format`
shows it, and lets the user say it better. Where the tools are known, only their names count, and their
schemas say what is a number.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.samples import Call
from ..schema.tools import Tool
from ..shapes import ALL


def guess_calls(text: str, tools: Mapping[str, Tool] | None) -> tuple[Call, ...]:
    """The calls in a text, with their arguments; none where nothing looks like one."""
    for shape in ALL:
        calls = [call for call in shape.find(text, tools) if tools is None or call[0] in tools]
        if calls:
            return tuple(calls)
    return ()
