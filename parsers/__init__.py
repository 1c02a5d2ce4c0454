"""toolwire turns what language models write into OpenAI tool calls, while it is being written."""

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
