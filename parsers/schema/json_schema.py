"""What a JSON Schema says: which properties there are, and of each which types it may have, and which
values it is limited to.

`$ref`, `anyOf`, `oneOf`, `allOf`, type lists, `nullable`, `enum` and `const` are followed; all that is
asked is what kind of value to expect, not whether one is valid. Parsers and grammars both go by this
reading, so that what a grammar lets a model write is what a parser takes it for.

A schema comes with a request, so it may be made to hurt. By its references it is a graph, in which a
few definitions make a great many ways, or go round in a circle. Each of its parts is read once, with a
stack of our own, so that the time is linear in the schema's size. A part that is still being read when
it is asked for, in a circle, says nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from .kinds import ANY, JSON_TYPES, PYTHON_TYPES, Kind, Members

#: More levels of lists and objects than this have nothing to do with parameters.
DEEPEST: Final = 256
#: From here on, parts that are the same object are looked at once. (JSON has none, Python may.)
_MANY: Final = 1000


def too_deep(value: Any, deepest: int = DEEPEST) -> bool:
    """Whether lists and objects are nested more deeply than that; also where one holds itself."""
    level: list[Any] = [value]
    for _ in range(deepest):
        inner: list[Any] = []
        for part in level:
            for one in part.values() if isinstance(part, dict) else part:
                if isinstance(one, (dict, list)):
                    inner.append(one)
        if not inner:
            return False
        level = list({id(part): part for part in inner}.values()) if len(inner) > _MANY else inner
    return True


class _Values:
    """Values of a parameter, from several places of its schema: put together when they are needed."""

    __slots__ = ("own", "parts")

    def __init__(self, own: list[Any], parts: list[_Values]) -> None:
        self.own = own
        self.parts = parts

    def all(self) -> list[Any]:
        found: list[Any] = []
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            values = waiting.pop()
            if id(values) not in seen:
                seen.add(id(values))
                found += values.own
                waiting += reversed(values.parts)
        return found


class _Found:
    """What a part of the schema says. `part` is kept: it is known by its identity."""

    __slots__ = ("part", "types", "values")

    def __init__(self, part: Any, types: frozenset[str], values: _Values | None) -> None:
        self.part = part
        self.types = types
        self.values = values


_NOTHING: Final = _Found(None, frozenset(), None)


class SchemaReading:
    """One tool's schema, each part of which is read once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._found: dict[int, _Found] = {}
        self._targets: dict[str, Any] = {}
        self._members: dict[int, Members] = {}

    def properties(self, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All properties of the whole, or of a part of it, also those that come through `$ref`,
        `allOf`, `anyOf` or `oneOf`."""
        found: dict[str, Any] = {}
        for part in self.parts(schema):
            properties = part.get("properties")
            if isinstance(properties, Mapping):
                for name, value in properties.items():
                    found.setdefault(str(name), value)
        return found

    def inner_schema(self, schema: Mapping[str, Any], word: str) -> Mapping[str, Any] | None:
        """The schema that stands under `items`, or another such word, in a part of the whole."""
        for part in self.parts(schema):
            inner = part.get(word)
            if isinstance(inner, Mapping):
                return inner
        return None

    def required(self) -> list[str]:
        """The names of all properties that any part requires, each once."""
        found: dict[str, None] = {}
        for part in self.parts():
            names = part.get("required")
            for name in names if isinstance(names, (list, tuple)) else ():
                found[str(name)] = None
        return list(found)

    def parts(self, schema: Mapping[str, Any] | None = None) -> list[Mapping[str, Any]]:
        """The whole schema, or a part of it, and all that it is put together from, each once."""
        waiting: deque[Any] = deque([self._root if schema is None else schema])
        seen: dict[int, Mapping[str, Any]] = {}
        while waiting:
            part = waiting.popleft()
            if isinstance(part, Mapping) and id(part) not in seen:
                seen[id(part)] = part
                waiting += self._parts(part)
        return list(seen.values())

    def kind(self, schema: Any) -> Kind:
        """What values `schema`, a part of the whole, allows."""
        if not isinstance(schema, Mapping):
            return ANY
        found = self._read(schema)
        values = found.values
        if values is None:
            return Kind(found.types)
        members = self._members.get(id(values))
        if members is None:
            members = self._members[id(values)] = Members(values.all())
        return Kind(found.types, members)

    def types(self) -> frozenset[str]:
        """The types that the whole schema allows; none where it names none."""
        return self._read(self._root).types

    def values(self) -> list[Any] | None:
        """The only values that the whole schema allows, where it lists them."""
        values = self._read(self._root).values
        return None if values is None else values.all()

    def resolved(self, schema: Any) -> Mapping[str, Any] | None:
        """What stands behind the references that `schema` begins with; None where nothing does."""
        seen: set[str] = set()
        while isinstance(schema, Mapping):
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema
            if reference in seen:
                return None
            seen.add(reference)
            schema = self.target(reference)
        return None

    def _parts(self, schema: Mapping[str, Any]) -> list[Any]:
        """What `schema` is put together from."""
        parts: list[Any] = []
        reference = schema.get("$ref")
        if isinstance(reference, str):
            parts.append(self.target(reference))
        for key in ("allOf", "anyOf", "oneOf"):
            several = schema.get(key)
            if isinstance(several, list):
                parts += several
        return parts

    def target(self, reference: str) -> Any:
        """What a local `$ref` (`#/$defs/Name`) points at, or None."""
        if reference not in self._targets:
            node: Any = self._root if reference.startswith("#") else None
            for step in reference[1:].split("/"):
                if step:
                    step = step.replace("~1", "/").replace("~0", "~")
                    node = node.get(step) if isinstance(node, Mapping) else None
            self._targets[reference] = node
        return self._targets[reference]

    def _read(self, schema: Mapping[str, Any]) -> _Found:
        """Parts before the whole: what a part says is known when it is asked for."""
        waiting: list[tuple[Mapping[str, Any], bool]] = [(schema, False)]
        while waiting:
            part, parts_read = waiting.pop()
            if parts_read:
                self._found[id(part)] = self._put_together(part)
            elif id(part) not in self._found:
                self._found[id(part)] = _Found(part, frozenset(), None)
                waiting.append((part, True))
                inner = [p for p in self._parts(part) if isinstance(p, Mapping)]
                waiting += [(p, False) for p in inner if id(p) not in self._found]
        return self._found[id(schema)]

    def _said(self, part: Any) -> _Found:
        return self._found[id(part)] if isinstance(part, Mapping) else _NOTHING

    def _put_together(self, schema: Mapping[str, Any]) -> _Found:
        types = _declared_types(schema)
        own = listed_values(schema)
        values = _Values(own, []) if own is not None else None
        reference = schema.get("$ref")
        narrower = [self._said(self.target(reference))] if isinstance(reference, str) else []
        if isinstance(schema.get("allOf"), list):
            narrower += map(self._said, schema["allOf"])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                narrower.append(_union([self._said(part) for part in schema[key]]))
        for part in narrower:  # each may take types away, none adds any
            if part.types:
                types = (types & part.types or types) if types else part.types
            if values is None:
                values = part.values
        if schema.get("nullable") is True:
            types = types | {"null"} if types else types
            values = _Values([None], [values]) if values is not None else None
        return _Found(schema, types & JSON_TYPES, values)


def _declared_types(schema: Mapping[str, Any]) -> frozenset[str]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset({PYTHON_TYPES.get(declared, declared)})
    if isinstance(declared, list):
        return frozenset(PYTHON_TYPES.get(t, t) for t in declared if isinstance(t, str))
    if "properties" in schema:
        return frozenset({"object"})
    return frozenset({"array"} if "items" in schema else ())


def listed_values(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values that a part lists by itself."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and values else None


def _union(parts: list[_Found]) -> _Found:
    """Any of the parts. A part that says nothing allows text; its values bind only if all have some."""
    if len(parts) == 1:
        return parts[0]
    types: set[str] = set()
    values = [part.values for part in parts if part.values is not None]
    for part in parts:
        types |= part.types or ({"string"} if part.values is None else set())
    bound = len(values) == len(parts)
    return _Found(None, frozenset(types), _Values([], values) if bound else None)
