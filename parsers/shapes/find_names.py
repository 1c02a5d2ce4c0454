"""Names in a text: those that are known, and what looks like the name of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..schema.tools import Tool

#: Keys and labels that a call's arguments often have: none of them is a name.
ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "action_input")

_MARKER = r"(?:<[^<>]*>|\[/?[A-Z_]{2,}\])"
#: A name by itself at the end of a text: behind a marker or at a line's start, perhaps with a prefix;
#: behind it perhaps a number, an id, further markers or signs, and the start of a code fence.
_NAME_AT_END = re.compile(
    rf"(?:\A|\n|{_MARKER}|>>>|[:|｜=])[ \t]*(?:functions\.)?(?P<name>[A-Za-z_](?:[\w.-]*\w)?)(?::\d+)?"
    rf"\s*(?:\[CALL_ID\]\w+\s*)?(?:{_MARKER}\s*)*(?:json{_MARKER})?(?:[@#:=|~>-]{{1,3}}\s*)?(?:```\w*\s*)?\Z"
)


def find_word(text: str, word: str, start: int, end: int | None = None) -> list[int]:
    """Where `word` stands by itself, and not inside a longer word."""
    before = r"(?<!\w)" if word[:1].isidentifier() else ""
    after = r"(?!\w)" if word[-1:].isidentifier() or word[-1:].isdigit() else ""
    pattern = re.compile(before + re.escape(word) + after)
    return [m.start() for m in pattern.finditer(text, start, len(text) if end is None else end)]


def last_word(text: str, others: str = "") -> str:
    """The letters, digits and underscores at the end of a text, and those of `others`."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in f"_{others}"):
        start -= 1
    return text[start:]


def name_at_end(text: str, tools: Mapping[str, Tool] | None) -> str:
    """The name of the call whose arguments follow a text, or "": the last tool that is named in it,
    or without tools what stands there as names do."""
    if tools:
        words = [_tool_name(word, tools) for word in re.findall(r"[\w.-]+", text)]
        return next(filter(None, reversed(words)), "")
    found = _NAME_AT_END.search(text)
    return found["name"] if found and found["name"] not in ARGUMENT_KEYS else ""


def _tool_name(word: str, tools: Mapping[str, Tool]) -> str:
    return next((n for n in (word, word.removeprefix("functions.")) if n in tools), "")
