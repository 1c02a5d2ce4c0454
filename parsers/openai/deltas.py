"""OpenAI's streaming deltas, from the server's side (`DeltaStream`) and the client's (`accumulate`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..events import Arguments, CallStart, Content, Event, Reasoning
from ..formats.parser import Parser, text_only
from ..formats.reasoning import Reasoning as ReasoningChoice
from ..schema.definitions import Tools
from .answers import CallIds, finish_reason, first_call, is_complete
from .message import Message, ToolCall
from .repair import Repair
from .request import read_choice

Delta = dict[str, Any]

#: What servers call a message's thoughts.
REASONING_KEYS = ("reasoning_content", "reasoning")
_CHOICES = (None, "auto", "none", "required")


class DeltaStream:
    """Turns a model's text into the `delta` objects of a Chat Completions stream.

    Policies: `parallel=False` lets only the first call out; `tool_choice="none"` passes the text on
    verbatim; `legacy_function_call=True` writes the deprecated `function_call`; `role=True` puts
    `{"role": "assistant"}` in front. Thoughts, where `reasoning` looks for them, go out under
    `reasoning_key`, never together with content. `earlier_calls` is how many calls the conversation had
    before this message, for formats that count them in their ids. `repair` is what of "coerce" and
    "names" may be done to calls; `repairs` counts how often it was.
    """

    def __init__(
        self,
        format: str | Format,
        tools: Tools | None = None,
        *,
        parallel: bool = True,
        tool_choice: str | Mapping[str, Any] | None = None,
        legacy_function_call: bool = False,
        role: bool = False,
        reasoning: ReasoningChoice = None,
        in_reasoning: bool = False,
        reasoning_key: str = "reasoning_content",
        earlier_calls: int = 0,
        repair: str | Iterable[str] = (),
    ) -> None:
        if not isinstance(tool_choice, Mapping) and tool_choice not in _CHOICES:
            raise ToolwireError(
                f"tool_choice is {tool_choice!r}: use 'auto', 'none', 'required', or an object "
                "that names a tool."
            )
        if reasoning_key not in REASONING_KEYS:
            raise ToolwireError(
                f"reasoning_key is {reasoning_key!r}: use {' or '.join(map(repr, REASONING_KEYS))}."
            )
        if read_choice(tool_choice).mode == "none":
            format, tools = text_only(format), None
        self._parser = Parser(format, tools, reasoning, in_reasoning)
        self._ids = CallIds(self._parser.format.ids, earlier_calls)
        self._repair = Repair(repair, tools)
        self._reasoning_key = reasoning_key
        self._legacy = legacy_function_call
        self._only_first = legacy_function_call or not parallel
        self._role_due = role
        self._called = False

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of the model's text; returns the deltas to send."""
        return self.encode(self._parser.feed(text))

    def finish(self) -> list[Delta]:
        """The message is over; returns the last deltas to send."""
        return self.encode(self._parser.finish())

    def encode(self, events: list[Event]) -> list[Delta]:
        """The deltas to send for events, where somebody else's parser reads the text."""
        return self._deltas(self._repair.events(events))

    @property
    def repairs(self) -> dict[str, int]:
        """How often each repair was done."""
        return dict(self._repair.counts)

    def finish_reason(self, engine_reason: str | None) -> str | None:
        """The reason to report, given the engine's own."""
        return finish_reason(engine_reason, self._called, legacy=self._legacy)

    def _deltas(self, events: Iterable[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        if self._role_due:
            self._role_due = False
            deltas.append({"role": "assistant"})
        for event in first_call(events) if self._only_first else events:
            if isinstance(event, Content):
                _add_text(deltas, "content", event.text)
            elif isinstance(event, Reasoning):
                _add_text(deltas, self._reasoning_key, event.text)
            elif isinstance(event, CallStart):
                self._called = True
                self._add_call(deltas, event)
            elif isinstance(event, Arguments):
                self._add_arguments(deltas, event)
        return deltas

    def _add_call(self, deltas: list[Delta], event: CallStart) -> None:
        function = {"name": event.name, "arguments": ""}
        if self._legacy:
            deltas.append({"function_call": function})
            return
        id = self._ids(event.id, event.name)
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


def _add_text(deltas: list[Delta], key: str, text: str) -> None:
    if deltas and key in deltas[-1]:
        deltas[-1][key] += text
    else:
        deltas.append({key: text})


def accumulate(deltas: Iterable[Mapping[str, Any]]) -> Message:
    """Put a stream's deltas together, as a client does. Thoughts count under either of their names."""
    content: list[str] = []
    thoughts: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        if delta.get("content"):
            content.append(delta["content"])
        thoughts += [delta[key] for key in REASONING_KEYS if delta.get(key)][:1]
        entries = list(delta.get("tool_calls") or ())
        if delta.get("function_call"):
            entries.append({"index": 0, "function": delta["function_call"]})
        for entry in entries:
            _accumulate_call(calls, entry)
    ids = CallIds()
    whole = [_whole(calls[index], ids) for index in sorted(calls)]
    return Message("".join(content) or None, whole, "".join(thoughts) or None)


def _accumulate_call(calls: dict[int, dict[str, Any]], entry: Mapping[str, Any]) -> None:
    call = calls.setdefault(entry.get("index", 0), {"id": None, "name": "", "pieces": []})
    function = entry.get("function") or {}
    call["id"] = entry.get("id") or call["id"]
    call["name"] = function.get("name") or call["name"]
    call["pieces"].append(function.get("arguments") or "")


def _whole(call: Mapping[str, Any], ids: CallIds) -> ToolCall:
    arguments = "".join(call["pieces"])
    name = call["name"]
    return ToolCall(ids(call["id"], name), name, arguments, is_complete(arguments))
