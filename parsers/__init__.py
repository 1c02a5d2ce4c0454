"""toolwire turns what language models write into OpenAI tool calls, while it is being written.

A name is imported when it is first asked for, so that `import toolwire` takes next to nothing. Type
checkers and editors see the imports below.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core import COMPILED
    from .core.format import Format, Wrapper
    from .core.layout import CallId, IdStyle, Layout, TypeMark
    from .core.reasoning import ReasoningStyle
    from .errors import ToolwireError
    from .events import Arguments, CallEnd, CallStart, Content, Event, Reasoning
    from .formats import get_format, list_formats, register_format
    from .formats.parser import Parser
    from .formats.reasoning import get_reasoning, list_reasoning, register_reasoning
    from .formats.response_template import load_response_template
    from .formats.user_files import load_user_formats
    from .formats.write import write
    from .openai.constrain import Constraint, constrain
    from .openai.message import Message, ToolCall, parse
    from .rollouts.ids import parse_ids
    from .schema.definitions import FunctionDefinition, ToolDefinition
    from .schema.tools import KnownTools
    from .shapes import (
        BareKeys,
        CallText,
        Elements,
        ElementTypes,
        JsonCalls,
        Labels,
        NamedJson,
        Pythonic,
        Tag,
        Tags,
    )

__version__ = "0.1.0"

__all__ = [
    "COMPILED",
    "Arguments",
    "BareKeys",
    "CallEnd",
    "CallId",
    "CallStart",
    "CallText",
    "Constraint",
    "Content",
    "ElementTypes",
    "Elements",
    "Event",
    "Format",
    "FunctionDefinition",
    "IdStyle",
    "JsonCalls",
    "KnownTools",
    "Labels",
    "Layout",
    "Message",
    "NamedJson",
    "Parser",
    "Pythonic",
    "Reasoning",
    "ReasoningStyle",
    "Tag",
    "Tags",
    "ToolCall",
    "ToolDefinition",
    "ToolwireError",
    "TypeMark",
    "Wrapper",
    "constrain",
    "get_format",
    "get_reasoning",
    "list_formats",
    "list_reasoning",
    "load_response_template",
    "load_user_formats",
    "parse",
    "parse_ids",
    "register_format",
    "register_reasoning",
    "write",
]

#: Which module has which of these names.
_MODULES = {
    ".core": ("COMPILED",),
    ".core.format": ("Format", "Wrapper"),
    ".core.layout": ("CallId", "IdStyle", "Layout", "TypeMark"),
    ".core.reasoning": ("ReasoningStyle",),
    ".errors": ("ToolwireError",),
    ".events": ("Arguments", "CallEnd", "CallStart", "Content", "Event", "Reasoning"),
    ".formats": ("get_format", "list_formats", "register_format"),
    ".formats.parser": ("Parser",),
    ".formats.reasoning": ("get_reasoning", "list_reasoning", "register_reasoning"),
    ".formats.response_template": ("load_response_template",),
    ".formats.user_files": ("load_user_formats",),
    ".formats.write": ("write",),
    ".openai.constrain": ("Constraint", "constrain"),
    ".openai.message": ("Message", "ToolCall", "parse"),
    ".rollouts.ids": ("parse_ids",),
    ".schema.definitions": ("FunctionDefinition", "ToolDefinition"),
    ".schema.tools": ("KnownTools",),
    ".shapes": (
        "BareKeys",
        "CallText",
        "Elements",
        "ElementTypes",
        "JsonCalls",
        "Labels",
        "NamedJson",
        "Pythonic",
        "Tag",
        "Tags",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
#: The rooms whose names are public, too.
_ROOMS = ("core", "errors", "events", "formats", "openai", "rollouts", "schema", "shapes")

if not TYPE_CHECKING:  # or else type checkers would take any name for one of ours

    def __getattr__(name: str) -> object:
        if name in _ROOMS:
            return import_module(f".{name}", __name__)
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_MODULE_OF[name], __name__), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
