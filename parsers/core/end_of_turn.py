"""The token that ends a model's turn, where a server lets it through (`<|im_end|>`).

It is markup at the very end of a message and nowhere else, and whether that is the end nobody knows
before the message is over. So what may be such a token, or the beginning of one, is kept back, with the
white space behind it, until something else follows; then it is text like any other. This happens before
anything is read: to whoever reads, the message ends before its token. Fast paths, which see a chunk
first, take none in which a token may begin; while something is kept, there is no fast path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .literals import any_of, cut_off
from .window import Matches

NEVER: Final = "(?!)"


class EndOfTurn:
    """The tokens that may end a message, ready to be looked for. Made once for each format."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens: Final = tuple(sorted(set(tokens), key=len, reverse=True))
        self._at_end: Matches | None = None  # compiled when a text may have one
        first = {token[0] for token in self.tokens}
        #: what every text has in it that a token begins in: the character that they all begin with, as a
        #: rule; "", which is in any text, where they have none in common
        self.sign: Final = first.pop() if len(first) == 1 else ""

    def find(self, text: str) -> int:
        """Where a token begins that the text ends with, or the beginning of one; else its end."""
        if self._at_end is None:
            whole = rf"(?:{any_of(self.tokens) or NEVER})\s*\Z"
            self._at_end = re.compile(f"{whole}|{cut_off(self.tokens) or NEVER}").search
        found = self._at_end(text)
        return found.start() if found else len(text)


class Tail:
    """The end of one message, as far as it has come."""

    __slots__ = ("_space", "_tokens", "kept", "sign")

    def __init__(self, tokens: EndOfTurn) -> None:
        self._tokens: Final = tokens
        #: a chunk without this in it can be read at once while nothing is kept
        self.sign: Final = tokens.sign
        self.kept = ""  # what may be a token, and …
        self._space: list[str] = []  # … the white space that came behind it

    def push(self, chunk: str) -> str:
        """Takes a chunk; returns what may be read by now."""
        if not self.kept and self._tokens.find(chunk) == len(chunk):
            return chunk
        if self.kept in self._tokens.tokens and chunk.isspace():
            self._space.append(chunk)
            return ""
        text = f"{self.kept}{''.join(self._space)}{chunk}"
        self._space.clear()
        place = self._tokens.find(text)
        self.kept = text[place:]
        body = self.kept.rstrip()
        if len(body) < len(self.kept):
            self._space.append(self.kept[len(body) :])
            self.kept = body
        return text[:place]

    def finish(self) -> str:
        """The message is over: what is left of it."""
        rest = "" if self.kept in self._tokens.tokens else f"{self.kept}{''.join(self._space)}"
        self.kept = ""
        self._space.clear()
        return rest
