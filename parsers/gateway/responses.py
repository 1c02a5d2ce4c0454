"""The Responses API: its whole answers and its event stream, normalised.

A call is an item of the output here: `{"type": "function_call", "call_id", "name", "arguments"}`.
In a stream an item is announced, its arguments come in pieces, and it is repeated whole at its end
and once more in the last event. `verified` holds all of that until the item has ended and sends it
in one go; `live` lets it pass. Items are numbered anew, so that a dropped one leaves no hole.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.schema import json_type
from ..openai import DeltaStream, accumulate, parse
from ..openai.normalize import CallNormalizer, Finding, Policy, only_first

Json = dict[str, Any]

ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_TEXT = "response.output_text"
_ARGUMENTS = "response.function_call_arguments"


def normalize_output(response: Json, policy: Policy) -> tuple[Json, list[Finding], int]:
    """A whole answer as it may be sent, what was found, and how many calls it has."""
    output = response.get("output")
    if not isinstance(output, list):
        return response, [], 0
    normalizer = CallNormalizer()
    cut = response.get("status") in ("incomplete", "failed")
    items = [_normal_item(normalizer, it, cut and it is output[-1]) for it in output]
    kept = [item for item in items if item is not None]
    if policy.reads_text and not any(_is_call(item) for item in output):
        kept = _items_with_text_read(normalizer, kept, policy, cut)
    calls = [item for item in kept if _is_call(item)]
    if not policy.parallel and len(calls) > 1:
        only_first(normalizer, [{"function": item} for item in calls])
        kept = [item for item in kept if not _is_call(item) or item is calls[0]]
        calls = calls[:1]
    changed = response if kept == output else response | {"output": kept}
    return changed, normalizer.findings, len(calls)


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "function_call"


def _normal_item(normalizer: CallNormalizer, item: Any, cut: bool) -> Any:
    """The item as it may be sent; None for a call that may not."""
    if not _is_call(item):
        return item
    function = {k: item[k] for k in ("name", "arguments") if k in item}
    taken = normalizer.take({"id": item.get("call_id"), "function": function}, cut=cut)
    if taken is None:
        return None
    return item | {"call_id": taken["id"], "arguments": taken["function"]["arguments"]}


def _items_with_text_read(
    normalizer: CallNormalizer, items: list[Any], policy: Policy, cut: bool
) -> list[Any]:
    kept, calls = [], []
    for item in items:
        parts = item.get("content") if isinstance(item, dict) else None
        if not isinstance(parts, list) or item.get("type") != "message":
            kept.append(item)
            continue
        new_parts = []
        for part in parts:
            found = None
            if _is_text(part):
                found = parse(policy.format or "", part["text"], policy.tools)
            if found is None or not found.tool_calls:
                new_parts.append(part)
                continue
            calls += found.tool_calls
            if found.content is not None:
                new_parts.append(part | {"text": found.content})
        if new_parts or not parts:
            kept.append(item | {"content": new_parts})
    return kept + text_items(normalizer, calls, policy, cut)


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and part.get("type") == "output_text"
        and isinstance(part.get("text"), str)
    )


def text_items(
    normalizer: CallNormalizer, calls: list[Any], policy: Policy, cut: bool
) -> list[Json]:
    """The calls found in the text, as items of the output."""
    items = []
    for call in calls:
        raw = {
            "type": "function_call",
            "id": f"fc_{os.urandom(12).hex()}",
            "call_id": policy.text_id(call.id, call.name, normalizer.ids),
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        item = _normal_item(normalizer, raw, cut and call is calls[-1])
        if item is not None:
            normalizer.note(None, "text_parsed", f"a call of {call.name!r} was found in the text")
            items.append(item)
    return items


@dataclass(slots=True)
class _Item:
    """A call as it is announced, grows and ends."""

    item: Json
    pieces: list[str] = field(default_factory=list)
    full: Any = None  # the arguments as the upstream repeated them
    ended: bool = False
    place: int | None = None  # its place in our output, once it was announced (live)

    def settled(self) -> Json:
        """The item with the arguments that count: the repeated ones, else the pieces."""
        arguments = self.full if self.full not in (None, "") else self.item.get("arguments")
        if self.pieces and arguments in (None, ""):
            arguments = "".join(self.pieces)
        rest = {k: v for k, v in self.item.items() if k != "arguments"}
        return rest if arguments is None else rest | {"arguments": arguments}


class ResponsesStream:
    """Normalises the events of one streamed answer: the same interface as `ChatStream`."""

    def __init__(self, policy: Policy, mode: str = "verified") -> None:
        self.calls = 0
        self._policy = policy
        self._live = mode == "live"
        self._normalizer = CallNormalizer()
        self._held: dict[Any, _Item] = {}  # by the upstream's output_index
        self._places: dict[Any, int] = {}  # the upstream's output_index, ours
        self._next_place = 0
        self._sent: dict[int, Json] = {}  # the calls as they were sent, by our place
        self._numbered = False
        self._next_number = 0
        self._texts: dict[tuple[Any, Any], _Text] = {}
        self._native = False
        self._over = False

    @property
    def findings(self) -> list[Finding]:
        return self._normalizer.findings

    @property
    def has_seen_calls(self) -> bool:
        return bool(self._held or self.calls or self.findings)

    def feed(self, event: Json) -> list[Json]:
        """The events to send for one that came in."""
        return [self._number(e) for e in self._feed(event)]

    def finish(self, *, died: bool = False) -> list[Json]:
        """The stream is over: what is still held."""
        if self._over:
            return []
        flushed = [e for text in self._texts.values() for e in text.finish(None)]
        return [self._number(e) for e in flushed + self._end_calls(cut=died)]

    def _number(self, event: Json) -> Json:
        """Sequence numbers go on without a gap, whatever was held or added."""
        if "sequence_number" in event:
            self._numbered = True
        if not self._numbered:
            return event
        number, self._next_number = self._next_number, self._next_number + 1
        if event.get("sequence_number") == number:
            return event
        return event | {"sequence_number": number}

    def _feed(self, event: Json) -> list[Json]:
        kind = event.get("type")
        if kind in ENDS:
            return self._end(event)
        if kind == "response.output_item.added":
            return self._added(event)
        if isinstance(kind, str) and kind.startswith(_ARGUMENTS):
            return self._arguments(event, kind)
        if kind == "response.output_item.done":
            return self._item_done(event)
        if isinstance(kind, str) and kind.startswith((_TEXT, "response.content_part.done")):
            return self._text(event, kind)
        return [self._moved(event)]

    def _moved(self, event: Json) -> Json:
        """The event with its item at its place in our output."""
        index = event.get("output_index")
        if index is None or self._places.get(index, index) == index:
            return event
        return event | {"output_index": self._places[index]}

    def _place(self) -> int:
        self._next_place += 1
        return self._next_place - 1

    # Items

    def _added(self, event: Json) -> list[Json]:
        index, item = event.get("output_index"), event.get("item")
        before = self._send_ended()
        if not _is_call(item) or not isinstance(item, dict):
            self._places[index] = self._place()
            return [*before, self._moved(event)]
        before += self._go_native()
        held = self._held[index] = _Item(item)
        if not self._live or not item.get("name"):
            return before
        if self.calls and not self._policy.parallel:
            return before
        id = self._normalizer.id_for(item.get("call_id"), str(item["name"]))
        held.item = item if id == item.get("call_id") else item | {"call_id": id}
        held.place = self._places[index] = self._place()
        self.calls += 1
        moved = self._moved(event)
        return [*before, moved if held.item is item else moved | {"item": held.item}]

    def _arguments(self, event: Json, kind: str) -> list[Json]:
        held = self._held.get(event.get("output_index"))
        if held is None:
            return [self._moved(event)]
        if kind.endswith(".delta") and isinstance(event.get("delta"), str):
            held.pieces.append(event["delta"])
        elif kind.endswith(".done"):
            held.full = event.get("arguments")
        if held.place is None:
            return []
        return [self._moved(event)] if kind.endswith(".delta") else []

    def _item_done(self, event: Json) -> list[Json]:
        index, item = event.get("output_index"), event.get("item")
        held = self._held.get(index)
        if held is None or not isinstance(item, dict):
            return [self._with_texts(self._moved(event), index)]
        held.ended = True
        held.item = item | {"call_id": held.item.get("call_id") or item.get("call_id")}
        # Only arguments that are JSON are surely whole: others may have been cut off by the end.
        arguments = held.settled().get("arguments")
        if isinstance(arguments, str) and json_type(arguments):
            return self._send(index, self._held.pop(index), cut=False)
        return []

    def _send_ended(self) -> list[Json]:
        """Another item begins, so the calls that have ended were not cut off."""
        ended = [index for index, held in self._held.items() if held.ended]
        return [e for index in ended for e in self._send(index, self._held.pop(index), cut=False)]

    def _send(self, index: Any, held: _Item, cut: bool) -> list[Json]:
        cut = cut or held.item.get("status") == "incomplete"
        if held.place is not None:
            return self._send_rest(held, held.place, cut)
        item = _normal_item(self._normalizer, held.settled(), cut)
        if item is None:
            return []
        if self.calls and not self._policy.parallel:
            only_first(self._normalizer, [item, {"function": item}])
            return []
        self.calls += 1
        self._places[index] = self._place()
        return self._block(item, self._places[index])

    def _block(self, item: Json, place: int) -> list[Json]:
        """All events of one call, one after the other."""
        self._sent[place] = item
        about = {"item_id": item.get("id"), "output_index": place}
        start = item | {"arguments": "", "status": "in_progress"}
        text = item["arguments"]
        return [
            {"type": "response.output_item.added", "output_index": place, "item": start},
            {"type": f"{_ARGUMENTS}.delta", **about, "delta": text},
            {"type": f"{_ARGUMENTS}.done", **about, "name": item.get("name"), "arguments": text},
            {"type": "response.output_item.done", "output_index": place, "item": item},
        ]

    def _send_rest(self, held: _Item, place: int, cut: bool) -> list[Json]:
        """The end of a call whose pieces were sent as they came (live)."""
        sent = "".join(held.pieces)
        item = held.settled()
        whole = item.get("arguments")
        name = item.get("name")
        events = []
        about = {"item_id": item.get("id"), "output_index": place}
        if not sent and not cut and isinstance(whole, (str, Mapping)):
            fixed = _normal_item(CallNormalizer(), item, False) or item
            sent = fixed["arguments"]
            events.append({"type": f"{_ARGUMENTS}.delta", **about, "delta": sent})
        if not json_type(sent):
            reason = "truncated" if cut else "invalid_json"
            detail = f"the arguments of {name!r} are not valid JSON, and were already sent"
            self._normalizer.note(reason, None, detail)
        item = item | {"arguments": sent}
        self._sent[place] = item
        return [
            *events,
            {"type": f"{_ARGUMENTS}.done", **about, "name": name, "arguments": sent},
            {"type": "response.output_item.done", "output_index": place, "item": item},
        ]

    # Text

    def _text(self, event: Json, kind: str) -> list[Json]:
        if self._native or not self._policy.reads_text:
            known = self._texts.get((event.get("output_index"), event.get("content_index")))
            if known is None or kind == f"{_TEXT}.delta":
                return [self._moved(event)]
        key = (event.get("output_index"), event.get("content_index"))
        if kind == f"{_TEXT}.delta":
            if key not in self._texts:
                stream = DeltaStream(self._policy.format or "", self._policy.tools)
                self._texts[key] = _Text(stream)
            return self._texts[key].feed(self._moved(event))
        text = self._texts.get(key)
        if text is None:
            return [self._moved(event)]
        if kind == f"{_TEXT}.done":
            flushed = text.finish(self._moved(event))
            return [*flushed, self._moved(event) | {"text": text.so_far()}]
        part = event.get("part")
        if not _is_text(part) or not isinstance(part, dict):
            return [self._moved(event)]
        return [self._moved(event) | {"part": part | {"text": text.so_far()}}]

    def _with_texts(self, event: Json, index: Any) -> Json:
        """The end of a message, with its text as it was sent."""
        item = event.get("item")
        if not self._texts or not isinstance(item, dict):
            return event
        return event | {"item": self._message(item, index)}

    def _message(self, item: Json, index: Any) -> Json:
        parts = item.get("content")
        if not isinstance(parts, list):
            return item
        new = []
        for i, part in enumerate(parts):
            text = self._texts.get((index, i))
            new.append(part | {"text": text.so_far()} if text and _is_text(part) else part)
        return item if new == parts else item | {"content": new}

    def _go_native(self) -> list[Json]:
        """The upstream sends calls of its own: those in its text stay away."""
        self._native = True
        flushed = [e for text in self._texts.values() for e in text.finish(None)]
        for text in self._texts.values():
            for call in text.calls():
                detail = f"a call of {call.name!r} in the text gives way to native calls"
                self._normalizer.note(None, "dropped", detail)
            text.deltas.clear()
        return flushed

    # The end

    def _end_calls(self, cut: bool) -> list[Json]:
        """The calls still held, then those found in the text."""
        last = max(self._held, default=None, key=lambda index: (index is not None, index))
        events: list[Json] = []
        for index in list(self._held):
            events += self._send(index, self._held.pop(index), cut=cut and index == last)
        found = [call for text in self._texts.values() for call in text.calls()]
        for item in text_items(self._normalizer, found, self._policy, cut):
            if self.calls and not self._policy.parallel:
                only_first(self._normalizer, [item, {"function": item}])
                break
            self.calls += 1
            events += self._block(item, self._place())
        return events

    def _end(self, event: Json) -> list[Json]:
        flushed = [e for text in self._texts.values() for e in text.finish(None)]
        events = flushed + self._end_calls(cut=event["type"] != "response.completed")
        self._over = True
        response = event.get("response")
        if not isinstance(response, dict) or not isinstance(response.get("output"), list):
            return [*events, event]
        output = self._output(response["output"])
        if output == response["output"]:
            return [*events, event]
        return [*events, event | {"response": response | {"output": output}}]

    def _output(self, upstream: list[Any]) -> list[Any]:
        """The output as it was sent: calls and text as they went out, everything at its place."""
        placed: dict[int, Any] = dict(self._sent)
        unplaced = []
        for index, item in enumerate(upstream):
            if _is_call(item):
                continue
            new = self._message(item, index) if isinstance(item, dict) else item
            if index in self._places:
                placed[self._places[index]] = new
            else:
                unplaced.append(new)
        return [placed[place] for place in sorted(placed)] + unplaced


@dataclass(slots=True)
class _Text:
    """One text of the answer, read for calls."""

    stream: DeltaStream
    pieces: list[str] = field(default_factory=list)
    deltas: list[Json] = field(default_factory=list)  # those with calls
    last: Json = field(default_factory=dict)
    finished: bool = False

    def feed(self, event: Json) -> list[Json]:
        self.last = event
        return self._take(self.stream.feed(str(event.get("delta") or "")), event)

    def finish(self, event: Json | None) -> list[Json]:
        if self.finished:
            return []
        self.finished = True
        return self._take(self.stream.finish(), self.last if event is None else event)

    def _take(self, deltas: list[Json], event: Json) -> list[Json]:
        self.deltas += [delta for delta in deltas if "tool_calls" in delta]
        text = "".join(delta.get("content", "") for delta in deltas)
        if not text:
            return []
        self.pieces.append(text)
        if event.get("delta") == text:
            return [event]
        return [self.last | {"delta": text}]

    def so_far(self) -> str:
        return "".join(self.pieces)

    def calls(self) -> list[Any]:
        return accumulate(self.deltas).tool_calls
