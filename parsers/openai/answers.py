"""What is decided about every answer, each thing here and nowhere else.

`CallIds` says whose id a call has, `first_call` which calls go out where only one is wanted,
`is_complete` whether a call's arguments are finished, and `finish_reason` how an answer ended. Deltas,
messages, the engines' adapters and the gateway's normalising all ask here.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterable

from ..core.layout import IdStyle
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

_OPENAI = IdStyle()


def make_id(style: IdStyle = _OPENAI, name: str = "", index: int = 0) -> str:
    """A new id for a call. As OpenAI's look: `call_` and 24 hexadecimal digits."""
    if style == _OPENAI:
        return f"call_{_random.getrandbits(96):024x}"  # a fifth of the time
    characters = "".join(_random.choices(style.alphabet, k=style.length))
    return style.fill(characters, name, index)


class CallIds:
    """Gives the calls of one message their ids, in their order: the id that the model itself wrote, else
    one as its format has them. No two calls get the same: tool results could not be told apart.
    """

    __slots__ = ("_calls", "_known", "_number", "_style", "taken")

    def __init__(
        self,
        style: IdStyle = _OPENAI,
        earlier: int = 0,
        known: frozenset[str] = frozenset(),
    ) -> None:
        """`earlier`: how many calls the conversation had before this message; `known`: their ids."""
        self._style = style
        self._known = known
        self._calls = earlier
        self._number = 0
        self.taken: set[str] = set()

    def __call__(self, own: str | None, name: str) -> str:
        """The id of the next call. `own` is what the model itself wrote."""
        return self.use(own if own and not self.has(own) else self.make(name))

    def has(self, id: str) -> bool:
        """Whether another call of the conversation has this id."""
        return id in self.taken or id in self._known

    def make(self, name: str) -> str:
        """A new id for the next call, to this tool."""
        # The number only grows, so that ids which are taken are passed over once, not for every call.
        self._number = max(self._number, self._calls)
        while self.has(id := make_id(self._style, name, self._number)):
            self._number += 1
        return id

    def use(self, id: str) -> str:
        """The next call has this id."""
        self._calls += 1
        self.taken.add(id)
        return id


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
    return _is_json(text) or _is_balanced(text)


def _is_json(text: str) -> bool:
    """What most arguments are, and this is the quickest way to see that they are finished."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_balanced(text: str) -> bool:
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
