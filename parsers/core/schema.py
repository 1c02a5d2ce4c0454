"""What the caller's tools say about a parameter: which JSON types its value may have.

Both of OpenAI's forms are read: `{"type": "function", "function": {"name", "parameters"}}` (Chat
Completions) and the flat `{"type": "function", "name", "parameters"}` (Responses).

A `Kind` is what remains of a parameter's schema after `$ref`, `anyOf`, `oneOf`, `allOf`, type lists,
`nullable`, `enum` and `const`: a set of types, and perhaps the only values allowed. Values are never
converted, only recognised: what the model wrote is passed on as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from json import dumps as _dumps
from json.decoder import scanstring as _scanstring  # type: ignore[attr-defined]
from json.encoder import encode_basestring as _encode_basestring
from typing import Any, Final

from ..errors import ToolwireError

JSON_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "null", "object", "array"})

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}


#: `text` as a JSON string, every character that may stand unescaped unescaped. This is what
#: `json.dumps(text, ensure_ascii=False)` comes to, without making an encoder for every piece of text.
encode: Final[Callable[[str], str]] = _encode_basestring


def json_type(text: str) -> str | None:
    """The type of the JSON value that `text` is, or None where it is not valid JSON.

    The standard library's decoder would do, but it recurses (deep nesting from a model must not
    raise), refuses very long integers, and accepts `NaN`.
    """
    kind: str | None = None
    stack: list[str] = []  # open brackets
    state = "value"  # what must come next: value, first value, key, first key, colon, or after
    i = 0
    while True:
        i = _SPACE.match(text, i).end()  # type: ignore[union-attr]  # always matches
        if i >= len(text):
            return kind if state == "after" and not stack else None
        c = text[i]
        if state in ("key", "first key") and c == '"':
            i = _string_end(text, i)
            state = "colon"
        elif state == "colon" and c == ":":
            i += 1
            state = "value"
        elif state == "after" and stack and c == ",":
            i += 1
            state = "key" if stack[-1] == "{" else "value"
        elif c in "}]" and stack and _may_close(c, stack[-1], state):
            i += 1
            stack.pop()
            state = "after"
        elif state in ("value", "first value"):
            this, i = _value_start(text, i, c)
            if not this:
                return None
            kind = kind or this
            state = "after"
            if c in "{[":
                stack.append(c)
                state = "first key" if c == "{" else "first value"
        else:
            return None
        if i < 0:
            return None


def _may_close(closing: str, opening: str, state: str) -> bool:
    if opening == "{":
        return closing == "}" and state in ("first key", "after")
    return closing == "]" and state in ("first value", "after")


def _value_start(text: str, i: int, c: str) -> tuple[str | None, int]:
    """The type of the value that starts at `i`, and the index behind it (or its bracket)."""
    if c == '"':
        return "string", _string_end(text, i)
    if c == "{":
        return "object", i + 1
    if c == "[":
        return "array", i + 1
    for word, name in (("true", "boolean"), ("false", "boolean"), ("null", "null")):
        if text.startswith(word, i):
            return name, i + len(word)
    number = _NUMBER.match(text, i)
    if number is None:
        return None, -1
    return ("integer" if number[0].lstrip("-").isdigit() else "number"), number.end()


def _string_end(text: str, i: int) -> int:
    """The index behind the JSON string that starts at `i`, or -1."""
    try:
        return int(_scanstring(text, i + 1, True)[1])
    except ValueError:
        return -1


def python_word(text: str) -> str:
    """`True`, `False` and `None` as JSON writes them; anything else as it is."""
    return _PYTHON_WORDS.get(text, text)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a parameter's value may be. No types at all means that nothing is known: a string."""

    types: frozenset[str] = frozenset()
    values: tuple[Any, ...] | None = None  # from `enum` and `const`

    @property
    def text_only(self) -> bool:
        """Whether every value is a string, so that it can be passed on before it has ended."""
        return self.values is None and self.types <= {"string"}

    def json_of(self, text: str) -> str | None:
        """`text` as JSON of one of the declared non-string types, or None if it is not."""
        word = python_word(text.strip())
        found = json_type(word)
        if self.values is not None:
            member = self._member(text, word, found)
            if member is not None or not self.types - {"string"}:
                return member
        if found is None or found == "string":
            return None
        if found in self.types or (found == "integer" and "number" in self.types):
            return word
        if found == "number" and "integer" in self.types and float(word).is_integer():
            return word
        return None

    def _member(self, text: str, word: str, found: str | None) -> str | None:
        assert self.values is not None
        for value in self.values:
            if found is not None and _same_json(word, value):
                return word
        for value in self.values:
            if isinstance(value, str) and value in (text, text.strip()):
                return encode(value)
        return None

    def may_begin(self, text: str) -> bool:
        """Whether unfinished `text` looks like the beginning of a declared non-string value."""
        first = text.lstrip()[:1]
        starts = {
            "object": "{",
            "array": "[",
            "number": "-0123456789",
            "integer": "-0123456789",
            "boolean": "tfTF",
            "null": "nN",
        }
        return bool(first) and any(first in starts.get(kind, "") for kind in self.types)


ANY: Final = Kind()


def _same_json(word: str, value: Any) -> bool:
    """Whether `word` is the JSON of `value`, as far as a scalar or its plain spelling can tell."""
    if isinstance(value, bool) or value is None:
        return word == _dumps(value)
    if isinstance(value, (int, float)):
        number = _NUMBER.fullmatch(word)
        return number is not None and len(word) < 400 and float(word) == value
    return word in (_dumps(value), _dumps(value, ensure_ascii=False))


class Tool:
    """One declared tool. Its schema is read when it is first called, and once."""

    __slots__ = ("_kinds", "_properties", "name", "schema")

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        self.name = name
        self.schema = schema
        self._properties: dict[str, Any] | None = None
        self._kinds: dict[str, Kind] = {}

    def _declared(self) -> dict[str, Any]:
        if self._properties is None:
            self._properties = _properties(self.schema, self.schema)
        return self._properties

    @property
    def parameters(self) -> list[str]:
        """In the schema's order."""
        return list(self._declared())

    def declares(self, parameter: str) -> bool:
        return parameter in self._declared()

    def kind(self, parameter: str) -> Kind:
        """The kind of the parameter's values; ANY where it is not declared."""
        kind = self._kinds.get(parameter)
        if kind is None:
            kind = ANY
            if self.declares(parameter):
                kind = kind_of(self._declared()[parameter], self.schema)
                self._kinds[parameter] = kind
        return kind


UNDECLARED: Final = Tool("", {})


def _properties(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """All properties, also those that come through `$ref` or `allOf`."""
    found: dict[str, Any] = {}
    waiting: list[Any] = [schema]
    seen: set[str] = set()
    while waiting:
        part = waiting.pop(0)
        if not isinstance(part, Mapping):
            continue
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            for name, value in properties.items():
                found.setdefault(str(name), value)
        reference = part.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            waiting.append(_resolve(reference, root))
        for key in ("allOf", "anyOf", "oneOf"):
            if isinstance(part.get(key), list):
                waiting.extend(part[key])
    return found


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    """What a local `$ref` (`#/$defs/Name`) points at, or None."""
    node: Any = root
    if not reference.startswith("#"):
        return None
    for step in reference[1:].split("/"):
        if step:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node.get(step) if isinstance(node, Mapping) else None
    return node


def kind_of(schema: Any, root: Mapping[str, Any], seen: frozenset[str] = frozenset()) -> Kind:
    """What values `schema` allows. `seen` are the references being followed (they may be cyclic)."""
    if not isinstance(schema, Mapping):
        return ANY
    types: set[str] = set()
    values: tuple[Any, ...] | None = None
    declared = schema.get("type")
    if isinstance(declared, str):
        types = {declared}
    elif isinstance(declared, list):
        types = {t for t in declared if isinstance(t, str)}
    elif "properties" in schema:
        types = {"object"}
    elif "items" in schema:
        types = {"array"}
    if "const" in schema:
        values = (schema["const"],)
    elif isinstance(schema.get("enum"), list):
        values = tuple(schema["enum"])

    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        parts = [kind_of(_resolve(reference, root), root, seen | {reference})]
        types, values = _narrow(types, values, parts)
    if isinstance(schema.get("allOf"), list):
        parts = [kind_of(part, root, seen) for part in schema["allOf"]]
        types, values = _narrow(types, values, parts)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            parts = [kind_of(part, root, seen) for part in schema[key]]
            types, values = _narrow(types, values, [_union(parts)])
    if schema.get("nullable") is True:
        types = types | {"null"} if types else types
        values = (*values, None) if values is not None else None
    return Kind(frozenset(types & JSON_TYPES), values)


def _union(parts: list[Kind]) -> Kind:
    """Any of the parts. A part that says nothing allows text; its values bind only if all have some."""
    types: set[str] = set()
    values: list[Any] = []
    for part in parts:
        types |= part.types or ({"string"} if part.values is None else set())
        values.extend(part.values or ())
    bound = bool(values) and all(part.values is not None for part in parts)
    return Kind(frozenset(types), tuple(values) if bound else None)


def _narrow(
    types: set[str], values: tuple[Any, ...] | None, parts: list[Kind]
) -> tuple[set[str], tuple[Any, ...] | None]:
    """All of the parts at once: each may take types away, none adds any."""
    for part in parts:
        if part.types:
            types = (types & part.types or types) if types else set(part.types)
        if values is None:
            values = part.values
    return types, values


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
    return Tool(name, schema)
