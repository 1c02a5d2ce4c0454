"""What is decided about every answer, each thing here and nowhere else.

`call_id` says whose id a call has, `first_call` which calls go out where only one is wanted,
`is_complete` whether a call's arguments are finished, and `finish_reason` how an answer ended. Deltas,
messages, the engines' adapters and the gateway's normalising all ask here.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable

from ..events import Arguments, CallEnd, CallStart, Event
from ..schema.kinds import json_type

#: The finish reasons that say: the model was stopped before it was done.
CUT_REASONS = ("length", "content_filter", "abort", "error")  # a server may send anything: no set
#: The one to report for an answer that was cut off and has none.
CUT = "length"

_DONE_REASONS = ("stop", "tool_calls", "function_call")
_CALL_EVENTS = (CallStart, Arguments, CallEnd)
#: A string, closed or not, or a bracket. Elsewhere a backslash is nothing special.
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\]]', re.DOTALL)
_OPENING = {"}": "{", "]": "["}

# A generator of our own: engines seed Python's. A process that was forked must not go on like its
# parent. (Asking the system for every id takes four times as long.)
_random = random.Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random.seed)


def make_id() -> str:
    """A new id for a call, as OpenAI's look: `call_` and 24 hexadecimal digits."""
    return f"call_{_random.getrandbits(96):024x}"


def call_id(own: str | None) -> str:
    """The id of a call: the one that the model itself wrote, else a new one."""
    return own or make_id()


def first_call(events: Iterable[Event]) -> list[Event]:
    """The events without those of later calls, which are neither calls nor content then."""
    return [event for event in events if not isinstance(event, _CALL_EVENTS) or not event.index]


def finish_reason(
    reason: str | None, has_calls: bool, *, legacy: bool = False, lost: bool = False
) -> str | None:
    """The reason to report, given the engine's own and what really goes out.

    `legacy`: the client knows `function_call` only. `lost`: a call was cut off and does not go out.
    """
    if reason is None and lost:
        return CUT
    if reason not in _DONE_REASONS:
        return reason
    if not has_calls:
        return "stop"
    return "function_call" if legacy else "tool_calls"


def was_cut(reason: str | None) -> bool:
    """Whether an answer was cut off. One that does not say how it ended did not get to its end."""
    return reason is None or reason in CUT_REASONS


def is_complete(arguments: str) -> bool:
    """Whether a call's arguments are finished: brackets balanced, strings closed, nothing behind them.

    That says nothing about validity: `{"a": }` is finished. As in the core, a closing bracket that
    fits no open one does not count, and one that fits an outer bracket leaves the inner one unclosed. A
    number or a word has no end of its own, so there it is: as far as it is JSON.
    """
    text = arguments.strip()
    if text[:1] not in ("{", "[", '"'):
        return json_type(text) is not None
    still_open: list[str] = []
    count = {"{": 0, "[": 0}
    for token in _TOKENS.finditer(text):
        c = token[0]
        if c in count:
            still_open.append(c)
            count[c] += 1
        elif c[0] == '"':
            if not token[1]:
                return False
        elif count[_OPENING[c]]:
            count[_OPENING[c]] -= 1
            if still_open.pop() != _OPENING[c]:
                return False
        if not still_open:
            return token.end() == len(text)
    return False
