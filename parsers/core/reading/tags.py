"""A tag for the call, a tag for each parameter, values between them as they are.

    <function=NAME>\\n<parameter=K>\\nV\\n</parameter>\\n</function>
    <invoke name="NAME"><parameter name="K">V</parameter></invoke>
    NAME\\n<arg_key>K</arg_key>\\n<arg_value>V</arg_value>           (no tag of its own for the call)

Nothing in a value is escaped, so a closing tag inside a value looks like the end of it. It is the end
only if the *chain* that it begins reaches structure: another parameter, the closers of everything
that is open, the end of the message, or the opener of another call. A chain that breaks off is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ..building import ObjectBuilder, value_of
from ..jsontext import read_arguments
from ..literals import KEEP, Literals, any_of, beginning, cut_off, first_characters
from ..names import read_word, word
from ..reader import Matches, Reader, Step
from ..schema import JSON_TYPES, Kind, Tool
from ..shapes import Tag, Tags
from .base import CALL, NOTHING, Outcome, ShapeReader
from .json_calls import JsonCallsReader

if TYPE_CHECKING:
    from ..driver import Run

#: what a tag says about a value: `string="true"`, `string="false"`
_SAID: Final = {"true": Kind(frozenset({"string"})), "false": Kind(JSON_TYPES - {"string"})}
_LONGEST_TAG: Final = 600


class TagsReader(ShapeReader):
    """Tags for calls and parameters."""

    def __init__(self, shape: Tags) -> None:
        super().__init__(shape)
        self._starts: frozenset[str] = frozenset(head[0] for head in shape.heads)
        self._call: OpeningTag | None = OpeningTag(shape.call) if shape.call else None
        self._separator: Literals = Literals(shape.separator)
        self._drift = JsonCallsReader(shape.drift)
        self.parameter = OpeningTag(shape.parameter)
        self._closers: tuple[tuple[str, ...], ...] = (shape.parameter_close, shape.close)
        self._plans: dict[int, _Plan] = {}

    def plan(self, run: Run) -> _Plan:
        """What to look for in the values of the call at hand."""
        plan = self._plans.get(run.opened)
        if plan is None:
            wrappers = enumerate(run.format.wrappers)
            around = [wrapper.close for level, wrapper in wrappers if run.opened >> level & 1]
            row = [close for close in (*self._closers, *reversed(around)) if close]
            plan = self._plans[run.opened] = _Plan(row, self.parameter.begin.spellings)
        return plan

    def may_start(self, character: str) -> bool:
        return character in self._starts or self._drift.may_start(character)

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        while (first := r.next()) is None:
            yield
        if not run.bare and self._drift.may_start(first):
            return (yield from self._drift.read(run))
        name = yield from self._name(run)
        if not run.allowed(name):
            return NOTHING
        if r.space() is None:
            yield from r.skip_space()
        while (closer := run.marks.closes.seen(r)) is None:
            yield
        if closer:
            r.call_without_arguments(name)
            return CALL
        while (first := r.next()) is None:
            yield
        if self._call and first == "{":
            r.start_call(name)
            r.end_call((yield from read_arguments(r, run.marks, r.arguments)))
            return CALL
        opening = yield from self.parameter.read(r)
        if opening is None:
            return NOTHING
        r.start_call(name)
        r.end_call((yield from _Call(self, run, name).read(opening)))
        return CALL

    def _name(self, run: Run) -> Step[str]:
        if self._call:
            opening = yield from self._call.read(run.r)
            return opening["name"] or "" if opening else ""
        if not run.inside_all():
            return ""
        r = run.r
        name = word(r)
        if name is None:
            name = yield from read_word(r)
        if r.space() is None:
            yield from r.skip_space()
        while (separator := self._separator.seen(r)) is None:
            yield
        r.take(r.pos + len(separator))
        return name


class OpeningTag:
    """Reads an opening tag."""

    __slots__ = ("_end", "_inner", "begin", "says_string", "unfinished")

    def __init__(self, tag: Tag) -> None:
        inner = re.compile(tag.inner)
        self.begin: Literals = Literals(tag.begin)
        self._end: str = tag.end
        self._inner = inner.fullmatch
        #: whether it may say that its value is a string, or that it is none
        self.says_string = "string" in inner.groupindex
        self.unfinished: Matches = re.compile(tag.unfinished).fullmatch

    def at(self, text: str, start: int) -> tuple[re.Match[str] | None, int]:
        """The tag at `start`, if all of it is there, and where it ends."""
        begin = self.begin.at(text, start)
        if not begin:
            return None, 0
        inside = start + len(begin)
        end = text.find(self._end, inside, inside + _LONGEST_TAG)
        if end < 0:
            return None, 0
        return self._inner(text, inside, end), end + len(self._end)

    def read(self, r: Reader) -> Step[re.Match[str] | None]:
        """Read a tag; None if there is none here (its beginning may have been read then)."""
        found, end = self.at(r.text, r.pos)
        if found:
            r.take(end)
            return found
        begin = yield from self.begin.here(r)
        if not begin:
            return None
        r.take(r.pos + len(begin))
        searched = 0
        while True:
            end = r.text.find(self._end, max(r.pos, r.pos + searched - len(self._end)))
            if end >= 0 or r.eof or len(r.text) - r.pos > _LONGEST_TAG:
                break
            searched = len(r.text) - r.pos
            yield
        if not 0 <= end - r.pos <= _LONGEST_TAG:
            return None
        found = self._inner(r.text, r.pos, end)
        if found:
            r.take(end + len(self._end))
        return found


class _Call:
    """Reads a call's parameters."""

    def __init__(self, shape: TagsReader, run: Run, name: str) -> None:
        self.run = run
        self.r = run.r
        self.tag = shape.parameter
        self.plan = shape.plan(run)
        self.tool: Tool = run.tool(name)
        self.object = ObjectBuilder(self.r.arguments)

    def read(self, opening: re.Match[str]) -> Step[bool]:
        """Behind the first parameter's opening tag. Returns whether the model finished the call."""
        following: re.Match[str] | bool | None = opening
        while isinstance(following, re.Match):
            following = yield from self._parameter(following)
        if following:
            self.object.close()
        return bool(following)

    def _parameter(self, opening: re.Match[str]) -> Step[re.Match[str] | bool | None]:
        """Read a value, and what ends it: the next opening tag, or whether the call is complete."""
        r = self.r
        key = (opening["name"] or "").strip()
        said = (opening["string"] or "") if self.tag.says_string else ""
        kind = _SAID.get(said) or self.tool.kind(key)
        self.object.key(key)
        value = value_of(kind, r)
        inline = r.pos < len(r.text) and r.text[r.pos] not in "\r\n"
        if not inline:
            inline = not (yield from r.skip_newline())
        search, passing = self.plan.stops, None
        newline = ""  # read, but part of the value only if no closing tag follows it
        while True:
            found = search(r.text, r.pos)
            end = found.start() if found else len(r.text)
            if end > r.pos:
                value.add(newline + r.take(end))
                newline = ""
            if found is None or not found.lastindex:
                if r.eof:
                    value.add(newline + r.take(len(r.text)))
                    value.cut()
                    return False
                if found is None and not newline:
                    passing = passing or value.passing(self.plan.plain)
                    r.shortcut = passing
                yield
                continue
            tag = found[0].lstrip("\r\n")
            if len(tag) < len(found[0]):
                value.add(newline)
                newline = r.take(found.end() - len(tag))
            pieces = [newline]
            ended: re.Match[str] | bool | None
            if tag in self.tag.begin.spellings:
                ended = yield from self._unclosed(inline, pieces)
            else:
                ended = self._whole_chain() or (yield from self._chain(pieces))
            if ended is not None:
                value.close()
                return ended
            text, newline = _split_newline("".join(pieces))
            value.add(text)

    def _whole_chain(self) -> re.Match[str] | bool:
        """What `_chain` does, for the two chains that models write nearly always, if all is there:
        the parameter's closer and the next one's opening tag; or the closers of everything."""
        r, plan = self.r, self.plan
        text = r.text
        closer = plan.closer(text, r.pos)
        if closer is None:
            return False
        behind = closer.end()
        opening, end = self.tag.at(text, behind)
        starts = self.run.marks.starts
        if opening and not (plan.above[1].at(text, behind) or starts.at(text, behind)):
            r.take(end)
            return opening
        if plan.whole_row(text, r.pos):
            r.take(closer.end(1))
            return True
        return False

    def _chain(self, pieces: list[str]) -> Step[re.Match[str] | bool | None]:
        """At a closing tag in a value: what the chain it begins leads to, or None if to nothing.

        What is read is added to `pieces`: it is the value's text if the chain breaks off. The closers
        of the call and its wrappers are left to be read by whoever reads closers.
        """
        r, row = self.r, self.plan.row
        level = -1
        inside = len(pieces)  # how many of the pieces are the value's own closer, or before it
        while True:
            closers = self.plan.above[level + 1]
            closer = yield from closers.here(r)
            if closer:
                level = next(i for i, c in enumerate(row) if closer in c.spellings)
                pieces.append(r.take(r.pos + len(closer)))
                if level == 0:
                    inside = len(pieces)
                if level == len(row) - 1:
                    break
                pieces.append((yield from r.skip_space()))
                continue
            starts = self.run.marks.starts
            if (yield from r.ended()) or (yield from starts.here(r)):
                break
            rest = r.text[r.pos :] if r.eof else ""
            if closers.begun(rest) or starts.begun(rest):
                break  # the end of the message cut a delimiter off
            if level == 0:
                return (yield from self._next_parameter(pieces))
            return None
        r.unread("".join(pieces[inside:]))
        return True

    def _next_parameter(self, pieces: list[str]) -> Step[re.Match[str] | bool | None]:
        """Behind a parameter's closer: the next parameter's opening tag, if that is what follows."""
        r = self.r
        r.hold()
        opening = yield from self.tag.read(r)
        read = r.held_since(0)
        r.drop()
        if opening is None and r.eof and self._cut_off_tag(read):
            r.take(len(r.text))
            return False
        pieces.append(read)
        return opening

    def _cut_off_tag(self, begin: str) -> bool:
        """Whether the message ends inside a parameter's opening tag, whose `begin` was read."""
        rest = self.r.text[self.r.pos :]
        if begin:
            return self.tag.unfinished(rest) is not None
        return self.tag.begin.begun(rest)

    def _unclosed(self, inline: bool, pieces: list[str]) -> Step[re.Match[str] | None]:
        """At a parameter's opening tag at the start of a line, inside a value that was not closed.

        It counts if the parameter is declared, has not come yet, and is written like this one: with
        its value on the same line, or on the next.
        """
        r = self.r
        r.hold()
        opening = yield from self.tag.read(r)
        pieces.append(r.held_since(0))
        r.drop()
        if opening is None:
            return None
        name = (opening["name"] or "").strip()
        if not self.tool.declares(name) or name in self.object.keys:
            return None
        same_line = (yield from r.peek()) not in ("\r", "\n")
        return opening if same_line == inline else None


class _Plan:
    """What to look for in a call's values: the closers that end a call, innermost first."""

    __slots__ = ("above", "closer", "plain", "row", "stops", "whole_row")

    def __init__(self, row: Sequence[Iterable[str]], begins: Sequence[str]) -> None:
        """`begins` are the beginnings of a parameter's opening tag."""
        above = [[c for close in row[i:] for c in close] for i in range(len(row) + 1)]
        self.row = [Literals(close) for close in row]
        #: above[i]: those from row[i] on
        self.above = [Literals(closers) for closers in above]
        #: the closer of a parameter (its first group), and the whitespace behind it
        self.closer = re.compile(rf"({any_of(row[0])})\s*").match
        #: a closer of each kind
        self.whole_row = re.compile(r"\s*".join(f"(?:{any_of(close)})" for close in row)).match
        #: what to stop at in a value; text in which nothing has to be looked at
        self.stops = _stops(above[0], begins).search
        self.plain: Matches = _plain([*above[0], *begins]).fullmatch


def _plain(tags: list[str]) -> re.Pattern[str]:
    """Without the beginning of a tag, and without a newline at its end, which may be a tag's."""
    first = first_characters(tags)
    return re.compile(rf"[^{first}]+{KEEP}(?<![\r\n])")


def _stops(closers: list[str], begins: Sequence[str]) -> re.Pattern[str]:
    """What to stop at in a value; `lastindex` is None where the end of the text cuts it off.

    The newline before a closing tag belongs to the tag. A parameter's opening tag in a value is looked
    at only at the start of a line. The groups stand at the ends for the reason that `first_of` gives.
    """
    tags = any_of([*closers, *begins])
    cut = rf"(?:{cut_off([*closers, *begins])}|\Z)"
    branches = [rf"\n(?:{tags})()", rf"\r\n(?:{tags})()"]
    branches += [f"{re.escape(closer)}()" for closer in Literals(closers).spellings]
    branches += [rf"\n{cut}", rf"\r\n{cut}", r"\r\Z"]
    branches += [rf"{beginning(tag)}\Z" for tag in [*closers, *begins] if len(tag) > 1]
    return re.compile("|".join(branches))


def _split_newline(text: str) -> tuple[str, str]:
    """`text` without the newline at its end, and that newline."""
    for newline in ("\r\n", "\n"):
        if text.endswith(newline):
            return text[: -len(newline)], newline
    return text, ""
