"""The parameters of a call: their values, and what ends a value.

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

from ...core.driver import Run
from ...core.literals import (
    Levels,
    Literals,
    any_of,
    beginning,
    cut_off,
    first_of,
    pattern_of,
    plain_lines,
)
from ...core.object_builder import ObjectBuilder, Value, WholeValue, unfinished_json, value_of
from ...core.window import FastPath, Step, Window
from ...schema.kinds import JSON_TYPES, Kind, json_type
from ...schema.tools import UNDECLARED, Tool
from .opening_tags import NoTag, Opening, OpeningTag

if TYPE_CHECKING:
    from .read import TagsReader

_STRING: Final = Kind(frozenset({"string"}))
_OTHER: Final = Kind(JSON_TYPES - {"string"})
#: what a tag says about a value: `string="true"`, `string="false"`, `type="number"`
_SAID: Final = {
    "true": _STRING,
    "false": _OTHER,
    **{word: _STRING if word == "string" else _OTHER for word in JSON_TYPES},
}
#: a closing tag of any name: one that belongs to no level, among the closers of a call
_ANY_CLOSER: Final = re.compile(r"</[^\s<>/]{1,64}>").match
_ANY_CLOSER_BEGUN: Final = re.compile(r"<(?:/[^\s<>/]{0,64})?").fullmatch
_CDATA: Final = Literals(["<![CDATA["])
_CDATA_END: Final = first_of(["]]>"]).search


class Parameters:
    """Reads a call's parameters."""

    def __init__(self, shape: TagsReader, run: Run, name: str) -> None:
        self.run = run
        self.window = run.window
        self.tag = shape.parameter
        self.own_lines = shape.value_on_own_lines
        self.plan = shape.plan(run)
        self.tool: Tool = run.tool(name)
        self.wrapped_in: tuple[str, ...] = shape.wrapped_in
        self.cdata = shape.cdata
        self.object = ObjectBuilder(run.out)

    def read(self, opening: Opening) -> Step[bool]:
        """Behind the first parameter's opening tag. Returns whether the model finished the call."""
        following: Opening | bool
        if self._may_wrap(opening.name):
            following = yield from self._wrapped(opening)
        else:
            following = yield from self._parameter(opening)
        while isinstance(following, Opening):
            following = yield from self._parameter(following)
        if following and self.object.keys:
            self.object.close()
        return following

    def _may_wrap(self, name: str) -> bool:
        """Whether a parameter of this name may hold all arguments, for the tool has none of it."""
        return (
            name in self.wrapped_in and self.tool is not UNDECLARED and not self.tool.declares(name)
        )

    def _wrapped(self, opening: Opening) -> Step[Opening | bool]:
        """Read the first parameter, whose value may be an object that is all arguments."""
        same_line = yield from self._begin_value()
        whole = WholeValue()
        following = yield from self._value(whole, same_line)
        text, out = whole.take(), self.run.out
        if following is True and json_type(text) == "object":
            out.write(text.strip())
        elif following is False and text.lstrip().startswith("{"):
            out.write(unfinished_json(text, whole.closer))
        else:
            self.object.key(opening.name)
            value = value_of(self._kind(opening), out)
            value.write(text)
            if whole.closed:
                value.close()
            else:
                value.cut(whole.closer)
        return following

    def _parameter(self, opening: Opening) -> Step[Opening | bool]:
        """Read a value, and what ends it: the next opening tag, or whether the call is complete."""
        self.object.key(opening.name)
        value = value_of(self._kind(opening), self.run.out)
        if opening.closed:
            value.close()
            pieces: list[str] = []
            following = yield from self._next_parameter(pieces)
            if following is None:
                self.window.unread("".join(pieces))
            return following is None or following
        same_line = yield from self._begin_value()
        return (yield from self._value(value, same_line))

    def _kind(self, opening: Opening) -> Kind:
        """The kind of a parameter's values. What its tag says counts more than what is declared, but
        a number is no string because it was said to be one."""
        declared = self.tool.kind(opening.name)
        said = _SAID.get(opening.type.partition("[")[0])  # array[string]
        if said is None or (said is _STRING and declared.types and "string" not in declared.types):
            return declared
        return said

    def _begin_value(self) -> Step[bool]:
        """Behind a parameter's opening tag: whether its value begins on the same line. The newline
        before it is read where it belongs to the tag."""
        w = self.window
        if self.own_lines:
            while (newline := w.newline()) is None:
                yield
            return not newline
        while (first := w.peek()) is None:
            yield
        return first not in ("\r", "\n")

    def _value(self, value: Value, same_line: bool) -> Step[Opening | bool]:
        """Read a value to its end, and what ends it."""
        if self.cdata:
            yield from self._cdata(value)
        w, search = self.window, self.plan.stops
        fast_path: FastPath | None = None
        newline = ""  # read, but part of the value only if no closing tag follows it
        line_begins = not same_line and self.own_lines  # nothing of the value's first line was read
        while True:
            found = search(w.text, w.pos)
            end = found.start() if found else len(w.text)
            if end > w.pos:
                value.write(newline + w.take(end))
                newline = ""
                line_begins = False
            if found is None or not found.lastindex:
                if w.at_limit:  # the end of the part implies the closers
                    text, newline = _split_newline(newline + w.take(len(w.text)))
                    value.write(text if self.own_lines else text + newline)
                    value.close()
                    return True
                if w.eof:
                    value.cut(newline + w.take(len(w.text)))
                    return False
                if found is None and not newline and not line_begins:
                    fast_path = fast_path or value.fast_path(self.plan.plain)
                    w.wait_with(fast_path)
                yield
                continue
            tag = found[0].lstrip("\r\n")
            if len(tag) < len(found[0]):
                value.write(newline)
                newline = w.take(found.end() - len(tag))
            pieces = [newline]
            ended: Opening | bool | None
            if self.tag.begin.spelling_of(tag):
                ended = yield from self._unclosed(same_line, pieces)
            else:
                ended = yield from self._closing(pieces, line_begins or bool(newline))
            if ended is not None:
                if not self.own_lines and self.plan.row[0].spelling_of(tag):
                    value.write(newline)
                value.close()
                return ended
            text, newline = _split_newline("".join(pieces))
            value.write(text)
            line_begins = False

    def _cdata(self, value: Value) -> Step[None]:
        """Where a value begins: read text between CDATA's marks, in which nothing ends it."""
        w = self.window
        while True:
            while (begin := _CDATA.here(w)) is None:
                yield
            if not begin:
                return
            w.take(w.pos + len(begin))
            while (found := _CDATA_END(w.text, w.pos)) is None or found.lastindex != 1:
                value.write(w.take(found.start() if found else len(w.text)))
                if w.eof:
                    value.write(w.take(len(w.text)))
                    return
                yield
            value.write(w.take(found.start()))
            w.take(found.end())

    # -- what ends a value --------------------------------------------------------------------

    def _closing(self, pieces: list[str], at_line_start: bool) -> Step[Opening | bool | None]:
        """At a closing tag in a value: what the chain it begins leads to, or None if to nothing.

        What is read is added to `pieces`: it is the value's text if the chain breaks off.
        """
        whole = self._whole_chain() if self.window.fast_paths else False
        return whole or (yield from self._chain(pieces, at_line_start))

    def _whole_chain(self) -> Opening | bool:
        """The fast path for the two chains that models write nearly always, if all is there: the
        parameter's closer and the next one's opening tag; or the closers of everything."""
        w, plan = self.window, self.plan
        text = w.text
        closer = plan.closer(text, w.pos)
        if closer is None:
            return False
        behind = closer.end()
        opening = self.tag.here(w, behind - w.pos)
        starts = self.run.delimiters.starts
        if isinstance(opening, Opening) and not (
            plan.above[1].at(text, behind) or starts.at(text, behind)
        ):
            w.take(behind + opening.length)
            return opening
        if len(plan.row) > 1 and plan.whole_row(text, w.pos):
            w.take(closer.end(1))
            return True
        return False

    def _chain(self, pieces: list[str], at_line_start: bool) -> Step[Opening | bool | None]:
        """The same, link by link.

        The closers of the call and its wrappers are left to be read by whoever reads closers; behind
        the value's own, a closer that comes again or that belongs to no level is markup.
        """
        w, plan = self.window, self.plan
        last = len(plan.row) - 1
        level = -1
        closed = False  # the value's own closer was read
        outer: list[str] = []  # what is left to be read again
        while True:
            closers = plan.above[0 if closed else level + 1]
            while (closer := closers.here(w)) is None:
                yield
            if closer:
                piece = w.take(w.pos + len(closer))
                this = plan.level_of[closer]
                closed = closed or this == 0
                level = max(level, this)
                outer.append(piece if this else "")
            else:
                if (yield from self._chain_ends(closers, behind_value=level == 0)):
                    break
                piece = (yield from self._foreign_closer()) if closed else ""
                if not piece:
                    following = None if level else (yield from self._next_parameter(pieces))
                    if following is not None or last or self.run.in_part:
                        return following
                    w.unread(pieces.pop())  # nothing else closes this call
                    break
            pieces.append(piece)
            if level == last > 0 and (closed or at_line_start):
                break
            while (space := w.space()) is None:
                yield
            pieces.append(space)
            outer.append(space)
        w.unread("".join(outer))
        return True

    def _chain_ends(self, closers: Literals, behind_value: bool) -> Step[bool]:
        """Behind a closer that none of `closers` follows: whether the message ends or another call is
        opened, even if the end of the message cuts that off. Right behind a value, what may be the
        beginning of the next parameter is that, unless it may be the call's end, too."""
        w, starts = self.window, self.run.delimiters.starts
        while (opener := starts.here(w)) is None:
            yield
        if opener or w.pos == len(w.text):
            return True
        rest = w.text[w.pos :] if w.eof else ""
        if behind_value and self.tag.begin.begun(rest) and not self.plan.above[1].begun(rest):
            return False
        return closers.begun(rest) or starts.begun(rest)

    def _foreign_closer(self) -> Step[str]:
        """Read a closing tag that belongs to no level, if one stands here."""
        w = self.window
        while True:
            found = _ANY_CLOSER(w.text, w.pos)
            if found:
                return w.take(found.end())
            if w.eof or not _ANY_CLOSER_BEGUN(w.text, w.pos):
                return ""
            yield

    def _next_parameter(self, pieces: list[str]) -> Step[Opening | bool | None]:
        """Behind a parameter's closer: the next parameter's opening tag, if that is what follows."""
        w = self.window
        opening = yield from first_tag(self.tag, w, self.plan)
        if isinstance(opening, NoTag) and w.eof and self._cut_off_tag(opening.length):
            w.take(len(w.text))
            return False
        pieces.append(w.take(w.pos + opening.length))
        return opening if isinstance(opening, Opening) else None

    def _cut_off_tag(self, begun: int) -> bool:
        """Whether the message ends inside a parameter's opening tag. `begun`: how much of it is its
        beginning."""
        rest = self.window.text[self.window.pos + begun :]
        return self.tag.may_go_on(rest) if begun else self.tag.begin.begun(rest)

    def _unclosed(self, same_line: bool, pieces: list[str]) -> Step[Opening | None]:
        """At a parameter's opening tag, inside a value that was not closed.

        It counts if the parameter is declared, has not come yet, and is written like this one: with
        its value on the same line, or on the next.
        """
        w = self.window
        while (opening := self.tag.here(w)) is None:
            yield
        pieces.append(w.take(w.pos + opening.length))
        if isinstance(opening, NoTag):
            return None
        if not self.tool.declares(opening.name) or opening.name in self.object.keys:
            return None
        while (first := w.peek()) is None:
            yield
        return opening if (first not in ("\r", "\n")) == same_line else None


def first_tag(tag: OpeningTag, w: Window, plan: Plan) -> Step[Opening | NoTag]:
    """The parameter's opening tag that stands here, or a key without a value. Reads nothing."""
    while True:
        found = tag.here(w)
        if not isinstance(found, Opening):
            found = tag.key_alone(w, plan.behind_key) or found
        if found is not None:
            return found
        yield


class Plan:
    """What to look for in a call's values: the closers that end a call, innermost first."""

    __slots__ = (
        "above",
        "behind_key",
        "closer",
        "level_of",
        "plain",
        "row",
        "stops",
        "whole_row",
    )

    def __init__(
        self,
        row: Sequence[Iterable[str]],
        begins: Sequence[str],
        within_line: bool,
        turn_ends: Sequence[str],
    ) -> None:
        """`begins` are the beginnings of a parameter's opening tag; `within_line`: it is told from text
        also in the middle of a line."""
        above = [[c for close in row[i:] for c in close] for i in range(len(row) + 1)]
        self.row = [Literals(close) for close in row]
        #: above[i]: those from row[i] on
        self.above = [Literals(closers) for closers in above]
        #: which of the row a closer belongs to, 0 being the value's own
        self.level_of = Levels(row)
        #: the closer of a parameter (its first group), and the whitespace behind it
        self.closer = re.compile(rf"({any_of(row[0])})\s*").match
        #: a closer of each kind
        self.whole_row = re.compile(r"\s*".join(f"(?:{any_of(close)})" for close in row)).match
        #: what follows a key that has no value: the next key, or what closes the call
        self.behind_key = re.compile(any_of([*begins, *(above[1] if row[1:] else ())])).search
        #: what to stop at in a value
        self.stops = _stops(above[0], begins, within_line).search
        #: for fast paths: text in which nothing has to be looked at
        self.plain = plain_lines([*above[0], *begins, *turn_ends])


def _stops(closers: list[str], begins: Sequence[str], within_line: bool) -> re.Pattern[str]:
    """What to stop at in a value; `lastindex` is None where the end of the text cuts it off.

    The newline before a closing tag belongs to the tag. A parameter's opening tag in a value is looked
    at only at the start of a line, but for those that are three tags with a key between them. The groups
    stand at the ends for the reason that `first_of` gives.
    """
    tags = any_of([*closers, *begins])
    cut = rf"(?:{cut_off([*closers, *begins])}|\Z)"
    branches = [rf"\n(?:{tags})()", rf"\r\n(?:{tags})()"]
    branches += [
        f"{pattern_of(closer)}()"
        for closer in Literals([*closers, *(begins if within_line else ())]).spellings
    ]
    branches += [rf"\n{cut}", rf"\r\n{cut}", r"\r\Z"]
    branches += [rf"{beginning(tag)}\Z" for tag in [*closers, *begins] if len(tag) > 1]
    return re.compile("|".join(branches))


def _split_newline(text: str) -> tuple[str, str]:
    """`text` without the newline at its end, and that newline."""
    for newline in ("\r\n", "\n"):
        if text.endswith(newline):
            return text[: -len(newline)], newline
    return text, ""
