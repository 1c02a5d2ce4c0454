"""`constrain`: the grammar that holds a model to its format and to the schemas of a request's tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from ..core.format import Format
from ..core.shape import NotExpressible, Piece
from ..formats import get_format
from ..formats.grammar import forced, marked, triggered
from ..schema.definitions import Tools
from ..schema.recent import Recent
from ..schema.tools import read_tools
from .request import Choice, Function, Request, read_parts

_Forced: TypeAlias = "tuple[bool, dict[str, Any] | None]"
_Make: TypeAlias = Callable[..., Any]

#: What forced calls are written in where the model's own format can't express a tool's arguments.
FALLBACK = "json"


@dataclass(frozen=True, slots=True)
class Constraint:
    """In which format a model will write its calls, and what holds it to that."""

    format: str | Format
    """As it was given, or `json` where that can't express the tools' arguments."""
    tag: dict[str, Any] | None
    """An xgrammar structural tag; None where the model is to write what it likes."""


def constrain(
    format: str | Format,
    tools: Tools | None,
    tool_choice: Any = "auto",
    *,
    parallel: bool = True,
    every_schema: bool = False,
) -> Constraint:
    """The grammar for a request.

    `tool_choice` is as in OpenAI's APIs. Forced calls (`required`, or a named tool) always fit their
    tools' schemas. With `auto`, the way in which calls are written is constrained, and the arguments
    of `strict` tools (of all tools with `every_schema`); that needs a marker which says that a call
    begins, so formats without one leave the model free.
    """
    read_tools(
        tools
    )  # says what is wrong with them: a server has done that when a request gets here
    request = read_parts(tools, tool_choice, parallel=parallel)
    return constrain_request(format, request, every_schema=every_schema)


def constrain_request(
    format: str | Format, request: Request, *, every_schema: bool = False
) -> Constraint:
    """The grammar for a request that was read: only what it allows to be called is in it."""
    spec = format if isinstance(format, Format) else get_format(format)
    if request.choice.forced:
        own, tag = _forced_once(spec, request)
        return Constraint(format if own else FALLBACK, tag)
    functions = _to_call(request)
    if not functions:
        return Constraint(format, None)
    return Constraint(format, _kept(_triggered, spec, functions, request.parallel, every_schema))


def _to_call(request: Request) -> list[dict[str, Any]]:
    """What may be called, as the grammar takes it."""
    return [function.to_dict()["function"] for function in request.allowed]


def _triggered(
    spec: Format, functions: list[dict[str, Any]], parallel: bool, every_schema: bool
) -> dict[str, Any] | None:
    found = triggered(spec, functions, parallel, every_schema)
    return found and _tag(found)


def _forced(spec: Format, functions: list[dict[str, Any]], parallel: bool) -> _Forced:
    """Whether the format can express the calls of a request, and their grammar, in that or in JSON."""
    try:
        return True, _tag(forced(spec, functions, parallel))
    except NotExpressible:
        return False, _tag(forced(get_format(FALLBACK), functions, parallel))


def _forced_once(spec: Format, request: Request) -> _Forced:
    """The same, made once for all choices of a request: each asks in which format to read."""
    known = _forced_calls(request.functions)
    asked = (spec, request.choice, request.parallel)
    if asked not in known:
        functions = _to_call(request)
        parallel = request.parallel and request.choice.name is None
        made = _kept(_forced, spec, functions, parallel) if functions else (True, None)
        known[asked] = tuple(made)
    return known[asked]


def _nothing_yet(functions: tuple[Function, ...]) -> dict[tuple[Format, Choice, bool], _Forced]:
    return {}


#: By the functions, and what is asked of them.
_forced_calls = Recent(_nothing_yet)


def _kept(make: _Make, spec: Format, functions: list[dict[str, Any]], *how: bool) -> Any:
    """What is made of some functions. An agent sends the same ones with every turn."""
    try:
        text = json.dumps(functions)
    except (TypeError, ValueError, RecursionError):  # they did not come as JSON
        return make(spec, functions, *how)
    return json.loads(_made(make, spec, text, how))


@lru_cache(64)
def _made(make: _Make, spec: Format, functions: str, how: tuple[bool, ...]) -> str:
    """As JSON: each caller has its own copy."""
    return json.dumps(make(spec, json.loads(functions), *how))


def constrains(format: str | Format, request: Request) -> bool:
    """Whether every call that a model may write for a request is held by a grammar to the names that
    are declared. (In `auto` that may be so where this says no.)"""
    if request.choice.forced:
        return True
    spec = format if isinstance(format, Format) else get_format(format)
    if not _some_strict(request.allowed) or not marked(spec):
        return False
    return spec.shape.any_arguments(spec) is not None


def _has_strict(functions: tuple[Function, ...]) -> bool:
    return any(function.strict for function in functions)


#: Looked through once for all choices of a request.
_some_strict = Recent(_has_strict)


def reading_format(format: str | Format, request: Request) -> Format:
    """The format in which the calls of a request will be written."""
    found = constrain_request(format, request).format if request.choice.forced else format
    return found if isinstance(found, Format) else get_format(found)


def uses_own_format(format: Format) -> bool:
    """Whether forced calls of ordinary tools are written in the model's own format."""
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "x", "parameters": city}}]
    return constrain(format, tools, "required").format is format


def _tag(format: Piece) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}
