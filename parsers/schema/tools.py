"""The caller's tools by name, as a parser knows them: which shapes they come in is in `declarations`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..errors import ToolwireError
from .declarations import Declaration, declarations
from .json_schema import DEEPEST, SchemaReading, too_deep
from .kinds import ANY, Kind
from .nested import Place, Places


class Tool:
    """One declared tool. Its schema is read when it is first called, and once."""

    __slots__ = ("_arguments", "_kinds", "_parameters", "_properties", "_reading", "name", "schema")

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        self.name = name
        self.schema = schema
        self._reading: SchemaReading | None = None
        self._properties: dict[str, Any] = {}
        self._parameters: list[str] = []
        self._kinds: dict[str, Kind] = {}
        self._arguments: Place | None = None

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

    @property
    def required(self) -> list[str]:
        """The parameters that a call must have."""
        required = self.schema.get("required")
        return (
            [name for name in required if isinstance(name, str)]
            if isinstance(required, list)
            else []
        )

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

    @property
    def arguments(self) -> Place:
        """All arguments, as the place that their members stand in."""
        if self._arguments is None:
            self._arguments = Places(self._read()).place(self.schema)
        return self._arguments


UNDECLARED: Final = Tool("", {})


class NameIndex:
    """The names of tools, to look words up in: that takes no longer the more there are."""

    __slots__ = ("_lengths", "_names", "_sorted", "initials", "longest")

    def __init__(self, names: Iterable[str]) -> None:
        self._names: Final = frozenset(names)
        self._sorted: Final = sorted(self._names)
        self._lengths: Final = sorted(set(map(len, self._sorted)))
        #: what they begin with, and how long one can be
        self.initials: Final = frozenset(name[:1] for name in self._sorted)
        self.longest: Final = max(map(len, self._sorted), default=0)

    def begins_one(self, word: str) -> bool:
        """Whether any of the names begins with this."""
        place = bisect_left(self._sorted, word)  # all that begin with it stand from here on
        return place < len(self._sorted) and self._sorted[place].startswith(word)

    def begins_longer(self, word: str) -> bool:
        """Whether any of the names begins with this, and goes on."""
        place = bisect_right(self._sorted, word)
        return place < len(self._sorted) and self._sorted[place].startswith(word)

    def begin(self, text: str) -> bool:
        """Whether a text begins with any of the names."""
        return text[:1] in self.initials and any(text[:n] in self._names for n in self._lengths)


class KnownTools:
    """Tools that were read already, for who reads many messages with the same ones. A parser takes them
    in the place of the list, and then costs the same however many there are."""

    __slots__ = ("_names", "by_name")

    def __init__(self, tools: Any) -> None:
        self.by_name: Final = read_tools(tools)
        self._names: NameIndex | None = None

    @property
    def names(self) -> NameIndex:
        if self._names is None:
            self._names = NameIndex(self.by_name or ())
        return self._names


def read_tools(tools: Any) -> dict[str, Tool] | None:
    """The caller's tools by name; None where none are given at all."""
    if tools is None:
        return None
    if isinstance(tools, KnownTools):
        return tools.by_name
    if not isinstance(tools, (list, tuple)):
        raise ToolwireError(
            f"tools must be a list of tool definitions, not {type(tools).__name__}: "
            'pass [{"type": "function", "function": {"name": …, "parameters": {…}}}].'
        )
    found: dict[str, Tool] = {}
    for place, entry in enumerate(tools):
        for tool in _read_tool(entry, f"tools[{place}]"):
            found[tool.name] = tool
    return found or None


def _read_tool(entry: Any, place: str) -> list[Tool]:
    """What a tool declares: nothing where the server runs it, a web search and the like."""
    if not isinstance(entry, Mapping):
        raise ToolwireError(
            f"{place} must be an object like "
            '{"type": "function", "function": {"name": …, "parameters": {…}}}, '
            f"not {type(entry).__name__}."
        )
    return [_read_declaration(found, place) for found in declarations(entry)]


def _read_declaration(found: Declaration, place: str) -> Tool:
    definition = found.definition
    if not isinstance(definition, Mapping):
        kind = "custom" if found.custom else "function"
        raise ToolwireError(
            f"{place}.{kind} must be an object with a name, not {type(definition).__name__}."
        )
    name = found.name
    if not isinstance(name, str) or not name:
        raise ToolwireError(f"{place} has no name: give the function a non-empty string as name.")
    schema = found.parameters
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
