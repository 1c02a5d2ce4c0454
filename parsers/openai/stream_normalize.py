"""A stream of Chat Completions chunks, normalised while it passes.

    stream = ChatStream(policy, mode="verified")
    for chunk in upstream: send(stream.feed(chunk))
    send(stream.finish())

`verified` holds a call until it is complete and sends it whole and checked; text streams on
meanwhile. `live` passes fragments on as they come and repairs only what can be repaired without
taking back what was sent. A chunk that needs no change comes back as the very same object, so that
whoever holds its bytes can send those.

Calls are numbered anew, without gaps: upstreams that start at 1, give every call the index 0, or
leave the index out are all understood, and a dropped call leaves no hole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Arguments, CallEnd, CallStart, Content, Event
from ..schema.kinds import json_type
from .answers import finish_reason, is_complete, make_id, was_cut
from .normalize import MAX_CHOICES, CallNormalizer, Finding, Json, Policy, found_in_text
from .open_calls import OpenCall, OpenCalls, key_of
from .sizes import shortened
from .text_reader import TextReader

MODES = ("verified", "live")

_CHOICE = 4096  # the bytes that a choice takes by itself
_LONGEST = 200  # characters of a field that our own chunks repeat


class ChatStream:
    """Normalises the chunks of one streamed answer."""

    def __init__(self, policy: Policy | None = None, mode: str = "verified") -> None:
        self._policy = policy or Policy()
        self._live = mode == "live"
        self.held = 0  # about how many bytes this stream holds
        self._choices: dict[Any, _Choice] = {}
        self._envelope: Json = {}

    def feed(self, chunk: Json) -> list[Json]:
        """The chunks to send for one that came in."""
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return [chunk]
        self._envelope = {k: v for k, v in chunk.items() if _is_small(v)}
        ahead: list[Json] = []
        kept: list[Any] = []
        for choice in choices:
            state = self._state(choice)
            if state is None:
                kept.append(choice)
                continue
            before = state.held
            first, rest = state.feed(choice)
            self.held += state.held - before
            ahead += [self._chunk(state.index, delta) for delta in first]
            if rest is not None:
                kept.append(rest)
        if len(kept) == len(choices) and all(a is b for a, b in zip(kept, choices, strict=True)):
            return [*ahead, chunk]
        if kept or chunk.get("usage") is not None:
            ahead.append(chunk | {"choices": kept})
        return ahead

    def finish(self, *, died: bool = False) -> list[Json]:
        """The stream is over (`died`: before its proper end): what is still held.

        An answer that ends without a finish reason was cut off, so half a call is not sent, and the
        reason is one that says so. Where all calls are whole, only the reason was forgotten.
        """
        chunks: list[Json] = []
        for state in self._choices.values():
            deltas = state.flush(None)
            chunks += [self._chunk(state.index, delta) for delta in deltas]
            lost = state.normalizer.lost_one
            if not died and not state.finished and (state.calls or lost):
                chunks.append(self._chunk(state.index, {}, state.reason(None if lost else "stop")))
            state.finished = True
        self.held = 0
        return chunks

    @property
    def findings(self) -> list[Finding]:
        return [f for state in self._choices.values() for f in state.normalizer.findings]

    @property
    def calls(self) -> int:
        """How many calls were sent."""
        return sum(state.calls for state in self._choices.values())

    def _state(self, choice: Any) -> _Choice | None:
        """What is known of a choice; None for what is none, or one too many."""
        index = choice.get("index", 0) if isinstance(choice, dict) else ""
        if not isinstance(index, int | None):
            return None
        if index not in self._choices:
            if len(self._choices) >= MAX_CHOICES:
                return None
            self._choices[index] = _Choice(index, self._policy, self._live)
            self.held += self._choices[index].held
        return self._choices[index]

    def _chunk(self, index: Any, delta: Json, reason: str | None = None) -> Json:
        """A chunk of our own, with the upstream's id, model and time."""
        choice = {"index": index, "delta": delta, "finish_reason": reason}
        return self._envelope | {"choices": [choice]}


def _is_small(value: Any) -> bool:
    """Whether a field of a chunk is about the stream, and not a part of the answer."""
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return value is not None and isinstance(value, (int, float))


class _Choice:
    """One choice of the answer: its calls in the order in which they began."""

    def __init__(self, index: Any, policy: Policy, live: bool) -> None:
        self.index = index
        self.normalizer = CallNormalizer(policy)
        self.calls = 0  # how many were sent
        self.finished = False
        self._legacy = policy.request.legacy
        self._live = live
        self._native = False
        self._custom: dict[Any, int | None] = {}  # calls of free text: the upstream's index, ours
        self._open = OpenCalls()
        self._text = TextReader(policy) if policy.reads_text else None

    @property
    def held(self) -> int:
        text = self._text.held if self._text is not None else 0
        custom = 200 * len(self._custom)
        return _CHOICE + self.normalizer.held + self._open.held + custom + text

    def feed(self, choice: Json) -> tuple[list[Json], Json | None]:
        """Deltas to send ahead, and the choice as it goes on (None: nothing is left of it)."""
        delta = choice.get("delta")
        reason = choice.get("finish_reason")
        if not isinstance(delta, dict):
            return self._ending([], {}, choice) if reason is not None else ([], choice)
        entries = _entries(delta)
        content = delta.get("content")
        reads = self._text is not None and isinstance(content, str) and content != ""
        if not entries and not reads and reason is None:
            return [], choice
        ahead: list[Json] = []
        kept = {k: v for k, v in delta.items() if k not in ("tool_calls", "function_call")}
        if entries and not self._native:
            ahead += self._go_native()
        if self._text is not None and reads:
            del kept["content"]
            kept |= self._read(self._text.feed(str(content)))
        ahead += self._take_all(entries)
        if reason is not None:
            return self._ending(ahead, kept, choice)
        return self._going_on(ahead, kept, choice)

    def _going_on(
        self, ahead: list[Json], kept: Json, choice: Json
    ) -> tuple[list[Json], Json | None]:
        calls = self._deltas(self._send_live() if self._live else self._send_ready())
        if calls:  # text of this chunk goes before the calls that it brings to their end
            if _says_something(kept):
                ahead.append(kept)
            return ahead + calls[:-1], choice | {"delta": calls[-1]}
        if kept == choice["delta"]:
            return ahead, choice
        if _says_something(kept) or choice.get("logprobs") is not None:
            return ahead, choice | {"delta": kept}
        return ahead, None

    def _ending(self, ahead: list[Json], kept: Json, choice: Json) -> tuple[list[Json], Json]:
        reason = choice["finish_reason"]
        held = self.flush(reason)
        if held and _says_something(kept):
            ahead.append(kept)
            kept = {}
        self.finished = True
        corrected = self.reason(reason)
        if kept == choice.get("delta") and corrected == reason:
            return ahead + held, choice
        return ahead + held, choice | {"delta": kept, "finish_reason": corrected}

    def reason(self, reason: str | None) -> str | None:
        """The finish reason to report, given the upstream's."""
        lost = self.normalizer.lost_one
        return finish_reason(reason, self.calls > 0, legacy=self._legacy, lost=lost)

    def flush(self, reason: str | None) -> list[Json]:
        """Nothing more comes: everything held goes out, or is dropped."""
        deltas: list[Json] = []
        if self._text is not None:
            text = self._read(self._text.finish())
            deltas += [text] if text else []
            self._text = None
        cut = was_cut(reason)
        if self._live:
            return deltas + self._deltas(self._send_live()) + self._deltas(self._end_live(cut))
        entries = [entry for _ in range(len(self._open)) for entry in self._send_first(cut)]
        return deltas + self._deltas(entries)

    def _deltas(self, entries: list[Json]) -> list[Json]:
        """Entries of calls as deltas, in the old style for clients that speak it."""
        if not self._legacy:
            return [{"tool_calls": entries}] if entries else []
        return [{"function_call": entry["function"]} for entry in entries]

    # Calls in the text

    def _read(self, events: list[Event]) -> Json:
        """What is really text, as a delta; the calls are taken in."""
        text = []
        for event in events:
            if isinstance(event, Content):
                text.append(event.text)
            elif isinstance(event, CallStart):
                function = {"name": event.name, "arguments": ""}
                entry = {"index": event.index, "id": event.id, "function": function}
                self._open.take(entry, from_text=True)
            elif isinstance(event, Arguments):
                entry = {"index": event.index, "function": {"arguments": event.text}}
                self._open.take(entry, from_text=True)
            elif isinstance(event, CallEnd) and event.id:
                self._open.take({"index": event.index, "id": event.id}, from_text=True)
        return {"content": "".join(text)} if text else {}

    def _go_native(self) -> list[Json]:
        """The upstream sends calls of its own: its text is text from here on."""
        self._native = True
        if self._text is None:
            return []
        text = self._read(self._text.finish())
        self._text = None
        for call in self._open.drop_text():
            # The same call is likely to be there twice; running it twice may do harm.
            detail = f"a call of {shortened(call.name)!r} in the text gives way to native calls"
            self.normalizer.note(None, "dropped", detail)
        return [text] if text else []

    # Fragments

    def _take_all(self, entries: list[Any]) -> list[Json]:
        """Takes fragments in; those of free-text calls are given back, to be sent as they are."""
        passing = []
        for entry in entries:
            if not isinstance(entry, Mapping):
                self.normalizer.note("bad_structure", "dropped", "a piece of a call is no object")
            elif "custom" in entry:
                key = key_of(entry.get("index"))
                if key not in self._custom:
                    self._custom[key] = self._begin_custom(entry["custom"])
                if self._custom[key] is not None:
                    passing.append(dict(entry) | {"index": self._custom[key]})
            else:
                self._open.take(entry)
        return [{"tool_calls": passing}] if passing else []

    def _begin_custom(self, custom: Any) -> int | None:
        """Our index for a call of free text; None where it may not go out."""
        name = custom.get("name") if isinstance(custom, Mapping) else None
        if not self.normalizer.admits(str(name)):
            return None
        self.calls += 1
        return self.calls - 1

    # Sending

    def _send_ready(self) -> list[Json]:
        """The calls that are done: another one began after them, and their arguments are JSON."""
        self._open.touched.clear()
        if self._open.any_from_text:
            return []  # native calls may still come, and they go first
        entries: list[Json] = []
        while len(self._open) > 1 and self._open.first.is_done():
            entries += self._send_first(cut=False)
        return entries

    def _send_first(self, cut: bool) -> list[Json]:
        """The oldest call, if it may be sent."""
        cut = cut and self._may_be_cut(self._open.first)
        call = self._open.pop_first()
        self._number_text_call(call)
        taken = self.normalizer.take(call.raw(), cut=cut)
        if taken is None:
            return []
        entry = {"index": self.calls} | taken
        self._count(call)
        return [entry]

    def _may_be_cut(self, call: OpenCall) -> bool:
        """Whether an end that came too early may have cut this call: the last one, unless the
        upstream sends several at a time."""
        return self._open.interleaved or call is self._open.last

    def _send_live(self) -> list[Json]:
        entries: list[Json] = []
        for call in self._open.touched.values():
            if not call.name or call.pieces is None or call.refused:
                continue
            if call.number is not None:
                text = self._unsent(call)
                if text:
                    entries.append({"index": call.number, "function": {"arguments": text}})
            elif self.normalizer.admits(call.name):
                entries.append(self._start_live(call))
            else:
                call.refused = True
        self._open.touched.clear()
        return entries

    def _unsent(self, call: OpenCall, last: bool = False) -> str:
        """What may be sent of a call's arguments, of those that were not sent yet."""
        text, coercion = call.unsent(), call.coercion
        if coercion is None:
            return text
        rest = coercion.finish if last else str
        return self.normalizer.coerce(call.name, lambda: coercion.feed(text) + rest())

    def _start_live(self, call: OpenCall) -> Json:
        call.name = self.normalizer.name(call.name)
        call.coercion = self.normalizer.coercion(call.name)
        text = self._unsent(call)
        self._number_text_call(call)
        id = self.normalizer.id_for(call.id, call.name)
        call.number = self.calls
        self._count(call)
        function = {"name": call.name, "arguments": text}
        entry = {"index": call.number, "id": id, "type": "function", "function": function}
        return entry | call.extra

    def _end_live(self, cut: bool) -> list[Json]:
        """What is left to say about calls that were sent as they came."""
        entries: list[Json] = []
        for _ in range(len(self._open)):
            its_cut = cut and self._may_be_cut(self._open.first)
            entries += self._end_one(self._open.pop_first(), its_cut)
        return entries

    def _end_one(self, call: OpenCall, cut: bool) -> list[Json]:
        text = call.pieces.text() if call.pieces is not None else ""
        name = shortened(call.name)
        rest = self._unsent(call, last=True) if call.number is not None else ""
        if rest:
            return [
                {"index": call.number, "function": {"arguments": rest}},
                *self._end_one(call, cut),
            ]
        if call.number is None:
            if not call.refused:  # it can't be sent; this says why
                self.normalizer.take(call.raw() | {"id": make_id()}, cut=cut)
        elif json_type(text):
            pass
        elif call.broken is not None:
            detail = f"the arguments of {name!r} can't be used, and some were already sent"
            self.normalizer.note("bad_structure", None, detail)
        elif cut and not is_complete(text):
            self.normalizer.lost_one = True
            self.normalizer.note("truncated", None, f"the call of {name!r} was cut off")
        elif not text:
            return [{"index": call.number, "function": {"arguments": "{}"}}]
        else:
            detail = f"the arguments of {name!r} are not valid JSON, and were already sent"
            self.normalizer.note("invalid_json", None, detail)
        return []

    def _number_text_call(self, call: OpenCall) -> None:
        if call.from_text:
            call.id = self.normalizer.text_id(call.id, call.name)

    def _count(self, call: OpenCall) -> None:
        self.calls += 1
        if call.from_text:
            self.normalizer.note(None, "text_parsed", found_in_text(call.name))


def _entries(delta: Json) -> list[Any]:
    """The fragments of calls in a delta, also where it is not a list, or in the old style."""
    entries = delta.get("tool_calls")
    if entries is None and delta.get("function_call") is not None:
        return [{"index": 0, "function": delta["function_call"]}]
    if not entries:
        return []
    return entries if isinstance(entries, list) else [entries]


def _says_something(delta: Json) -> bool:
    return any(value is not None for value in delta.values())
