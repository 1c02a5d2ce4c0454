"""A captured exchange as materials for the check of splits: its text, and a stream's bytes too.

In a stream, events in a row that only carry text are one text, which may come in any pieces: text of
the message, or arguments of one call. Everything else in the stream stays as it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..openai import DeltaStream, accumulate, parse
from ..openai.normalize import Policy
from .exchange import Plan, StreamSession
from .received import from_message, received
from .settings import Settings
from .splits import Material, pieces
from .sse import EventSplitter, ServerEvent, frame, load_object

Json = dict[str, Any]
Path = tuple[str | int, ...]


class _Session(StreamSession):
    """Runs hundreds of times, so it neither counts nor logs."""

    def _close(self) -> None:
        return


def whole_materials(plan: Plan, raw: bytes) -> list[Material]:
    """The texts of a whole answer that calls are read from."""
    if not plan.policy.reads_text:
        return []
    answer = load_object(raw) or {}
    return [_text_material(text, plan.policy) for text in _texts(answer) if text]


def _text_material(text: str, policy: Policy) -> Material:
    """Whole, it is parsed in one go; in pieces, it is what a client puts together from deltas."""
    format = policy.format or ""

    def run(cuts: Sequence[int]) -> Json:
        stream = DeltaStream(format, policy.tools)
        deltas = [delta for piece in pieces(text, cuts) for delta in stream.feed(piece)]
        return from_message(accumulate(deltas + stream.finish()))

    return Material("character", text, from_message(parse(format, text, policy.tools)), run)


def _texts(answer: Json) -> list[str]:
    """The texts of a whole answer of either API."""
    messages = [c.get("message") for c in _objects(answer.get("choices"))]
    found = [m.get("content") for m in messages if isinstance(m, dict) and not m.get("tool_calls")]
    items = _objects(answer.get("output"))
    if not any(item.get("type") == "function_call" for item in items):
        found += [part.get("text") for item in items for part in _objects(item.get("content"))]
    return [text for text in found if isinstance(text, str)]


def _objects(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def stream_materials(plan: Plan, settings: Settings, raw: bytes) -> list[Material]:
    """The text of a stream, and its bytes."""

    def run(chunks: list[bytes]) -> Json:
        session = _Session(plan, settings, None)
        sent = [session.feed(chunk) for chunk in chunks] + [session.finish()]
        return received(b"".join(sent), plan.api)

    expected = run([raw])
    recut = _Recut(raw, plan.api)
    text = Material("character", recut.text, expected, lambda cuts: run(recut.events(cuts)))
    octets = Material("byte", raw, expected, lambda cuts: run(pieces(raw, cuts)))
    return [material for material in (text, octets) if material.content]


@dataclass(slots=True)
class _Stretch:
    """Events in a row that carry one text."""

    key: Any
    path: Path  # where in an event the text stands
    first: Json
    rest: Json  # how the pieces after the first look
    texts: list[str] = field(default_factory=list)


class _Recut:
    """A stream whose texts can be cut anew."""

    def __init__(self, raw: bytes, api: str) -> None:
        self._named = api == "responses"
        self._parts: list[bytes | _Stretch] = []
        splitter = EventSplitter(len(raw) + 1)
        for event in [*splitter.feed(raw), *splitter.finish()]:
            self._add(event)
        stretches = [part for part in self._parts if isinstance(part, _Stretch)]
        self.text = "".join(text for stretch in stretches for text in stretch.texts)

    def _add(self, event: ServerEvent) -> None:
        chunk = event.load()
        found = _stretch(chunk, self._named) if chunk is not None else None
        if found is None or chunk is None:
            self._parts.append(event.raw)
            return
        last = self._parts[-1] if self._parts else None
        joins = isinstance(last, _Stretch) and last.key == found.key and found.first == found.rest
        if isinstance(last, _Stretch) and joins:
            last.texts += found.texts
        else:
            self._parts.append(found)
        ending = _ending(chunk)
        if ending is not None:
            self._parts.append(frame(ending))

    def events(self, cuts: Sequence[int]) -> list[bytes]:
        """The events of the stream, with its text cut at these places."""
        events: list[bytes] = []
        start = 0
        for part in self._parts:
            if isinstance(part, bytes):
                events.append(part)
                continue
            text = "".join(part.texts)
            inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, start + len(text))]
            for i, piece in enumerate(pieces(text, [cut - start for cut in inside])):
                chunk = _put(part.rest if i else part.first, part.path, piece)
                events.append(frame(chunk, str(chunk.get("type")) if self._named else None))
            start += len(text)
        return events


def _stretch(chunk: Json, named: bool) -> _Stretch | None:
    """An event that only carries text, as a stretch of one; None for any other."""
    if named:
        return _stretch_of_responses(chunk)
    choices = chunk.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return None
    delta = choices[0].get("delta")
    if not isinstance(delta, dict):
        return None
    said = {key for key, value in delta.items() if value not in (None, "") and key != "role"}
    index = choices[0].get("index")
    plain = chunk | {"choices": [choices[0] | {"finish_reason": None}]}
    if said == {"content"} and isinstance(delta["content"], str):
        path: Path = ("choices", 0, "delta", "content")
        return _Stretch(("content", index), path, plain, plain, [delta["content"]])
    if said == {"tool_calls"}:
        return _stretch_of_call(plain, index, delta["tool_calls"])
    return None


def _stretch_of_call(plain: Json, index: Any, entries: Any) -> _Stretch | None:
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
    return _Stretch(("call", index, call), path, plain if starts else rest, rest, [text])


def _stretch_of_responses(event: Json) -> _Stretch | None:
    kind = event.get("type")
    if kind not in ("response.output_text.delta", "response.function_call_arguments.delta"):
        return None
    if not isinstance(event.get("delta"), str) or not event["delta"]:
        return None
    key = (kind, event.get("output_index"), event.get("content_index"))
    same = {k: v for k, v in event.items() if k != "sequence_number"}
    return _Stretch(key, ("delta",), same, same, [event["delta"]])


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
