"""A stream of Chat Completions chunks, as the events of Anthropic's Messages API.

    message_start, ping, (content_block_start, content_block_delta …, content_block_stop) …,
    message_delta, message_stop

Clients of that API know one open block at a time. So a block ends where another one begins; and where
a server sends pieces of several calls in turn (`live` passes them on as they come), what belongs to
another block waits until the call that was begun is over. White space at the start of a text waits,
too: it may be all of it, and a block of text is never blank.

The finish reason comes before the token counts, and both go out together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..openai import exact_json
from ..openai.answers import is_complete
from ..openai.normalize import Finding
from ..openai.policy import Policy
from ..openai.sizes import Pieces
from ..openai.stream_normalize import ChatStream
from .messages_answer import (
    SIGNATURE,
    call_in,
    message_start,
    read_input,
    read_usage,
    reasoning_in,
    stop_of,
    text_in,
)
from .messages_errors import as_messages_error, messages_error

Json = dict[str, Any]

#: The types of the events behind which nothing comes.
MESSAGES_ENDS = ("message_stop", "error")
#: What is said of a stream that just ends.
NO_END = "The upstream's answer ended without saying that it is complete"

_WAITING = 300  # the bytes that a piece takes by itself while it waits
_DELTAS = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}


class TranslatedStream:
    """Chunks of Chat Completions in, events of the Messages API out."""

    def __init__(self, policy: Policy, mode: str = "verified", emit: str = "finish") -> None:
        self._chat = ChatStream(policy, mode, emit)
        self._blocks = Blocks(live=mode == "live")
        self._begun = False
        self._over = False
        self._stop: Json | None = None
        self._usage: Any = None

    @property
    def findings(self) -> list[Finding]:
        return self._chat.findings + self._blocks.findings

    @property
    def calls(self) -> int:
        return self._chat.calls

    @property
    def held(self) -> int:
        return self._chat.held + self._blocks.held

    def feed(self, chunk: Json) -> list[Json]:
        """The events to send for one chunk."""
        if self._over:
            return []
        return [event for one in self._chat.feed(chunk) for event in self._take(one)]

    def finish(self, *, died: bool = False) -> list[Json]:
        """The stream is over (`died`: before its proper end)."""
        if self._over:
            return []
        events = [event for one in self._chat.finish(died=died) for event in self._take(one)]
        told, self._over = self._over, True
        if died or told:
            return events
        # How it ended must be said, so a text does not do without that here, whatever comes behind it.
        return [*events, *(self._end() if self._stop is not None else [messages_error(NO_END)])]

    def _take(self, chunk: Json) -> list[Json]:
        """The events for a chunk whose calls are in order."""
        if self._over:
            return []
        choices = chunk.get("choices")
        events = self._take_choices(chunk, choices) if isinstance(choices, list) else []
        if chunk.get("error"):
            self._over = True
            return [*events, as_messages_error(chunk)]
        return events

    def _take_choices(self, chunk: Json, choices: list[Any]) -> list[Json]:
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
        events = [] if self._begun else self._begin(chunk)
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                events += self._take_choice(choice)
        if not choices and self._stop is not None:  # the token counts, the last that comes
            events += self._end()
        return events

    def _begin(self, chunk: Json) -> list[Json]:
        self._begun = True
        return [{"type": "message_start", "message": message_start(chunk)}, {"type": "ping"}]

    def _take_choice(self, choice: Json) -> list[Json]:
        delta = choice.get("delta")
        events: list[Json] = []
        if isinstance(delta, dict):
            events += self._blocks.text("thinking", reasoning_in(delta))
            events += self._blocks.text("text", text_in(delta))
            for entry in delta.get("tool_calls") or ():
                events += self._blocks.call(entry)
        if choice.get("finish_reason") is not None:
            self._stop = stop_of(choice)
        return events

    def _end(self) -> list[Json]:
        self._over = True  # nothing counts behind it
        stop = self._stop or stop_of({})
        delta = {"type": "message_delta", "delta": stop, "usage": read_usage(self._usage)}
        return [*self._blocks.finish(), delta, {"type": "message_stop"}]


@dataclass(slots=True)
class _Block:
    """The block that is open. `key` is its kind, or the number of its call."""

    key: Any
    name: str = ""  # of the call
    pieces: Pieces = field(default_factory=Pieces)  # of its arguments, while it grows


class Blocks:
    """The content of a message, one block after the other."""

    def __init__(self, live: bool) -> None:
        self.findings: list[Finding] = []
        self._live = live
        self._index = -1  # of the newest block
        self._open: _Block | None = None
        self._over: set[Any] = set()  # the calls whose block has ended
        # White space that no block has begun with.
        self._blank = {"text": Pieces(), "thinking": Pieces()}
        self._later: list[tuple[Any, Any]] = []  # what waits for the end of the open call
        self._later_size = 0

    @property
    def held(self) -> int:
        grown = self._open.pieces.size if self._open is not None else 0
        blank = sum(pieces.size for pieces in self._blank.values())
        return grown + blank + self._later_size + 100 * len(self._over)

    def text(self, kind: str, text: str) -> list[Json]:
        """Text of a message, or of its thoughts."""
        if not text:
            return []
        if self._waits(kind, text, len(text)):
            return []
        events: list[Json] = []
        if self._open is None or self._open.key != kind:
            if not text.strip():
                self._blank[kind].add(text)
                return []
            text = self._blank[kind].text() + text
            self._blank[kind] = Pieces()
            start: Json = {"type": kind, kind: ""}
            if kind == "thinking":
                start["signature"] = ""
            events += self._start(_Block(kind), start)
        name, member = _DELTAS[kind]
        return [*events, self._delta({"type": name, member: text})]

    def call(self, entry: Any) -> list[Json]:
        """A whole call or, in live, the next piece of one."""
        piece = call_in(entry)
        if piece is None:
            return []
        if not self._live:
            return self._whole_call(*piece)
        number = entry.get("index")
        if number in self._over or self._waits(number, entry, len(piece[2])):
            return []
        events: list[Json] = []
        if self._open is None or self._open.key != number:
            id, name, _ = piece
            start = {"type": "tool_use", "id": id, "name": name, "input": {}}
            events += self._start(_Block(number, name), start)
        return events + self._grow(piece[2])

    def finish(self) -> list[Json]:
        """Nothing more comes: what waits goes out, and the open block ends."""
        later, self._later, self._later_size = self._later, [], 0
        grouped: dict[Any, list[Any]] = {}
        for key, piece in later:
            grouped.setdefault(key, []).append(piece)
        events: list[Json] = []
        for key, pieces in grouped.items():
            events += self._stop()
            for piece in pieces:
                events += self.text(key, piece) if isinstance(piece, str) else self.call(piece)
        return events + self._stop()

    def _waits(self, key: Any, piece: Any, size: int) -> bool:
        """Whether a piece has to wait, because another call is not over yet."""
        block = self._open
        if block is None or block.key == key:
            return False
        # Once one piece waits, all others do: the arguments need not be looked at again.
        if not self._later and (isinstance(block.key, str) or is_complete(block.pieces.text())):
            return False
        self._later.append((key, piece))
        self._later_size += size + _WAITING
        return True

    def _whole_call(self, id: str, name: str, arguments: str) -> list[Json]:
        given, found = read_input(name, arguments)
        self.findings += found
        start = {"type": "tool_use", "id": id, "name": name, "input": {}}
        text = arguments
        if found or not text.strip() or not given:
            text = exact_json.dumps(given)
        return [
            *self._start(_Block(None, name), start),
            self._delta({"type": "input_json_delta", "partial_json": text}),
            *self._stop(),
        ]

    def _grow(self, text: str) -> list[Json]:
        """More of the open call's arguments. What begins as no object came whole: it gets one."""
        block = self._open
        assert block is not None
        if not block.pieces.size:
            text = text.lstrip()  # clients read what they have so far, and blanks are no JSON
            if text and not text.startswith("{"):
                given, found = read_input(block.name, text)
                self.findings += found
                text = exact_json.dumps(given)
        block.pieces.add(text)
        return [self._delta({"type": "input_json_delta", "partial_json": text})] if text else []

    def _start(self, block: _Block, start: Json) -> list[Json]:
        events = self._stop()
        self._open = block
        self._index += 1
        return [
            *events,
            {"type": "content_block_start", "index": self._index, "content_block": start},
        ]

    def _delta(self, delta: Json) -> Json:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _stop(self) -> list[Json]:
        block, self._open = self._open, None
        if block is None:
            return []
        events: list[Json] = []
        if block.key == "thinking":
            events.append(self._delta({"type": "signature_delta", "signature": SIGNATURE}))
        elif block.key != "text":
            self._over.add(block.key)
        return [*events, {"type": "content_block_stop", "index": self._index}]
