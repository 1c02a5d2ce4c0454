"""Which characters of a model's text became what: its thoughts, its text, a call's name, its arguments.

A parser says what it has decided, and not from where it has it. But it is fed character by character
here, so what it says is about the characters right before: each event's text is looked for there, the
last event first. Content and thoughts are the model's own text, so that always succeeds. Names and
arguments may be written anew (a format with tags has no JSON): then what can be found of them is theirs,
and the rest of the call is markup.

Every search looks at a bounded piece of text, or moves on behind it: all of it together is linear.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence

from ..events import Arguments, CallStart, Content, Event, Reasoning

#: What a character is. The numbers are places in this list.
KINDS = ("markup", "reasoning", "content", "name", "arguments")
MARKUP, REASONING, CONTENT, NAME, ARGUMENTS = range(len(KINDS))

#: How far before its event a name, or a word of arguments, is looked for.
_NEAR = 2048
_NEAR_WORD = 256
_ATTEMPTS = 50
#: A text that is as long as this does not stand somewhere else by chance.
_TELLING = 8
#: Arguments in pieces: escapes, words, and everything else one by one.
_PIECES = re.compile(r'\\u[0-9a-fA-F]{4}|\\.|[^\\{}\[\]",:\s]+|.', re.DOTALL)
_IS_WORD = re.compile(r'[^\\{}\[\]",:\s]+').fullmatch
#: Python's words, where JSON's are written for them.
_PYTHON = {"true": "True", "false": "False", "null": "None"}


class Alignment:
    """What became of each character, as far as it is known: `kinds`, and in which of the text's steps
    that was said: `steps`. What is undecided has the step -1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds = bytearray(len(text))
        self.steps = array("l", [-1]) * len(text)
        self._last = 0  # behind the last character that is known
        self._decided = 0
        self._said = [0] * len(KINDS)  # behind the last character of each kind

    def passed(self, start: int, end: int, kind: int, step: int) -> None:
        """These characters came out as they were fed."""
        self._mark(start, end, kind, step)
        self._decided = end

    def decided(self, end: int, step: int) -> None:
        """Up to here nothing is held; what no event is about is markup."""
        steps = self.steps
        for place in range(self._decided, end):
            if steps[place] < 0:
                steps[place] = step
        self._decided = max(self._decided, end)

    def said(self, events: Sequence[Event], decided: int, step: int) -> None:
        """These events came in this step. They are about what is decided."""
        end, behind, last = decided, decided, self._last
        texts = tuple(self._said)
        for event in reversed(events):
            if isinstance(event, Content):
                end = self._text(event.text, texts[CONTENT], end, step, CONTENT)
            elif isinstance(event, Reasoning):
                end = self._text(event.text, texts[REASONING], end, step, REASONING)
            elif isinstance(event, Arguments):
                behind, end = end, self._arguments(event.text, last, end, step)
            elif isinstance(event, CallStart):
                end = self._name(event.name, last, end, behind, step)
                behind = end

    def _mark(self, start: int, end: int, kind: int, step: int) -> int:
        self.kinds[start:end] = bytes([kind]) * (end - start)
        self.steps[start:end] = array("l", [step]) * (end - start)
        self._last = max(self._last, end)
        self._said[kind] = max(self._said[kind], end)
        return start

    # -- text ---------------------------------------------------------------------------------

    def _text(self, said: str, low: int, end: int, step: int, kind: int) -> int:
        """The text between `low` and `end`, as late as can be; in pieces where markup is in it."""
        start = self._whole(said, low, end)
        if start >= 0 and not any(self.kinds[start : start + len(said)]):
            return self._mark(start, start + len(said), kind, step)
        place = end
        for c in reversed(said):
            found = place - 1
            while found >= low and (self.text[found] != c or self.kinds[found]):
                found -= 1
            if found < low:
                return place  # it is none of the model's characters
            place = self._mark(found, found + 1, kind, step)
        return place

    def _whole(self, said: str, low: int, end: int) -> int:
        """Where all of it stands in one piece, right before `end` or a little earlier; else -1. White
        space may follow it, and what ends the turn."""
        start = end - len(said)
        if start >= low and self.text.startswith(said, start):
            return start
        if len(said) < _TELLING:
            return -1
        return self.text.find(said, max(low, start - _NEAR_WORD), end)

    # -- calls --------------------------------------------------------------------------------

    def _name(self, name: str, last: int, end: int, behind: int, step: int) -> int:
        """The name before the arguments, or else behind them."""
        for low, high in ((max(last, end - _NEAR), end), (end, min(behind, end + _NEAR))):
            found = self._last_word(name, low, high)
            if found >= 0:
                return self._mark(found, found + len(name), NAME, step)
        return end

    def _last_word(self, name: str, low: int, high: int) -> int:
        """Where a name stands last as a word of its own, as a key only if nowhere else; or -1."""
        key = -1
        for _ in range(_ATTEMPTS):
            found = self.text.rfind(name, low, high)
            if found < 0:
                break
            end = found + len(name)
            if self._is_word(found, end):
                if not re.match(r'"\s*:', self.text[end : end + 8]):
                    return found
                key = max(key, found)
            high = end - 1
        return key

    def _is_word(self, start: int, end: int) -> bool:
        text = self.text
        inside = (start and text[start - 1].isalnum()) or text[end : end + 1].isalnum()
        return not inside and not any(self.kinds[start:end])

    def _arguments(self, said: str, last: int, end: int, step: int) -> int:
        """Arguments as the model wrote them, or else word by word."""
        text = self.text
        start = end - len(said)
        if start >= last and text.startswith(said, start):
            return self._mark(start, end, ARGUMENTS, step)
        found = text.find(said, max(last, start - _NEAR), end)
        if found >= 0 and len(said) > 1:
            return self._mark(found, found + len(said), ARGUMENTS, step)
        place = end
        signs: list[str] = []  # those behind the next word, which stand elsewhere than expected
        for piece in reversed(_PIECES.findall(said)):
            is_word = _IS_WORD(piece) is not None
            here = self._word(piece, last, place) if is_word else self._sign(piece, last, place)
            if here is None:
                signs.append(piece)
                continue
            first, stop = here
            while signs and text.startswith(signs[-1], stop) and stop < place:
                stop += len(signs.pop())
            signs.clear()
            place = self._mark(first, stop, ARGUMENTS, step)
        return place

    def _sign(self, sign: str, last: int, end: int) -> tuple[int, int] | None:
        """A sign or an escape right before `end`."""
        for spelling in (sign, _plain(sign)):
            start = end - len(spelling)
            if start >= last and self.text.startswith(spelling, start):
                return start, end
        return None

    def _word(self, word: str, last: int, end: int) -> tuple[int, int] | None:
        """A word near `end`."""
        low = max(last, end - len(word) - _NEAR_WORD)
        for spelling in filter(None, (word, _PYTHON.get(word))):
            found = self.text.rfind(spelling, low, end)
            if found >= 0:
                return found, found + len(spelling)
        return None


def _plain(escape: str) -> str:
    """What an escape of JSON stands for."""
    if escape[0] != "\\":
        return escape
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:
        return escape
