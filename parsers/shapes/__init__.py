"""The ways to write calls: one folder each, with its data and how it is read, written, constrained
by a grammar, and inferred from texts."""

from importlib import import_module
from pkgutil import iter_modules

from ..core.shape import Shape
from .bare_keys import BareKeys
from .call_text import CallText
from .elements import Elements, ElementTypes
from .json_calls import JsonCalls
from .labels import Labels
from .named_json import NamedJson
from .pythonic import Pythonic
from .tags import Tag, Tags


def _shapes() -> list[type[Shape]]:
    """Those in the folders here: a new one is there once its folder is."""
    names = [f"{__name__}.{module.name}" for module in iter_modules(__path__) if module.ispkg]
    inside = [vars(import_module(name)).values() for name in names]
    found = {it for several in inside for it in several if isinstance(it, type)}
    return [it for it in found if issubclass(it, Shape) and it.__module__ in names]


#: Every shape, in the order in which a text's calls are looked for.
ALL: tuple[type[Shape], ...] = tuple(sorted(_shapes(), key=lambda shape: shape.order))

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

# Those that nobody had to name here.
globals().update({shape.__name__: shape for shape in ALL})
