"""The token that ends a model's turn, where a server lets it through (`<|im_end|>`).

It is markup at the very end of a message and nowhere else, and whether that is the end nobody knows
before the message is over. So what may be such a token, or the beginning of one, is kept back, with the
white space behind it, until something else follows; then it is text like any other. This happens before
anything is read: to whoever reads, the message ends before its token.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final


class EndOfTurn:
    """The tokens that may end a message, ready to be looked for. Made once for each format."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens: Final = tuple(sorted(set(tokens), key=len, reverse=True))
        self._begun: Final = frozenset(
            token[:end] for token in self.tokens for end in range(1, len(token))
        )
        self._longest: Final = max(map(len, self.tokens), default=0)
        self._first: Final = "".join(sorted({token[0] for token in self.tokens}))

    def may_begin(self, text: str) -> bool:
        """Whether any can begin in a text: it has a character that one begins with."""
        for first in self._first:  # noqa: SIM110 - one, as a rule: a generator costs more
            if first in text:
                return True
        return False

    def find(self, text: str) -> int:
        """Where a token begins that the text ends with, or the beginning of one; else its end."""
        body = text.rstrip()
        for token in self.tokens:
            if body.endswith(token):
                return len(body) - len(token)
        for length in range(min(self._longest - 1, len(text)), 0, -1):
            if text[-length:] in self._begun:
                return len(text) - length
        return len(text)


class Tail:
    """The end of one message, as far as it has come."""

    __slots__ = ("_kept", "_space", "_tokens")

    def __init__(self, tokens: EndOfTurn) -> None:
        self._tokens: Final = tokens
        self._kept = ""  # what may be a token, and …
        self._space: list[str] = []  # … the white space that came behind it

    def concerns(self, chunk: str) -> bool:
        """Whether a chunk can't just be read at once, as nearly all can."""
        return bool(self._kept) or self._tokens.may_begin(chunk)

    def push(self, chunk: str) -> str:
        """Takes a chunk; returns what may be read by now."""
        if self._kept in self._tokens.tokens and chunk.isspace():
            self._space.append(chunk)
            return ""
        text = f"{self._kept}{''.join(self._space)}{chunk}"
        self._space.clear()
        place = self._tokens.find(text)
        self._kept = text[place:]
        body = self._kept.rstrip()
        if len(body) < len(self._kept):
            self._space.append(self._kept[len(body) :])
            self._kept = body
        return text[:place]

    def finish(self) -> str:
        """The message is over: what is left of it."""
        rest = "" if self._kept in self._tokens.tokens else f"{self._kept}{''.join(self._space)}"
        self._kept = ""
        self._space.clear()
        return rest
