"""A parameter's schema as an xgrammar format, in the three ways that wire formats write a value.

`json`: as JSON. `text`: as it is, between tags, strings without quotes. `quoted`: JSON, but strings in
the format's own quotes. The last two can't express every schema; `NotExpressible` says so, and the
caller takes another road rather than a constraint that lets through what the schema forbids.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Piece = dict[str, Any]
Schema = Mapping[str, Any]

#: One space or newline between the parts of a JSON value is enough. A model that is held to a
#: grammar may otherwise write spaces for ever.
_SPACE = {"max_whitespace_cnt": 1}

#: What says nothing about a value.
_NOTES = frozenset(
    {"type", "title", "description", "default", "examples", "deprecated", "$comment", "nullable"}
)
_COMBINED = frozenset({"allOf", "not", "if", "then", "else", "dependentSchemas"})
_DEFINITIONS = ("$defs", "definitions")


class NotExpressible(Exception):
    """This schema can't be put into the format's own way to write values."""


def const(text: str) -> Piece:
    return {"type": "const_string", "value": text}


def sequence(*elements: Piece) -> Piece:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": list(elements)}


def either(*elements: Piece) -> Piece:
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": list(elements)}


def optional(content: Piece) -> Piece:
    return {"type": "optional", "content": content}


def json_value(schema: Schema) -> Piece:
    return {"type": "json_schema", "json_schema": dict(schema), **_SPACE}


def json_object(parameters: Schema | None) -> Piece:
    """A whole set of arguments as JSON. Arguments are always an object."""
    schema = dict(parameters or {})
    if not {"$ref", "anyOf", "oneOf", *_COMBINED} & set(schema):
        schema["type"] = "object"
    return json_value(schema)


class Parameters:
    """A tool's parameters as a plain list of properties, which is all that tags can write."""

    def __init__(self, parameters: Schema | None) -> None:
        self._root: Schema = parameters or {}
        schema = self._resolve(self._root)
        if {"anyOf", "oneOf", "patternProperties", "minProperties", *_COMBINED} & set(schema):
            raise NotExpressible("combined schemas")
        properties = schema.get("properties")
        self.properties: Schema = properties if isinstance(properties, Mapping) else {}
        required = dict.fromkeys(schema.get("required") or ())
        self.required = [name for name in self.properties if name in required]
        self.required += [name for name in required if name not in self.properties]
        self.optional = [name for name in self.properties if name not in required]

    def schema(self, name: str) -> dict[str, Any]:
        """A property's schema, able to stand alone."""
        found = self._resolve(self.properties.get(name, {}))
        for reference in _references(found):
            if not reference.startswith(tuple(f"#/{table}/" for table in _DEFINITIONS)):
                raise NotExpressible(f"the reference {reference}")
        tables = {k: self._root[k] for k in _DEFINITIONS if k in self._root}
        return {**found, **tables} if any(_references(found)) else dict(found)

    def _resolve(self, schema: Any) -> Schema:
        """Follows a reference that the whole schema is."""
        for _ in range(32):
            if not isinstance(schema, Mapping):
                return {}
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema
            schema = self._look_up(reference)
        raise NotExpressible("references in a circle")

    def _look_up(self, reference: str) -> Any:
        found: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                raise NotExpressible(f"the reference {reference}")
            found = found[key]
        return found


def _references(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def types_of(schema: Schema) -> frozenset[str]:
    """The JSON types that a schema names, as the core reads them; empty where it names none."""
    named = schema.get("type")
    types = {named} if isinstance(named, str) else set(named or ())
    for word in ("anyOf", "oneOf"):
        for member in schema.get(word) or ():
            if not isinstance(member, Mapping) or "$ref" in member:
                raise NotExpressible("a reference among alternatives")
            types |= types_of(member)
    if schema.get("nullable") is True and types:
        types.add("null")
    if not types and "properties" in schema:
        types.add("object")
    if not types and "items" in schema:
        types.add("array")
    return frozenset(types)


def listed_values(schema: Schema) -> list[Any] | None:
    """The only values allowed, where the schema lists them."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and values else None


def written(value: Any) -> str:
    """A listed value as it stands between tags."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_plain(schema: Schema) -> bool:
    """Whether a schema says only what types a value may have, and how long a string may be."""
    for word in ("anyOf", "oneOf"):
        if any(not is_plain(member) for member in schema.get(word) or ()):
            return False
    return not (set(schema) - _NOTES - {"anyOf", "oneOf", "maxLength"})


def split_by_string(schema: Schema) -> list[tuple[bool, dict[str, Any]]]:
    """The schema's strings, and its other values: for tags that say which of them a value is."""
    values = listed_values(schema)
    if values is not None:
        parts = [
            (kind, [v for v in values if isinstance(v, str) is kind]) for kind in (True, False)
        ]
        return [(kind, {"enum": part}) for kind, part in parts if part]
    types = types_of(schema)
    others = sorted(types - {"string"})
    if types <= {"string"} or not (types - set(others)):
        return [(not others, dict(schema))]
    if not is_plain(schema):
        raise NotExpressible("a string or something narrower")
    return [(True, _its_string(schema)), (False, {"type": others})]


def _its_string(schema: Schema) -> dict[str, Any]:
    """The string among the alternatives of a plain schema."""
    lengths = [schema.get("maxLength")]
    for word in ("anyOf", "oneOf"):
        lengths += [member.get("maxLength") for member in schema.get(word) or ()]
    known = [length for length in lengths if length is not None]
    return {"type": "string", "maxLength": min(known)} if known else {"type": "string"}


def text_value(schema: Schema, excluded: Sequence[str]) -> Piece:
    """A value between tags. Strings may hold anything but `excluded`, the format's own literals."""
    values = listed_values(schema)
    if values is not None:
        return either(*(const(written(value)) for value in values))
    types = types_of(schema)
    if _COMBINED & set(schema):
        raise NotExpressible("combined schemas")
    if types and "string" not in types:
        return json_value(schema)
    if len(types) <= 1:
        return any_text(schema, excluded)
    if not is_plain(schema):
        raise NotExpressible("a string or something narrower")
    return any_text(_its_string(schema), excluded)


def any_text(schema: Schema, excluded: Sequence[str]) -> Piece:
    """A string. Of what a schema can ask of one, only the greatest length can be kept here."""
    piece: Piece = {"type": "any_text", "excludes": list(excluded)}
    longest = schema.get("maxLength")
    if isinstance(longest, int):
        piece["max_chars"] = longest
    if set(schema) - _NOTES - {"maxLength"}:
        raise NotExpressible("a string with a pattern or a least length")
    return piece


def quoted_value(schema: Schema, quote: str) -> Piece:
    """JSON with strings in quotes of the format's own; none inside arrays and objects."""
    values = listed_values(schema)
    if values is not None:
        return either(*(const(_in_quotes(value, quote)) for value in values))
    types = types_of(schema)
    if types == {"string"}:
        return sequence(const(quote), any_text(schema, [quote]), const(quote))
    if types and types <= {"number", "integer", "boolean", "null"}:
        return json_value(schema)
    raise NotExpressible("nested values in a dialect of their own")


def _in_quotes(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, (dict, list)):
        raise NotExpressible("nested values in a dialect of their own")
    return json.dumps(value)
