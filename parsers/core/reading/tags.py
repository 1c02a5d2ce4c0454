"""A tag for the call, a tag for each parameter, values between them as they are.

    <function=NAME>\\n<parameter=K>\\nV\\n</parameter>\\n</function>
    <invoke name="NAME"><parameter name="K">V</parameter></invoke>
    NAME\\n<arg_key>K</arg_key>\\n<arg_value>V</arg_value>           (no tag of its own for the call)

Nothing in a value is escaped, so a closing tag inside a value looks like the end of it. It is the end
only if the *chain* that it begins reaches structure: another parameter, the closers of everything
that is open, the end of the message, or the opener of another call. A chain that breaks off is text.

The value's own closer may be missing: an outer one implies it. But in the middle of a line that is
more often a text about closers than the end of a call. There it counts only if the message ends, or
another call is opened, right behind the chain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ..building import ObjectBuilder, value_of
from ..jsontext import read_arguments
from ..literals import KEEP, Literals, any_of, beginning, cut_off, first_characters
from ..names import read_word, word
from ..reader import Matches, Step
from ..schema import JSON_TYPES, Kind
from ..shapes import Tags
from ..tools import Tool
from .base import CALL, NOTHING, Outcome, ShapeReader
from .json_calls import JsonCallsReader
from .opening_tags import Opening, OpeningTag

if TYPE_CHECKING:
    from ..driver import Run

#: what a tag says about a value: `string="true"`, `string="false"`
_SAID: Final = {"true": Kind(frozenset({"string"})), "false": Kind(JSON_TYPES - {"string"})}
#: a closing tag of any name: one that belongs to no level, among the closers of a call
_ANY_CLOSER: Final = re.compile(r"</[^\s<>/]{1,64}>").match
_ANY_CLOSER_BEGUN: Final = re.compile(r"<(?:/[^\s<>/]{0,64})?").fullmatch


class TagsReader(ShapeReader):
    """Tags for calls and parameters."""

    def __init__(self, shape: Tags) -> None:
        super().__init__(shape)
        self._starts: frozenset[str] = frozenset(head[0] for head in shape.heads)
        self._call: OpeningTag | None = OpeningTag(shape.call) if shape.call else None
        self._separator: Literals = Literals(shape.separator)
        self._drift = JsonCallsReader(shape.drift)
        self.parameter = OpeningTag(shape.parameter)
        self.value_on_own_lines: bool = shape.value_on_own_lines
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
            return opening.name if opening else ""
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


class _Call:
    """Reads a call's parameters."""

    def __init__(self, shape: TagsReader, run: Run, name: str) -> None:
        self.run = run
        self.r = run.r
        self.tag = shape.parameter
        self.own_lines = shape.value_on_own_lines
        self.plan = shape.plan(run)
        self.tool: Tool = run.tool(name)
        self.object = ObjectBuilder(self.r.arguments)

    def read(self, opening: Opening) -> Step[bool]:
        """Behind the first parameter's opening tag. Returns whether the model finished the call."""
        following: Opening | bool | None = opening
        while isinstance(following, Opening):
            following = yield from self._parameter(following)
        if following:
            self.object.close()
        return bool(following)

    def _parameter(self, opening: Opening) -> Step[Opening | bool | None]:
        """Read a value, and what ends it: the next opening tag, or whether the call is complete."""
        r = self.r
        self.object.key(opening.name)
        value = value_of(_SAID.get(opening.string) or self.tool.kind(opening.name), r)
        same_line = yield from self._begin_value()
        search, passing = self.plan.stops, None
        newline = ""  # read, but part of the value only if no closing tag follows it
        line_begins = not same_line and self.own_lines  # nothing of the value's first line was read
        while True:
            found = search(r.text, r.pos)
            end = found.start() if found else len(r.text)
            if end > r.pos:
                value.add(newline + r.take(end))
                newline = ""
                line_begins = False
            if found is None or not found.lastindex:
                if r.eof:
                    value.add(newline + r.take(len(r.text)))
                    value.cut()
                    return False
                if found is None and not newline and not line_begins:
                    passing = passing or value.passing(self.plan.plain)
                    r.shortcut = passing
                yield
                continue
            tag = found[0].lstrip("\r\n")
            if len(tag) < len(found[0]):
                value.add(newline)
                newline = r.take(found.end() - len(tag))
            pieces = [newline]
            ended: Opening | bool | None
            if tag in self.tag.begin.spellings:
                ended = yield from self._unclosed(same_line, pieces)
            else:
                at_line_start = line_begins or bool(newline)
                ended = self._whole_chain() or (yield from self._chain(pieces, at_line_start))
            if ended is not None:
                if not self.own_lines and tag in self.plan.row[0].spellings:
                    value.add(newline)
                value.close()
                return ended
            text, newline = _split_newline("".join(pieces))
            value.add(text)
            line_begins = False

    def _begin_value(self) -> Step[bool]:
        """Behind a parameter's opening tag: whether its value begins on the same line. The newline
        before it is read where it belongs to the tag."""
        r = self.r
        while (first := r.next()) is None:
            yield
        if first not in ("\r", "\n"):
            return True
        if self.own_lines:
            return not (yield from r.skip_newline())
        return False

    def _whole_chain(self) -> Opening | bool:
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
        if len(plan.row) > 1 and plan.whole_row(text, r.pos):
            r.take(closer.end(1))
            return True
        return False

    def _chain(self, pieces: list[str], at_line_start: bool) -> Step[Opening | bool | None]:
        """At a closing tag in a value: what the chain it begins leads to, or None if to nothing.

        What is read is added to `pieces`: it is the value's text if the chain breaks off. The closers
        of the call and its wrappers are left to be read by whoever reads closers; behind the value's
        own, a closer that comes again or that belongs to no level is markup.
        """
        r, plan, starts = self.r, self.plan, self.run.marks.starts
        last = len(plan.row) - 1
        level = -1
        closed = False  # the value's own closer was read
        outer: list[str] = []  # what is left to be read again
        while True:
            closers = plan.above[0 if closed else level + 1]
            closer = yield from closers.here(r)
            if closer:
                piece = r.take(r.pos + len(closer))
                this = plan.level_of[closer]
                closed = closed or this == 0
                level = max(level, this)
                outer.append(piece if this else "")
            else:
                if (yield from r.ended()) or (yield from starts.here(r)):
                    break
                rest = r.text[r.pos :] if r.eof else ""
                if closers.begun(rest) or starts.begun(rest):
                    break  # the end of the message cut a delimiter off
                piece = (yield from self._foreign_closer()) if closed else ""
                if not piece:
                    following = None if level else (yield from self._next_parameter(pieces))
                    if following is not None or last:
                        return following
                    r.unread(pieces.pop())  # nothing else closes this call
                    break
            pieces.append(piece)
            if level == last > 0 and (closed or at_line_start):
                break
            pieces.append((yield from r.skip_space()))
            outer.append(pieces[-1])
        r.unread("".join(outer))
        return True

    def _foreign_closer(self) -> Step[str]:
        """Read a closing tag that belongs to no level, if one stands here."""
        r = self.r
        while True:
            found = _ANY_CLOSER(r.text, r.pos)
            if found:
                return r.take(found.end())
            if r.eof or not _ANY_CLOSER_BEGUN(r.text, r.pos):
                return ""
            yield

    def _next_parameter(self, pieces: list[str]) -> Step[Opening | bool | None]:
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
            return self.tag.may_go_on(rest)
        return self.tag.begin.begun(rest)

    def _unclosed(self, same_line: bool, pieces: list[str]) -> Step[Opening | None]:
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
        if not self.tool.declares(opening.name) or opening.name in self.object.keys:
            return None
        here = (yield from r.peek()) not in ("\r", "\n")
        return opening if here == same_line else None


class _Plan:
    """What to look for in a call's values: the closers that end a call, innermost first."""

    __slots__ = ("above", "closer", "level_of", "plain", "row", "stops", "whole_row")

    def __init__(self, row: Sequence[Iterable[str]], begins: Sequence[str]) -> None:
        """`begins` are the beginnings of a parameter's opening tag."""
        above = [[c for close in row[i:] for c in close] for i in range(len(row) + 1)]
        self.row = [Literals(close) for close in row]
        #: above[i]: those from row[i] on
        self.above = [Literals(closers) for closers in above]
        #: which of the row a closer belongs to, 0 being the value's own
        self.level_of = {c: i for i, close in reversed(list(enumerate(row))) for c in close}
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
