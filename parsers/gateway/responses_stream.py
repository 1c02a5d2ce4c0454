"""The event stream of the Responses API, normalised while it passes.

An item is announced, its arguments come in pieces, and it is repeated whole at its end and once more
in the last event. `verified` holds all of that and sends it in one go: at the end of the answer
(`emit="finish"`), or of the item (`emit="complete"`); `live` lets it pass. Items are numbered anew, so
that a dropped one leaves no hole. A stream without a last event was cut off, and so is what stands
before an error: a call that is still held is not sent, and the client gets an error.

Thoughts in a text become an item of their own. It stands before the text, so a message is announced when
something of its text is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..openai.answers import is_complete
from ..openai.normalize import CallNormalizer, Finding
from ..openai.open_calls import key_of
from ..openai.policy import Policy
from ..openai.sizes import shortened, size_of
from ..openai.text_reader import TextReader
from ..schema.kinds import json_type
from .responses import MAX_TEXTS, Json, is_call, is_text, normal_item, text_items
from .responses_held import ARGUMENTS, HeldItem, call_events
from .responses_output import Numbers, output_as_sent, with_texts
from .responses_text import AnswerText
from .responses_thoughts import ThoughtItem

ENDS = ("response.completed", "response.incomplete", "response.failed")
NO_END = "The upstream's answer ended without its last event"
_TEXT = "response.output_text"
_PART = "response.content_part"
_PLACE = 200  # the bytes that an item takes by itself


def error_event(message: str, code: str = "upstream_error") -> Json:
    return {"type": "error", "code": code, "message": message, "param": None}


class ResponsesStream:
    """Normalises the events of one streamed answer: the same interface as `ChatStream`."""

    def __init__(self, policy: Policy, mode: str = "verified", emit: str = "finish") -> None:
        self.calls = 0
        self._policy = policy
        self._live = mode == "live"
        self._waits = not self._live and emit == "finish"
        self._normalizer = CallNormalizer(policy)
        self.held = 0  # about how many bytes this stream holds
        self._held: dict[Any, HeldItem] = {}  # by the upstream's output_index
        self._ended: list[Any] = []  # those of them that have ended
        self._done: set[Any] = set()  # the items that are not calls, once they have ended
        self._places: dict[Any, int] = {}  # the upstream's output_index, ours
        self._next_place = 0
        self._sent: dict[int, Json] = {}  # the calls as they were sent, by our place
        self._numbers = Numbers()
        self._texts: dict[tuple[Any, Any], AnswerText] = {}
        self._starts: dict[Any, list[Json]] = {}  # of messages that were not announced yet
        self._thinking: ThoughtItem | None = None  # the open item with thoughts from a text
        self._native = False
        self._begun = False
        self._over = False
        self._failed = False  # the upstream reported an error: nothing but its end counts behind it

    @property
    def findings(self) -> list[Finding]:
        return self._normalizer.findings

    def feed(self, event: Json) -> list[Json]:
        """The events to send for one that came in."""
        self._begun = True
        before = self._normalizer.held
        out = [self._numbers.give(e) for e in self._feed(event)]
        self.held += self._normalizer.held - before
        return out

    def finish(self, *, died: bool = False) -> list[Json]:
        """The stream is over, and its last event did not come: what is still held."""
        if self._over:
            return []
        self._over = True
        events = self._lose()
        self.held = 0
        if self._begun and not died and not self._failed:
            events.append(error_event(NO_END))
        return [self._numbers.give(e) for e in events]

    def _feed(self, event: Json) -> list[Json]:
        kind = event.get("type")
        if not isinstance(kind, str):
            return [event]
        if self._over:
            return []  # what comes behind the end was not checked
        if kind in ENDS:
            return self._end(event)
        if self._failed:
            return []
        if kind == "error":
            self._failed = True
            return [*self._lose(), event]
        if kind == "response.output_item.added":
            return self._added(event)
        waiting = self._starts.get(_index(event))
        if waiting is not None and kind == f"{_PART}.added":
            waiting.append(event)
            return []
        if waiting is not None and kind != f"{_TEXT}.delta":
            return [*self._announce(_index(event)), *self._feed(event)]
        if kind.startswith(ARGUMENTS):
            return self._arguments(event, kind)
        if kind == "response.output_item.done":
            return self._item_done(event)
        if kind.startswith((_TEXT, f"{_PART}.done")):
            return self._text(event, kind)
        return [self._moved(event)]

    def _moved(self, event: Json) -> Json:
        """The event with its item at its place in our output."""
        index = _index(event)
        if self._places.get(index, index) == index:
            return event
        return event | {"output_index": self._places[index]}

    def _place(self, index: Any = None) -> int:
        """The next place in our output, for the upstream's item at `index`."""
        place = self._next_place
        self._next_place += 1
        if index is not None:
            self._places[index] = place
            self.held += _PLACE
        return place

    # Items

    def _added(self, event: Json) -> list[Json]:
        index, item = _index(event), event.get("item")
        before = self._send_ended()
        if not is_call(item) or not isinstance(item, dict):
            if self._policy.splits_thoughts and isinstance(item, dict) and not self._native:
                before += self._announce(index)  # one that has the same number, and never ended
                self._starts[index] = [event]
                self.held += _PLACE
                return before
            self._place(index)
            return [*before, self._moved(event)]
        before += self._go_native()
        self._forget(index)
        held = self._held[index] = HeldItem(item, size=size_of(item))
        self.held += held.held
        if not self._live or not item.get("name"):
            return before
        if self._normalizer.closed:
            return before  # its end will say so
        name = self._normalizer.name(str(item["name"]))
        self._normalizer.admits(name)
        id = self._normalizer.id_for(item.get("call_id"), name)
        known = self._normalizer.client_name(name)
        if (id, known) != (item.get("call_id"), item["name"]):
            held.item = item | {"call_id": id, "name": known}
        held.coercion = self._normalizer.coercion(name)
        held.place = self._place(index)
        self.calls += 1
        moved = self._moved(event)
        return [*before, moved if held.item is item else moved | {"item": held.item}]

    def _arguments(self, event: Json, kind: str) -> list[Json]:
        held = self._held.get(_index(event))
        if held is None:
            return [self._moved(event)]
        before, text = held.held, ""
        if kind.endswith(".delta") and isinstance(event.get("delta"), str):
            text = self._coerced(held, held.add(event["delta"]))
        elif kind.endswith(".done"):
            held.repeat(event.get("arguments"))
        self.held += held.held - before
        if held.place is None or not text:
            return []
        moved = self._moved(event)
        return [moved if text == event["delta"] else moved | {"delta": text}]

    def _coerced(self, held: HeldItem, text: str) -> str:
        """A piece of arguments as it goes out."""
        coercion = held.coercion
        if coercion is None or not text:
            return text
        name = str(held.item.get("name"))
        coerced = self._normalizer.coerce(name, lambda: coercion.feed(text))
        held.coerced.add(coerced)
        return coerced

    def _item_done(self, event: Json) -> list[Json]:
        index, item = _index(event), event.get("item")
        held = self._held.get(index)
        if held is None or not isinstance(item, dict):
            return self._other_done(event, index)
        if held.ended:  # it was said before
            return []
        held.ended = True
        before = held.held
        known = {"call_id": held.item.get("call_id") or item.get("call_id")}
        if held.place is not None:
            known["name"] = held.item.get("name")
        held.replace(item | known)
        self.held += held.held - before
        if self._waits:
            return []
        # Only arguments that are JSON are surely whole: others may have been cut off by the end.
        arguments = held.settled().get("arguments")
        if isinstance(arguments, str) and json_type(arguments):
            return self._send(index, cut=False)
        self._ended.append(index)
        return []

    def _other_done(self, event: Json, index: Any) -> list[Json]:
        """The end of an item that is no call, with its text as it was sent; once."""
        item = event.get("item")
        if not self._texts or not isinstance(item, dict):
            return [self._moved(event)]
        if index in self._done:
            return []
        self._done.add(index)
        self.held += _PLACE
        return [self._moved(event) | {"item": with_texts(item, index, self._texts)}]

    def _send_ended(self) -> list[Json]:
        """Another item begins, so the calls that have ended were not cut off."""
        ended, self._ended = self._ended, []
        return [e for index in ended if index in self._held for e in self._send(index, cut=False)]

    def _forget(self, index: Any) -> HeldItem | None:
        """Takes a call out of those that are held."""
        held = self._held.pop(index, None)
        if held is not None:
            self.held -= held.held
        return held

    def _send(self, index: Any, cut: bool) -> list[Json]:
        held = self._forget(index)
        assert held is not None
        cut = cut or held.item.get("status") == "incomplete"
        if held.place is not None:
            return self._send_rest(held, held.place, cut)
        item = normal_item(self._normalizer, held.settled(), cut)
        if item is None:
            return []
        self.calls += 1
        return self._block(item, self._place(index))

    def _block(self, item: Json, place: int) -> list[Json]:
        self._keep(place, item)
        return call_events(item, place)

    def _keep(self, place: int, item: Json) -> None:
        """A call as it was sent, for the last event."""
        self._sent[place] = item
        self.held += _PLACE + size_of(item)

    def _send_rest(self, held: HeldItem, place: int, cut: bool) -> list[Json]:
        """The end of a call whose pieces were sent as they came (live)."""
        sent = held.sent()
        item = held.settled()
        given = item.get("arguments")
        name = self._normalizer.client_name(str(item.get("name")))
        events = []
        about = {"item_id": item.get("id"), "output_index": place}
        rest = self._normalizer.coerce(name, held.coercion.finish) if held.coercion and sent else ""
        if rest:
            sent += rest
            events.append({"type": f"{ARGUMENTS}.delta", **about, "delta": rest})
        if not held.flows and isinstance(given, (str, Mapping)):
            sent = self._normalizer.taken_arguments({"name": name, "arguments": given}, cut) or ""
            events = [{"type": f"{ARGUMENTS}.delta", **about, "delta": sent}] if sent else []
            cut = cut and not sent
        else:
            cut = cut and not is_complete(sent)
            self._note_sent(name, sent, cut)
        item = item | {"name": name, "arguments": sent}
        if cut:  # what was sent can't be taken back, but it has no end
            self._keep(place, item | {"status": "incomplete"})
            return []
        self._keep(place, item)
        return [
            *events,
            {"type": f"{ARGUMENTS}.done", **about, "name": name, "arguments": sent},
            {"type": "response.output_item.done", "output_index": place, "item": item},
        ]

    def _note_sent(self, name: str, sent: str, cut: bool) -> None:
        """Arguments that were sent can't be put right any more, but they can be counted."""
        if cut:
            self._normalizer.lose(name, None)
        elif json_type(sent) is None:
            detail = (
                f"the arguments of {shortened(name)!r} are not valid JSON, and were already sent"
            )
            self._normalizer.note("invalid_json", None, detail)

    # Text

    def _text(self, event: Json, kind: str) -> list[Json]:
        key = (_index(event), key_of(event.get("content_index")))
        text = self._texts.get(key)
        if kind == f"{_TEXT}.delta":
            if self._native or not self._policy.looks_at_text:
                return [self._moved(event)]
            if text is None and len(self._texts) < MAX_TEXTS:
                text = self._texts[key] = AnswerText(TextReader(self._policy))
                self.held += text.held
            return [self._moved(event)] if text is None else self._read(text, event)
        if text is None:
            return [self._moved(event)]
        if kind in text.told:
            return []
        text.told.add(kind)
        if kind == f"{_TEXT}.done":
            flushed = self._flush(text)
            return [*flushed, self._moved(event) | {"text": text.so_far()}]
        part = event.get("part")
        if not is_text(part) or not isinstance(part, dict):
            return [self._moved(event)]
        return [self._moved(event) | {"part": part | {"text": text.so_far()}}]

    def _read(self, text: AnswerText, event: Json) -> list[Json]:
        before = text.held
        said = text.feed(event)
        self.held += text.held - before
        return self._said(text, said)

    def _flush(self, text: AnswerText) -> list[Json]:
        """What was held back of a text."""
        before = text.held
        said = text.finish()
        self.held += text.held - before
        return self._said(text, said)

    def _said(self, text: AnswerText, said: list[Json]) -> list[Json]:
        """What was found in a text: thoughts first, which stand before it."""
        events = self._think(text.take_thoughts())
        for event in said:
            events += [*self._announce(_index(event)), *self._end_thoughts(), self._moved(event)]
        return events

    def _think(self, thoughts: str) -> list[Json]:
        if not thoughts:
            return []
        begun = []
        if self._thinking is None:
            self._thinking = ThoughtItem(self._place())
            begun += self._thinking.start()
        self.held += len(thoughts)
        return [*begun, self._thinking.feed(thoughts)]

    def _end_thoughts(self) -> list[Json]:
        item, self._thinking = self._thinking, None
        if item is None:
            return []
        self._keep(item.place, item.item())
        return item.finish()

    def _announce(self, index: Any) -> list[Json]:
        """The beginning of a message that waited for its text; thoughts before it are over."""
        waiting = self._starts.pop(index, None)
        if waiting is None:
            return []
        thoughts = self._end_thoughts()
        self._place(index)
        return [*thoughts, *map(self._moved, waiting)]

    def _flush_all(self) -> list[Json]:
        """What was held back of all texts, and the messages that nothing was said of."""
        events = [event for text in self._texts.values() for event in self._flush(text)]
        for index in list(self._starts):
            events += self._announce(index)
        return events + self._end_thoughts()

    def _go_native(self) -> list[Json]:
        """The upstream sends calls of its own: those in its text stay away."""
        if self._native:
            return []
        self._native = True
        flushed = self._flush_all()
        for text in self._texts.values():
            self.held -= text.held
            for call in text.calls():
                detail = f"a call of {shortened(call.name)!r} in the text gives way to native calls"
                self._normalizer.note(None, "dropped", detail)
            text.drop_calls()
            self.held += text.held
        return flushed

    # The end

    def _end_calls(self, cut: bool) -> list[Json]:
        """The calls still held, then those found in the text."""
        last = next(reversed(self._held), None)
        events: list[Json] = []
        for index, held in list(self._held.items()):
            events += self._send(index, cut=cut and (index == last or not held.ended))
        found = [call for text in self._texts.values() for call in text.calls()]
        for item in text_items(self._normalizer, found, cut):
            self.calls += 1
            events += self._block(item, self._place())
        return events

    def _lose(self) -> list[Json]:
        """The answer broke off: text that was held goes out, and no call does any more."""
        flushed = self._flush_all()
        for index in list(self._held):
            held = self._forget(index)
            assert held is not None
            action = "dropped" if held.place is None else None
            self._normalizer.lose(str(held.item.get("name")), action)
            if held.place is not None:
                item = held.settled() | {"arguments": held.sent(), "status": "incomplete"}
                self._keep(held.place, item)
        for text in self._texts.values():
            for call in text.calls():
                self._normalizer.lose(call.name, "dropped")
            text.drop_calls()
        return flushed

    def _end(self, event: Json) -> list[Json]:
        if self._failed or event["type"] == "response.failed":
            events = self._lose()
        else:
            flushed = self._flush_all()
            events = flushed + self._end_calls(cut=event["type"] != "response.completed")
        self._over = True
        response = event.get("response")
        if not isinstance(response, dict) or not isinstance(response.get("output"), list):
            return [*events, event]
        output = output_as_sent(response["output"], self._sent, self._places, self._texts)
        if output == response["output"]:
            return [*events, event]
        return [*events, event | {"response": response | {"output": output}}]


def _index(event: Json) -> Any:
    return key_of(event.get("output_index"))
