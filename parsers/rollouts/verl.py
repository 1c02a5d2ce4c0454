"""verl's tool parsers: `rollout.multi_turn.format=toolwire_hermes`.

verl loads this module by its entry point (group `verl.plugins`) in each of its processes. There is one
parser for each format, under the same names as in the engines. What they give is what a server with that
parser gives for the same text; a call that was cut off is among it, and verl tells the model that its
arguments are no JSON.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from verl.experimental.agent_loop.tool_parser import FunctionCall, ToolParser

from ..formats import ANY, get_format, list_formats
from ..formats.user_files import load_user_formats
from .ids import decode, read, stop_token_ids

PREFIX = "toolwire_"

_log = logging.getLogger("toolwire.verl")


class _Parser(ToolParser):  # type: ignore[misc]  # verl is not there for the checker
    """`toolwire_format` is set by the class of each format."""

    toolwire_format: str

    @property
    def stop_token_ids(self) -> list[int]:
        return stop_token_ids(self.toolwire_format, self.tokenizer)

    async def extract_tool_calls(
        self, responses_ids: list[int], tools: Any = None
    ) -> tuple[str, list[Any]]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, self._read, responses_ids, tools)

    def _read(self, ids: list[int], tools: Any) -> tuple[str, list[Any]]:
        spec = get_format(self.toolwire_format)
        # verl wants the id that the model wrote, and none that anybody made up.
        found = read(
            spec,
            decode(spec, ids, self.tokenizer),
            [_as_dict(tool) for tool in tools] if tools else None,
            None,
            False,
            lambda own, name: own or "",
        )
        calls = [
            FunctionCall(name=call.name, arguments=call.arguments, tool_call_id=call.id or None)
            for call in found.tool_calls
        ]
        return found.content or "", calls


def _as_dict(tool: Any) -> Any:
    return tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else tool


def register() -> None:
    """Tells verl of all formats. May be called any number of times."""
    load_user_formats(complain=_log.error)
    for name in (*list_formats(), ANY):
        kind = type(f"{PREFIX}{name}", (_Parser,), {"toolwire_format": name})
        ToolParser.register(PREFIX + name)(kind)


register()  # verl only imports what an entry point names
