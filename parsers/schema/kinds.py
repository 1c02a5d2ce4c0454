"""What a value is, as JSON: its type, and whether it is what a parameter asks for.

A `Kind` is what remains of a parameter's schema: a set of types, and perhaps the only values allowed.
Values are never converted, only recognised: what the model wrote is passed on as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from json import dumps as _dumps
from json.decoder import scanstring as _scanstring  # type: ignore[attr-defined]
from json.encoder import encode_basestring as _encode_basestring
from typing import Any, Final

JSON_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})

#: Python's names for them, which some tools are declared with.
PYTHON_TYPES: Final = {
    "str": "string",
    "float": "number",
    "int": "integer",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}


#: `text` as a JSON string, every character that may stand unescaped unescaped. This is what
#: `json.dumps(text, ensure_ascii=False)` comes to, without making an encoder for every piece of text.
encode: Final[Callable[[str], str]] = _encode_basestring


def json_type(text: str) -> str | None:
    """The type of the JSON value that `text` is, or None where it is not valid JSON.

    The standard library's decoder would do, but it recurses (deep nesting from a model must not
    raise), refuses very long integers, and accepts `NaN`.
    """
    kind: str | None = None
    stack: list[str] = []  # open brackets
    state = "value"  # what must come next: value, first value, key, first key, colon, or after
    i = 0
    while True:
        i = _SPACE.match(text, i).end()  # type: ignore[union-attr]  # always matches
        if i >= len(text):
            return kind if state == "after" and not stack else None
        c = text[i]
        if state in ("key", "first key") and c == '"':
            i = _string_end(text, i)
            state = "colon"
        elif state == "colon" and c == ":":
            i += 1
            state = "value"
        elif state == "after" and stack and c == ",":
            i += 1
            state = "key" if stack[-1] == "{" else "value"
        elif c in "}]" and stack and _may_close(c, stack[-1], state):
            i += 1
            stack.pop()
            state = "after"
        elif state in ("value", "first value"):
            this, i = _value_start(text, i, c)
            if not this:
                return None
            kind = kind or this
            state = "after"
            if c in "{[":
                stack.append(c)
                state = "first key" if c == "{" else "first value"
        else:
            return None
        if i < 0:
            return None


def _may_close(closing: str, opening: str, state: str) -> bool:
    if opening == "{":
        return closing == "}" and state in ("first key", "after")
    return closing == "]" and state in ("first value", "after")


def _value_start(text: str, i: int, c: str) -> tuple[str | None, int]:
    """The type of the value that starts at `i`, and the index behind it (or its bracket)."""
    if c == '"':
        return "string", _string_end(text, i)
    if c == "{":
        return "object", i + 1
    if c == "[":
        return "array", i + 1
    for word, name in (("true", "boolean"), ("false", "boolean"), ("null", "null")):
        if text.startswith(word, i):
            return name, i + len(word)
    number = _NUMBER.match(text, i)
    if number is None:
        return None, -1
    return ("integer" if number[0].lstrip("-").isdigit() else "number"), number.end()


def _string_end(text: str, i: int) -> int:
    """The index behind the JSON string that starts at `i`, or -1."""
    try:
        return int(_scanstring(text, i + 1, True)[1])
    except ValueError:
        return -1


def python_word(text: str) -> str:
    """`True`, `False` and `None` as JSON writes them; anything else as it is."""
    return _PYTHON_WORDS.get(text, text)


class Members:
    """The only values that a parameter may have, from `enum` and `const`."""

    __slots__ = ("_numbers", "_spellings", "_texts")

    def __init__(self, values: Iterable[Any]) -> None:
        self._numbers: set[float] = set()
        self._spellings: set[str] = set()  # of all but numbers, as JSON
        self._texts: set[str] = set()
        for value in values:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self._numbers.add(value)
                continue
            if isinstance(value, str):
                self._texts.add(value)
            self._spellings.add(_dumps(value, default=str))
            self._spellings.add(_dumps(value, default=str, ensure_ascii=False))

    def json_of(self, text: str, word: str) -> str | None:
        """The JSON of the member that `text` is; `word` is the same as JSON would write it."""
        if word in self._spellings or self._has_number(word):
            return word
        for spelling in (text, text.strip()):
            if spelling in self._texts:
                return encode(spelling)
        return None

    def _has_number(self, word: str) -> bool:
        if not self._numbers or len(word) >= 400 or _NUMBER.fullmatch(word) is None:
            return False
        return float(word) in self._numbers


@dataclass(frozen=True, slots=True)
class Kind:
    """What a parameter's value may be. No types at all means that nothing is known: a string."""

    types: frozenset[str] = frozenset()
    members: Members | None = None

    @property
    def text_only(self) -> bool:
        """Whether every value is a string, so that it can be passed on before it has ended."""
        return self.members is None and self.types <= {"string"}

    def json_of(self, text: str) -> str | None:
        """`text` as JSON of one of the declared non-string types, or None if it is not."""
        word = python_word(text.strip())
        if self.members is not None:
            member = self.members.json_of(text, word)
            if member is not None or not self.types - {"string"}:
                return member
        found = json_type(word)
        if found is None or found == "string":
            return None
        if found in self.types or (found == "integer" and "number" in self.types):
            return word
        if found == "number" and "integer" in self.types and is_whole(word):
            return word
        return None

    def may_begin(self, text: str) -> bool:
        """Whether unfinished `text` looks like the beginning of a declared non-string value."""
        first = text.lstrip()[:1]
        starts = {
            "object": "{",
            "array": "[",
            "number": "-0123456789",
            "integer": "-0123456789",
            "boolean": "tfTF",
            "null": "nN",
        }
        return bool(first) and any(first in starts.get(kind, "") for kind in self.types)


ANY: Final = Kind()


def is_whole(number: str) -> bool:
    """Whether a JSON number with a point or an exponent is a whole one."""
    return len(number) < 400 and float(number).is_integer()
