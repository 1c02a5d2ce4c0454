"""The OpenAI contract around the parsers: deltas, messages, ids, finish reasons."""

from .deltas import DeltaStream, accumulate
from .message import Message, ToolCall, make_id, parse

__all__ = ["DeltaStream", "Message", "ToolCall", "accumulate", "make_id", "parse"]
