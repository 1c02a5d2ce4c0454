"""The calls of a streamed answer that are still growing, each found in one step.

Upstreams number calls from 0 or from 1, give every call the index 0, or leave the index out. A
fragment belongs to the newest call with its index, or to the newest of all; it starts another one where
it has a name and another id, or a name and neither index nor id.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..schema.kinds import json_type
from .normalize import MAX_NAME, Json
from .repair import Coercion
from .sizes import Pieces, size_of

#: How many bytes of arguments are held for one call, where nobody keeps a smaller budget.
MAX_ARGUMENTS = 32 * 1024 * 1024

_KNOWN = frozenset({"index", "id", "type", "function", "name", "arguments"})
_CALL = 800  # the bytes that a call takes by itself
_ANY = object()  # instead of an index: the newest of all


def key_of(index: Any) -> Any:
    """An upstream's index as a key, whatever it is."""
    if isinstance(index, str):
        return index[:100]
    return index if isinstance(index, (int, float, type(None))) else type(index).__name__


@dataclass(slots=True)
class OpenCall:
    """One call as it grows."""

    key: Any  # the upstream's index for it
    from_text: bool = False
    id: Any = None
    name: str = ""
    pieces: Pieces | None = None  # of its arguments; None until there are any, even empty ones
    broken: Any = None  # arguments of a type that can't be right (an empty one), or too many
    extra: Json = field(default_factory=dict)
    sent: int = 0  # how many bytes of its arguments were sent (live)
    number: int | None = None  # our index for it, once it was sent (live)
    coercion: Coercion | None = None  # what its arguments go through on their way out (live)
    refused: bool = False  # one more than the client asked for (live)
    held: int = _CALL
    _looked_at: int = 0  # how long the arguments were when they were last looked at
    _sizes: dict[str, int] = field(default_factory=dict)  # of the values in `extra`

    def take(self, entry: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        """Takes a fragment in."""
        id, name = entry.get("id"), function.get("name")
        if not self.id and isinstance(id, (str, int)):
            self.id = id
            self.held += sys.getsizeof(id)
        if isinstance(name, str) and name:
            self._grow_name(name)
        self._grow_arguments(function.get("arguments"))
        for key, value in entry.items():
            if key not in _KNOWN:
                self.extra[key] = value
                size = sys.getsizeof(key) + size_of(value)
                self.held += size - self._sizes.get(key, 0)
                self._sizes[key] = size

    def _grow_name(self, name: str) -> None:
        """Some servers send the name in pieces, some send it again with every fragment."""
        before = len(self.name)
        if name.startswith(self.name):
            self.name = name[: MAX_NAME + 1]
        elif self.pieces is None or not self.pieces.size:
            self.name = (self.name + name)[: MAX_NAME + 1]
        self.held += 4 * (len(self.name) - before)

    def _grow_arguments(self, arguments: Any) -> None:
        if arguments is None or self.broken is not None:
            return
        if isinstance(arguments, Mapping):
            arguments = json.dumps(arguments, ensure_ascii=False)
        before = self.size
        if isinstance(arguments, str):
            self.pieces = self.pieces or Pieces()
            self.pieces.add(arguments)
        if not isinstance(arguments, str) or self.size > MAX_ARGUMENTS:
            self.broken = type(arguments)() if not isinstance(arguments, str) else []
            self.pieces = None
        self.held += self.size - before

    def unsent(self) -> str:
        """The arguments that were not sent yet: now they are (live)."""
        text = self.pieces.text(self.sent) if self.pieces is not None else ""
        self.sent = self.size
        return text

    @property
    def size(self) -> int:
        return self.pieces.size if self.pieces is not None else 0

    def is_done(self) -> bool:
        """Whether the arguments are JSON. They are looked at again once there is twice as much of
        them: looking at them after every fragment would cost the square of their length."""
        if not self.name or self.pieces is None or self.size < 2 * self._looked_at:
            return False
        self._looked_at = self.size
        return json_type(self.pieces.text()) is not None

    def raw(self) -> Json:
        function: Json = {"name": self.name}
        if self.broken is not None:
            function["arguments"] = self.broken
        elif self.pieces is not None:
            function["arguments"] = self.pieces.text()
        return {"id": self.id, "function": function} | self.extra


class OpenCalls:
    """The open calls of one choice, in the order in which they began."""

    def __init__(self) -> None:
        self.held = 0
        self.interleaved = False  # a call went on after a later one had begun
        self.touched: dict[int, OpenCall] = {}  # since this was last cleared
        self._queue: deque[OpenCall] = deque()
        self._newest: dict[tuple[bool, Any], OpenCall] = {}
        self._from_text = 0

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[OpenCall]:
        return iter(self._queue)

    @property
    def any_from_text(self) -> bool:
        return self._from_text > 0

    @property
    def first(self) -> OpenCall:
        return self._queue[0]

    @property
    def last(self) -> OpenCall:
        return self._queue[-1]

    def take(self, entry: Mapping[str, Any], from_text: bool = False) -> None:
        """Takes a fragment in, of a call that is open or of a new one."""
        function = entry.get("function")
        if not isinstance(function, Mapping):
            function = {k: entry[k] for k in ("name", "arguments") if k in entry}
        call = self._call_of(entry, function.get("name"), from_text)
        before = call.held
        call.take(entry, function)
        self.held += call.held - before
        self.touched[id(call)] = call

    def _call_of(self, entry: Mapping[str, Any], name: Any, from_text: bool) -> OpenCall:
        key, id = key_of(entry.get("index")), entry.get("id")
        call = self._newest.get((from_text, _ANY if key is None else key))
        if call is not None:
            another = bool(id and name and call.id and call.id != id)
            unnumbered = key is None and bool(name) and not id
            if not another and not unnumbered:
                self.interleaved = self.interleaved or call is not self._queue[-1]
                return call
        call = OpenCall(key, from_text)
        self._queue.append(call)
        self._remember(call)
        self._from_text += from_text
        self.held += call.held
        return call

    def _remember(self, call: OpenCall) -> None:
        self._newest[call.from_text, _ANY] = call
        if call.key is not None:
            self._newest[call.from_text, call.key] = call

    def pop_first(self) -> OpenCall:
        """The oldest call, which is open no more."""
        call = self._queue.popleft()
        for key in (_ANY, call.key):
            if self._newest.get((call.from_text, key)) is call:
                del self._newest[call.from_text, key]
        self.touched.pop(id(call), None)
        self._from_text -= call.from_text
        self.held -= call.held
        return call

    def drop_text(self) -> list[OpenCall]:
        """Takes out the calls from the text of which nothing was sent."""
        calls = [self.pop_first() for _ in range(len(self._queue))]
        for call in calls:
            if not call.from_text or call.number is not None:
                self._queue.append(call)
                self._remember(call)
                self._from_text += call.from_text
                self.held += call.held
        return [call for call in calls if call.from_text and call.number is None]
