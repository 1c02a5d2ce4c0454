"""Whether a place in prose is code: inline, or in a fenced block. Markers there are text."""

from __future__ import annotations

import re
from typing import Final

#: backticks, with what shows that they begin a line; or the end of a line
_TICKS: Final = re.compile(r"(\n[ \t\r]*)?(`+)|\n")
_INDENTED: Final = re.compile(r"([ \t\r]*)(`+)")


class CodeTracker:
    """Is told prose as it comes, in whatever pieces. A fence begins a line, and so does what closes it;
    inline code ends with its line at the latest."""

    __slots__ = ("_fence", "_leads", "_span", "_ticks", "settled")

    def __init__(self) -> None:
        self._fence = 0  # backticks that opened the fenced block at hand
        self._span = 0  # … or the inline code
        self._ticks = 0  # backticks at the end of what came, which may be more
        self._leads = False  # they begin a line
        self.settled = True  # text without backticks changes nothing

    @property
    def open(self) -> bool:
        """Whether what follows is code, as far as it can be told."""
        return bool(self._fence or self._span or self._ticks)

    def note(self, text: str, line_start: bool) -> None:
        """The next piece, and whether it begins a line."""
        if text:
            self._note(text, line_start)
            self.settled = not (self._span or self._ticks)

    def _note(self, text: str, line_start: bool) -> None:
        if self._ticks and text[0] != "`":
            self._end_of_ticks()
        if "`" not in text:
            if self._span and "\n" in text:
                self._span = 0
            return
        start = 0
        if line_start and (lead := _INDENTED.match(text)):
            self._more_ticks(lead, True, text)
            start = lead.end()
        for found in _TICKS.finditer(text, start):
            if found[0][0] == "\n":
                self._span = 0
            if found[2]:
                self._more_ticks(found, found[1] is not None, text)

    @property
    def in_fence(self) -> bool:
        return self._fence > 0

    def open_fence(self) -> None:
        """A fence was opened by text that was not noted."""
        self._fence = 3

    def inside(self, text: str, line_start: bool) -> bool:
        """Whether the place behind `text`, which was not noted yet, is in code."""
        return self._behind(text, line_start).open

    def inside_span(self, text: str, line_start: bool) -> bool:
        """The same for inline code."""
        return self._behind(text, line_start)._span > 0

    def _behind(self, text: str, line_start: bool) -> CodeTracker:
        ahead = CodeTracker()
        ahead._fence, ahead._span = self._fence, self._span
        ahead._ticks, ahead._leads = self._ticks, self._leads
        ahead.note(text, line_start)
        ahead._end_of_ticks()
        return ahead

    def _more_ticks(self, found: re.Match[str], leads: bool, text: str) -> None:
        if not self._ticks:
            self._leads = leads
        self._ticks += len(found[2])
        if found.end() < len(text):
            self._end_of_ticks()

    def _end_of_ticks(self) -> None:
        count, self._ticks = self._ticks, 0
        if self._fence:
            if self._leads and count >= self._fence:
                self._fence = 0
        elif self._leads and count >= 3 and not self._span:
            self._fence = count
        elif count:
            self._span = 0 if self._span == count else self._span or count
