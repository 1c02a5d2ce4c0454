"""One choice of a streamed Chat Completions answer: its text, and its calls as they grow.

`feed` gives deltas for what came; `flush` is for an answer that said how it ended, `lose` for one that
broke off. Calls go out in the order in which they began.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Arguments, CallEnd, CallStart, Content, Event, Reasoning
from ..schema.kinds import json_type
from .answers import finish_reason, is_complete, make_id, was_cut
from .deltas import REASONING_KEYS
from .normalize import CallNormalizer, Json, found_in_text
from .open_calls import OpenCall, OpenCalls, key_of
from .policy import Policy
from .sizes import shortened, size_of
from .text_reader import TextReader, ThoughtsReader, is_just

_CHOICE = 4096  # the bytes that a choice takes by itself


class ChoiceStream:
    """One choice of the answer: its calls in the order in which they began."""

    def __init__(self, index: Any, policy: Policy, mode: str, emit: str) -> None:
        self.index = index
        self.normalizer = CallNormalizer(policy)
        self.calls = 0  # how many were sent
        self.finished = False
        self.counted = 0  # the bytes that whoever counts them has counted so far
        self._legacy = policy.request.legacy
        self._live = mode == "live"
        self._early = emit == "complete"
        self._native = False
        self._custom: dict[Any, int | None] = {}  # calls of free text: the upstream's index, ours
        self._waiting: list[Json] = []  # … and their pieces, where they wait for the finish reason
        self._waiting_size = 0
        self._open = OpenCalls(frozenset(f.name for f in policy.request.functions))
        self._text = TextReader(policy) if policy.looks_at_text else None
        self._said: list[Event] | None = None  # what is known of the next chunk's text
        # As long as the server has sent nothing else, its thoughts may end in calls.
        self._may_think = policy.looks_at_thoughts
        self._thoughts: ThoughtsReader | None = None  # made for the first of them
        self._policy = policy
        self._thoughts_key = REASONING_KEYS[0]  # what the server calls them

    @property
    def held(self) -> int:
        text = self._text.held if self._text is not None else 0
        text += self._thoughts.held if self._thoughts is not None else 0
        custom = 200 * len(self._custom) + self._waiting_size
        return _CHOICE + self.normalizer.held + self._open.held + custom + text

    def passes(self, text: str) -> bool:
        """Whether a delta of nothing but this text goes on as it is. `feed` is given any other."""
        if self._text is None:
            return True
        if self._thoughts is not None:
            return False
        said = self._text.feed(text)
        if is_just(said, text):  # as nearly every chunk of an answer
            self._may_think = self._may_think and text.isspace()
            return True
        self._said = said
        return False

    def feed(self, choice: Json) -> tuple[list[Json], Json | None]:
        """Deltas to send ahead, and the choice as it goes on (None: nothing is left of it)."""
        delta = choice.get("delta")
        reason = choice.get("finish_reason")
        if not isinstance(delta, dict):
            return self._ending([], {}, choice) if reason is not None else ([], choice)
        entries = _entries(delta)
        content: Any = delta.get("content")
        reads = self._text is not None and isinstance(content, str) and content != ""
        thinks = self._may_think and any(delta.get(key) for key in REASONING_KEYS)
        said, self._said = self._said, None  # what the content of this chunk is
        if not entries and not thinks and reason is None:
            if not reads:
                return [], choice
            if self._text is not None and self._thoughts is None:
                said = self._text.feed(content) if said is None else said
                if is_just(said, content):
                    self._may_think = self._may_think and content.isspace()
                    return [], choice
        ahead: list[Json] = []
        kept = {k: v for k, v in delta.items() if k not in ("tool_calls", "function_call")}
        if thinks:
            self._think(kept)
        if entries or (isinstance(content, str) and content.strip()):
            rest = self._end_thoughts()
            if rest and thinks:
                kept[self._thoughts_key] = kept.get(self._thoughts_key, "") + rest
            else:
                ahead += self._thought(rest)
        if entries and not self._native:
            ahead += self._go_native()
        if self._text is not None and reads:
            del kept["content"]
            said = self._text.feed(content) if said is None else said
            for key, text in self._read(said).items():
                kept[key] = (kept.get(key) or "") + text
        ahead += self._take_all(entries)
        if reason is not None:
            return self._ending(ahead, kept, choice)
        return self._going_on(ahead, kept, choice)

    def _going_on(
        self, ahead: list[Json], kept: Json, choice: Json
    ) -> tuple[list[Json], Json | None]:
        calls = self._deltas(self._send_now())
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

    # Thoughts that the server sends apart

    def _think(self, kept: Json) -> None:
        """Reads the thoughts of a delta; what may be a call is held."""
        self._thoughts = self._thoughts or ThoughtsReader(self._policy)
        for key in REASONING_KEYS:
            if isinstance(kept.get(key), str) and kept[key]:
                self._thoughts_key = key
                said = self._thoughts.feed(kept.pop(key))
                if said:
                    kept[key] = said

    def _end_thoughts(self) -> str:
        """Something else came: all that was held of them is a thought."""
        self._may_think = False
        reader, self._thoughts = self._thoughts, None
        return reader.release() if reader is not None else ""

    def _thought(self, text: str) -> list[Json]:
        return [{self._thoughts_key: text}] if text else []

    def _rest_of_thoughts(self) -> list[Json]:
        """Nothing else came: what is left of them, as deltas; the calls that end them are taken in."""
        reader, self._thoughts = self._thoughts, None
        if reader is None:
            return []
        rest, events = reader.finish()
        self._read(events)
        return self._thought(rest)

    def _rest_of_text(self) -> list[Json]:
        """What was held back of the text, as deltas; its calls are taken in."""
        if self._text is None:
            return []
        text = self._read(self._text.finish())
        self._text = None
        return [text] if text else []

    def lose(self) -> list[Json]:
        """The answer broke off: text that was held goes out, and no call does any more.

        Without a finish reason nobody knows whether a call is whole, however it looks.
        """
        deltas = self._thought(self._end_thoughts()) + self._rest_of_text()
        for _ in range(len(self._open)):
            call = self._open.pop_first()
            if not call.refused:
                action = "dropped" if call.number is None else None
                self.normalizer.lose(call.name, action)
        for delta in self._waited():
            for number in {entry["index"] for entry in delta["tool_calls"]}:
                self.calls -= 1
                self.normalizer.lose(f"call {number}", "dropped")
        self.finished = True
        return deltas

    def flush(self, reason: str | None) -> list[Json]:
        """Nothing more comes: everything held goes out, or is dropped."""
        deltas = self._rest_of_thoughts() + self._rest_of_text() + self._waited()
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
        text: list[str] = []
        thoughts: list[str] = []
        for event in events:
            if isinstance(event, Content):
                text.append(event.text)
            elif isinstance(event, Reasoning):
                thoughts.append(event.text)
            elif isinstance(event, CallStart):
                function = {"name": event.name, "arguments": ""}
                entry = {"index": event.index, "id": event.id, "function": function}
                self._open.take(entry, from_text=True)
            elif isinstance(event, Arguments):
                entry = {"index": event.index, "function": {"arguments": event.text}}
                self._open.take(entry, from_text=True)
            elif isinstance(event, CallEnd) and event.id:
                self._open.take({"index": event.index, "id": event.id}, from_text=True)
        said = {REASONING_KEYS[0]: "".join(thoughts), "content": "".join(text)}
        return {key: value for key, value in said.items() if value}

    def _go_native(self) -> list[Json]:
        """The upstream sends calls of its own: its text is text from here on."""
        self._native = True
        text = self._rest_of_text()
        for call in self._open.drop_text():
            # The same call is likely to be there twice; running it twice may do harm.
            detail = f"a call of {shortened(call.name)!r} in the text gives way to native calls"
            self.normalizer.note(None, "dropped", detail)
        return text

    # Fragments

    def _take_all(self, entries: list[Any]) -> list[Json]:
        """Takes fragments in; those of free-text calls are given back, to be sent as they are."""
        passing = []
        for entry in entries:
            if not isinstance(entry, Mapping):
                self.normalizer.note("bad_structure", "dropped", "a piece of a call is no object")
            elif "custom" in entry:
                key = key_of(entry.get("index"))
                started = {} if key in self._custom else self._begin_custom(entry, key)
                if self._custom[key] is not None:
                    passing.append(dict(entry) | {"index": self._custom[key]} | started)
            else:
                self._open.take(entry)
        if self._live or self._early:
            return [{"tool_calls": passing}] if passing else []
        self._waiting += passing
        self._waiting_size += sum(size_of(entry) for entry in passing)
        return []

    def _waited(self) -> list[Json]:
        """The pieces of free-text calls that waited for the end."""
        waited, self._waiting, self._waiting_size = self._waiting, [], 0
        return [{"tool_calls": waited}] if waited else []

    def _begin_custom(self, entry: Mapping[str, Any], key: Any) -> Json:
        """Gives a call of free text an index of ours, if it may go out, and an id."""
        custom = entry["custom"]
        name = str(custom.get("name") if isinstance(custom, Mapping) else None)
        if not self.normalizer.admits(name):
            self._custom[key] = None
            return {}
        self._custom[key] = self.calls
        self.calls += 1
        started: Json = {"id": self.normalizer.id_for(entry.get("id"), name)}
        known = self.normalizer.client_name(name)
        return started if known == name else started | {"custom": custom | {"name": known}}

    # Sending

    def _send_now(self) -> list[Json]:
        """What need not wait for the end of the answer."""
        if self._live:
            return self._send_live()
        if self._early:
            return self._send_ready()
        self._open.touched.clear()
        return []

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
            elif self._admits(call):
                entries.append(self._start_live(call))
            else:
                call.refused = True
        self._open.touched.clear()
        return entries

    def _admits(self, call: OpenCall) -> bool:
        call.name = self.normalizer.name(call.name)
        return self.normalizer.admits(call.name)

    def _unsent(self, call: OpenCall, last: bool = False) -> str:
        """What may be sent of a call's arguments, of those that were not sent yet."""
        text, coercion = call.unsent(), call.coercion
        if coercion is None:
            return text
        rest = coercion.finish if last else str
        return self.normalizer.coerce(call.name, lambda: coercion.feed(text) + rest())

    def _start_live(self, call: OpenCall) -> Json:
        call.coercion = self.normalizer.coercion(call.name)
        text = self._unsent(call)
        self._number_text_call(call)
        id = self.normalizer.id_for(call.id, call.name)
        call.number = self.calls
        self._count(call)
        function = {"name": self.normalizer.client_name(call.name), "arguments": text}
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
        name, rest = shortened(call.name), ""
        if call.number is None:
            if not call.refused:  # it can't be sent; this says why
                self.normalizer.take(call.raw() | {"id": make_id()}, cut=cut)
            return []
        if call.sent:
            rest = self._unsent(call, last=True)
        if call.broken is not None:
            detail = f"the arguments of {name!r} can't be used, and some were already sent"
            self.normalizer.note("bad_structure", None, detail)
        elif cut and not is_complete(text):
            self.normalizer.lose(call.name, None)
        elif not call.sent:  # nothing was, so what is wrong can still be put right
            function = {"name": call.name, "arguments": text if text.strip() else ""}
            rest = self.normalizer.taken_arguments(function, cut=False) or ""
        elif json_type(text) is None:
            detail = f"the arguments of {name!r} are not valid JSON, and were already sent"
            self.normalizer.note("invalid_json", None, detail)
        return [{"index": call.number, "function": {"arguments": rest}}] if rest else []

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
