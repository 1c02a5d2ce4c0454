"""What both engines ask about thoughts: which styles there are, whether a request wants any, and whether
a text begins inside of them.

A reasoning parser is named by its style: `toolwire_think`. A style that a user's own format describes,
and that has no name of its own, goes by the format's; so does the channel of thoughts of formats that
have one (`toolwire_inkling`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.format import Format
from ..core.literals import pattern_of
from ..core.reasoning import ReasoningStyle
from ..errors import ToolwireError
from ..formats import get_format, list_formats
from ..formats.reasoning import channel_style, get_reasoning, list_reasoning

#: What chat templates call the switch, and what its values mean.
_SWITCHES = ("enable_thinking", "thinking", "thinking_mode", "reasoning_effort")
_ON = (True, "enabled", "low", "medium", "high")
_OFF = (False, "disabled", "none", "no_think")


def styles() -> dict[str, ReasoningStyle]:
    """All styles, by the names that engines know them by: the registered ones, and users' own."""
    found = {name: get_reasoning(name) for name in list_reasoning()}
    for name in list_formats():
        spec = get_format(name)
        style = channel_style(spec) or spec.reasoning
        if not style.is_name:
            found.setdefault(style.name or name, style)
    return found


def text_format(name: str) -> Format:
    """What reads the thoughts of a style, and the text beside them, where nobody asks for calls."""
    in_channels = name in list_formats() and get_format(name).channels is not None
    from ..formats.parser import text_only  # not needed to register

    return text_only(name if in_channels else "json")


def find_style(name: str) -> ReasoningStyle:
    """The style that engines know by this name."""
    found = styles().get(name)
    if found is None:
        raise ToolwireError(f"There is no style of reasoning named {name!r}.")
    return found


def switched(chat_template_kwargs: Mapping[str, Any] | None) -> bool | None:
    """Whether a request has switched thinking on or off; None where it says nothing."""
    asked = [(chat_template_kwargs or {}).get(name) for name in _SWITCHES]
    said = [value for value in asked if isinstance(value, (bool, str))]
    if any(value in _OFF for value in said):
        return False
    return True if any(value in _ON for value in said) else None


class Markers:
    """Finds a style's markers in a text."""

    def __init__(self, style: ReasoningStyle) -> None:
        self._marker = re.compile(f"({_any(style.open)})|({_any(style.close)})")

    def begins_inside(self, text: str) -> bool:
        """Whether the first marker ends thoughts, and there are some: nobody knows the prompt here."""
        found = self._marker.search(text)
        return found is not None and found.lastindex == 2 and bool(text[: found.start()].strip())

    def ends_inside(self, text: str) -> bool | None:
        """Whether thoughts are open at the text's end; None where it has no marker."""
        last = None
        for found in self._marker.finditer(text):
            last = found
        return None if last is None else last.lastindex == 1

    def closers(self, text: str) -> int:
        """How many markers end thoughts."""
        return sum(found.lastindex == 2 for found in self._marker.finditer(text))

    def thoughts(self, text: str, inside: bool) -> int:
        """How many characters of the text are thoughts."""
        count = start = 0
        for found in self._marker.finditer(text):
            count += found.start() - start if inside else 0
            inside, start = found.lastindex == 1, found.end()
        return count + (len(text) - start if inside else 0)


def _any(spellings: Iterable[str]) -> str:
    longest_first = sorted(spellings, key=len, reverse=True)
    return "|".join(map(pattern_of, longest_first)) or "(?!)"
