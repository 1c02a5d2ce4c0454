"""What a value's own parts may be: the members of an object, the items of a list, level by level.

Formats that write arguments as a tree of elements ask this at every element. Nothing is looked up
before a model writes it, and each part of a schema is looked up once: by its references a schema may
have no end, a model's text has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .json_schema import SchemaReading
from .kinds import ANY, Kind


class Place:
    """One place in a call's arguments, as the tool declares it. Of this one, nothing is known."""

    __slots__ = ("kind",)

    def __init__(self, kind: Kind) -> None:
        self.kind: Kind = kind

    def declares(self, name: str) -> bool:
        """Whether an object here has a member of that name by its schema."""
        return False

    def member(self, name: str) -> Place:
        """What the member of that name may be, declared or not."""
        return UNKNOWN

    def item(self) -> Place:
        """What the items of a list may be."""
        return UNKNOWN


UNKNOWN: Final = Place(ANY)


class _Declared(Place):
    """A place that a schema says something about."""

    __slots__ = ("_item", "_members", "_others", "_places", "_schema")

    def __init__(self, places: Places, schema: Mapping[str, Any]) -> None:
        super().__init__(places.reading.kind(schema))
        self._places = places
        self._schema = schema
        self._members: dict[str, Any] | None = None
        self._others: Any = None  # the schema of all members that have none of their own
        self._item: Place | None = None

    def _read(self) -> dict[str, Any]:
        if self._members is None:
            reading = self._places.reading
            self._members = reading.properties(self._schema)
            self._others = reading.inner_schema(self._schema, "additionalProperties")
        return self._members

    def declares(self, name: str) -> bool:
        return name in self._read()

    def member(self, name: str) -> Place:
        return self._places.place(self._read().get(name, self._others))

    def item(self) -> Place:
        if self._item is None:
            items = self._places.reading.inner_schema(self._schema, "items")
            self._item = self._places.place(items)
        return self._item


class Places:
    """All places of one tool's arguments that were asked for."""

    __slots__ = ("_found", "reading")

    def __init__(self, reading: SchemaReading) -> None:
        self.reading = reading
        self._found: dict[int, Place] = {}

    def place(self, schema: Any) -> Place:
        """The place that `schema`, a part of the whole, describes."""
        if not isinstance(schema, Mapping):
            return UNKNOWN
        found = self._found.get(id(schema))
        if found is None:
            found = self._found[id(schema)] = _Declared(self, schema)
        return found
