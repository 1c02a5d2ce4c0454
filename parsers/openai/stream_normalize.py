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

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.schema import json_type
from .deltas import DeltaStream
from .message import make_id
from .normalize import CUT_REASONS, CallNormalizer, Finding, Json, Policy, corrected_reason

MODES = ("verified", "live")

#: How many characters of arguments are held for one call, so that no upstream can fill the memory.
MAX_ARGUMENTS = 32 * 1024 * 1024

_KNOWN = frozenset({"index", "id", "type", "function", "name", "arguments"})


@dataclass(slots=True)
class _Call:
    """One call as it grows."""

    key: Any  # the upstream's index for it
    from_text: bool = False
    id: Any = None
    name: str = ""
    pieces: list[str] | None = None  # of its arguments; None until there are any, even empty ones
    broken: Any = None  # arguments of a type that can't be right, or too many
    size: int = 0
    extra: Json = field(default_factory=dict)
    number: int | None = None  # our index for it, once it was sent (live)
    sent: int = 0  # how many of its pieces were sent (live)
    refused: bool = False  # one more than the client asked for (live)
    looked_at: int = -1  # how many pieces there were when `done` was found out
    done: bool = False

    def grow_name(self, name: str) -> None:
        """Some servers send the name in pieces, some send it again with every fragment."""
        if name.startswith(self.name):
            self.name = name
        elif not self.pieces or not any(self.pieces):
            self.name += name

    def grow_arguments(self, arguments: Any) -> None:
        if arguments is None or self.broken is not None:
            return
        if isinstance(arguments, Mapping):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str):
            self.pieces = [] if self.pieces is None else self.pieces
            self.pieces.append(arguments)
            self.size += len(arguments)
        if not isinstance(arguments, str) or self.size > MAX_ARGUMENTS:
            self.broken = arguments if not isinstance(arguments, str) else ["too long"]
            self.pieces = None
            self.sent = 0

    def is_done(self) -> bool:
        """Whether the arguments are JSON; found out once for every state of them."""
        if not self.name or self.pieces is None or self.broken is not None:
            return False
        if self.looked_at != len(self.pieces):
            self.looked_at = len(self.pieces)
            self.done = json_type("".join(self.pieces)) is not None
        return self.done

    def raw(self) -> Json:
        function: Json = {"name": self.name}
        if self.broken is not None:
            function["arguments"] = self.broken
        elif self.pieces is not None:
            function["arguments"] = "".join(self.pieces)
        return {"id": self.id, "function": function} | self.extra


class ChatStream:
    """Normalises the chunks of one streamed answer."""

    def __init__(self, policy: Policy | None = None, mode: str = "verified") -> None:
        self._policy = policy or Policy()
        self._live = mode == "live"
        self._choices: dict[Any, _Choice] = {}
        self._envelope: Json = {}

    def feed(self, chunk: Json) -> list[Json]:
        """The chunks to send for one that came in."""
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return [chunk]
        self._envelope = chunk
        ahead: list[Json] = []
        kept: list[Any] = []
        for choice in choices:
            if not isinstance(choice, dict) or not isinstance(choice.get("index", 0), int | None):
                kept.append(choice)
                continue
            state = self._state(choice.get("index", 0))
            first, rest = state.feed(choice)
            ahead += [self._chunk(state.index, delta) for delta in first]
            if rest is not None:
                kept.append(rest)
        if len(kept) == len(choices) and all(a is b for a, b in zip(kept, choices, strict=True)):
            return [*ahead, chunk]
        if kept or chunk.get("usage") is not None:
            ahead.append(chunk | {"choices": kept})
        return ahead

    def finish(self, *, died: bool = False) -> list[Json]:
        """The stream is over (`died`: before its proper end): what is still held."""
        chunks: list[Json] = []
        for state in self._choices.values():
            deltas = state.flush("error" if died else None)
            chunks += [self._chunk(state.index, delta) for delta in deltas]
            if not died and state.calls and not state.finished:
                reason = corrected_reason("stop", True, self._policy.legacy)
                chunks.append(self._chunk(state.index, {}, reason))
        return chunks

    @property
    def findings(self) -> list[Finding]:
        return [f for state in self._choices.values() for f in state.normalizer.findings]

    @property
    def calls(self) -> int:
        """How many calls were sent."""
        return sum(state.calls for state in self._choices.values())

    @property
    def has_seen_calls(self) -> bool:
        return any(state.pending or state.calls for state in self._choices.values())

    def _state(self, index: Any) -> _Choice:
        if index not in self._choices:
            self._choices[index] = _Choice(index, self._policy, self._live)
        return self._choices[index]

    def _chunk(self, index: Any, delta: Json, reason: str | None = None) -> Json:
        """A chunk of our own, with the upstream's id, model and time."""
        choice = {"index": index, "delta": delta, "finish_reason": reason}
        envelope = {k: v for k, v in self._envelope.items() if k not in ("choices", "usage")}
        return envelope | {"choices": [choice]}


class _Choice:
    """One choice of the answer: its calls in the order in which they began."""

    def __init__(self, index: Any, policy: Policy, live: bool) -> None:
        self.index = index
        self.normalizer = CallNormalizer()
        self.pending: list[_Call] = []
        self.calls = 0  # how many were sent
        self.finished = False
        self._policy = policy
        self._live = live
        self._native = False
        self._custom: dict[Any, int] = {}  # calls of free text: the upstream's index, ours
        self._text: DeltaStream | None = None
        if policy.reads_text and policy.format:
            self._text = DeltaStream(policy.format, policy.tools, parallel=policy.parallel)

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
        corrected = corrected_reason(reason, self.calls > 0, self._policy.legacy)
        if kept == choice.get("delta") and corrected == reason:
            return ahead + held, choice
        return ahead + held, choice | {"delta": kept, "finish_reason": corrected}

    def flush(self, reason: str | None) -> list[Json]:
        """Nothing more comes: everything held goes out, or is dropped."""
        deltas: list[Json] = []
        if self._text is not None:
            text = self._read(self._text.finish())
            deltas += [text] if text else []
            self._text = None
        cut = reason in CUT_REASONS
        if self._live:
            return deltas + self._deltas(self._send_live()) + self._deltas(self._end_live(cut))
        return deltas + self._deltas(self._send_whole(len(self.pending), cut))

    def _deltas(self, entries: list[Json]) -> list[Json]:
        """Entries of calls as deltas, in the old style for clients that speak it."""
        if not self._policy.legacy:
            return [{"tool_calls": entries}] if entries else []
        return [{"function_call": entry["function"]} for entry in entries]

    # Calls in the text

    def _read(self, deltas: list[Json]) -> Json:
        """What is really text, as a delta; the calls are taken in."""
        for delta in deltas:
            for entry in delta.get("tool_calls", ()):
                self._take(entry, from_text=True)
        text = "".join(delta.get("content", "") for delta in deltas)
        return {"content": text} if text else {}

    def _go_native(self) -> list[Json]:
        """The upstream sends calls of its own: its text is text from here on."""
        self._native = True
        if self._text is None:
            return []
        text = self._read(self._text.finish())
        self._text = None
        for call in [c for c in self.pending if c.number is None]:
            # The same call is likely to be there twice; running it twice may do harm.
            detail = f"a call of {call.name!r} in the text gives way to native calls"
            self.normalizer.note(None, "dropped", detail)
            self.pending.remove(call)
        return [text] if text else []

    # Fragments

    def _take_all(self, entries: list[Any]) -> list[Json]:
        """Takes fragments in; those of free-text calls are given back, to be sent as they are."""
        passing = []
        for entry in entries:
            if not isinstance(entry, Mapping):
                self.normalizer.note("bad_structure", "dropped", "a piece of a call is no object")
            elif "custom" in entry:
                key = entry.get("index")
                if key not in self._custom:
                    self._custom[key] = self.calls
                    self.calls += 1
                passing.append(dict(entry) | {"index": self._custom[key]})
            else:
                self._take(entry)
        return [{"tool_calls": passing}] if passing else []

    def _take(self, entry: Mapping[str, Any], from_text: bool = False) -> None:
        function = entry.get("function")
        if not isinstance(function, Mapping):
            function = {k: entry[k] for k in ("name", "arguments") if k in entry}
        name = function.get("name")
        call = self._call_of(entry, name, from_text)
        call.id = call.id or entry.get("id")
        if isinstance(name, str) and name:
            call.grow_name(name)
        call.grow_arguments(function.get("arguments"))
        call.extra.update({k: v for k, v in entry.items() if k not in _KNOWN})

    def _call_of(self, entry: Mapping[str, Any], name: Any, from_text: bool) -> _Call:
        """The call that a fragment belongs to; a new one where it starts one."""
        key, id = entry.get("index"), entry.get("id")
        for call in reversed(self.pending):
            if call.from_text != from_text or (key is not None and call.key != key):
                continue
            another = bool(id and name and call.id and call.id != id)
            unnumbered = key is None and bool(name) and not id
            if another or unnumbered:
                break
            return call
        self.pending.append(_Call(key, from_text))
        return self.pending[-1]

    # Sending

    def _send_ready(self) -> list[Json]:
        """The calls that are done: another one began after them, and their arguments are JSON."""
        if any(call.from_text for call in self.pending):
            return []  # native calls may still come, and they go first
        ready = 0
        while ready < len(self.pending) - 1 and self.pending[ready].is_done():
            ready += 1
        return self._send_whole(ready, cut=False)

    def _send_whole(self, count: int, cut: bool) -> list[Json]:
        entries: list[Json] = []
        last = len(self.pending) - 1
        for i, call in enumerate(self.pending[:count]):
            self._number_text_call(call)
            taken = self.normalizer.take(call.raw(), cut=cut and i == last)
            if taken is not None and self._may_send(call):
                entries.append({"index": self.calls} | taken)
                self._count(call)
        del self.pending[:count]
        return entries

    def _send_live(self) -> list[Json]:
        entries: list[Json] = []
        for call in self.pending:
            if not call.name or call.pieces is None or call.broken is not None or call.refused:
                continue
            text = "".join(call.pieces[call.sent :])
            call.sent = len(call.pieces)
            if call.number is not None:
                if text:
                    entries.append({"index": call.number, "function": {"arguments": text}})
            elif self._may_send(call):
                entries.append(self._start_live(call, text))
            else:
                call.refused = True
        return entries

    def _start_live(self, call: _Call, text: str) -> Json:
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
        last = len(self.pending) - 1
        for i, call in enumerate(self.pending):
            text = "".join(call.pieces or ())
            if call.number is None:
                if not call.refused:  # it can't be sent; this says why
                    self.normalizer.take(call.raw() | {"id": make_id()}, cut=cut and i == last)
            elif json_type(text):
                continue
            elif call.broken is not None:
                detail = f"the arguments of {call.name!r} can't be used, and some were already sent"
                self.normalizer.note("bad_structure", None, detail)
            elif cut and i == last:
                self.normalizer.note("truncated", None, f"the call of {call.name!r} was cut off")
            elif not text:
                entries.append({"index": call.number, "function": {"arguments": "{}"}})
            else:
                detail = f"the arguments of {call.name!r} are not valid JSON, and were already sent"
                self.normalizer.note("invalid_json", None, detail)
        self.pending = []
        return entries

    def _number_text_call(self, call: _Call) -> None:
        if call.from_text:
            call.id = self._policy.text_id(call.id, call.name, self.normalizer.ids)

    def _may_send(self, call: _Call) -> bool:
        if self.calls and (self._policy.legacy or not self._policy.parallel):
            detail = f"the call of {call.name!r} is one more than was asked for"
            self.normalizer.note(None, "dropped", detail)
            return False
        return True

    def _count(self, call: _Call) -> None:
        self.calls += 1
        if call.from_text:
            detail = f"a call of {call.name!r} was found in the text"
            self.normalizer.note(None, "text_parsed", detail)


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
