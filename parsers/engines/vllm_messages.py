"""The messages that vLLM's streams are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .unchecked import Maker, choose, filler


@dataclass(frozen=True, slots=True)
class Messages:
    """Makers of vLLM's classes.

    `message(content, calls)`, where content may be None; the calls' entries are
    `start(index, id, name, arguments)` and, for what comes later, `piece(index, arguments)`.
    """

    message: Maker
    start: Maker
    piece: Maker


def messages(delta_message: Any, delta_tool_call: Any, delta_function_call: Any) -> Messages:
    """The quick makers, or the classes' own constructors where those differ."""

    def checked_message(content: str | None, calls: list[Any]) -> Any:
        fields: dict[str, Any] = {} if content is None else {"content": content}
        return delta_message(**fields, **({"tool_calls": calls} if calls else {}))

    def checked_start(index: int, id: str, name: str, arguments: str) -> Any:
        function = delta_function_call(name=name, arguments=arguments)
        return delta_tool_call(id=id, type="function", index=index, function=function)

    def checked_piece(index: int, arguments: str) -> Any:
        return delta_tool_call(index=index, function=delta_function_call(arguments=arguments))

    def quick_message() -> Maker:
        fill = filler(delta_message, extra=True)

        def message(content: str | None, calls: list[Any]) -> Any:
            if content is None:
                given = {"tool_calls"} if calls else set()
            else:
                given = {"content", "tool_calls"} if calls else {"content"}
            values = {"role": None, "content": content, "reasoning": None, "tool_calls": calls}
            return fill(values, given)

        return message

    def quick_start() -> Maker:
        call, function = fillers()

        def start(index: int, id: str, name: str, arguments: str) -> Any:
            named = function({"name": name, "arguments": arguments}, {"name", "arguments"})
            values = {"id": id, "type": "function", "index": index, "function": named}
            return call(values, {"id", "type", "index", "function"})

        return start

    def quick_piece() -> Maker:
        call, function = fillers()

        def piece(index: int, arguments: str) -> Any:
            text = function({"name": None, "arguments": arguments}, {"arguments"})
            values = {"id": None, "type": None, "index": index, "function": text}
            return call(values, {"index", "function"})

        return piece

    def fillers() -> tuple[Maker, Maker]:
        return filler(delta_tool_call, extra=True), filler(delta_function_call, extra=False)

    call = checked_piece(0, "{")
    return Messages(
        message=choose(quick_message, checked_message, "text", [call]),
        start=choose(quick_start, checked_start, 0, "call_1", "f", "{"),
        piece=choose(quick_piece, checked_piece, 0, "{"),
    )
