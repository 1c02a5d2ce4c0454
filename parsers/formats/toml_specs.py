"""A format as TOML, for people who write no Python: `load_formats` reads it, `dump_format` writes it.

    name = "my_model"
    wrappers = {open = "<call>", close = "</call>"}

    [shape]
    kind = "json_calls"
    name_keys = ["tool", "name"]

The keys are the fields of the spec's dataclasses, and what they take is what the fields' types say:
there is no code for single shapes here. A few rules make it short to write:

* What has a default may be left out. Where a list is expected, one item will do.
* `shape = "pythonic"` is a shape of which only the kind is given, `call = "<function="` a tag of which
  only the beginning is.
* `value_on_own_lines`, if left out, is as the example has it.
* `like = "hermes"` takes wrappers, bare and shape from another format, where they are not given.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import json
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..core import shapes
from ..core.events import Arguments, CallEnd, CallStart
from ..core.parser import EventParser
from ..core.shapes import CallText, NamedJson, Shape, Tag, Tags
from ..core.spec import Format
from ..errors import ToolwireError
from .registry import get_format
from .toml_text import Path, line_of, read_toml, write_toml

#: What `kind` stands for: json_calls is JsonCalls.
KINDS: dict[str, type] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", shape.__name__).lower(): shape for shape in shapes.ALL
}

#: Fields that are regular expressions, and whether one has to have a group named `name`.
_PATTERNS = {"header": True, "inner": True, "unfinished": False}


def load_formats(text: str, source: str) -> list[Format]:
    """The formats that a TOML text describes. `source` is what errors call it: its file's name."""
    return [spec for spec, _ in read_formats(text, source)]


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


# -- formats --------------------------------------------------------------------------------------


def read_formats(text: str, source: str) -> list[tuple[Format, Place]]:
    """The formats in a TOML text, each with its place there."""
    document = read_toml(text, source)
    whole = Place(text, source)
    if "format" not in document:
        return [(_format(document, whole, ()), whole)]
    _refuse_unknown(document, ["format"], whole)
    tables = document["format"]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise whole.inside("format").error("several formats in a file are [[format]] tables")
    found: list[tuple[Format, Place]] = []
    for i, table in enumerate(tables):
        place = Place(text, source, ("format", i), root=2)
        found.append((_format(table, place, [spec for spec, _ in found]), place))
    return found


def _format(table: dict[str, Any], place: Place, earlier: Iterable[Format]) -> Format:
    _refuse_unknown(table, [*_names(Format), "like"], place)
    if "name" not in table:
        raise place.error("name is missing")
    own = dict(table)
    base = _base(own.pop("like"), place.inside("like"), earlier) if "like" in own else None
    spec: Format = _fill(Format, own, place, base)
    spec = dataclasses.replace(spec, example=spec.example.replace("{...}", "{…}"))
    if base is None and isinstance(spec.shape, Tags) and "value_on_own_lines" not in own["shape"]:
        shape = dataclasses.replace(spec.shape, value_on_own_lines=_shows_lines(spec.example))
        spec = dataclasses.replace(spec, shape=shape)
    _refuse_unfindable(spec, place)
    _refuse_ambiguous(spec, place.inside("wrappers"))
    if spec.example:
        _check_example(spec, place.inside("example"))
    return spec


def _base(like: Any, place: Place, earlier: Iterable[Format]) -> Format:
    """The format to derive from, without what describes only that one."""
    name = _string(like, place)
    try:
        found = next((spec for spec in earlier if spec.name == name), None) or get_format(name)
    except ToolwireError as error:
        raise place.error(str(error)) from error
    return Format(name="", shape=found.shape, wrappers=found.wrappers, bare=found.bare)


def _refuse_unfindable(spec: Format, place: Place) -> None:
    """Refuses a format whose calls could never be found."""
    if isinstance(spec.shape, CallText):
        if spec.wrappers or spec.bare:
            key = "wrappers" if spec.wrappers else "bare"
            raise place.inside(key).error(f"the shape call_text goes without {key}")
    elif spec.bare and not spec.shape.bare_start:
        raise place.inside("bare").error(
            "bare = true needs a shape that is known by how it begins: json_calls, pythonic, or "
            "tags with call"
        )
    elif not spec.bare and not spec.wrappers:
        raise place.error("nothing marks a call: give wrappers, or bare = true")


def _refuse_ambiguous(spec: Format, place: Place) -> None:
    """Refuses delimiters that can't be told from one another, or from a call, while the text comes."""
    opens = [spelling for wrapper in spec.wrappers for spelling in set(wrapper.open)]
    starts, closes = spec.marks.starts.spellings, spec.marks.closes.spellings
    for mark in (*starts, *closes):
        if opens.count(mark) > 1:
            raise place.error(f"{_shown(mark)} opens more than one wrapper")
        if not mark.strip() or mark[0] == '"':
            raise place.error(f"{_shown(mark)} can't be a delimiter: it could be part of a call")
    for start, close in itertools.product(starts, closes):
        if start != close and (start.startswith(close) or close.startswith(start)):
            short, long = sorted([start, close], key=len)
            raise place.error(f"{_shown(short)} begins like {_shown(long)}: one opens, one closes")


def _shows_lines(example: str) -> bool:
    """Whether an example of tags has its value on a line of its own."""
    return re.search("\nV\r?\n", example) is not None


def _check_example(spec: Format, place: Place) -> None:
    """The format must read its own example; and engines hold a model to its format by it."""
    parser = EventParser(spec)
    events = [*parser.feed(spec.example.replace("{…}", "{}")), *parser.finish()]
    if not events or not isinstance(events[0], CallStart) or events[0].name != "NAME":
        raise place.error("the format does not read its example as a call to NAME")
    if any(not isinstance(event, CallStart | Arguments | CallEnd) for event in events):
        raise place.error("the format leaves some of its example in the text")
    if isinstance(spec.shape, Tags):
        arguments = "".join(event.text for event in events if isinstance(event, Arguments))
        once = all(spec.example.count(part) == 1 for part in ("NAME", "K", "V"))
        if arguments != '{"K": "V"}' or not once:
            raise place.error("the example must have one parameter K with the value V")
    headed = isinstance(spec.shape, NamedJson) and spec.shape.header
    header = spec.example.partition("NAME")[2].split(maxsplit=1)
    if headed and not (header and ":0" in header[0]):
        raise place.error("with a header, the example must number its call (NAME:0) or go")


# -- values, as the types of fields want them -----------------------------------------------------


def _fill(cls: Any, table: Mapping[str, Any], place: Place, base: Any = None) -> Any:
    """An instance of a dataclass from a table; what the table has not comes from `base`."""
    wanted = get_type_hints(cls)
    _refuse_unknown(table, _names(cls), place)
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
    return cls(**values)


def _value(wanted: Any, value: Any, place: Place, base: Any, may_be_empty: bool) -> Any:
    wanted = _optional(wanted) or wanted
    if wanted is str:
        return _string(value, place, may_be_empty)
    if wanted is bool:
        if not isinstance(value, bool):
            raise place.error(f"{place.name} must be true or false, not {_shown(value)}")
        return value
    if get_origin(wanted) is tuple:
        return _several(get_args(wanted)[0], value, place, may_be_empty)
    if wanted is Shape:
        return _shape(value, place, base)
    if wanted is Tag:
        return _tag(value, place, base)
    return _fill(wanted, _table(value, place), place, base)


def _string(value: Any, place: Place, may_be_empty: bool = False) -> str:
    if not isinstance(value, str):
        raise place.error(f"{place.name} must be a string, not {_shown(value)}")
    if not value and not may_be_empty:
        raise place.error(f"{place.name} must not be empty")
    if value and place.path[-1] in _PATTERNS:
        _check_pattern(value, place)
    return value


def _check_pattern(pattern: str, place: Place) -> None:
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        raise place.error(f"{place.name} is not a regular expression: {error}") from error
    if _PATTERNS[str(place.path[-1])] and "name" not in groups:
        raise place.error(f"{place.name} must say where the name is, with (?P<name>…)")
    try:
        shapes.check_pattern(place.name, pattern)
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
        raise place.error(f"{place.name} {must}, not {_shown(value)}")
    return tuple(_value(wanted, item, inside, None, False) for item, inside in items)


def _shape(value: Any, place: Place, base: Any) -> Any:
    table = {"kind": value} if isinstance(value, str) else dict(_table(value, place))
    if "kind" not in table and base is not None:
        return _fill(type(base), table, place, base)
    kind = table.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        wrong = "is missing" if kind is None else f"can't be {_shown(kind)}"
        raise place.inside("kind").error(
            f"shape.kind {wrong}: use one of {', '.join(KINDS)}{_near(kind, KINDS)}"
        )
    shape = KINDS[kind]
    return _fill(shape, table, place, base if isinstance(base, shape) else None)


def _tag(value: Any, place: Place, base: Any) -> Any:
    table = {"begin": value} if isinstance(value, str | list) else dict(_table(value, place))
    patterns = [key for key in ("inner", "unfinished") if key in table]
    if "key_close" in table:
        for key in patterns:
            raise place.inside(key).error(f"{place.name} can't have both key_close and {key}")
        if "end" not in table:
            what = "what begins the value, behind key_close"
            raise place.error(f"{place.name}.end is missing: {what}")
        base = base and dataclasses.replace(base, inner="", unfinished="")
    elif patterns:
        base = base and dataclasses.replace(base, key_close="")
    return _fill(Tag, table, place, base)


def _table(value: Any, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.error(f"{place.name} must be a table, not {_shown(value)}")
    return value


def _optional(wanted: Any) -> Any:
    """X of `X | None`, else None."""
    if get_origin(wanted) not in (Union, types.UnionType):
        return None
    return next(kind for kind in get_args(wanted) if kind is not types.NoneType)


def _names(cls: Any) -> list[str]:
    return [field.name for field in fields(cls)]


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], place: Place) -> None:
    for key in table:
        if key not in known:
            at = place.inside(key)
            raise at.error(f"there is no key {at.name}{_near(key, known)}")


def _near(word: Any, words: Iterable[str]) -> str:
    """A question that names the word that was meant, if one is near."""
    near = difflib.get_close_matches(str(word), list(words), n=1, cutoff=0.5)
    return f". Did you mean {near[0]}?" if near else ""


def _shown(value: Any) -> str:
    """What a wrong value is, in a few words."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        wrong = [item for item in value if not isinstance(item, str)]
        return f"a list with {_shown(wrong[0])} in it" if wrong else "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"


# -- writing --------------------------------------------------------------------------------------


def dump_format(spec: Format) -> str:
    """The TOML text of a format: `load_formats` makes the same format of it again."""
    kind = next((kind for kind, shape in KINDS.items() if type(spec.shape) is shape), None)
    if kind is None:
        name = type(spec.shape).__name__
        raise ToolwireError(
            f"TOML can't describe {spec.name}: its shape, {name}, is not a known one"
        )
    shape = _plain(spec.shape)
    table = {
        "name": spec.name,
        "aliases": list(spec.aliases),
        "models": spec.models,
        "example": spec.example,
        "bare": spec.bare,
        "wrappers": [_plain(wrapper) for wrapper in spec.wrappers],
        "shape": {"kind": kind, **shape} if shape else kind,
    }
    return write_toml({key: value for key, value in table.items() if value})


def _plain(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not what they would be anyway, as TOML has them."""
    plain = {}
    for field in fields(value):
        item = getattr(value, field.name)
        factory = field.default_factory
        default = field.default if factory is MISSING else factory()
        if item is None or item == default:
            continue
        if isinstance(item, tuple):
            item = item[0] if len(item) == 1 else list(item)
        elif isinstance(item, Tag):
            item = _plain_tag(item)
        elif dataclasses.is_dataclass(item):
            item = _plain(item)
        plain[field.name] = item
    return plain


def _plain_tag(tag: Tag) -> Any:
    plain = _plain(tag)
    return plain["begin"] if plain.keys() == {"begin"} else plain
