"""A request's tools, as type checkers and editors know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

from .tools import KnownTools


class FunctionDefinition(TypedDict, total=False):
    """A function that the model may call. `parameters` is a JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None


class ToolDefinition(TypedDict, total=False):
    """A tool: with `function` as in Chat Completions, or flat as in Responses."""

    type: str
    function: FunctionDefinition
    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: bool | None


#: What takes tools also takes plain dicts, and tools that were read already.
Tools: TypeAlias = Sequence[ToolDefinition | Mapping[str, Any]] | KnownTools
