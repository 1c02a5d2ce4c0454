"""Conversations as training text: what a chat template writes of them, and what of that is the model's.

A template writes a whole conversation; which of its characters the model would have written, it does not
say. They follow from how it is used: what stands behind the prompt for an answer is the answer. So each
answer is rendered behind its prompt, and in the whole conversation it has to stand at the same place.
Then its calls are read back, as a server would read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import get_format
from ..openai.message import parse
from .probes import Message, Render

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TrainingText:
    """`assistant_masks`: the characters that the model wrote, as pairs of a beginning and an end."""

    text: str
    assistant_masks: tuple[Span, ...]

    def token_masks(self, offsets: Iterable[Span]) -> list[int]:
        """1 for each token that the model wrote, else 0. `offsets` are the tokens' places in the text,
        as a tokenizer gives them (`return_offsets_mapping`)."""
        inside = [False] * (len(self.text) + 1)
        for begin, end in self.assistant_masks:
            inside[begin:end] = [True] * (end - begin)
        return [int(inside[begin] and end > begin) for begin, end in offsets]

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "assistant_masks": [list(span) for span in self.assistant_masks]}


def training_text(
    render: Render,
    format: str,
    messages: Sequence[Message],
    tools: Sequence[dict[str, Any]] | None = None,
    ends: Iterable[str] = (),
) -> TrainingText:
    """The conversation as `render` writes it, and what of it the model wrote, with the token that ends
    its turn. `ends` are such tokens, besides those of the format.

    A ToolwireError where the template changes an answer when the conversation goes on (many leave out
    earlier thoughts), or where its calls are not what the format reads.
    """
    spec = get_format(format)
    given = [with_objects(message) for message in messages]
    messages, whole = _rendered(render, given, tools)
    spans = []
    for place, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        prompt = render(messages[:place], tools, add_generation_prompt=True)
        answered = render(messages[: place + 1], tools)
        if not answered.startswith(prompt):
            raise ToolwireError(
                f"The template writes message {place + 1} not behind its own prompt."
            )
        end = _end(answered, [*spec.end_of_turn, *ends])
        if whole[:end] != answered[:end]:
            raise ToolwireError(
                f"The template writes message {place + 1} otherwise when the conversation goes on: "
                "train on the conversation up to it."
            )
        _read_back(spec, answered[len(prompt) : end], given[place], place, tools)
        spans.append((len(prompt), end))
    return TrainingText(whole, tuple(spans))


def with_objects(message: Message) -> Message:
    """With arguments as objects, as engines hand them to templates."""
    if not message.get("tool_calls"):
        return message
    calls = []
    for call in message["tool_calls"]:
        function = dict(call["function"] if isinstance(call.get("function"), Mapping) else call)
        if isinstance(function.get("arguments"), str):
            function["arguments"] = _loaded(function["arguments"])
        calls.append({"type": "function", "id": call.get("id"), "function": function})
    return {**message, "tool_calls": calls}


def _rendered(
    render: Render, messages: list[Message], tools: Sequence[dict[str, Any]] | None
) -> tuple[list[Message], str]:
    """The conversation as the template takes it, and what it writes. Some take arguments as text."""
    try:
        return messages, render(messages, tools)
    except ToolwireError:
        messages = [_with_texts(message) for message in messages]
        return messages, render(messages, tools)


def _with_texts(message: Message) -> Message:
    calls = [
        {**call, "function": {**call["function"], "arguments": _dumped(call["function"])}}
        for call in message.get("tool_calls") or ()
    ]
    return {**message, "tool_calls": calls} if calls else message


def _dumped(function: dict[str, Any]) -> str:
    return json.dumps(function.get("arguments"), ensure_ascii=False)


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"The arguments {arguments[:60]!r} are not JSON: {error}") from error


def _end(text: str, ends: Iterable[str]) -> int:
    """Behind the token that ends the turn, where the template writes one: what follows is not the
    model's."""
    stripped = text.rstrip()
    return next((len(stripped) for end in ends if end and stripped.endswith(end)), len(text))


def _read_back(
    spec: Format, written: str, message: Message, place: int, tools: Sequence[dict[str, Any]] | None
) -> None:
    calls = message.get("tool_calls") or []
    expected = [(call["function"]["name"], call["function"].get("arguments")) for call in calls]
    found = parse(spec, written, tools, reasoning=True).tool_calls
    if [(call.name, call.load()) for call in found if call.complete] != expected:
        raise ToolwireError(
            f"What the template writes of message {place + 1} is not read as its calls by the format "
            f"{spec.name}: {written[:120]!r}"
        )
