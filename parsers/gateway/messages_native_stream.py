"""The event stream of an upstream that speaks Anthropic's Messages API itself, normalised.

A call is held until the message says how it ended (`emit="finish"`) or its block ends
(`emit="complete"`); in `live` it is sent as it comes. What is no JSON at the end of its block may have
been cut off: it waits until another block begins, or the message says how it ended. A block that is left
out leaves no hole in the numbers. A stream that does not say how it ended was cut off, and so is what
stands before an error: a call that is still held is not sent. Events that need no change come back as
the very same objects, so that whoever holds their bytes can send those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..openai import exact_json
from ..openai.answers import is_complete
from ..openai.normalize import Finding
from ..openai.open_calls import key_of
from ..openai.policy import Policy
from ..openai.sizes import shortened, size_of
from ..openai.text_reader import TextReader
from ..schema.kinds import json_type
from .messages_answer import SIGNATURE, load_json
from .messages_errors import as_messages_error, messages_error
from .messages_held import HeldBlock
from .messages_native import DONE_REASONS, MessageCalls, is_call, is_text
from .messages_stream import MESSAGES_ENDS, NO_END
from .responses import MAX_TEXTS
from .responses_text import AnswerText

Json = dict[str, Any]

_BLOCK = 800  # the bytes that a block takes by itself


class MessagesStream:
    """Events of the Messages API in, normalised ones out."""

    def __init__(self, policy: Policy, mode: str = "verified", emit: str = "finish") -> None:
        self._policy = policy
        self._live = mode == "live"
        self._waits = not self._live and emit == "finish"
        self._calls = MessageCalls(policy)
        self._held: dict[Any, HeldBlock] = {}
        self._ended: list[Any] = []  # those of them that wait for the next block
        self._texts: dict[Any, AnswerText] = {}  # the open ones that are read for calls
        self._read: list[AnswerText] = []  # those that have ended, with calls in them
        self._starts: dict[Any, Json] = {}  # of texts of which nothing was sent yet
        self._thinking: int | None = None  # our number of an open block with thoughts from a text
        self._places: dict[Any, int] = {}  # our numbers of the blocks that are open
        self._next = 0  # the number of the next block
        self._native = False
        self._begun = False
        self._told = False  # how it ended was told
        self._over = False
        self._size = 0

    @property
    def findings(self) -> list[Finding]:
        return self._calls.findings

    @property
    def calls(self) -> int:
        return self._calls.count

    @property
    def held(self) -> int:
        if self._over:
            return 0
        texts = sum(text.held for text in [*self._texts.values(), *self._read])
        return self._size + self._calls.normalizer.held + texts

    def feed(self, event: Json) -> list[Json]:
        """The events to send for one that came in."""
        kind = event.get("type")
        if self._over:
            return []
        self._begun = True
        if kind == "content_block_start":
            return self._start(event)
        if kind == "content_block_delta":
            return self._delta(event)
        if kind == "content_block_stop":
            return self._stop(event)
        if kind == "message_delta":
            return self._message_delta(event)
        if kind in MESSAGES_ENDS or (kind is None and event.get("error")):
            self._over = True
            return self._last(event)
        return [event]

    def finish(self, *, died: bool = False) -> list[Json]:
        """The stream is over (`died`: before its proper end)."""
        if self._over or not self._begun:
            return []
        self._over = True
        events = self._lose()
        return events if died else [*events, messages_error(NO_END)]

    # Blocks

    def _start(self, event: Json) -> list[Json]:
        key, block = key_of(event.get("index")), event.get("content_block")
        events = self._end_block(key) + self._send_ended()
        if is_call(block):
            assert isinstance(block, dict)
            events += self._go_native()
            held = HeldBlock(event, block, held=_BLOCK + size_of(block))
            self._held[key] = held
            self._size += held.held
            return events + (self._start_live(held) if self._live else [])
        if self._reads(block):
            self._texts[key] = AnswerText(TextReader(self._policy))
            self._starts[key] = event
            self._size += _BLOCK
            text = block.get("text") if isinstance(block, dict) else None
            return events + (self._text(key, text) if isinstance(text, str) and text else [])
        return [*events, self._placed(event, key)]

    def _reads(self, block: Any) -> bool:
        """Whether a text is read for calls."""
        if self._native or not self._policy.looks_at_text:
            return False
        return is_text(block) and len(self._texts) + len(self._read) < MAX_TEXTS

    def _delta(self, event: Json) -> list[Json]:
        key, delta = key_of(event.get("index")), event.get("delta")
        kind = delta.get("type") if isinstance(delta, Mapping) else None
        held = self._held.get(key)
        if held is not None:
            return self._grow(held, event) if kind == "input_json_delta" else []
        if key in self._texts and not self._texts[key].finished and kind == "text_delta":
            assert isinstance(delta, Mapping)
            return self._text(key, str(delta.get("text") or ""), event)
        return [self._placed(event, key)] if key in self._places else []  # of a block left out

    def _stop(self, event: Json) -> list[Json]:
        key = key_of(event.get("index"))
        held = self._held.get(key)
        if held is not None:
            held.ended = True
            if self._waits:
                return []
            # Only what is JSON is surely whole: anything else may have been cut off by the end.
            given = held.given()
            whole = not isinstance(given, str) or json_type(given) is not None
            if whole or self._live:
                return self._send(key, cut=False, stop=event)
            self._ended.append(key)
            return []
        if key in self._texts:
            return self._end_text(key, event)
        return self._end_place(key, event)

    def _end_place(self, key: Any, event: Json) -> list[Json]:
        """The end of a block; nothing for one of which nothing was sent."""
        if key not in self._places:
            return []
        placed = self._placed(event, key)
        del self._places[key]
        return [placed]

    def _end_block(self, key: Any) -> list[Json]:
        """A block with this number begins, so an older one with the same number is over."""
        if key in self._texts:
            return self._end_text(key, {"type": "content_block_stop", "index": key})
        if key in self._held and self._waits:  # it keeps its place among those that wait
            self._held[key].ended = True
            self._held[object()] = self._held.pop(key)
            return []
        if key in self._held:
            return self._send(key, cut=False)
        return self._end_place(key, {"type": "content_block_stop", "index": key})

    def _placed(self, event: Json, key: Any) -> Json:
        """An event with our number of its block; the event itself where that is the upstream's."""
        if key not in self._places:
            self._places[key] = self._next
            self._next += 1
        place = self._places[key]
        return event if event.get("index") == place else event | {"index": place}

    # Calls

    def _grow(self, held: HeldBlock, event: Json) -> list[Json]:
        text = event["delta"].get("partial_json")
        if not isinstance(text, str) or not text:
            return []
        before = held.pieces.size
        held.pieces.add(text)
        self._size += held.pieces.size - before
        if not held.sent:
            return []
        out = text
        if not held.flows:  # what is no object can still be put into one, at its end
            held.flows = held.begins.look(held.pieces)
            # Clients read what they have, and blanks are no JSON.
            out = held.pieces.text().lstrip() if held.flows else ""
        if held.coercion is not None and out:
            coercion, given = held.coercion, out
            name = str(held.block.get("name"))
            out = self._calls.normalizer.coerce(name, lambda: coercion.feed(given))
        if not out:
            return []
        if out != text:
            event = event | {"delta": event["delta"] | {"partial_json": out}}
        return [self._placed(event, key_of(held.start.get("index")))]

    def _start_live(self, held: HeldBlock) -> list[Json]:
        """The beginning of a call that is sent as it comes. One without a name is not sent at all."""
        name = held.block.get("name")
        normalizer = self._calls.normalizer
        if not isinstance(name, str) or not name or held.block.get("input"):
            return []
        meant = normalizer.name(name)
        if not normalizer.admits(meant):
            self._forget(key_of(held.start.get("index")))
            return []
        held.sent = True
        held.coercion = normalizer.coercion(meant)
        self._calls.count += 1
        id = normalizer.id_for(held.block.get("id"), meant)
        start = held.start
        if (id, meant) != (held.block.get("id"), name):
            held.block = held.block | {"id": id, "name": meant}
            start = start | {"content_block": held.block}
        return [self._placed(start, key_of(held.start.get("index")))]

    def _send(self, key: Any, cut: bool, stop: Json | None = None) -> list[Json]:
        """The end of a call: all of it, or what is left of it in live."""
        held = self._forget(key)
        if held.sent:
            rest = self._rest(held, cut)
            event = {"type": "content_block_delta", "index": key}
            delta = {"type": "input_json_delta", "partial_json": rest}
            events = [self._placed(event | {"delta": delta}, key)] if rest else []
            stop = stop or {"type": "content_block_stop", "index": key}
            return [*events, *self._end_place(key, stop)]
        given = held.given()
        blocks = self._calls.take(held.block, given, cut)
        return [event for block in blocks for event in self._whole(block, given)]

    def _forget(self, key: Any) -> HeldBlock:
        """Takes a call out of those that are held."""
        held = self._held.pop(key)
        self._size -= held.held + held.pieces.size
        return held

    def _whole(self, block: Json, given: Any) -> list[Json]:
        """All events of one call, its input as the model wrote it where that is an object."""
        place = self._next
        self._next += 1
        text = exact_json.dumps(block["input"])
        if isinstance(given, str) and load_json(given) == block["input"]:
            text = given
        delta = {"type": "input_json_delta", "partial_json": text}
        return [
            {"type": "content_block_start", "index": place, "content_block": block | {"input": {}}},
            {"type": "content_block_delta", "index": place, "delta": delta},
            {"type": "content_block_stop", "index": place},
        ]

    def _rest(self, held: HeldBlock, cut: bool) -> str:
        """What is left to send of an input that was sent as it came, and what was wrong with it."""
        text, name = held.pieces.text(), str(held.block.get("name"))
        normalizer = self._calls.normalizer
        if cut and not is_complete(text):
            normalizer.lose(name, None)
        elif not held.flows:  # nothing was sent, so what is wrong can still be put right
            given = self._calls.read(name, text if text.strip() else "")
            return exact_json.dumps(given) if given else ""
        elif json_type(text) is None:
            detail = f"the input of {shortened(name)!r} is not valid JSON, and was already sent"
            normalizer.note("invalid_json", None, detail)
        coercion = held.coercion
        return normalizer.coerce(name, coercion.finish) if coercion and held.flows else ""

    def _send_ended(self) -> list[Json]:
        """Another block begins, so the calls whose blocks have ended were not cut off."""
        ended, self._ended = self._ended, []
        return [e for key in ended if key in self._held for e in self._send(key, cut=False)]

    # Text

    def _text(self, key: Any, text: str, event: Json | None = None) -> list[Json]:
        """What is really text of a piece; the event itself where that is all of it."""
        delta = event or {
            "type": "content_block_delta",
            "index": key,
            "delta": {"type": "text_delta"},
        }
        read = [e["delta"] for e in self._texts[key].feed({"type": "", "delta": text})]
        said = "".join(read)
        thoughts = self._think(self._texts[key].take_thoughts())
        if not said:
            return thoughts
        if said != text or event is None:
            delta = delta | {"delta": dict(delta["delta"]) | {"text": said}}
        return [*thoughts, *self._begin_text(key), self._placed(delta, key)]

    def _think(self, thoughts: str) -> list[Json]:
        """Thoughts in a text, in a block of their own before it."""
        if not thoughts:
            return []
        events: list[Json] = []
        if self._thinking is None:
            self._thinking, self._next = self._next, self._next + 1
            start = {"type": "thinking", "thinking": "", "signature": ""}
            about = {"type": "content_block_start", "index": self._thinking}
            events.append(about | {"content_block": start})
        delta = {"type": "thinking_delta", "thinking": thoughts}
        return [*events, {"type": "content_block_delta", "index": self._thinking, "delta": delta}]

    def _end_thoughts(self) -> list[Json]:
        place, self._thinking = self._thinking, None
        if place is None:
            return []
        delta = {"type": "signature_delta", "signature": SIGNATURE}
        return [
            {"type": "content_block_delta", "index": place, "delta": delta},
            {"type": "content_block_stop", "index": place},
        ]

    def _begin_text(self, key: Any) -> list[Json]:
        start = self._starts.pop(key, None)
        if start is None:
            return self._end_thoughts()
        thoughts = self._end_thoughts()
        empty = start["content_block"] | {"text": ""}
        same = empty == start["content_block"]
        begun = start if same else start | {"content_block": empty}
        return [*thoughts, self._placed(begun, key)]

    def _flush_text(self, key: Any) -> list[Json]:
        """What was held back of a text."""
        said = "".join(e["delta"] for e in self._texts[key].finish())
        thoughts = self._think(self._texts[key].take_thoughts())
        if not said:
            return thoughts
        delta = {"type": "text_delta", "text": said}
        event = {"type": "content_block_delta", "index": key, "delta": delta}
        return [*thoughts, *self._begin_text(key), self._placed(event, key)]

    def _end_text(self, key: Any, event: Json) -> list[Json]:
        events = self._flush_text(key)
        text = self._texts[key]
        del self._texts[key]
        thought = self._thinking is not None
        events += self._end_thoughts()
        if text.found:  # its calls wait until it is clear that no others come
            self._read.append(text)
            self._starts.pop(key, None)
        elif thought:  # there was nothing else in it
            self._starts.pop(key, None)
        else:
            events += self._begin_text(key)  # where it was empty, it stays so
        return events + self._end_place(key, event)

    def _go_native(self) -> list[Json]:
        """The upstream sends calls of its own: those in its text stay away."""
        if self._native:
            return []
        self._native = True
        events: list[Json] = []
        for key in list(self._texts):
            events += self._flush_text(key)
        events += self._end_thoughts()
        for text in [*self._texts.values(), *self._read]:
            for call in text.calls():
                detail = f"a call of {shortened(call.name)!r} in the text gives way to native calls"
                self._calls.normalizer.note(None, "dropped", detail)
            text.drop_calls()
        self._read = []
        return events

    # The end

    def _last(self, event: Json) -> list[Json]:
        """The last event, and what goes before it."""
        events = self._lose()
        if event.get("type") != "message_stop":
            return [*events, as_messages_error(event)]
        if self._told:
            return [*events, event]
        # It says that it is over, and not how: good enough for a text, and not for a call.
        if self._calls.count or self._calls.normalizer.lost_one:
            return [*events, messages_error(NO_END)]
        return [*events, *self._end(None), event]

    def _lose(self) -> list[Json]:
        """The answer broke off: text that was held goes out, and no call does any more."""
        events = [event for key in list(self._texts) for event in self._flush_text(key)]
        events += self._end_thoughts()
        for key in list(self._held):
            held = self._forget(key)
            action = None if held.sent else "dropped"
            self._calls.normalizer.lose(str(held.block.get("name")), action)
        for text in [*self._texts.values(), *self._read]:
            for call in text.calls():
                self._calls.normalizer.lose(call.name, "dropped")
            text.drop_calls()
        self._read = []
        return events

    def _message_delta(self, event: Json) -> list[Json]:
        delta = event.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        if reason is None:  # nothing but token counts
            return [event]
        events = self._end(reason)
        stop = self._calls.stop_reason(reason)
        if stop == reason:
            return [*events, event]
        return [*events, event | {"delta": dict(delta or {}) | {"stop_reason": stop}}]

    def _end(self, reason: Any) -> list[Json]:
        """Everything that is still held, given how the message ended."""
        self._told = True
        cut = reason not in DONE_REASONS
        events: list[Json] = []
        for key in list(self._texts):
            events += self._end_text(key, {"type": "content_block_stop", "index": key})
        last = next(reversed(self._held), None)
        for key, held in list(self._held.items()):
            events += self._send(key, cut and (key == last or not held.ended))
        found = [call for text in self._read for call in text.calls()]
        self._read = []
        for block in self._calls.from_text(found, cut):
            events += self._whole(block, None)
        return events
