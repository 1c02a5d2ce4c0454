"""A format as TOML, for people who write no Python: `load_formats` reads it, `dump_format` writes it.

    name = "my_model"
    wrappers = {open = "<call>", close = "</call>"}
    example = '<call>{"tool": "NAME", "arguments": {…}}</call>'

    [shape]
    kind = "json_calls"
    name_keys = ["tool", "name"]

The keys are the fields of the dataclasses `Format`, `Wrapper`, `Layout` and of the shapes. A few rules
make it short to write:

* What has a default may be left out. Where a list is expected, one item will do.
* `shape = "pythonic"` is a shape of which only the kind is given, `call = "<function="` a tag of which
  only the beginning is.
* `example` is a short way to give the layout; `value_on_own_lines`, if left out, is as that has it.
* `like = "hermes"` takes from another format what is not given.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from dataclasses import MISSING, fields, replace
from typing import Any

from ..core.format import Format
from ..core.layout import Layout
from ..errors import ToolwireError
from .layouts import layout_by_example
from .registry import ANY, get_format
from .toml_fields import (
    KINDS,
    Place,
    alone_field,
    field_names,
    fill,
    refuse_unknown,
    shown,
    string_at,
)
from .toml_text import read_toml, write_toml
from .write import reads_what_it_writes


def load_formats(text: str, source: str) -> list[Format]:
    """The formats that a TOML text describes. `source` is what errors call it: its file's name."""
    return [spec for spec, _ in read_formats(text, source)]


def read_formats(text: str, source: str) -> list[tuple[Format, Place]]:
    """The formats in a TOML text, each with its place there."""
    document = read_toml(text, source)
    whole = Place(text, source)
    if "format" not in document:
        return [(_format(document, whole, ()), whole)]
    refuse_unknown(document, ["format"], whole)
    tables = document["format"]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise whole.inside("format").error("several formats in a file are [[format]] tables")
    found: list[tuple[Format, Place]] = []
    for i, table in enumerate(tables):
        place = Place(text, source, ("format", i), root=2)
        found.append((_format(table, place, [spec for spec, _ in found]), place))
    return found


def _format(table: dict[str, Any], place: Place, earlier: Iterable[Format]) -> Format:
    refuse_unknown(table, [*field_names(Format), "like", "example"], place)
    if "name" not in table:
        raise place.error("name is missing")
    own = dict(table)
    example = string_at(own.pop("example"), place.inside("example")) if "example" in own else ""
    base = _base(own.pop("like"), place.inside("like"), earlier) if "like" in own else None
    if base and {"layout", "wrappers", "shape"} & own.keys():  # what is written differs
        known = base.layout if "layout" in own else None  # else who knows how
        base = replace(base, layout=known, dialects=())
    spec: Format = fill(Format, own, place, base)
    _refuse_unfindable(spec, place)
    _refuse_ambiguous(spec, place.inside("wrappers"))
    if example and "layout" in own:
        raise place.inside("example").error("give a layout or an example of it, not both")
    lines_are_said = base is not None or _says_lines(own)
    if example:
        text = example.replace("{...}", "{…}")
        spec = _with_example(spec, text, place.inside("example"), lines_are_said)
    if spec.layout is not None:
        if not lines_are_said:
            spec = _with_lines(spec, _has_lines(spec.layout))
        _check_layout(spec, place.inside("example" if example else "layout"))
    return spec


def _says_lines(table: dict[str, Any]) -> bool:
    return isinstance(table["shape"], dict) and "value_on_own_lines" in table["shape"]


def _has_lines(layout: Layout) -> bool:
    """Whether values stand on lines of their own."""
    return layout.value_begin.endswith("\n") and layout.value_end.startswith(("\n", "\r\n"))


def _with_lines(spec: Format, lines: bool) -> Format:
    return replace(spec, shape=spec.shape.with_value_lines(lines))


def _with_example(spec: Format, example: str, place: Place, lines_are_said: bool) -> Format:
    """With the layout that the example shows. A newline there may be a value's or a tag's."""
    try:
        if not lines_are_said and "\n" in example:
            on_lines = _with_lines(spec, True)
            layout = layout_by_example(on_lines, example)
            if _has_lines(layout):
                return replace(on_lines, layout=layout)
        return replace(spec, layout=layout_by_example(spec, example))
    except ToolwireError as error:
        raise place.error(str(error)) from error


def _check_layout(spec: Format, place: Place) -> None:
    """The format must read what it writes."""
    if not reads_what_it_writes(spec):
        raise place.error(
            f"the format does not read what it writes by this {place.name}: {spec.example!r}"
        )


def _base(like: Any, place: Place, earlier: Iterable[Format]) -> Format:
    """The format to derive from, without what describes only that one."""
    name = string_at(like, place)
    if name == ANY:
        raise place.error("any reads many formats, and none can be like it: name one of them")
    try:
        found = next((spec for spec in earlier if spec.name == name), None) or get_format(name)
    except ToolwireError as error:
        raise place.error(str(error)) from error
    return replace(found, name="", aliases=(), models="", model_names=(), family="", year=0)


def _refuse_unfindable(spec: Format, place: Place) -> None:
    """Refuses a format whose calls could never be found."""
    if not spec.shape.needs_wrappers and not spec.shape.bare_start:
        if spec.wrappers or spec.bare:
            key = "wrappers" if spec.wrappers else "bare"
            raise place.inside(key).error(f"the shape {spec.shape.kind()} goes without {key}")
    elif spec.bare and not spec.shape.bare_start:
        raise place.inside("bare").error(
            "bare = true needs a shape that is known by how it begins: json_calls, pythonic, "
            "elements, or tags with call"
        )
    elif spec.inline and not spec.shape.heads:
        raise place.inside("inline").error("inline = true needs tags with call")
    elif not (spec.bare or spec.inline or spec.wrappers or spec.channels):
        raise place.error("nothing marks a call: give wrappers, or bare = true")


def _refuse_ambiguous(spec: Format, place: Place) -> None:
    """Refuses delimiters that can't be told from one another, or from a call, while the text comes."""
    opens = [spelling for wrapper in spec.wrappers for spelling in set(wrapper.open)]
    starts, closes = spec.delimiters.starts.spellings, spec.delimiters.closes.spellings
    for mark in (*starts, *closes):
        if opens.count(mark) > 1:
            raise place.error(f"{shown(mark)} opens more than one wrapper")
        if not mark.strip() or mark[0] == '"':
            raise place.error(f"{shown(mark)} can't be a delimiter: it could be part of a call")
    for start, close in itertools.product(starts, closes):
        if start != close and (start.startswith(close) or close.startswith(start)):
            short, long = sorted([start, close], key=len)
            raise place.error(f"{shown(short)} begins like {shown(long)}: one opens, one closes")


# -- writing --------------------------------------------------------------------------------------


def dump_format(spec: Format) -> str:
    """The TOML text of a format: `load_formats` makes the same format of it again."""
    kind = spec.shape.kind()
    if kind not in KINDS:
        name = type(spec.shape).__name__
        raise ToolwireError(
            f"TOML can't describe {spec.name}: its shape, {name}, is not a known one"
        )
    shape = _plain(spec.shape)
    table = _plain(replace(spec, wrappers=(), layout=None, dialects=())) | {
        "wrappers": [_plain(wrapper) for wrapper in spec.wrappers],
        "shape": {"kind": kind, **shape} if shape else kind,
        "layout": _plain(spec.layout) if spec.layout else None,
        "dialects": [_plain(layout) for layout in spec.dialects],
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
        elif dataclasses.is_dataclass(item):
            table, alone = _plain(item), alone_field(item)
            item = table[alone] if alone and table.keys() == {alone} else table
        plain[field.name] = item
    return plain
