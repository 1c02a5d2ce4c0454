"""`constrain`: the grammar that holds a model to its format and to the schemas of a request's tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.format import Format
from ..core.shape import NotExpressible, Piece
from ..formats import get_format
from ..formats.grammar import forced, triggered
from ..schema.definitions import Tools
from ..schema.tools import read_tools
from .request import Request, read_parts

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
    functions = [function.to_dict()["function"] for function in request.allowed]
    if not functions:
        return Constraint(format, None)
    if request.choice.forced:
        parallel = request.parallel and request.choice.name is None
        try:
            return Constraint(format, _tag(forced(spec, functions, parallel)))
        except NotExpressible:
            return Constraint(FALLBACK, _tag(forced(get_format(FALLBACK), functions, parallel)))
    found = triggered(spec, functions, request.parallel, every_schema)
    return Constraint(format, found and _tag(found))


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
