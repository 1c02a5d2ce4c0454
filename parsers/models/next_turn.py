"""Is the next turn's prompt what a server has read and written already, and more?

A server keeps what it has computed of a prompt and of the answer behind it, for as long as the next
prompt begins with the same text. The conversation is rendered anew for that, with the answer as it was
parsed: from the first character that differs, all is read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ToolwireError
from .probes import RESULT, Message, Render, common_prefix
from .training import with_objects

#: A rough count, where no tokenizer is at hand: so many characters are a token.
CHARACTERS_A_TOKEN = 4

_SHOWN = 60
_HALF_A_TAG = re.compile(r"[<\[][\w/|｜:]*\Z")


@dataclass(frozen=True, slots=True)
class Continued:
    """How much of a text another one begins with."""

    same: int
    """So many characters."""
    lost: int
    """So many of the first text's come behind these."""
    was: str
    """What the first text says there (a tag is whole), …"""
    now: str
    """… and what the other one says."""

    @property
    def kept(self) -> bool:
        return not self.lost

    @property
    def why(self) -> str:
        return "" if self.kept else f"It read {self.was!r}, and then it reads {self.now!r}."


def continued(before: str, later: str) -> Continued:
    """Whether `later` goes on from `before`."""
    same = common_prefix(before, later)
    start = _word_start(before, same)
    end = start + _SHOWN
    return Continued(same, len(before) - same, before[start:end], later[start:end])


def _word_start(text: str, at: int) -> int:
    """Where the tag begins in which a place stands: half of one tells nobody anything."""
    tag = _HALF_A_TAG.search(text, max(0, at - _SHOWN), at)
    return tag.start() if tag else at


def rough_tokens(characters: float) -> int:
    """About so many tokens; whatever is lost is at least one."""
    return max(1, round(characters / CHARACTERS_A_TOKEN)) if characters else 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, and what it was rendered from."""

    render: Render
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] | None
    variables: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        return self._rendered([], add_generation_prompt=True)

    def answered(self, message: Message) -> str:
        """The conversation with its answer as the last message."""
        return self._rendered([handed_over(message)])

    def next_prompt(self, message: Message) -> str:
        """The prompt of the turn behind the results of the answer's calls."""
        given = handed_over(message)
        return self._rendered([given, *results_for(given)], add_generation_prompt=True)

    def later_prompt(self, message: Message, *more: Message) -> str:
        """The prompt when the conversation has gone on behind those results."""
        given = handed_over(message)
        return self._rendered([given, *results_for(given), *more], add_generation_prompt=True)

    def _rendered(self, more: Sequence[Message], **variables: Any) -> str:
        tools = None if self.tools is None else list(self.tools)
        return self.render([*self.messages, *more], tools, **self.variables, **variables)


def handed_over(message: Message) -> Message:
    """A client's message as vLLM and SGLang hand it to a template: arguments as objects, no text as an
    empty one, and thoughts under both names."""
    thought = message.get("reasoning_content") or message.get("reasoning")
    thoughts = {"reasoning_content": thought, "reasoning": thought} if thought else {}
    return {**with_objects(message), "content": message.get("content") or "", **thoughts}


def results_for(message: Message) -> list[Message]:
    """A result for each call of a message."""
    return [
        {
            "role": "tool",
            "tool_call_id": call.get("id"),
            "name": call["function"]["name"],
            "content": RESULT,
        }
        for call in message.get("tool_calls") or ()
    ]


def next_turn(asked: Asked, text: str, message: Message) -> Continued | None:
    """What the next prompt keeps of a prompt and the model's text, of which `message` was made; None
    where the template refuses that message."""
    try:
        return continued(asked.prompt + text, asked.next_prompt(message))
    except ToolwireError:
        return None
