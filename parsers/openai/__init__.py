"""The OpenAI contract around the parsers: deltas, messages, ids, finish reasons, checks.

As in the package itself, a name is imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answers import make_id
    from .checks import Problem, check_messages, check_request, check_tools, error_body
    from .deltas import DeltaStream, accumulate
    from .message import Message, ToolCall, parse
    from .normalize import Finding, normalize_tool_calls
    from .tracker import CallState, ToolCallTracker, TrackedCall
    from .unified_calls import unify

__all__ = [
    "CallState",
    "DeltaStream",
    "Finding",
    "Message",
    "Problem",
    "ToolCall",
    "ToolCallTracker",
    "TrackedCall",
    "accumulate",
    "check_messages",
    "check_request",
    "check_tools",
    "error_body",
    "make_id",
    "normalize_tool_calls",
    "parse",
    "unify",
]

#: Which module has which of these names.
_MODULES = {
    ".answers": ("make_id",),
    ".checks": ("Problem", "check_messages", "check_request", "check_tools", "error_body"),
    ".deltas": ("DeltaStream", "accumulate"),
    ".message": ("Message", "ToolCall", "parse"),
    ".normalize": ("Finding", "normalize_tool_calls"),
    ".tracker": ("CallState", "ToolCallTracker", "TrackedCall"),
    ".unified_calls": ("unify",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

if not TYPE_CHECKING:  # or else type checkers would take any name for one of ours

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_MODULE_OF[name], __name__), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
