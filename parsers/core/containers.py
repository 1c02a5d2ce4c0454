"""The inside of brackets that are almost JSON: what the window tells for sure, read in one go.

`Nesting` keeps the brackets, commas and colons of a container on their way out as JSON. Its `read` is
the hot loop of nested values: it takes tokens as long as each can mean one thing only, whatever
follows the window. It stops in front of anything else (what may be a delimiter of the format, a quote
that may become three, a bare word), and inside a string that the window cuts or that JSON writes in
another way. Whoever called it reads that with care, and calls it again behind it.
"""

from __future__ import annotations

import re
from typing import Final

from ..schema.kinds import encode, python_word
from .sinks import Pieces, Sink
from .tokens import STRUCTURE, Tokens
from .window import FastPath
from .words import literal

_SPACE: Final = re.compile(r"\s+").match
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
#: behind a string: no other one follows that belongs to it
_ENDS_STRING: Final = frozenset(",:]})")

#: What a bracket is: written as it is read; a tuple or a set, which JSON writes as a list; not known
#: yet: an object or a set, which shows behind the first key; a tuple, or just parentheses; the same as
#: a key.
_PLAIN: Final = 0
_LIST: Final = 1
_BRACE: Final = 2
_PARENTHESIS: Final = 3
_KEY: Final = 4
# Of how many pieces a tuple may be that is a key.
_LONGEST_KEY: Final = 1000
# Pieces that are joined at once: many small ones take several times the memory of their text.
_MOST_PIECES: Final = 1000


class Nesting:
    """The brackets, commas and colons of a container on their way out as JSON.

    What `read` reads is written at once in the end, but for the outermost members: who hears of them
    has to have seen all that stands before, and nothing behind. Nothing is written while it is not known
    what a bracket is.
    """

    __slots__ = (
        "_before",
        "_colon",
        "_comma",
        "_comment",
        "_fast",
        "_fast_paths",
        "_key",
        "_kinds",
        "_members",
        "_open",
        "_open_end",
        "_out",
        "_python",
        "_spacing_kept",
        "_starts",
        "_text",
        "_tokens",
        "_typed",
        "_value_read",
        "_word",
        "_word_at",
        "at_key",
        "closed",
        "key",
        "matched",
        "quote",
        "raw",
        "sink",
    )

    def __init__(
        self,
        tokens: Tokens,
        sink: Sink,
        *,
        members: bool,
        spacing_kept: bool,
        typed: bool,
        open_end: bool,
        fast: bool,
    ) -> None:
        """`members`: the sink hears of the outermost members. `typed`: their words have declared
        kinds, which are not known here. `open_end`: the last bracket is not written. `fast`: whether
        tokens are read here, and not just what stands between them."""
        self.sink = sink
        self._tokens = tokens
        self._python = tokens.python
        self._members = members
        self._spacing_kept = spacing_kept
        self._typed = typed
        self._open_end = open_end
        self._fast = fast
        self._comma, self._colon = (",", ":") if spacing_kept else (", ", ": ")
        self._open: list[str] = []  # what should close the brackets that are open
        self._kinds: list[int] = []  # what they are
        self._starts: list[int] = []  # where in `_out` those stand of which that is not known
        self._out: list[str] = []  # what is still to be written
        self._before: list[str] = []  # a string's end, commas and spacing: these may be too many
        self._key = Pieces()  # the key that is being read
        self._text = Pieces()  # … or a string that can't go out yet
        self._word = ""  # the last key, if it had no quotes, …
        self._word_at = -1  # … and where in `_out` it stands
        self._fast_paths: dict[tuple[str, bool], FastPath] = {}
        self._value_read = False  # a member is over, which its sink was not told yet
        self._comment = False
        self.at_key = False
        self.closed = False
        self.matched = True  # each bracket was closed by its own
        self.key: str | None = None  # the last one
        self.quote = ""  # of the string that is being read
        self.raw = False  # nothing in it is escaped

    @property
    def outermost(self) -> bool:
        return len(self._open) == 1

    # -- what was read elsewhere --------------------------------------------------------------

    def write(self, text: str) -> None:
        """A value, or a part of one."""
        self._pass_before()
        self._out.append(text)

    def finish(self) -> None:
        """No more comes: what waited for it goes out."""
        self._pass_quote()
        if self.quote and not self.at_key:
            self._out.append(self._text.take())
        self._starts.clear()
        self._write()

    def begin_string(self, quote: str, raw: bool = False) -> None:
        self.quote = quote
        self.raw = raw
        before = self._before
        if before and before[0] == '"' and self._comma not in before:
            before.clear()  # behind another string: it is one
        elif self.at_key:
            self._pass_before()
        else:
            self.write('"')
        self._write()

    def string_sink(self) -> Sink:
        """Where the text of the string at hand goes: a key is kept until it is whole."""
        return self._key if self.at_key else self._text if self._starts else self.sink

    def fast_path(self) -> FastPath | None:
        """For chunks inside the string at hand."""
        if self.raw or self._starts:
            return None
        place = (self.quote, self.at_key)
        fast_path = self._fast_paths.get(place)
        if fast_path is None:
            fast_path = self.string_sink().fast_path(self._tokens.plain(self.quote, False))
            self._fast_paths[place] = fast_path
        return fast_path

    def end_string(self, closed: bool) -> None:
        if self.at_key:
            key = self._key.take()
            self._out.append(f'"{key}"' if closed else f'"{key}')
            if closed:
                self.key_read(key)
        else:
            if self._starts:
                self._out.append(self._text.take())
            if closed:
                self._end_quote()
                self.value_read()
        self.quote = ""
        self.raw = False

    def key_read(self, key: str, word: str = "") -> None:
        """A key is whole; `word`: it has no quotes."""
        self.key = key
        self._word = word
        self._word_at = len(self._out) - 1
        self.at_key = False

    def value_read(self) -> None:
        self._value_read = True

    def _end_quote(self) -> None:
        """A string ends, unless another one follows."""
        (self._before if self._python else self._out).append('"')

    # -- the hot loop -------------------------------------------------------------------------

    def read(self, text: str, pos: int, sure: int) -> int:
        """Read tokens from `pos` on, up to the last bracket; returns where it stopped.

        `sure` is where no delimiter of the format stands though it may seem so.
        """
        if self.quote:
            if self._fast and not self.raw:
                pos = self._read_string(text, pos)
            if self.quote:
                return pos
        if self._comment:
            pos = self._pass_comment(text, pos)
        structure, last = self._tokens.structure, len(text) - 1
        while pos <= last:
            c = text[pos]
            if c in structure or (pos == sure and c in STRUCTURE):
                pos += 1
                if c in "]})":
                    self._close(c)
                    if self.closed:
                        break
                elif c in ",:":
                    self._separate(c)
                    if pos <= last and text[pos] == " ":  # most often one is all there is
                        pos += 1
                        if self._spacing_kept:
                            self._before.append(" ")
                else:
                    self._begin(c)
            elif c.isspace():
                end = _SPACE(text, pos).end()  # type: ignore[union-attr]  # one stands here
                if self._spacing_kept:
                    self._before.append(text[pos:end])
                pos = end
            elif c == "#" and self._python:
                pos = self._pass_comment(text, pos)
            else:
                end = self._read_token(text, pos) if pos < last else pos
                if end == pos:
                    break
                pos = end
                if self.quote:
                    break
        self._write()
        return pos

    def _pass_comment(self, text: str, pos: int) -> int:
        end = text.find("\n", pos)
        self._comment = end < 0
        return len(text) if end < 0 else end

    def _begin(self, bracket: str) -> None:
        if self._before:
            self._pass_before()
        out = self._out
        self._value_read = False
        self._open.append(_CLOSING[bracket])
        if bracket == "[":
            self._kinds.append(_PLAIN)
            self.at_key = False
        elif self._python:
            kind = _BRACE if bracket == "{" else _PARENTHESIS
            if bracket == "(" and self.at_key and self._kinds[-1] == _PLAIN:
                kind = _KEY
            self._kinds.append(kind)
            self._starts.append(len(out))
            self.at_key = bracket == "{"
        else:
            # Where keys stand without quotes, parentheses around all of them mean an object.
            self.at_key = bracket == "{" or len(self._open) == 1
            self._kinds.append(_PLAIN if self.at_key else _LIST)
            out.append("{" if self.at_key else "[")
            return
        out.append("[" if bracket == "(" else bracket)

    def _separate(self, c: str) -> None:
        kind = self._kinds[-1]
        if c == ",":
            if kind == _BRACE or kind == _PARENTHESIS:  # noqa: SIM109  # quicker
                self._decide(_LIST)
                kind = _LIST
            if self._value_read:
                if self._members:
                    self._value_is_over()
                self._value_read = False
            elif not self._python:
                self._missing_value()
            self._before.append(self._comma)
            self.at_key = kind == _PLAIN and self._open[-1] != "]"
            return
        if kind == _BRACE:
            self._pass_quote()  # what was read so far may be a key
            self._decide(_PLAIN)
        self._value_read = self.at_key = False
        if self._before:
            self._pass_before()
        self._out.append(self._colon)
        if self._members and len(self._open) == 1 and self.key is not None:
            self._write()
            self.sink.on_key(self.key)

    def _missing_value(self) -> None:
        """Where a member ends: nothing stands behind its key."""
        if self._kinds[-1] == _PLAIN and self._open[-1] != "]" and not self.at_key:
            self._pass_before()
            self._out.append('""')

    def _decide(self, kind: int) -> None:
        """It is known what the innermost bracket is."""
        was, start, out = self._kinds[-1], self._starts.pop(), self._out
        self._kinds[-1] = kind
        if was == _BRACE and kind == _LIST:
            self._as_set(start)
        elif was == _BRACE and len(out) > start + 1 and out[start + 1] in ("[", ""):
            self._as_key(start + 1, out[start + 1] == "[")

    def _as_set(self, start: int) -> None:
        """The brace at `start` begins a set. Its first value was read as a key."""
        self._out[start] = "["
        if self._word:
            self._out[self._word_at] = literal(self._word, None)

    def _as_key(self, start: int, is_tuple: bool) -> None:
        """What was written since `start` is a key in parentheses: a tuple is a text, in JSON. (Nobody
        writes long ones, or objects in one; these are passed on as they are.)"""
        out = self._out
        if len(out) - start > _LONGEST_KEY or "{" in out[start:]:
            return
        inner = "".join(out[start + 1 :]).strip().removesuffix("]" if is_tuple else "")
        key = f"({inner})" if is_tuple else inner
        out[start:] = [key if key.startswith('"') else encode(key)]
        self.key = key

    def _close(self, bracket: str) -> None:
        before = self._before
        if before and self._comma in before:
            del before[1 if before[0] == '"' else 0 :]
        if self._value_read:
            if self._members:
                self._value_is_over()
        elif not self._python:
            self._missing_value()
        if before:
            self._pass_before()
        expected, kind = self._open.pop(), self._kinds.pop()
        self.closed = not self._open
        if kind >= _BRACE:
            self._close_undecided(bracket, kind, self._starts.pop())
        elif not (self.closed and self._open_end):
            if expected == bracket and (kind == _LIST or bracket == ")"):
                bracket = "]" if kind == _LIST else "}"
            # One that closes another bracket than it should is passed on as it is.
            self._out.append(bracket)
            if bracket != ("]" if kind == _LIST or expected == "]" else "}"):
                self.matched = False
        self.at_key = False
        self._value_read = True

    def _close_undecided(self, bracket: str, kind: int, start: int) -> None:
        out = self._out
        if kind == _KEY:
            self._as_key(start, self._comma in out[start:])
        elif kind == _PARENTHESIS and self._value_read:
            out[start] = ""
        elif kind == _BRACE and not self.at_key:
            self._as_set(start)
            out.append("]")
        else:  # nothing is in it
            out.append("]" if kind == _PARENTHESIS else bracket)
            if kind == _BRACE and bracket != "}":
                self.matched = False

    def _value_is_over(self) -> None:
        """Tell the sink that a member is over, if it is one of the outermost."""
        if len(self._open) == 1:
            self._pass_quote()
            self._write()
            self.sink.on_value()

    def _read_token(self, text: str, pos: int) -> int:
        """Read a word or a string, as far as it is there; returns where it ends, which is `pos` where
        that can't be told."""
        tokens, out = self._tokens, self._out
        found = tokens.match(text, pos) if self._fast else None
        if found is None:
            return pos
        group, known = found.lastindex or 0, tokens.known
        if group >= known and not self.at_key and (group > known or self._typed):
            return pos
        end = found.end()
        if group >= known:
            self._pass_before()
            token = found[group].rstrip() if self.at_key else found[group]
            out.append(encode(token) if self.at_key else python_word(token))
            if self.at_key:
                self.key_read(token, token)
                return end
        elif group % 2 == 0:
            token = found[group - 1]
            if self.at_key:
                self._pass_before()
                out.append(f'"{token}"')
                self.key_read(token)
                return end
            before = self._before
            if before and before[0] == '"' and self._comma not in before:
                before.clear()  # behind another string: it is one
                out.append(token)
                self._end_quote()
            elif not self._python or (end < len(text) and text[end] in _ENDS_STRING):
                self._pass_before()
                out.append(f'"{token}"')
            else:
                self._pass_before()
                out.append(f'"{token}')
                self._end_quote()
        else:  # a string whose end is not in sight
            self.begin_string(tokens.quotes[group // 2])
            if token := found[group]:
                self.string_sink().write(token)
            return end
        self._value_read = True
        if len(out) > _MOST_PIECES:
            self._write()
        return end

    def _read_string(self, text: str, pos: int) -> int:
        """The same inside a string."""
        found = self._tokens.rest[self.quote](text, pos)
        assert found
        if piece := found[1]:
            self.string_sink().write(piece)
        if found.lastindex == 2:
            self.end_string(True)
        return found.end()

    def _pass_quote(self) -> None:
        """A string is over: no other one that belongs to it can follow."""
        if self._before and self._before[0] == '"':
            self._out.append(self._before.pop(0))

    def _pass_before(self) -> None:
        if self._before:
            self._out += self._before
            self._before.clear()

    def _write(self) -> None:
        if self._out and not self._starts:
            self.sink.write("".join(self._out))
            self._out.clear()
