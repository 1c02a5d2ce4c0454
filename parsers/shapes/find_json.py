"""JSON in a text of which nothing else is known: where it stands, and whether it is what was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_OPENING = re.compile(r"[{\[]")
#: A string without an end goes to the end of the text: nothing is looked for twice.
_BRACKETS_AND_STRINGS = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*"?', re.DOTALL)
#: How much is decoded at first, and the most that JSON has in one piece beside strings and numbers.
_WINDOW, _LONGEST_WORD = 4000, 16
#: So many brackets are given up at once where a value is nested too deeply.
_TOO_DEEP = 200


def json_values(text: str, start: int = 0) -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON objects and arrays in a text, with where each begins and ends.

    A bracket that begins no JSON takes along those inside it that are open where the JSON breaks off:
    they would break off there, too. So no text is read more than a few times.
    """
    decoder = json.JSONDecoder()
    hopeless: set[int] = set()
    place = start
    while found := _OPENING.search(text, place):
        at, place = found.span()
        if at in hopeless:
            continue
        try:
            value, place = _decode(decoder, text, at)
        except json.JSONDecodeError as error:
            hopeless.update(_open_brackets(text, at, at + error.pos))
            continue
        except (
            ValueError,
            RecursionError,
        ):  # a number too long, or nested too deeply: who knows where
            hopeless.update(_open_brackets(text, at, len(text)))
            continue
        yield at, place, value


def _decode(decoder: json.JSONDecoder, text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at a place, and where it ends.

    An error counts the lines of its text: that is a window, as long as it needs to be.
    """
    size = _WINDOW
    while True:
        window = text[start : start + size]
        try:
            value, length = decoder.raw_decode(window)
        except json.JSONDecodeError as error:
            in_string = error.msg.startswith("Unterminated string")
            if start + size >= len(text) or not (in_string or error.pos > size - _LONGEST_WORD):
                raise
            size *= 4
        else:
            return value, start + length


def _open_brackets(text: str, start: int, end: int) -> list[int]:
    """The brackets from `start` on that are not closed before `end`."""
    opened: list[int] = []
    for found in _BRACKETS_AND_STRINGS.finditer(text, start, end):
        if found[0] in ("{", "["):
            opened.append(found.start())
        elif found[0] in ("}", "]"):
            opened.pop()
        if not opened or len(opened) > _TOO_DEEP:
            break
    return opened


def loaded(text: str) -> Any:
    """What JSON stands for; a text that is none stands for itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def same_json(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except RecursionError:
        return False


def as_arguments(value: Any) -> Any:
    """Arguments may be JSON in a string; none at all are an empty object."""
    value = loaded(value or "{}") if isinstance(value, str) else value
    return {} if value is None else value


def is_arguments(value: Any, arguments: dict[str, Any]) -> bool:
    value = loaded(value) if isinstance(value, str) else value
    return isinstance(value, dict) and same_json(value, arguments)
