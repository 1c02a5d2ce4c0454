"""The caller's tools.

Both of OpenAI's forms are read: `{"type": "function", "function": {"name", "parameters"}}` (Chat
Completions) and the flat `{"type": "function", "name", "parameters"}` (Responses).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import ToolwireError
from .json_schema import DEEPEST, SchemaReading, too_deep
from .schema import ANY, Kind


class Tool:
    """One declared tool. Its schema is read when it is first called, and once."""

    __slots__ = ("_kinds", "_parameters", "_properties", "_reading", "name", "schema")

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        self.name = name
        self.schema = schema
        self._reading: SchemaReading | None = None
        self._properties: dict[str, Any] = {}
        self._parameters: list[str] = []
        self._kinds: dict[str, Kind] = {}

    def _read(self) -> SchemaReading:
        if self._reading is None:
            self._reading = SchemaReading(self.schema)
            self._properties = self._reading.properties()
            self._parameters = list(self._properties)
        return self._reading

    @property
    def parameters(self) -> list[str]:
        """In the schema's order."""
        self._read()
        return self._parameters

    def declares(self, parameter: str) -> bool:
        self._read()
        return parameter in self._properties

    def kind(self, parameter: str) -> Kind:
        """The kind of the parameter's values; ANY where it is not declared."""
        kind = self._kinds.get(parameter)
        if kind is None:
            kind = ANY
            if self.declares(parameter):
                kind = self._read().kind(self._properties[parameter])
                self._kinds[parameter] = kind
        return kind


UNDECLARED: Final = Tool("", {})


def read_tools(tools: Any) -> dict[str, Tool] | None:
    """The caller's tools by name; None where none are given at all."""
    if tools is None:
        return None
    if not isinstance(tools, (list, tuple)):
        raise ToolwireError(
            f"tools must be a list of tool definitions, not {type(tools).__name__}: "
            'pass [{"type": "function", "function": {"name": …, "parameters": {…}}}].'
        )
    found: dict[str, Tool] = {}
    for place, entry in enumerate(tools):
        tool = _read_tool(entry, f"tools[{place}]")
        if tool is not None:
            found[tool.name] = tool
    return found or None


def _read_tool(entry: Any, place: str) -> Tool | None:
    if not isinstance(entry, Mapping):
        raise ToolwireError(
            f"{place} must be an object like "
            '{"type": "function", "function": {"name": …, "parameters": {…}}}, '
            f"not {type(entry).__name__}."
        )
    if entry.get("type", "function") != "function":
        return None  # web search and the like: nothing that a model calls by name in its text
    function = entry.get("function", entry)
    if not isinstance(function, Mapping):
        raise ToolwireError(
            f"{place}.function must be an object with a name, not {type(function).__name__}."
        )
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise ToolwireError(f"{place} has no name: give the function a non-empty string as name.")
    schema = function.get("parameters")
    if schema is None:
        schema = {}
    if not isinstance(schema, Mapping):
        raise ToolwireError(
            f"{place}: the parameters of {name!r} must be a JSON Schema object, "
            f"not {type(schema).__name__}."
        )
    if too_deep(schema):
        raise ToolwireError(
            f"{place}: the parameters of {name!r} are nested more than {DEEPEST} levels deep. "
            "Move what is inside into $defs, and refer to it."
        )
    return Tool(name, schema)
