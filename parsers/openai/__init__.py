"""The OpenAI contract around the parsers: deltas, messages, ids, finish reasons, checks."""

from .answers import make_id
from .checks import Problem, check_messages, check_request, check_tools, error_body
from .deltas import DeltaStream, accumulate
from .message import Message, ToolCall, parse
from .normalize import Finding, normalize_tool_calls
from .tracker import CallState, ToolCallTracker, TrackedCall
from .unify import unify

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
