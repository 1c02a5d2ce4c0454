"""A stream of Chat Completions chunks, normalised while it passes.

    stream = ChatStream(policy, mode="verified")
    for chunk in upstream: send(stream.feed(chunk))
    send(stream.finish())

`verified` sends calls whole and checked, while text streams on: with the finish reason
(`emit="finish"`), or as soon as each is complete (`emit="complete"`). `live` passes fragments on as they
come and repairs only what can be repaired without taking back what was sent. A chunk that needs no
change comes back as the very same object, so that whoever holds its bytes can send those.

Calls are numbered anew, without gaps: upstreams that start at 1, give every call the index 0, or
leave the index out are all understood, and a dropped call leaves no hole.

What is cut is cut: a stream that ends without a finish reason, or behind an error of the upstream's,
gives no call that did not go out before, and its last chunk is an error.
"""

from __future__ import annotations

from typing import Any

from .choice_stream import ChoiceStream
from .exact_json import Number
from .normalize import MAX_CHOICES, Finding, Json
from .policy import Policy
from .problems import failure

MODES = ("verified", "live")
EMITS = ("finish", "complete")

NO_FINISH = "The upstream's answer ended without a finish reason"
_LONGEST = 200  # characters of a field that our own chunks repeat


class ChatStream:
    """Normalises the chunks of one streamed answer."""

    def __init__(
        self, policy: Policy | None = None, mode: str = "verified", emit: str = "finish"
    ) -> None:
        self._policy = policy or Policy()
        self._mode = mode
        self._emit = emit
        self.held = 0  # about how many bytes this stream holds
        self._choices: dict[Any, ChoiceStream] = {}
        self._envelope: Json = {}
        self._about: tuple[Any, ...] | None = None  # whose envelope it is
        self._failed = False  # the upstream reported an error: nothing counts behind it

    def feed(self, chunk: Json) -> list[Json]:
        """The chunks to send for one that came in."""
        if self._failed:
            return []
        choices = chunk.get("choices")
        if chunk.get("error"):
            return self._fail(chunk, choices)
        if not isinstance(choices, list) or not choices:
            return [chunk]
        self._note_envelope(chunk)
        ahead: list[Json] = []
        kept: list[Any] = []
        changed = False
        for choice in choices:
            state = self._state(choice)
            if state is None:
                kept.append(choice)
                continue
            first, rest = state.feed(choice)
            held = state.held
            self.held += held - state.counted
            state.counted = held
            if first:
                ahead += [self._chunk(state.index, delta) for delta in first]
            if rest is not None:
                kept.append(rest)
            changed = changed or rest is not choice
        if not changed:
            return [*ahead, chunk]
        if kept or _says_more(chunk):
            ahead.append(chunk | {"choices": kept})
        return ahead

    def passes(self, text: str, index: Any) -> bool:
        """Whether a chunk that has nothing but this text, for this choice, goes out as it is. One that
        does not is to be fed next: its text has been read."""
        state = self._choices.get(index)
        return state is not None and not self._failed and state.passes(text)

    def _fail(self, chunk: Json, choices: Any) -> list[Json]:
        """The upstream reports an error: it goes out, and no call does."""
        lost = self._lose()
        self._failed = True
        if isinstance(choices, list) and choices:
            chunk = chunk | {"choices": [_without_calls(choice) for choice in choices]}
        return [*lost, chunk]

    def _lose(self) -> list[Json]:
        """What is left to send. What came behind a finish reason is too late, too."""
        states = self._choices.values()
        chunks = [self._chunk(state.index, delta) for state in states for delta in state.lose()]
        self.held = 0
        for state in states:
            state.counted = state.held
        return chunks

    def finish(self, *, died: bool = False, done: bool = False) -> list[Json]:
        """The stream is over: what is still held, and an error where it was cut off.

        `died`: somebody else tells the client so. `done`: the upstream said that this is the end. Then
        a text without a finish reason is as good as one with it; a call is not.
        """
        states = list(self._choices.values())
        cut = any(not state.finished for state in states)
        chunks = self._lose()
        about_calls = any(state.calls or state.normalizer.lost_one for state in states)
        if cut and not died and not self._failed and (about_calls or not done):
            self._failed = True
            chunks.append(failure(NO_FINISH))
        return chunks

    @property
    def findings(self) -> list[Finding]:
        return [f for state in self._choices.values() for f in state.normalizer.findings]

    @property
    def calls(self) -> int:
        """How many calls were sent."""
        return sum(state.calls for state in self._choices.values())

    def _state(self, choice: Any) -> ChoiceStream | None:
        """What is known of a choice; None for what is none, or one too many."""
        index = choice.get("index", 0) if isinstance(choice, dict) else ""
        if not isinstance(index, int | None):
            return None
        if index not in self._choices:
            if len(self._choices) >= MAX_CHOICES:
                return None
            self._choices[index] = ChoiceStream(index, self._policy, self._mode, self._emit)
        return self._choices[index]

    def _note_envelope(self, chunk: Json) -> None:
        """Keeps what our own chunks repeat. Nearly every chunk of a stream says the same of it."""
        about = (chunk.get("id"), chunk.get("created"), chunk.get("model"), len(chunk))
        if about != self._about:
            self._envelope = {k: v for k, v in chunk.items() if _is_small(v)}
            # What is too long to be repeated is too long to be kept for comparing.
            self._about = about if all(map(_is_small, about)) else None

    def _chunk(self, index: Any, delta: Json, reason: str | None = None) -> Json:
        """A chunk of our own, with the upstream's id, model and time."""
        choice = {"index": index, "delta": delta, "finish_reason": reason}
        return self._envelope | {"choices": [choice]}


def _is_small(value: Any) -> bool:
    """Whether a field of a chunk is about the stream, and not a part of the answer."""
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return value is not None and isinstance(value, (int, float, Number))


def _says_more(chunk: Json) -> bool:
    """Whether a chunk has something beside its choices that no other chunk repeats: usage, timings."""
    return any(v is not None and not _is_small(v) for k, v in chunk.items() if k != "choices")


def _without_calls(choice: Any) -> Any:
    delta = choice.get("delta") if isinstance(choice, dict) else None
    if not isinstance(delta, dict):
        return choice
    kept = {k: v for k, v in delta.items() if k not in ("tool_calls", "function_call")}
    return choice if len(kept) == len(delta) else choice | {"delta": kept}
