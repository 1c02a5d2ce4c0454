"""Dataclasses from TOML tables: what a field takes is what its type says.

There is no code for single formats or shapes here: a field that is added to one of the dataclasses can
be written in a file at once. What a type can't say is in the metadata of a field:

* `alone`: the field's value may stand for the whole table.
* `excludes`: the fields that can't be given together with this one.
* `needs`: the fields that must be given together with this one, and what each is.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from .. import shapes
from ..core.literals import GAP
from ..core.shape import Shape, check_pattern
from ..errors import ToolwireError
from .toml_text import Path, line_of

#: What `kind` stands for: json_calls is JsonCalls.
KINDS: dict[str, type[Shape]] = {
    shape.kind(): shape for shape in sorted(shapes.ALL, key=lambda shape: shape.__name__)
}

#: How files said that a delimiter may have a suffix, before there was one notation for all that differs.
_OLD_GAP = "{:SUFFIX}"

#: Fields that are regular expressions, and whether one has to have a group named `name`.
_PATTERNS = {"header": True, "inner": True, "unfinished": False, "pattern": False}


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a TOML text. Errors say where that is."""

    text: str
    source: str
    path: Path = ()
    root: int = 0  # how much of the path leads to the format

    def inside(self, key: str | int) -> Place:
        return dataclasses.replace(self, path=(*self.path, key))

    @property
    def name(self) -> str:
        return ".".join(key for key in self.path[self.root :] if isinstance(key, str))

    def error(self, sentence: str) -> ToolwireError:
        return ToolwireError(f"{self.source}, line {line_of(self.text, self.path)}: {sentence}")


def fill(cls: Any, table: Mapping[str, Any], place: Place, base: Any = None) -> Any:
    """An instance of a dataclass from a table; what the table has not comes from `base`."""
    wanted = get_type_hints(cls)
    refuse_unknown(table, field_names(cls), place)
    base = _without_excluded(cls, table, place, base)
    values = {}
    for field in fields(cls):
        key = field.name
        old = getattr(base, key, None)
        needed = field.default is MISSING and field.default_factory is MISSING
        if key in table:
            may_be_empty = field.default in ("", ())
            values[key] = _value(wanted[key], table[key], place.inside(key), old, may_be_empty)
        elif base is not None or (needed and _optional(wanted[key])):
            values[key] = old
        elif needed:
            raise place.error(f"{place.inside(key).name} is missing")
    try:
        return cls(**values)
    except ToolwireError as error:
        raise place.error(str(error)) from error


def _value(wanted: Any, value: Any, place: Place, base: Any, may_be_empty: bool) -> Any:
    wanted = _optional(wanted) or wanted
    if wanted is str:
        return string_at(value, place, may_be_empty)
    if wanted is bool:
        if not isinstance(value, bool):
            raise place.error(f"{place.name} must be true or false, not {shown(value)}")
        return value
    if wanted is int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise place.error(f"{place.name} must be a number, not {shown(value)}")
        return value
    if get_origin(wanted) is Literal:
        if value not in get_args(wanted):
            choices = ", ".join(get_args(wanted))
            raise place.error(f"{place.name} must be one of {choices}, not {shown(value)}")
        return value
    if get_origin(wanted) is tuple:
        return _several(get_args(wanted)[0], value, place, may_be_empty)
    if wanted is Shape:
        return _shape(value, place, base)
    alone = alone_field(wanted)
    if alone and isinstance(value, str | list):
        value = {alone: value}
    return fill(wanted, table_at(value, place), place, base)


def string_at(value: Any, place: Place, may_be_empty: bool = False) -> str:
    if not isinstance(value, str):
        raise place.error(f"{place.name} must be a string, not {shown(value)}")
    if not value and not may_be_empty:
        raise place.error(f"{place.name} must not be empty")
    if value and place.path[-1] in _PATTERNS:
        _check_pattern(value, place)
    return value.replace(_OLD_GAP, f"{{:{GAP}}}")


def _check_pattern(pattern: str, place: Place) -> None:
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        raise place.error(f"{place.name} is not a regular expression: {error}") from error
    if _PATTERNS[str(place.path[-1])] and "name" not in groups:
        raise place.error(f"{place.name} must say where the name is, with (?P<name>…)")
    try:
        check_pattern(place.name, pattern)
    except ToolwireError as error:
        raise place.error(str(error)) from error


def _several(wanted: Any, value: Any, place: Place, may_be_empty: bool) -> tuple[Any, ...]:
    """A list, or the one thing that would be in it."""
    items = [(value, place)]
    if isinstance(value, list):
        items = [(item, place.inside(i)) for i, item in enumerate(value)]
    if not items and not may_be_empty:
        raise place.error(f"{place.name} must not be empty")
    if wanted is str and not all(isinstance(item, str) for item, _ in items):
        must = "must be a string or a list of strings"
        raise place.error(f"{place.name} {must}, not {shown(value)}")
    return tuple(_value(wanted, item, inside, None, False) for item, inside in items)


def _shape(value: Any, place: Place, base: Any) -> Any:
    table = {"kind": value} if isinstance(value, str) else dict(table_at(value, place))
    if "kind" not in table and base is not None:
        return fill(type(base), table, place, base)
    kind = table.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        wrong = "is missing" if kind is None else f"can't be {shown(kind)}"
        raise place.inside("kind").error(
            f"shape.kind {wrong}: use one of {', '.join(KINDS)}{_near(kind, KINDS)}"
        )
    shape = KINDS[kind]
    return fill(shape, table, place, base if base is not None and base.kind() == kind else None)


def alone_field(cls: Any) -> str | None:
    """The field whose value may stand for all of a dataclass, if there is one."""
    return next((field.name for field in fields(cls) if field.metadata.get("alone")), None)


def _without_excluded(cls: Any, table: Mapping[str, Any], place: Place, base: Any) -> Any:
    """`base` without the fields that those in the table exclude, which must fit together themselves."""
    defaults = {field.name: field.default for field in fields(cls)}
    for field in fields(cls):
        excludes = field.metadata.get("excludes", ())
        given = [key for key in excludes if key in table]
        dropped = [field.name] if given else []
        if field.name in table:
            for key in given:
                raise place.inside(key).error(
                    f"{place.name} can't have both {field.name} and {key}"
                )
            for key, what in field.metadata.get("needs", {}).items():
                if key not in table:
                    raise place.error(f"{place.inside(key).name} is missing: {what}")
            dropped = list(excludes)
        if base is not None and dropped:
            base = dataclasses.replace(base, **{key: defaults[key] for key in dropped})
    return base


def table_at(value: Any, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.error(f"{place.name} must be a table, not {shown(value)}")
    return value


def _optional(wanted: Any) -> Any:
    """X of `X | None`, else None."""
    if get_origin(wanted) not in (Union, types.UnionType):
        return None
    return next(kind for kind in get_args(wanted) if kind is not types.NoneType)


def field_names(cls: Any) -> list[str]:
    return [field.name for field in fields(cls)]


def refuse_unknown(table: Mapping[str, Any], known: Iterable[str], place: Place) -> None:
    for key in table:
        if key not in known:
            at = place.inside(key)
            raise at.error(f"there is no key {at.name}{_near(key, known)}")


def _near(word: Any, words: Iterable[str]) -> str:
    """A question that names the word that was meant, if one is near."""
    near = difflib.get_close_matches(str(word), list(words), n=1, cutoff=0.5)
    return f". Did you mean {near[0]}?" if near else ""


def shown(value: Any) -> str:
    """What a wrong value is, in a few words."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        wrong = [item for item in value if not isinstance(item, str)]
        return f"a list with {shown(wrong[0])} in it" if wrong else "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
