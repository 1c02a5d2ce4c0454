"""The ways to write calls: one folder each, with its data and how it is read, written, constrained
by a grammar, and inferred from texts."""

from ..core.shape import Shape
from .bare_keys import BareKeys
from .call_text import CallText
from .elements import Elements, ElementTypes
from .json_calls import JsonCalls
from .labels import Labels
from .named_json import NamedJson
from .pythonic import Pythonic
from .tags import Tag, Tags

#: Every shape, in the order in which a text's calls are looked for: the strictest first. JSON between
#: tags is a value there, and no call of the shapes behind them.
ALL: tuple[type[Shape], ...] = (
    JsonCalls,
    Elements,
    Tags,
    Labels,
    NamedJson,
    BareKeys,
    Pythonic,
    CallText,
)

__all__ = [
    "ALL",
    "BareKeys",
    "CallText",
    "ElementTypes",
    "Elements",
    "JsonCalls",
    "Labels",
    "NamedJson",
    "Pythonic",
    "Shape",
    "Tag",
    "Tags",
]
