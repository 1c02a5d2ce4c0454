"""Conversations that show how a chat template writes calls, and the assistant's turn cut out of them.

A template is asked twice: for a turn with calls in it, and for the same turn with nothing but a word
that appears nowhere else. What both begin with belongs to the frame, and what follows the word ends the
turn; the rest is what the model would have written. Templates differ in what they put up with, so there
are several manners to say the same: arguments as an object or as JSON text, ids of several kinds, an
empty text or none, with the tools' answers or without.
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import ToolwireError
from .around import tokens
from .cuts import Call, Sample
from .propose import tools_for

Message = dict[str, Any]

QUESTION = "Toolwire asks about a city."
NEXT = "And toolwire asks again."
WORD = "Toolwireanswers"
RESULT = "Toolwire was told."
TEXT = "One moment please."

#: Calls with a text, a number, a truth value, and nested values; and simpler ones.
CALLS: tuple[Call, ...] = (
    (
        "toolwire_weather",
        {"city": "Oslo", "days": 3, "options": {"units": ["metric"], "wind": True}},
    ),
    ("toolwire_note", {"text": "Take a coat", "pinned": False}),
)
SIMPLE_CALLS: tuple[Call, ...] = (
    ("toolwire_weather", {"city": "Oslo", "days": 3}),
    ("toolwire_note", {"text": "Take a coat"}),
)

#: A turn with two short calls in it has not more characters.
_LONGEST = 20_000
#: How much a tag has to look like another one to stand for it.
_ALIKE = 0.7
#: Reasoning before the call is no part of it.
_THOUGHT = re.compile(r"\A\s*(?:<think>\s*)?</think>")


class Render(Protocol):
    """A chat template, ready to be asked. Whatever goes wrong in it is a `ToolwireError`."""

    def __call__(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] | None = None
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class Manner:
    """One way to say that the assistant made calls."""

    json_text: bool = False  # arguments as JSON text; engines hand objects over
    counted_ids: bool = (
        False  # ids like `functions.NAME:0`, which Kimi's template writes as the name
    )
    content: str | None = ""
    answered: bool = False  # the tools' answers follow

    @staticmethod
    def all() -> Iterator[Manner]:
        """The usual one first."""
        for answered, content, counted, text in itertools.product(
            (False, True), ("", None, TEXT), (False, True), (False, True)
        ):
            yield Manner(text, counted, content, answered)

    def assistant(self, calls: Sequence[Call]) -> Message:
        return {
            "role": "assistant",
            "content": self.content,
            "tool_calls": [
                {
                    "id": self._id(number, name),
                    "type": "function",
                    "function": {
                        "name": name,
                        "arguments": (
                            json.dumps(arguments, ensure_ascii=False)
                            if self.json_text
                            else arguments
                        ),
                    },
                }
                for number, (name, arguments) in enumerate(calls)
            ],
        }

    def results(self, calls: Sequence[Call]) -> list[Message]:
        return [
            {
                "role": "tool",
                "tool_call_id": self._id(number, name),
                "name": name,
                "content": RESULT,
            }
            for number, (name, _) in enumerate(calls)
        ]

    def _id(self, number: int, name: str) -> str:
        # Nine letters and digits: Mistral's templates insist on it.
        return f"functions.{name}:{number}" if self.counted_ids else f"toolwire{number}"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a template writes for the assistant's calls."""

    sample: Sample
    content: str | None
    manner: Manner


def shown_turn(render: Render, calls: Sequence[Call], manner: Manner) -> Turn | None:
    """The turn with these calls in it, or None where the template does not write all of them."""
    tools = tools_for(calls)
    question = {"role": "user", "content": QUESTION}
    plain = render(
        [question, {"role": "assistant", "content": WORD}, *_next(manner)],
        tools,
    )
    after = manner.results(calls) if manner.answered else []
    shown = render([question, manner.assistant(calls), *after], tools)
    if WORD not in plain:
        raise ToolwireError("The chat template does not show what the assistant says")
    before, _, rest = plain.partition(WORD)
    start = _shared(before, shown)
    last = _last_place(shown, calls, start)
    if last is None:
        return None
    text = shown[start : _turn_end(shown, last, rest)].strip()
    text = _THOUGHT.sub("", text).strip()
    if len(text) > _LONGEST:
        return None
    return Turn(Sample(text, tuple(calls)), manner.content, manner)


def _next(manner: Manner) -> list[Message]:
    return [{"role": "user", "content": NEXT}] if manner.answered else []


def _shared(before: str, shown: str) -> int:
    """Where the turn begins: what both texts begin with, without half a tag at the end."""
    length = next(
        (i for i, (a, b) in enumerate(zip(before, shown, strict=False)) if a != b),
        min(len(before), len(shown)),
    )
    if length < len(before):
        tag = before.rfind("<", 0, length)
        if tag > before.rfind(">", 0, length):
            return tag
    return length


def _last_place(shown: str, calls: Sequence[Call], start: int) -> int | None:
    """Where the last plain text value of the calls stands, if all names and such values do."""
    turn = shown[start : _result_place(shown, start)]
    texts = [v for _, arguments in calls for v in arguments.values() if _is_plain(v)]
    if not all(word in turn for word in (*(name for name, _ in calls), *texts)):
        return None
    return start + turn.rfind(texts[-1])


def _is_plain(value: Any) -> bool:
    """Whether a value is written the same by everyone, but for quotes around it."""
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z ]+", value) is not None


def _result_place(shown: str, start: int) -> int:
    place = shown.find(RESULT, start)
    return place if place >= 0 else len(shown)


def _turn_end(shown: str, last: int, rest: str) -> int:
    """Where the turn ends: at a mark that ends a turn of plain text, or at one that looks like it."""
    latest = _result_place(shown, last)
    ending = _marks(rest.partition(NEXT)[0])
    places = [place for mark in ending if (place := shown.find(mark, last)) >= 0]
    if places or not ending:
        return min(places, default=latest)
    for tag in re.compile(r"<[^<>]*>").finditer(shown, last, latest):
        if difflib.SequenceMatcher(None, tag[0], ending[0]).ratio() > _ALIKE:
            return tag.start()  # a turn with calls may end differently: `<|eom_id|>`
    return latest


def _marks(text: str) -> list[str]:
    """The tags in a text, or else its first word."""
    return [token.text for token in tokens(text) if token.kind == "tag"] or text.split()[:1]
