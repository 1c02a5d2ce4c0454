"""The calls of a streamed answer that are still growing, each found in one step.

Upstreams number calls from 0 or from 1, give every call the index 0, or leave the index out. A
fragment belongs to the newest call with its index, or to the newest of all; it starts another one where
it has a name and another id, or a name and neither index nor id. Ids may be missing, empty or all the
same, too: then another name behind arguments starts another call, and so does the same name with
arguments that begin anew behind complete ones.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..schema.kinds import json_type
from . import exact_json
from .normalize import MAX_NAME, Json
from .repair import Coercion
from .sizes import Pieces, size_of

#: How many bytes of arguments are held for one call, where nobody keeps a smaller budget.
MAX_ARGUMENTS = 32 * 1024 * 1024

_KNOWN = frozenset({"index", "id", "type", "function", "name", "arguments"})
_CALL = 800  # the bytes that a call takes by itself
_ANY = object()  # instead of an index: the newest of all
_BRACKETS = re.compile(r'[^"\\{}\[\]]*(?:\\.|(["{}\[\]]))', re.DOTALL)
_ONLY_SPACE = re.compile(r"\s*\Z")


def key_of(index: Any) -> Any:
    """An upstream's index as a key, whatever it is."""
    if isinstance(index, str):
        return index[:100]
    return index if isinstance(index, (int, float, type(None))) else type(index).__name__


@dataclass(slots=True)
class _Wholeness:
    """Whether arguments that grow are one whole object or list now. Each part is looked at once."""

    seen: int = 0  # bytes
    depth: int = 0
    in_string: bool = False
    closed: bool = False  # brackets were opened, and all of them closed
    spoiled: bool = False  # something else came behind that

    def look(self, pieces: Pieces) -> bool:
        text = pieces.text(self.seen)
        self.seen = pieces.size
        end = 0
        while not self.spoiled and (found := _BRACKETS.match(text, end)):
            self._take(found[1])
            end = found.end()
        rest = text[end:]
        if self.in_string and rest.endswith("\\"):  # what it escapes is still to come
            self.seen -= 1
        self.spoiled = self.spoiled or (self.closed and not _ONLY_SPACE.match(rest))
        return self.closed and not self.spoiled

    def _take(self, mark: str | None) -> None:
        if self.closed:
            self.spoiled = True
        elif mark == '"':
            self.in_string = not self.in_string
        elif mark and not self.in_string:
            self.depth += 1 if mark in "{[" else -1
            self.closed = self.depth <= 0


@dataclass(slots=True)
class ObjectStart:
    """Whether arguments that grow begin as an object. White space in front of it is looked at once."""

    blank: int = 0  # bytes
    found: bool | None = None  # None: they have not begun

    def look(self, pieces: Pieces) -> bool:
        if self.found is None:
            begun = pieces.text(self.blank).lstrip()
            self.blank = pieces.size
            self.found = begun[0] == "{" if begun else None
        return self.found is True


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
    _wholeness: _Wholeness = field(default_factory=_Wholeness)
    _start: ObjectStart = field(default_factory=ObjectStart)

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
            arguments = exact_json.dumps(arguments)
        before = self.size
        if isinstance(arguments, str):
            self.pieces = self.pieces or Pieces()
            self.pieces.add(arguments)
        if not isinstance(arguments, str) or self.size > MAX_ARGUMENTS:
            self.broken = type(arguments)() if not isinstance(arguments, str) else []
            self.pieces = None
        self.held += self.size - before

    def unsent(self) -> str:
        """The arguments that were not sent yet: now they are (live).

        What does not begin as an object is not sent: at its end it can still be wrapped.
        """
        if self.pieces is None or not self._start.look(self.pieces):
            return ""
        text = self.pieces.text(self.sent)
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

    def is_whole(self) -> bool:
        """Whether the arguments have come to an end of their own."""
        return self.pieces is not None and self._wholeness.look(self.pieces)

    def raw(self) -> Json:
        function: Json = {"name": self.name}
        if self.broken is not None:
            function["arguments"] = self.broken
        elif self.pieces is not None:
            function["arguments"] = self.pieces.text()
        return {"id": self.id, "function": function} | self.extra


def _begins(arguments: Any) -> bool:
    """Whether arguments are an object, or begin as one."""
    if isinstance(arguments, str):
        return arguments.lstrip()[:1] == "{"
    return isinstance(arguments, Mapping)


class OpenCalls:
    """The open calls of one choice, in the order in which they began."""

    def __init__(self, names: frozenset[str] = frozenset()) -> None:
        """`names` are those of the tools that were declared."""
        self._names = names
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
        call = self._call_of(entry, function, from_text)
        before = call.held
        call.take(entry, function)
        self.held += call.held - before
        self.touched[id(call)] = call

    def _call_of(
        self, entry: Mapping[str, Any], function: Mapping[str, Any], from_text: bool
    ) -> OpenCall:
        key = key_of(entry.get("index"))
        call = self._newest.get((from_text, _ANY if key is None else key))
        if call is not None and not self._begins_another(call, entry, function):
            self.interleaved = self.interleaved or call is not self._queue[-1]
            return call
        call = OpenCall(key, from_text)
        self._queue.append(call)
        self._remember(call)
        self._from_text += from_text
        self.held += call.held
        return call

    def _begins_another(
        self, call: OpenCall, entry: Mapping[str, Any], function: Mapping[str, Any]
    ) -> bool:
        """Whether a fragment that looks like a part of this call is the beginning of another one."""
        id, name = entry.get("id"), function.get("name")
        if not name:
            return False
        if id and call.id and call.id != id:
            return True
        if entry.get("index") is None and not id:
            return True
        if not isinstance(name, str) or not call.name or call.pieces is None:
            return False
        if name == call.name:
            return _begins(function.get("arguments")) and call.is_whole()
        if call.size:
            return True  # a name that comes in pieces comes before the arguments
        if name in self._names and call.name in self._names:
            return True
        announced = bool(id) or "type" in entry  # which pieces of a name are not
        return announced and not name.startswith(call.name)

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
