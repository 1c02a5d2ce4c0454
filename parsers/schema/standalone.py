"""A part of a JSON Schema as a schema of its own, for who is given that part and nothing else.

What it refers to has to come along, and its types need the names that JSON Schema has for them. All
walks are linear, with a list of their own instead of recursion: a schema comes with a request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .kinds import PYTHON_TYPES

#: Where definitions stand that references may name.
DEFINITIONS: Final = ("$defs", "definitions")
#: What holds schemas by names of the schema's own.
SCHEMA_MAPS: Final = ("properties", *DEFINITIONS, "patternProperties", "dependentSchemas")
#: What is for people and models to read, and says nothing about a value.
_NOTES: Final = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
#: What holds values, in which a "type" is nothing special.
_VALUES: Final = frozenset({"const", "enum", "default", "examples", "required"})


def references(schema: Any) -> Iterator[str]:
    """All references anywhere in a schema."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def definitions(root: Mapping[str, Any]) -> dict[str, Any]:
    """What the whole schema defines for references."""
    return {key: root[key] for key in DEFINITIONS if key in root}


def finds_all(schema: Any) -> bool:
    """Whether all references in it lead to definitions."""
    begins = tuple(f"#/{table}/" for table in DEFINITIONS)
    return all(reference.startswith(begins) for reference in references(schema))


def in_json_names(schema: Mapping[str, Any], sorted_keys: bool = False) -> dict[str, Any]:
    """A copy in which types have JSON Schema's names, without notes; with `sorted_keys`, properties in
    alphabetical order."""
    whole: dict[str, Any] = {}
    made: dict[tuple[int, bool], Any] = {(id(schema), False): whole}
    waiting: list[tuple[Any, Any, bool]] = [(whole, schema, False)]
    while waiting:
        copy, part, by_name = waiting.pop()
        members = part.items() if isinstance(part, Mapping) else enumerate(part)
        in_schema = isinstance(part, Mapping) and not by_name
        # words of a schema say the same in any order: then they should be the same text, too
        in_order = in_schema or (by_name and sorted_keys)
        for key, value in sorted(members, key=_by_name) if in_order else members:
            if in_schema and key in _NOTES:
                continue
            if in_schema and key == "type":
                copy[key] = _json_names(value)
            elif not isinstance(value, (Mapping, list)) or (in_schema and key in _VALUES):
                copy[key] = value
            else:
                names = in_schema and key in SCHEMA_MAPS
                inner = made.get((id(value), names))
                if inner is None:
                    inner = {} if isinstance(value, Mapping) else [None] * len(value)
                    made[id(value), names] = inner
                    waiting.append((inner, value, names))
                copy[key] = inner
    return whole


def _by_name(member: tuple[Any, Any]) -> str:
    return str(member[0])


def _json_names(types: Any) -> Any:
    if isinstance(types, list):
        return [PYTHON_TYPES.get(t, t) if isinstance(t, str) else t for t in types]
    return PYTHON_TYPES.get(types, types) if isinstance(types, str) else types
