"""toolwire turns what language models write into OpenAI tool calls, while it is being written."""

from .core import reader as _reader
from .core.events import Arguments, CallEnd, CallStart, Content, Event
from .core.spec import Format, Wrapper
from .errors import ToolwireError
from .formats import get_format, list_formats, register_format
from .openai.message import Message, ToolCall, parse
from .parser import Parser

__version__ = "0.1.0"

#: Whether the core of this installation is compiled. It does the same, quicker.
COMPILED = not str(_reader.__file__).endswith(".py")

__all__ = [
    "COMPILED",
    "Arguments",
    "CallEnd",
    "CallStart",
    "Content",
    "Event",
    "Format",
    "Message",
    "Parser",
    "ToolCall",
    "ToolwireError",
    "Wrapper",
    "get_format",
    "list_formats",
    "parse",
    "register_format",
]
