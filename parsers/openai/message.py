"""A whole message: its text and its calls."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..core.events import Arguments, CallEnd, CallStart, Content, Event
from ..core.spec import Format
from ..errors import ToolwireError
from ..parser import Parser

# A generator of our own: engines seed Python's. A process that was forked must not go on like its
# parent. (Asking the system for every id takes four times as long.)
_random = random.Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random.seed)


def make_id() -> str:
    """A new id for a call, as OpenAI's look: `call_` and 24 hexadecimal digits."""
    return f"call_{_random.getrandbits(96):024x}"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `arguments` is the JSON text that the model wrote; `complete` is whether it finished."""

    id: str
    name: str
    arguments: str
    complete: bool = True

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
        except (ValueError, IndexError, RecursionError):  # what it raises where it can't go on
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Message:
    """What a model said: `content` is None where there is no text."""

    content: str | None
    tool_calls: list[ToolCall]


def collect(events: Iterable[Event]) -> Message:
    """The message that events add up to."""
    content: list[str] = []
    calls: list[ToolCall] = []
    name = ""
    id: str | None = None
    pieces: list[str] = []
    for event in events:
        if isinstance(event, Content):
            content.append(event.text)
        elif isinstance(event, CallStart):
            name, id, pieces = event.name, event.id, []
        elif isinstance(event, Arguments):
            pieces.append(event.text)
        elif isinstance(event, CallEnd):
            calls.append(ToolCall(id or make_id(), name, "".join(pieces), event.complete))
    return Message("".join(content) or None, calls)


def parse(format: str | Format, text: str, tools: Any = None) -> Message:
    """Read a whole text: the same machine as for a stream, fed once."""
    parser = Parser(format, tools)
    return collect([*parser.feed(text), *parser.finish()])
