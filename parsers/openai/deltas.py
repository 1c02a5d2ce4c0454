"""OpenAI's streaming deltas, from the server's side (`DeltaStream`) and the client's (`accumulate`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.events import Arguments, CallStart, Content, Event
from ..core.schema import json_type
from ..core.spec import Format
from ..errors import ToolwireError
from ..parser import Parser
from .message import Message, ToolCall, make_id

Delta = dict[str, Any]

_CHOICES = (None, "auto", "none", "required")


class DeltaStream:
    """Turns a model's text into the `delta` objects of a Chat Completions stream.

    Policies: `parallel=False` lets only the first call out; `tool_choice="none"` passes the text on
    verbatim; `legacy_function_call=True` writes the deprecated `function_call`; `role=True` puts
    `{"role": "assistant"}` in front.
    """

    def __init__(
        self,
        format: str | Format,
        tools: Any = None,
        *,
        parallel: bool = True,
        tool_choice: str | Mapping[str, Any] | None = None,
        legacy_function_call: bool = False,
        role: bool = False,
    ) -> None:
        if not isinstance(tool_choice, Mapping) and tool_choice not in _CHOICES:
            raise ToolwireError(
                f"tool_choice is {tool_choice!r}: use 'auto', 'none', 'required', or an object "
                "that names a tool."
            )
        self._parser = Parser(format, tools)
        self._verbatim = tool_choice == "none"
        self._legacy = legacy_function_call
        self._only_first = legacy_function_call or not parallel
        self._role_due = role
        self._calls = 0

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of the model's text; returns the deltas to send."""
        events = self._parser.feed(text)
        if self._verbatim:
            events = [Content(text)] if text else []
        return self._deltas(events)

    def finish(self) -> list[Delta]:
        """The message is over; returns the last deltas to send."""
        events = self._parser.finish()
        return self._deltas([] if self._verbatim else events)

    def finish_reason(self, engine_reason: str | None) -> str | None:
        """The reason to report, given the engine's own."""
        if not self._calls:
            return "stop" if engine_reason in ("tool_calls", "function_call") else engine_reason
        if engine_reason in ("stop", "tool_calls", "function_call"):
            return "function_call" if self._legacy else "tool_calls"
        return engine_reason

    def _deltas(self, events: Iterable[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        if self._role_due:
            self._role_due = False
            deltas.append({"role": "assistant"})
        for event in events:
            if isinstance(event, Content):
                _add_content(deltas, event.text)
            elif isinstance(event, CallStart):
                self._calls += 1
                if event.index == 0 or not self._only_first:
                    self._add_call(deltas, event)
            elif isinstance(event, Arguments) and (event.index == 0 or not self._only_first):
                self._add_arguments(deltas, event)
        return deltas

    def _add_call(self, deltas: list[Delta], event: CallStart) -> None:
        function = {"name": event.name, "arguments": ""}
        if self._legacy:
            deltas.append({"function_call": function})
            return
        id = event.id or make_id()
        call = {"index": event.index, "id": id, "type": "function", "function": function}
        if deltas and "tool_calls" in deltas[-1]:
            deltas[-1]["tool_calls"].append(call)
        else:
            deltas.append({"tool_calls": [call]})

    def _add_arguments(self, deltas: list[Delta], event: Arguments) -> None:
        last = deltas[-1] if deltas else {}
        if self._legacy:
            if "function_call" in last:
                last["function_call"]["arguments"] += event.text
            else:
                deltas.append({"function_call": {"arguments": event.text}})
            return
        calls = last.get("tool_calls")
        if calls and calls[-1]["index"] == event.index:
            calls[-1]["function"]["arguments"] += event.text
        else:
            call = {"index": event.index, "function": {"arguments": event.text}}
            if calls:
                calls.append(call)
            else:
                deltas.append({"tool_calls": [call]})


def _add_content(deltas: list[Delta], text: str) -> None:
    if deltas and "content" in deltas[-1]:
        deltas[-1]["content"] += text
    else:
        deltas.append({"content": text})


def accumulate(deltas: Iterable[Mapping[str, Any]]) -> Message:
    """Put a stream's deltas together, as a client does. `complete` is whether the arguments are JSON."""
    content: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        if delta.get("content"):
            content.append(delta["content"])
        entries = list(delta.get("tool_calls") or ())
        if delta.get("function_call"):
            entries.append({"index": 0, "function": delta["function_call"]})
        for entry in entries:
            _accumulate_call(calls, entry)
    return Message("".join(content) or None, [_whole(calls[index]) for index in sorted(calls)])


def _accumulate_call(calls: dict[int, dict[str, Any]], entry: Mapping[str, Any]) -> None:
    call = calls.setdefault(entry.get("index", 0), {"id": None, "name": "", "pieces": []})
    function = entry.get("function") or {}
    call["id"] = entry.get("id") or call["id"]
    call["name"] = function.get("name") or call["name"]
    call["pieces"].append(function.get("arguments") or "")


def _whole(call: Mapping[str, Any]) -> ToolCall:
    arguments = "".join(call["pieces"])
    complete = json_type(arguments) is not None
    return ToolCall(call["id"] or make_id(), call["name"], arguments, complete)
