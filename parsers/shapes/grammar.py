"""A parameter's schema as an xgrammar format, in the ways that wire formats write a value beside JSON.

`text`: as it is, between tags, strings without quotes. `words`: JSON, or as Python writes it. `quoted`:
JSON, but strings in the format's own quotes. They can't express every schema; `NotExpressible` says so,
and the caller takes another road rather than a constraint that lets through what the schema forbids.
What a schema says is read in `schema/`, once for parsers and grammars.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import Any
from zlib import crc32

from ..core.format import Format
from ..core.layout import Layout
from ..core.shape import NotExpressible, Piece
from ..schema.json_schema import SchemaReading, listed_values
from ..schema.kinds import json_type
from ..schema.standalone import definitions, finds_all, references
from .grammar_text import as_text
from .json_grammar import ALTERNATIVES, COMBINED, NOTES, Schema, json_value, whole_json
from .pieces import STRING, const, either, sequence
from .values import dumps, write_value

#: The first letters of a special token, which may stand in the middle of a tag: `</｜DSML｜parameter>`.
_SPECIAL = re.compile(r"<[|｜](?![A-Z])(?:[^|｜<>]{4}|[^|｜<>]{1,3}[|｜])|[|｜][A-Z]+[|｜]")
#: A namespace of the format's own (`</atem:parameter>`), the word of a tag that has more behind it
#: (`<parameter name=`), or a closer's word of several, up to the second's first letter (`</arg_value>`).
_WORD = re.compile(r"</?[a-z][\w.-]*[:|]|\S+\s|</[a-z]+_[a-z]")


class Parameters:
    """A tool's parameters as a plain list of properties, which is all that tags can write."""

    def __init__(self, parameters: Schema | None) -> None:
        root: Schema = parameters or {}
        self._reading = SchemaReading(root)
        for part in self._reading.parts():
            if {*ALTERNATIVES, "patternProperties", "minProperties", *COMBINED} & set(part):
                raise NotExpressible("combined schemas")
            reference = part.get("$ref")
            if isinstance(reference, str) and self._reading.target(reference) is None:
                raise NotExpressible("a reference to nothing")
        self.properties = self._reading.properties()
        required = self._reading.required()
        self.required = frozenset(required)
        #: in the order in which they are written
        self.names = list(dict.fromkeys([*self.properties, *required]))
        self._definitions = definitions(root)
        self._defined = finds_all(self._definitions)

    def schema(self, name: str) -> dict[str, Any]:
        """A property's schema, able to stand alone."""
        given = self.properties.get(name)
        if not isinstance(given, Mapping):
            return {}
        found = self._reading.resolved(given)
        if found is None or (found is not given and set(given) - NOTES - {"$ref"}):
            raise NotExpressible("a reference to nothing, or one with more beside it")
        if not any(references(found)):
            return dict(found)
        if not self._defined or not finds_all(found):
            raise NotExpressible("a reference to something else than a definition")
        return {**found, **self._definitions}


def types_of(schema: Schema) -> frozenset[str]:
    """The JSON types that a schema allows, as the core reads them; empty where it names none."""
    return SchemaReading(schema).types()


def values_of(schema: Schema) -> list[Any] | None:
    """The only values allowed, where the schema lists them."""
    reading = SchemaReading(schema)
    values = reading.values()
    if values is None and any(listed_values(part) is not None for part in reading.parts()):
        raise NotExpressible("values, or something else")
    return values


def is_combined(schema: Schema) -> bool:
    """Whether something has to fit several schemas at once, which only JSON's own grammar keeps."""
    return any(COMBINED & set(part) for part in SchemaReading(schema).parts())


def is_plain(schema: Any) -> bool:
    """Whether a schema says only what types a value may have, and how long a string may be."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Mapping) or set(part) - NOTES - {*ALTERNATIVES, "maxLength"}:
            return False
        waiting += [member for word in ALTERNATIVES for member in part.get(word) or ()]
    return True


def nothing_but(schema: Schema, words: set[str]) -> None:
    """Raises where a schema says more than these words do."""
    if set(schema) - NOTES - words:
        raise NotExpressible("a narrower schema")


def split_by_string(schema: Schema) -> list[tuple[bool, dict[str, Any]]]:
    """The schema's strings, and its other values: for tags that say which of them a value is."""
    if is_combined(schema):
        raise NotExpressible("combined schemas")
    values = values_of(schema)
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


def split_by_type(schema: Schema) -> list[tuple[str, dict[str, Any]]]:
    """The values of a schema without strings, by their JSON type. A number may be a whole one, too."""
    values = values_of(schema)
    if values is not None:
        found: dict[str, list[Any]] = {}
        for value in values:
            found.setdefault(str(json_type(dumps(value))), []).append(value)
        return [(kind, {"enum": members}) for kind, members in found.items()]
    types = types_of(schema)
    types |= {"integer"} if "number" in types else set()
    if len(types) == 1:
        return [(next(iter(types)), dict(schema))]
    if types == {"integer", "number"} and "type" in schema:
        return [("integer", {**schema, "type": "integer"}), ("number", dict(schema))]
    if not is_plain(schema):
        raise NotExpressible("one of several types, and narrower")
    return [(kind, {"type": kind}) for kind in sorted(types)]


def _its_string(schema: Schema) -> dict[str, Any]:
    """The string among the alternatives of a plain schema."""
    lengths = [part.get("maxLength") for part in SchemaReading(schema).parts()]
    known = [length for length in lengths if isinstance(length, int)]
    return {"type": "string", "maxLength": min(known)} if known else {"type": "string"}


def text_value(schema: Schema, excluded: Sequence[str], layout: Layout) -> Piece:
    """A value between tags. Strings may hold anything but `excluded`, the format's own literals."""
    if is_combined(schema):
        raise NotExpressible("combined schemas")
    values = values_of(schema)
    if values is not None:
        spellings = [s for value in values for s in _text_spellings(value, layout)]
        return either(*map(const, dict.fromkeys(spellings)))
    types = types_of(schema)
    if types and "string" not in types:
        return json_or_words(schema, layout)
    if len(types) <= 1:
        return any_text(schema, excluded)
    if not is_plain(schema):
        raise NotExpressible("a string or something narrower")
    return any_text(_its_string(schema), excluded)


def _text_spellings(value: Any, layout: Layout) -> list[str]:
    if isinstance(value, str):
        return [value]
    return list(
        dict.fromkeys([write_value(value, layout.python_words, layout.compact), dumps(value)])
    )


def json_or_words(schema: Schema, layout: Layout, string: Piece = STRING) -> Piece:
    """A value as JSON; with `python_words`, `True`, `False` and `None` are values, too. `string` is any
    string, as it may stand there."""
    value = _json_in_text(schema, layout, string)
    if not layout.python_words or is_combined(schema):
        return value
    reading = SchemaReading(schema)
    values = reading.values()
    if values is not None:
        allowed = [value for value in values if value is None or isinstance(value, bool)]
    else:
        types = reading.types() or {"boolean", "null"}
        allowed = [True, False] if "boolean" in types else []
        allowed += [None] if "null" in types else []
    if not allowed:
        return value
    return either(*(const(write_value(word, True)) for word in allowed), value)


def _json_in_text(schema: Schema, layout: Layout, string: Piece) -> Piece:
    """A value as JSON where no JSON goes on behind it. In what is left to it, xgrammar knows only `,`,
    `}`, `]` and `:` behind the quote that ends a string, and would forbid the token `")`: what may be
    any value may be a string of our own, too."""
    value = json_value(schema, compact=layout.compact, string=string)
    if not types_of(schema) and is_plain(schema):
        value = either(string, value)
    if layout.after_arguments():
        return value
    # xgrammar takes no list of pieces where no text has to follow all arguments.
    text = as_text(value, f"v{crc32(repr(value).encode()):x}_")
    return text if text["type"] == "grammar" else whole_json(schema)


def any_text(schema: Schema, excluded: Sequence[str]) -> Piece:
    """A string. Of what a schema can ask of one, only the greatest length can be kept here."""
    piece: Piece = {"type": "any_text", "excludes": list(_without(tuple(excluded)))}
    longest = schema.get("maxLength")
    if isinstance(longest, int):
        piece["max_chars"] = longest
    if set(schema) - NOTES - {"maxLength"}:
        raise NotExpressible("a string with a pattern or a least length")
    return piece


@lru_cache
def _without(literals: tuple[str, ...]) -> list[str]:
    """What a text may not have in it, to be one that has none of the literals. A format's are asked for
    with every parameter."""
    if any(_overlaps_itself(literal) for literal in literals):
        raise NotExpressible("a delimiter that the text's last characters can begin")
    return _shortest(_alike(map(_mark, literals)))


def _mark(literal: str) -> str:
    """What a literal is known by, or all of it. A text can do without these few characters, and each one
    that has to be looked for is a look through the whole vocabulary; a space is many, for half of all
    tokens begin with one."""
    found = _SPECIAL.search(literal) or _WORD.match(literal)
    return found.group().lstrip("|｜") if found else literal


def _alike(marks: Iterable[str]) -> Iterable[str]:
    """Special tokens that begin with the same letter are known by all that they have in common."""
    groups: dict[str, list[str]] = {}
    for mark in marks:
        groups.setdefault(mark[:3] if _SPECIAL.match(mark) else mark, []).append(mark)
    return map(commonprefix, groups.values())


def _shortest(literals: Iterable[str]) -> list[str]:
    """Without those that have another of them inside: a text without this one is without them, too."""
    different = dict.fromkeys(literals)
    return [
        literal
        for literal in different
        if not any(other in literal for other in different if other != literal)
    ]


def _overlaps_itself(literal: str) -> bool:
    """Whether a text without `literal` can end so that with `literal` behind it, it stands there sooner:
    `a'` and then `''`."""
    return any(literal.startswith(literal[-length:]) for length in range(1, len(literal)))


def quoted_value(schema: Schema, quote: str) -> Piece:
    """JSON with strings in quotes of the format's own; none inside arrays and objects."""
    if is_combined(schema):
        raise NotExpressible("combined schemas")
    values = values_of(schema)
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
    return dumps(value)


def text_up_to_end(format: Format) -> Piece:
    """Arguments of which nothing is asked but that they end."""
    layout = format.written
    end = layout.after_arguments().strip() or layout.section_end.strip()
    return {"type": "any_text", "excludes": [end]}
