"""Which formats have which shape: what a test of one shape is run for. Nobody keeps it up."""

from __future__ import annotations

from toolwire import get_format
from toolwire.shapes import Elements, JsonCalls, Labels, NamedJson, Shape, Tags

from .writers import WRITERS


def with_shape(*shapes: type[Shape]) -> tuple[str, ...]:
    return tuple(name for name in WRITERS if isinstance(get_format(name).shape, shapes))


def plain_json(name: str) -> bool:
    """Whether a format writes JSON as everybody does, with spaces."""
    spec = get_format(name)
    return not (spec.written.compact or getattr(spec.shape, "python", False))


#: Formats whose arguments are JSON in the model's own bytes.
JSON_ARGUMENTS = tuple(filter(plain_json, with_shape(JsonCalls, NamedJson, Labels)))
#: Formats whose calls are JSON objects, so that the order of the keys is free.
JSON_OBJECTS = tuple(
    name
    for name in JSON_ARGUMENTS
    if isinstance(shape := get_format(name).shape, JsonCalls) and not shape.name_is_key
)
#: Formats whose values stand between tags.
TAGGED = with_shape(Tags)
#: Formats that write values as elements, and those whose schema alone tells what an element holds.
ELEMENTS = with_shape(Elements)
UNTYPED_ELEMENTS = tuple(
    name
    for name in ELEMENTS
    if isinstance(shape := get_format(name).shape, Elements) and shape.types is None
)
