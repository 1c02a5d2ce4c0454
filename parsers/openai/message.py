"""A whole message: its text and its calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..events import Arguments, CallEnd, CallStart, Content, Event, Reasoning
from ..formats.parser import Parser
from ..formats.reasoning import Reasoning as ReasoningChoice
from ..schema.definitions import Tools
from .answers import CallIds
from .repair import Repair


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `arguments` is the JSON text that the model wrote; `complete` is whether it finished."""

    id: str
    name: str
    arguments: str
    complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The call, as OpenAI's API has it in a message."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}

    def load(self) -> dict[str, Any]:
        """The arguments as a dict. Raises `ToolwireError` where they are not a JSON object."""
        try:
            value = json.loads(self.arguments)
        except RecursionError:
            raise ToolwireError(
                f"The arguments of {self.name!r} are nested too deeply to load."
            ) from None
        except ValueError as error:
            why = "the model did not finish them" if not self.complete else str(error)
            raise ToolwireError(
                f"The arguments of {self.name!r} are not valid JSON: {why}."
            ) from None
        if not isinstance(value, dict):
            raise ToolwireError(
                f"The arguments of {self.name!r} are a JSON {type(value).__name__}, not an object."
            )
        return value

    def preview(self) -> dict[str, Any]:
        """What can be made of the arguments so far, for showing a call while it is written.

        Best effort: an empty dict where nothing can be made of them.
        """
        import partial_json_parser as partial  # only interfaces need it, so only they wait for it

        try:
            value = partial.loads(self.arguments)
        except (ValueError, IndexError, AssertionError, RecursionError):  # where it can't go on
            return {}
        return value if isinstance(value, dict) else {}


def call_problem(call: ToolCall) -> str:
    """What is wrong with a call's arguments, or nothing."""
    try:
        call.load()
    except ToolwireError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class Message:
    """What a model said: `content` and `reasoning` are None where there is none."""

    content: str | None
    tool_calls: list[ToolCall]
    reasoning: str | None = None

    def to_dict(self, reasoning_key: str = "reasoning_content") -> dict[str, Any]:
        """An assistant message, as OpenAI's API has it in requests and answers. Some servers call the
        thoughts `reasoning`."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning is not None:
            message[reasoning_key] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        return message


def collect(
    events: Iterable[Event], whose: Callable[[str | None, str], str] | None = None
) -> Message:
    """The message that events add up to. `whose` gives a call its id: it is told the model's own, and
    the tool's name."""
    whose = whose or CallIds()
    content: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    name = ""
    id: str | None = None
    pieces: list[str] = []
    for event in events:
        if isinstance(event, Content):
            content.append(event.text)
        elif isinstance(event, Reasoning):
            thoughts.append(event.text)
        elif isinstance(event, CallStart):
            name, id, pieces = event.name, event.id, []
        elif isinstance(event, Arguments):
            pieces.append(event.text)
        elif isinstance(event, CallEnd):
            arguments = "".join(pieces)
            own = id or event.id
            calls.append(ToolCall(whose(own, name), name, arguments, event.complete))
    return Message("".join(content) or None, calls, "".join(thoughts) or None)


def parse(
    format: str | Format,
    text: str,
    tools: Tools | None = None,
    reasoning: ReasoningChoice = None,
    in_reasoning: bool = False,
    *,
    earlier_calls: int = 0,
    repair: str | Iterable[str] = (),
) -> Message:
    """Read a whole text: the same machine as for a stream, fed once.

    `earlier_calls`: how many calls the conversation had before, for formats that count them in their
    ids. `repair`: what of "coerce" and "names" may be done to calls.
    """
    parser = Parser(format, tools, reasoning, in_reasoning)
    events = parser.feed(text) + parser.finish()
    if repair:
        events = Repair(repair, tools).events(events)
    return collect(events, CallIds(parser.format.ids, earlier_calls))
