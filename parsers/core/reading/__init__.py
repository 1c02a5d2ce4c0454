"""How calls are read, one module for each shape of `core/shapes.py`."""

from ..shapes import BareKeys, JsonCalls, Labels, NamedJson, Pythonic, Shape, Tags
from .bare_keys import BareKeysReader
from .base import ShapeReader
from .json_calls import JsonCallsReader
from .labels import LabelsReader
from .named_json import NamedJsonReader
from .pythonic import PythonicReader
from .tags import TagsReader

__all__ = ["ShapeReader", "reader_of"]


def reader_of(shape: Shape) -> ShapeReader:
    """The reader of a shape. Call text has none: only `TextRun` knows where in a text it may stand."""
    match shape:
        case BareKeys():
            return BareKeysReader(shape)
        case JsonCalls():
            return JsonCallsReader(shape)
        case Labels():
            return LabelsReader(shape)
        case NamedJson():
            return NamedJsonReader(shape)
        case Pythonic():
            return PythonicReader(shape)
        case Tags():
            return TagsReader(shape)
    return ShapeReader(shape)
