"""Repair that a server may ask for: events in, events out. Nothing here happens unless somebody asks.

    repair = Repair("coerce, names", tools)
    for event in repair.events(parser.feed(chunk)): …
    repair.counts                        # {"coerce": 2, "names": 1}

* `names`: a name that no tool has becomes the name of the one tool that it is but for its case, for `-`
  and `_`, or for a prefix: `functions.`, or a server's. Where two tools fit, it stays.
* `coerce`: a JSON string in the place of an object, an array, a number or a boolean becomes that value,
  where its text is one: `{"limit": "5"}` becomes `{"limit": 5}` for a declared integer.

All that streams without repair streams with it, but for the strings in question: whether one of them is
a value is known where it ends. Nothing is scanned twice, and every cut gives the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ..core.delimiters import Delimiters
from ..core.dialects import Dialect
from ..core.loose import LooseReader
from ..core.sinks import Pieces
from ..core.window import Window
from ..events import Arguments, CallEnd, CallStart, Event
from ..schema.kinds import Kind, json_type
from ..schema.nested import UNKNOWN, Place
from ..schema.tools import Tool, read_tools
from .repairs import REPAIRS, read_repairs


class Repair:
    """Repairs the calls of one message, as far as it is asked to. `counts` says how often it did."""

    def __init__(self, asked: str | Iterable[str], tools: Any) -> None:
        """`tools` are those of the request, as a parser takes them."""
        self.asked = read_repairs(asked)
        self._tools: dict[str, Tool] = (read_tools(tools) if self.asked else None) or {}
        self._names: Names | None = None
        self._call: Coercion | None = None
        self.counts = dict.fromkeys(REPAIRS, 0)

    def events(self, events: list[Event]) -> list[Event]:
        """What becomes of the next events of a message."""
        if not self._tools:
            return events
        out: list[Event] = []
        for event in events:
            if isinstance(event, CallStart):
                name = self.name(event.name)
                out.append(event if name == event.name else CallStart(event.index, name, event.id))
                self._call = self.coercion(name)
            elif isinstance(event, Arguments) and self._call is not None:
                self._say(out, event.index, self._call.feed(event.text))
            elif isinstance(event, CallEnd) and self._call is not None:
                self._say(out, event.index, self._call.finish())
                self._call = None
                out.append(event)
            else:
                out.append(event)
        return out

    def _say(self, out: list[Event], index: int, text: str) -> None:
        if text:
            out.append(Arguments(index, text))

    def name(self, name: str) -> str:
        """The name of the tool that is meant."""
        if "names" not in self.asked or not self._tools or name in self._tools:
            return name
        if self._names is None:
            self._names = Names(self._tools)
        meant = self._names.meant_by(name)
        if meant is None:
            return name
        self.counts["names"] += 1
        return meant

    def coercion(self, name: str) -> Coercion | None:
        """What a call's arguments go through; None where they pass as they are."""
        tool = self._tools.get(name) if "coerce" in self.asked else None
        return Coercion(tool.arguments, self.counts) if tool is not None else None

    def arguments(self, name: str, arguments: str) -> str:
        """All arguments of a call, repaired."""
        coercion = self.coercion(name)
        return arguments if coercion is None else coercion.feed(arguments) + coercion.finish()


# -- names ----------------------------------------------------------------------------------------

_LONGEST = 256  # a longer name is no slip of the pen
#: What stands between a server's name, or `functions`, and a tool's.
_PREFIX = re.compile(r"\.|__|/|:")


class Names:
    """The names of all tools, by what is left of them without case, `-`, `_` and prefixes."""

    def __init__(self, names: Iterable[str]) -> None:
        self._whole: dict[str, set[str]] = {}
        self._behind_prefix: dict[str, set[str]] = {}
        for name in names:
            if len(name) <= _LONGEST:
                self._whole.setdefault(_bare(name), set()).add(name)
                for part in _behind_prefixes(name):
                    self._behind_prefix.setdefault(part, set()).add(name)

    def meant_by(self, name: str) -> str | None:
        """The one tool that has this name but for such differences: the smallest ones count."""
        if len(name) > _LONGEST:
            return None
        plain = name.removeprefix("functions.")
        parts = [_bare(plain), *_behind_prefixes(plain)]
        for fitting in (
            self._whole.get(_bare(name)),
            # The model put a prefix before the tool's name, or left it out. (Another prefix may mean
            # the tool of another server.)
            set().union(*(self._whole.get(part, set()) for part in parts)),
            self._behind_prefix.get(parts[0]),
        ):
            if fitting:
                return next(iter(fitting)) if len(fitting) == 1 else None
        return None


def _bare(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _behind_prefixes(name: str) -> set[str]:
    parts = {_bare(name[found.end() :]) for found in _PREFIX.finditer(name)}
    return parts - {"", _bare(name)}


# -- values ---------------------------------------------------------------------------------------

_COERCED = frozenset({"object", "array", "number", "integer", "boolean"})
_STRUCTURE = re.compile(r'["{}\[\],:]')
_STRING_STOP = re.compile(r'["\\]')
#: A string of Python's, a word or number that it shares with JSON, or punctuation.
_PYTHON_TOKEN = re.compile(
    r"""\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'|[\[\]{}(),:]"""
    r"""|\b(?:True|False|None|true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)\s*""",
    re.DOTALL,
)
_PYTHON = Dialect(quotes=('"', "'"))
_NO_DELIMITERS = Delimiters((), ())

# Where in the arguments the text is: between tokens, inside a string that passes, inside a key,
# inside a string that is held, or behind all that can be understood.
_BETWEEN, _PASSING, _KEY, _HELD, _LOST = range(5)


class Coercion:
    """The arguments of one call, on their way through. What is not JSON passes as it is."""

    def __init__(self, place: Place, counts: dict[str, int]) -> None:
        self._counts = counts
        self._state = _BETWEEN
        self._open: list[tuple[Place, bool]] = []  # the brackets: what is in them, and if an object
        self._at_key = False
        self._named = UNKNOWN  # what the member may be whose key was read
        self._value = place  # what the next value may be
        self._escaped = False
        self._ended = False  # the string at hand
        self._text: list[str] = []  # of the key, or of what is held

    def feed(self, text: str) -> str:
        """The next piece of the arguments: what of them goes out now."""
        out: list[str] = []
        start = place = 0  # what stands before `start` went out, or is held
        while place < len(text) and self._state != _LOST:
            if self._state == _BETWEEN:
                found = _STRUCTURE.search(text, place)
                if found is None:
                    break
                place = found.end()
                self._structure(found[0])
                if self._state == _HELD:
                    out.append(text[start : place - 1])
                    start = place
                continue
            end = self._string_end(text, place)
            if self._state != _PASSING:
                self._text.append(text[place:end])
            if self._state == _HELD:
                start = end
            place = end
            if self._ended:
                out.append(self._end_string())
        if self._state != _HELD:
            out.append(text[start:])
        return "".join(out)

    def finish(self) -> str:
        """The call is over: what is still held goes out as it is."""
        held = "".join(self._text) if self._state == _HELD else ""
        self._state = _LOST
        return held

    # -- structure ----------------------------------------------------------------------------

    def _structure(self, c: str) -> None:
        """Behind a character that means something between tokens."""
        if c in "{[":
            self._open.append((self._value, c == "{"))
            self._next()
        elif not self._open:
            self._state = _LOST
        elif c == '"':
            self._begin_string()
        elif c in "}]":
            self._close(c == "}")
        elif c == ",":
            self._next()
        else:
            self._value, self._named = self._named, UNKNOWN

    def _next(self) -> None:
        """Behind a bracket or a comma: a key comes, or an item."""
        place, self._at_key = self._open[-1]
        self._value = UNKNOWN if self._at_key else place.item()

    def _close(self, is_object: bool) -> None:
        if self._open.pop()[1] != is_object or not self._open:
            self._state = _LOST
        self._at_key = False
        self._value = UNKNOWN

    # -- strings ------------------------------------------------------------------------------

    def _begin_string(self) -> None:
        self._text = ['"']
        if self._at_key:
            self._state = _KEY
        else:
            self._state = _HELD if _is_coerced(self._value.kind) else _PASSING

    def _string_end(self, text: str, place: int) -> int:
        """Inside a string: where it ends, or the text does. `_ended` says which."""
        self._ended = False
        while place < len(text):
            if self._escaped:
                self._escaped = False
                place += 1
                continue
            found = _STRING_STOP.search(text, place)
            if found is None:
                return len(text)
            place = found.end()
            if found[0] == '"':
                self._ended = True
                return place
            self._escaped = True
        return place

    def _end_string(self) -> str:
        """Behind a string: what goes out in its place, if it was held."""
        state, self._state = self._state, _BETWEEN
        if state == _PASSING:
            return ""
        string = "".join(self._text)
        if state == _KEY:
            key = _text_of(string)
            self._at_key = False
            self._named = self._open[-1][0].member(key) if key is not None else UNKNOWN
            return ""
        place, self._value = self._value, UNKNOWN
        return self._coerced(string, place)

    def _coerced(self, string: str, place: Place) -> str:
        text = _text_of(string)
        value = value_of(place.kind, text) if text is not None else None
        if value is None:
            return string
        self._counts["coerce"] += 1
        inside = Coercion(place, self._counts)
        return inside.feed(value) + inside.finish()


def _is_coerced(kind: Kind) -> bool:
    return "string" not in kind.types and not kind.types.isdisjoint(_COERCED)


def _text_of(string: str) -> str | None:
    """The text of a JSON string, whose quotes are there; None where an escape in it is wrong."""
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return None


def value_of(kind: Kind, text: str) -> str | None:
    """The JSON of a declared type that a text is, also as Python writes it; None if it is none."""
    value = kind.json_of(text)
    if value is None and not kind.types.isdisjoint({"object", "array"}):
        value = _python_container(text.strip())
        if value is not None and json_type(value) not in kind.types:
            return None
    return value


def _python_container(text: str) -> str | None:
    """A list or a dict, as Python writes it, as JSON; None where it is not one."""
    if text[:1] not in ("{", "[") or not _is_python(text):
        return None
    window, pieces = Window(fast_paths=False), Pieces()
    window.push(text)
    window.finish()
    for _ in LooseReader(window, _NO_DELIMITERS, _PYTHON).container(pieces):
        return None  # it would wait for more
    return pieces.take() if window.pos == len(window.text) else None


def _is_python(text: str) -> bool:
    """Whether all tokens are Python's: a bare word is none."""
    place = 0
    while place < len(text):
        found = _PYTHON_TOKEN.match(text, place)
        if found is None:
            return False
        place = found.end()
    return True
