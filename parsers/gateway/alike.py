"""Events that differ from one before them in nothing but their text, as nearly all of a stream do.

What was found out about that one holds for them, too: no call, no finish reason, no error is in them. So
they are not read as JSON; only their text has to be looked at, if anything.
"""

from __future__ import annotations

import re
from typing import Any

from ..openai.stream_normalize import ChatStream

#: Text that stands in JSON as it is.
_TEXT = rb'[^"\\\x00-\x1f]'
_CONTENT = re.compile(rb'"content": ?"(%b*)"' % _TEXT)
_plain = re.compile(rb"%b+" % _TEXT).fullmatch


class Alike:
    """What stands around the text of an event, and in which choice that is. Of an answer that is not one
    of Chat Completions, no event is like another."""

    __slots__ = ("_choice", "_head", "_normalizer", "_tail")

    def __init__(self, normalizer: object) -> None:
        self._normalizer = normalizer if isinstance(normalizer, ChatStream) else None
        self._head = self._tail = b""  # no event is like this
        self._choice: Any = None

    def passes(self, text: str) -> bool:
        """Whether an event with such a text goes on as it is: there is nothing to find in it."""
        return self._normalizer is not None and self._normalizer.passes(text, self._choice)

    def text_of(self, raw: bytes) -> str:
        """The text of an event that has nothing else to say; "" for any other, and for what is not
        just one event."""
        head, tail = self._head, self._tail
        if not head or not raw.startswith(head) or not raw.endswith(tail):
            return ""
        text = raw[len(head) : len(raw) - len(tail)]
        if not _plain(text):
            return ""
        try:
            return text.decode()
        except UnicodeDecodeError:
            return ""

    def learn(self, raw: bytes, chunk: dict[str, Any]) -> None:
        """An event that went on as it came: others may be like it, if text is all that it says."""
        if self._normalizer is None:
            return
        if self._head and raw.startswith(self._head) and raw.endswith(self._tail):
            return
        choice = _only_choice(chunk)
        found = _CONTENT.search(raw)
        # With an escape in it, a key may be another than it looks.
        if choice is None or found is None or b"\\" in raw or _CONTENT.search(raw, found.end()):
            return
        self._head, self._tail = raw[: found.start(1)], raw[found.end(1) :]
        self._choice = choice.get("index", 0)


def _only_choice(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """The choice of a chunk that brings text, and nothing else."""
    choices = chunk.get("choices")
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    if not isinstance(choice, dict) or choice.get("finish_reason") is not None:
        return None
    delta = choice.get("delta")
    if not isinstance(delta, dict) or not isinstance(delta.get("content"), str):
        return None
    more = (value for key, value in delta.items() if key not in ("role", "content"))
    return choice if all(value is None for value in more) else None
