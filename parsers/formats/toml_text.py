"""TOML text: read, written, and where in it a key stands.

The standard library reads TOML, but neither writes it nor says where it found something. A statement
of TOML (`key = value`, `[table]`, `[[array of tables]]`) is itself a TOML document. So to find a key,
the text is cut into statements by adding lines until they can be read; each says which keys it sets.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from ..errors import ToolwireError

#: The reader of TOML: Python's own, or before 3.11 the package that it was made from.
_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

#: The way to a value: keys, and places in lists.
Path = tuple[str | int, ...]

_WHERE = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)")


def read_toml(text: str, source: str) -> dict[str, Any]:
    """What a TOML text says. `source` is what errors call it: its file's name."""
    try:
        document: dict[str, Any] = _toml.loads(text)
    except RecursionError:
        raise ToolwireError(f"{source} is nested too deeply to be read") from None
    except ValueError as error:
        at = _WHERE.fullmatch(str(error))
        if at is None:
            raise ToolwireError(f"{source} is not TOML: {error}") from error
        what, line = at[1], at[2] or _last_line(text)
        raise ToolwireError(f"{source}, line {line}: this is not TOML: {what}") from error
    return document


def _last_line(text: str) -> int:
    """The line on which the last statement begins, which the end of the text cuts off."""
    return [line for line, _, _ in _statements(text)][-1]


# -- where a key stands ---------------------------------------------------------------------------


def line_of(text: str, path: Path) -> int:
    """The line on which the value at `path` begins, or else the table or list that it belongs in."""
    lines = _lines(text)
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _lines(text: str) -> dict[Path, int]:
    """Each key's line, under its full path. `text` is valid TOML."""
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}  # how many tables each array of tables has so far
    table: Path = ()
    for line, source, statement in _statements(text):
        if not source.startswith("["):
            for path in _paths(statement):
                found.setdefault(table + path, line)
            continue
        keys, is_array = _header(statement)
        table = ()
        for depth, key in enumerate(keys, 1):
            table += (key,)
            if is_array and depth == len(keys):
                counts[table] = counts.get(table, 0) + 1
            if table in counts:
                table += (counts[table] - 1,)
            found.setdefault(table, line)
    return found


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Each statement: its first line, its text, and what it reads as; nothing, if it has no end."""
    begun: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        begun.append(line)
        source = "\n".join(begun)
        try:
            statement = _toml.loads(source)
        except _toml.TOMLDecodeError:
            continue  # it goes on on the next line
        if statement:
            yield number - len(begun) + 1, source.lstrip(), statement
        begun = []
    if begun:
        yield number - len(begun) + 1, source.lstrip(), {}


def _header(statement: dict[str, Any]) -> tuple[list[str], bool]:
    """The keys in a `[table]` or `[[array]]` header, and whether it is the latter."""
    keys: list[str] = []
    inside: Any = statement
    while isinstance(inside, dict) and inside:
        ((key, inside),) = inside.items()
        keys.append(key)
    return keys, isinstance(inside, list)


def _paths(value: Any) -> Iterator[Path]:
    """The ways to all values in `value`, at any depth."""
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, item in inside:
        yield (key,)
        for path in _paths(item):
            yield (key, *path)


# -- writing --------------------------------------------------------------------------------------


def write_toml(table: Mapping[str, Any], path: str = "") -> str:
    """The TOML text of a table of strings, booleans, lists of strings, tables and lists of tables."""
    plain, tables = "", ""
    for key, value in table.items():
        inside = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            tables += f"\n[{inside}]\n{write_toml(value, inside)}"
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables += "".join(f"\n[[{inside}]]\n{write_toml(v, inside)}" for v in value)
        else:
            plain += f"{key} = {_written(value)}\n"
    return plain + tables


def _written(value: str | bool | int | list[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    return _quoted(value)


def _quoted(text: str) -> str:
    """A string on one line: in single quotes, where nothing counts, if the others would need escapes."""
    if ("\\" in text or '"' in text) and not re.search("['\n]", text) and _verbatim(text):
        return f"'{text}'"
    # JSON's escapes are TOML's, and DEL is the one character that only TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _verbatim(text: str) -> bool:
    """Whether TOML takes every character of `text` as it is."""
    return not re.search("[\x00-\x08\x0b-\x1f\x7f]", text)
