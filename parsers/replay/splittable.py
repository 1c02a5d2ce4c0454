"""What of a captured exchange could have come in other chunks: its text, and a stream's bytes too.

In a stream, events in a row that only carry text are one text, which may come in any pieces: text of
the message, its thoughts, or arguments of one call. Everything else in the stream stays as it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..gateway.exchange import Plan
from ..gateway.messages_route import NATIVE
from ..gateway.model_text import texts_of
from ..gateway.settings import Settings
from ..gateway.sse import EventSplitter, ServerEvent, frame, load_object
from ..gateway.stream_session import StreamSession
from ..openai import DeltaStream, accumulate, parse
from ..openai.deltas import REASONING_KEYS
from ..openai.policy import Policy
from .client_result import REASONING_DELTAS, client_result, message_result
from .splits import Splittable, split_at

Json = dict[str, Any]
Path = tuple[str | int, ...]

#: The events of the Responses API that carry a piece of text.
_TEXT_DELTAS = (
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    *REASONING_DELTAS,
)


class _Session(StreamSession):
    """Runs hundreds of times, so it neither counts nor logs."""

    def _close(self) -> None:
        return


def splittable_answer(plan: Plan, raw: bytes) -> list[Splittable]:
    """The texts of a whole answer that calls are read from."""
    if not plan.policy.reads_text:
        return []
    answer = load_object(raw) or {}
    return [_splittable_text(text, plan.policy) for text in texts_of(answer) if text]


def _splittable_text(text: str, policy: Policy) -> Splittable:
    """Whole, it is parsed in one go; in pieces, it is what a client puts together from deltas."""
    format, tools, thoughts = policy.format or "", policy.request.tools, policy.splits_thoughts

    def run(places: Sequence[int]) -> Json:
        stream = DeltaStream(format, tools, reasoning=thoughts)
        deltas = [delta for piece in split_at(text, places) for delta in stream.feed(piece)]
        return message_result(accumulate(deltas + stream.finish()))

    return Splittable("character", text, message_result(parse(format, text, tools, thoughts)), run)


def splittable_stream(plan: Plan, settings: Settings, raw: bytes) -> list[Splittable]:
    """The text of a stream, and its bytes."""

    def run(chunks: list[bytes]) -> Json:
        session = _Session(plan, settings, None)
        sent = [session.feed(chunk) for chunk in chunks] + [session.finish()]
        return client_result(b"".join(sent), plan.api)

    expected = run([raw])
    events = StreamEvents(raw, plan.api)
    text = Splittable(
        "character", events.text, expected, lambda places: run(events.with_text_split(places))
    )
    octets = Splittable("byte", raw, expected, lambda places: run(split_at(raw, places)))
    return [part for part in (text, octets) if part.content]


@dataclass(slots=True)
class _TextEvents:
    """Events in a row that carry one text between them."""

    key: Any
    path: Path  # where in an event the text stands
    first: Json
    rest: Json  # how the pieces after the first look
    texts: list[str] = field(default_factory=list)


class StreamEvents:
    """The events of a stream, whose texts can be split anew."""

    def __init__(self, raw: bytes, api: str) -> None:
        self._named = api in ("responses", NATIVE)
        self._parts: list[bytes | _TextEvents] = []
        splitter = EventSplitter(len(raw) + 1)
        for event in [*splitter.feed(raw), *splitter.finish()]:
            self._add(event)
        runs = [part for part in self._parts if isinstance(part, _TextEvents)]
        self.text = "".join(text for run in runs for text in run.texts)

    def _add(self, event: ServerEvent) -> None:
        chunk = event.load()
        found = _text_events(chunk, self._named) if chunk is not None else None
        if found is None or chunk is None:
            self._parts.append(event.raw)
            return
        last = self._parts[-1] if self._parts else b""
        goes_on = found.first == found.rest
        if isinstance(last, _TextEvents) and last.key == found.key and goes_on:
            last.texts += found.texts
        else:
            self._parts.append(found)
        ending = _ending(chunk)
        if ending is not None:
            self._parts.append(frame(ending))

    def with_text_split(self, places: Sequence[int]) -> list[bytes]:
        """The events, with the text of all of them split at these places."""
        events: list[bytes] = []
        start = 0
        for part in self._parts:
            if isinstance(part, bytes):
                events.append(part)
                continue
            text = "".join(part.texts)
            inside = places[bisect_right(places, start) : bisect_left(places, start + len(text))]
            for i, piece in enumerate(split_at(text, [place - start for place in inside])):
                chunk = _put(part.rest if i else part.first, part.path, piece)
                events.append(frame(chunk, str(chunk.get("type")) if self._named else None))
            start += len(text)
        return events


def _text_events(chunk: Json, named: bool) -> _TextEvents | None:
    """An event that only carries text, as a run of one; None for any other."""
    if named:
        return _responses_text_events(chunk) or _messages_text_events(chunk)
    choices = chunk.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return None
    delta = choices[0].get("delta")
    if not isinstance(delta, dict):
        return None
    said = {key for key, value in delta.items() if value not in (None, "") and key != "role"}
    index = choices[0].get("index")
    plain = chunk | {"choices": [choices[0] | {"finish_reason": None}]}
    key = next(iter(said)) if len(said) == 1 else ""
    if key in ("content", *REASONING_KEYS) and isinstance(delta[key], str):
        path: Path = ("choices", 0, "delta", key)
        return _TextEvents((key, index), path, plain, plain, [delta[key]])
    if said == {"tool_calls"}:
        return _call_text_events(plain, index, delta["tool_calls"])
    return None


def _call_text_events(plain: Json, index: Any, entries: Any) -> _TextEvents | None:
    if not isinstance(entries, list) or len(entries) != 1 or not isinstance(entries[0], dict):
        return None
    call = entries[0].get("index")
    function = entries[0].get("function")
    text = function.get("arguments") if isinstance(function, dict) else None
    if call is None or not isinstance(text, str) or not text or not isinstance(function, dict):
        return None
    entries_at: Path = ("choices", 0, "delta", "tool_calls")
    rest = _put(plain, entries_at, [{"index": call, "function": {"arguments": ""}}])
    starts = entries[0].get("id") or function.get("name")
    path = (*entries_at, 0, "function", "arguments")
    return _TextEvents(("call", index, call), path, plain if starts else rest, rest, [text])


def _responses_text_events(event: Json) -> _TextEvents | None:
    kind = event.get("type")
    if kind not in _TEXT_DELTAS:
        return None
    if not isinstance(event.get("delta"), str) or not event["delta"]:
        return None
    places = ("output_index", "content_index", "summary_index")
    key = (kind, *(event.get(place) for place in places))
    same = {k: v for k, v in event.items() if k != "sequence_number"}
    return _TextEvents(key, ("delta",), same, same, [event["delta"]])


def _messages_text_events(event: Json) -> _TextEvents | None:
    delta = event.get("delta")
    if event.get("type") != "content_block_delta" or not isinstance(delta, dict):
        return None
    for kind, member in (("text_delta", "text"), ("input_json_delta", "partial_json")):
        text = delta.get(member)
        if delta.get("type") == kind and isinstance(text, str) and text:
            key = (kind, event.get("index"))
            return _TextEvents(key, ("delta", member), event, event, [text])
    return None


def _ending(chunk: Json) -> Json | None:
    """The end of an answer that came in one event with its last text, as an event of its own."""
    choices = chunk.get("choices")
    if not isinstance(choices, list) or choices[0].get("finish_reason") is None:
        return None
    return chunk | {"choices": [choices[0] | {"delta": {}}]}


def _put(value: Any, path: Path, text: Any) -> Any:
    """A copy of a value with something else at a place."""
    if not path:
        return text
    key, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_put(item, rest, text) if i == key else item for i, item in enumerate(value)]
    return value | {key: _put(value[key], rest, text)}
