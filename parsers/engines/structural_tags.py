"""Holds a model to its own format: xgrammar structural tags, as plain dicts, from a format's spec.

A spec's example shows the layout, with `NAME`, `{…}`, `K` and `V` where a call differs from another
one. This cuts the example up at these places and puts the tools' names and schemas there.

Where the arguments can't be expressed in the format (see `value_formats`), a forced call is written
as JSON instead and read by the parser of the format `json`: `reading_format` says which one it is.
Every engine that uses xgrammar can use the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.shapes import BareKeys, CallText, JsonCalls, NamedJson, Pythonic, Tags
from ..core.spec import Format
from ..formats import get_format
from .tools import Choice
from .value_formats import (
    NotExpressible,
    Parameters,
    Piece,
    const,
    either,
    json_object,
    json_value,
    optional,
    quoted_value,
    sequence,
    split_by_string,
    text_value,
)

FALLBACK = "json"
Tool = dict[str, Any]

#: DeepSeek's tags say whether a value is text or JSON.
_SAYS_STRING, _SAYS_JSON = 'string="true"', 'string="false"'

#: More optional parameters than this would make a grammar of many alternatives.
_MOST_OPTIONAL = 12


@dataclass(frozen=True, slots=True)
class Layout:
    """How calls stand in a message: what is around all of them, between them, around each."""

    outer_begin: str
    outer_end: str
    between: str
    begin: str  # before a call's name
    middle: str  # between its name and its arguments
    end: str  # after its arguments


# -- what an engine asks --------------------------------------------------------------------------


def constrain(
    spec: Format,
    tools: Sequence[Tool],
    choice: Choice,
    *,
    parallel: bool = True,
    every_schema: bool = False,
) -> dict[str, Any] | None:
    """The structural tag for a request, or None where the model is to write what it likes.

    A forced call always fits its tool's schema. In `auto`, the shape of calls is constrained, and
    the arguments of `strict` tools (of all tools with `every_schema`); that needs a marker which
    says that a call begins, so formats without one leave the model free.
    """
    tools = [tool for tool in tools if choice.name in (None, tool["function"]["name"])]
    if not tools or choice.mode == "none":
        return None
    if choice.forced:
        return _tag(_forced(spec, tools, parallel and choice.name is None))
    every = every_schema or all(tool["function"].get("strict") is True for tool in tools)
    if not _marked(spec) or (isinstance(spec.shape, Pythonic) and not every):
        return None  # free arguments between parentheses have no end that can be told
    return _tag(_triggered(spec, tools, parallel, every_schema))


def reading_format(spec: Format, tools: Sequence[Tool], choice: Choice) -> str:
    """The format in which a request's calls will be written."""
    if not choice.forced:
        return spec.name
    tools = [tool for tool in tools if choice.name in (None, tool["function"]["name"])]
    return spec.name if _expressible(spec, tools) else FALLBACK


def uses_own_format(spec: Format) -> bool:
    """Whether forced calls of ordinary tools are written in the model's own format."""
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    return _expressible(spec, [{"function": {"name": "x", "parameters": city}}])


# -- whole messages -------------------------------------------------------------------------------


def _tag(format: Piece) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


def _expressible(spec: Format, tools: Sequence[Tool]) -> bool:
    try:
        _calls(spec, tools, every_schema=True)
    except NotExpressible:
        return False
    return True


def _forced(spec: Format, tools: Sequence[Tool], parallel: bool) -> Piece:
    if not _expressible(spec, tools):
        spec = get_format(FALLBACK)
    layout = layout_of(spec)
    return _in_outer(layout, _list(layout, _calls(spec, tools, every_schema=True), parallel))


def _triggered(spec: Format, tools: Sequence[Tool], parallel: bool, every_schema: bool) -> Piece:
    layout = layout_of(spec)
    calls = _calls(spec, tools, every_schema, lenient=True)
    if layout.outer_begin:
        inside = _list(layout, calls, parallel)
        calls = [_block(layout.outer_begin, inside, layout.outer_end)]
    return {
        "type": "triggered_tags",
        "triggers": [spec.wrappers[0].open[0]],
        "tags": calls,
        "stop_after_first": not parallel,
    }


def _list(layout: Layout, calls: list[Piece], parallel: bool) -> Piece:
    return {
        "type": "tags_with_separator",
        "tags": calls,
        "separator": layout.between,
        "at_least_one": True,
        "stop_after_first": not parallel,
    }


def _in_outer(layout: Layout, inside: Piece) -> Piece:
    around = (layout.outer_begin, layout.outer_end)
    begin, end = ([const(text)] if text else [] for text in around)
    return sequence(*begin, inside, *end)


def _block(begin: str, content: Piece, end: str) -> Piece:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def _calls(
    spec: Format, tools: Sequence[Tool], every_schema: bool, lenient: bool = False
) -> list[Piece]:
    """One tag for each tool. Leniently, arguments that can't be expressed are left free."""
    return [_call(spec, tool["function"], every_schema, lenient) for tool in tools]


def _call(spec: Format, function: Tool, every_schema: bool, lenient: bool) -> Piece:
    layout = layout_of(spec)
    begin = layout.begin + function["name"] + layout.middle
    content = _writer(spec)
    if every_schema or function.get("strict") is True:
        try:
            return _block(
                *_with_index(spec, begin, content(function.get("parameters"))), layout.end
            )
        except NotExpressible:
            if not lenient:
                raise
    return _block(*_with_index(spec, begin, _free(spec, layout)), layout.end)


def _free(spec: Format, layout: Layout) -> Piece:
    """Arguments of which nothing is asked but that they end."""
    if "{…}" in spec.example:
        return json_object(None)
    return {"type": "any_text", "excludes": [layout.end.strip() or layout.outer_end]}


def _with_index(spec: Format, begin: str, content: Piece) -> tuple[str, Piece]:
    """Kimi counts its calls in their headers (`functions.NAME:0`): any number will do."""
    if not (isinstance(spec.shape, NamedJson) and spec.shape.header):
        return begin, content
    head, found, rest = begin.rpartition(":0")
    if not found:
        raise NotExpressible(f"the example of {spec.name} does not show how its calls are counted")
    return f"{head}:", sequence({"type": "regex", "pattern": "[0-9]+"}, const(rest), content)


# -- arguments ------------------------------------------------------------------------------------

Writer = Callable[[Any], Piece]


def _writer(spec: Format) -> Writer:
    """How the format writes a set of arguments."""
    shape = spec.shape
    if isinstance(shape, Tags):
        return _TagWriter(spec, shape).arguments
    if isinstance(shape, (Pythonic, CallText)):
        return _python_arguments
    if isinstance(shape, BareKeys):
        return lambda parameters: _bare_arguments(parameters, shape.quote)
    return json_object


class _TagWriter:
    """`<parameter=K>V</parameter>`, one after the other, in the order of the schema."""

    def __init__(self, spec: Format, shape: Tags) -> None:
        rest = spec.example.partition("NAME")[2]
        before, rest = _cut(rest, "K")
        self._middle, after = _cut(rest, "V")
        self._begin = before[before.rindex(shape.parameter.begin[0]) :]
        closer = shape.parameter_close[0]
        end = after.index(closer) + len(closer)
        self._end = after[: end + after[end:].startswith("\n")]
        self._literals = list(
            dict.fromkeys(
                literal
                for group in (
                    *((wrapper.open + wrapper.close) for wrapper in spec.wrappers),
                    *((shape.call.begin,) if shape.call else ()),
                    *(shape.close, shape.parameter.begin, shape.parameter_close),
                )
                for literal in group
            )
        )

    def arguments(self, parameters: Any) -> Piece:
        found = Parameters(parameters)
        pieces = [self._parameter(found, name) for name in found.required]
        pieces += [optional(self._parameter(found, name)) for name in found.optional]
        return sequence(*pieces) if pieces else const("")

    def _parameter(self, parameters: Parameters, name: str) -> Piece:
        schema = parameters.schema(name)
        if _SAYS_STRING in self._middle:
            kinds = split_by_string(schema)
        else:
            kinds = [(True, schema)]
        return either(*(self._tagged(name, is_string, part) for is_string, part in kinds))

    def _tagged(self, name: str, is_string: bool, schema: dict[str, Any]) -> Piece:
        middle = self._middle if is_string else self._middle.replace(_SAYS_STRING, _SAYS_JSON)
        value = text_value(schema, self._literals)
        return _block(self._begin + name + middle, value, self._end)


def _python_arguments(parameters: Any) -> Piece:
    """`k="v", n=1`, required ones first; one JSON object where the schema is no plain list."""
    try:
        found = Parameters(parameters)
        values = {
            name: sequence(const(f"{name}="), json_value(found.schema(name)))
            for name in (*found.required, *found.optional)
        }
    except NotExpressible:
        return json_object(parameters)
    if len(found.optional) > _MOST_OPTIONAL or not all(name.isidentifier() for name in values):
        return json_object(parameters)
    return _listed(found, values, ", ")


def _bare_arguments(parameters: Any, quote: str) -> Piece:
    """`{k:"v",n:1}`, the braces being part of it."""
    found = Parameters(parameters)
    if len(found.optional) > _MOST_OPTIONAL:
        raise NotExpressible("many optional parameters")
    values = {
        name: sequence(const(f"{name}:"), quoted_value(found.schema(name), quote))
        for name in (*found.required, *found.optional)
    }
    return sequence(const("{"), _listed(found, values, ","), const("}"))


def _listed(parameters: Parameters, values: dict[str, Piece], comma: str) -> Piece:
    """All required values, then any of the optional ones, with commas between them."""

    def later(names: list[str]) -> list[Piece]:
        return [optional(sequence(const(comma), values[name])) for name in names]

    pieces: list[Piece] = []
    for name in parameters.required:
        pieces += [const(comma), values[name]] if pieces else [values[name]]
    if pieces:
        return sequence(*pieces, *later(parameters.optional))
    starts = [
        sequence(values[name], *later(parameters.optional[place + 1 :]))
        for place, name in enumerate(parameters.optional)
    ]
    return optional(either(*starts)) if starts else const("")


# -- the layout of a format -----------------------------------------------------------------------


def layout_of(spec: Format) -> Layout:
    """Cuts the format's example up."""
    try:
        return _layout(spec)
    except ValueError as error:  # a literal of the spec is not in its example
        raise NotExpressible(f"the example of {spec.name} does not show its layout") from error


def known_layout(spec: Format) -> Layout | None:
    """The layout, or None where the example does not show one."""
    try:
        return layout_of(spec)
    except NotExpressible:
        return None


def _marked(spec: Format) -> bool:
    """Whether a message's calls begin with the format's marker."""
    layout = known_layout(spec)
    if layout is None or not spec.wrappers:
        return False
    return (layout.outer_begin + layout.begin).startswith(spec.wrappers[0].open[0])


def _layout(spec: Format) -> Layout:
    before, rest = _cut(spec.example, "NAME")
    if isinstance(spec.shape, (Pythonic, CallText)):
        return _python_layout(spec)
    if isinstance(spec.shape, BareKeys):
        return _bare_layout(spec)
    if isinstance(spec.shape, JsonCalls) and spec.bare:
        # Llama has a token for it, but writes plain JSON when it calls a tool of the user's.
        before = before.removeprefix(spec.wrappers[0].open[0]) if spec.wrappers else before
    if isinstance(spec.shape, Tags):
        return _tag_layout(spec, spec.shape, before, rest)
    middle, after = _cut(rest, "{…}")
    if re.match(r"\}*\]", after):
        begin = before.rindex("[") + 1
        end = after.index("]")
        outer = (before[:begin], after[end:])
        return Layout(*outer, ", ", before[begin:], middle, after[:end])
    return _wrapped(spec, before, middle, after)


def _wrapped(spec: Format, begin: str, middle: str, end: str) -> Layout:
    """Calls with wrappers around each, and perhaps around all of them."""
    if len(spec.wrappers) > 1 and spec.wrappers[1].close:
        opener, closer = spec.wrappers[1].open[0], spec.wrappers[1].close[0]
        start, stop = begin.index(opener), end.index(closer) + len(closer)
        return Layout(begin[:start], end[stop:], "", begin[start:], middle, end[:stop])
    token = begin.strip().endswith(("|>", "｜>", "]"))
    return Layout("", "", "" if token else "\n", begin, middle, end)


def _tag_layout(spec: Format, shape: Tags, before: str, rest: str) -> Layout:
    parameter = rest.index(shape.parameter.begin[0])
    middle = rest[:parameter]
    closer = shape.parameter_close[0]
    end = rest[rest.index(closer) + len(closer) :].removeprefix("\n")
    if shape.call and "invoke" in shape.call.begin[0] and len(spec.wrappers) == 1:
        # Several calls stand in one wrapper.
        opener, closer = shape.call.begin[0], shape.close[0]
        start, stop = before.index(opener), end.index(closer) + len(closer)
        between = end[stop : stop + end[stop:].startswith("\n")]
        return Layout(before[:start], end[stop:], between, before[start:], middle, end[:stop])
    return _wrapped(spec, before, middle, end)


def _python_layout(spec: Format) -> Layout:
    before = spec.example.partition("NAME")[0]
    after = spec.example.rpartition(")")[2]
    between = ", " if before.endswith("[") else "\n"
    return Layout(before, after, between, "", "(", ")")


def _bare_layout(spec: Format) -> Layout:
    before = spec.example.partition("NAME")[0]
    after = spec.example.rpartition("}")[2]
    return Layout("", "", "", before, "", after)


def _cut(text: str, place: str) -> tuple[str, str]:
    before, found, after = text.partition(place)
    if not found:
        raise NotExpressible(f"no {place} in the example {text!r}")
    return before, after
