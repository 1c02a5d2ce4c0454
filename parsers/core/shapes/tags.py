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
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ..building import ObjectBuilder, value_of
from ..jsontext import read_arguments
from ..literals import Literals, any_of, beginning, cut_off, first_characters, literals
from ..names import read_word
from ..reader import Reader, Step
from ..schema import JSON_TYPES, Kind, Tool
from ..shape import Outcome, Shape
from ..spec import Wrapper
from .json_calls import JsonCalls

if TYPE_CHECKING:
    from ..driver import Run

#: what a tag says about a value: `string="true"`, `string="false"`
_SAID = {"true": Kind(frozenset({"string"})), "false": Kind(JSON_TYPES - {"string"})}
_LONGEST_TAG = 600
_inner = lru_cache(maxsize=256)(re.compile)


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag: how it begins, how it ends, and the name in it.

    `unfinished` is what may stand behind its beginning where the message ends inside the tag.
    """

    begin: tuple[str, ...]
    end: str = ">"
    inner: str = (
        r"""\s*["']?(?P<name>[^"'<>\n]+?)["']?"""
        r"""(?:\s+string\s*=\s*["'](?P<string>true|false)["']|\s+[\w:.-]+\s*=\s*"[^"]*")*\s*"""
    )
    unfinished: str = r"[^<>\n]*"


@dataclass(frozen=True, slots=True)
class Tags(Shape):
    """Tags for calls and parameters."""

    call: Tag | None
    parameter: Tag
    parameter_close: tuple[str, ...]
    close: tuple[str, ...] = ()
    #: what stands between a name without tag and the first parameter
    separator: tuple[str, ...] = ()
    drift: JsonCalls = field(default_factory=JsonCalls)

    @property
    def heads(self) -> tuple[str, ...]:
        return self.call.begin if self.call else ()

    @property
    def closers(self) -> tuple[str, ...]:
        return self.close

    @property
    def bare_start(self) -> str:
        return any_of(self.heads)

    def may_start(self, character: str) -> bool:
        heads = any(head.startswith(character) for head in self.heads)
        return bool(character) and (heads or self.drift.may_start(character))

    def read(self, run: Run) -> Step[Outcome]:
        r = run.r
        first = r.text[r.pos] if r.pos < len(r.text) else (yield from r.peek())
        if not run.bare and self.drift.may_start(first):
            return (yield from self.drift.read(run))
        name = yield from self._name(run)
        if not run.allowed(name):
            return Outcome.NOTHING
        yield from r.skip_space()
        if (yield from run.at_closer()):
            r.call_without_arguments(name)
            return Outcome.CALL
        if self.call and (yield from r.peek()) == "{":
            r.start_call(name)
            r.end_call((yield from read_arguments(r, run.marks, r.arguments)))
            return Outcome.CALL
        opening = yield from read_tag(r, self.parameter)
        if opening is None:
            return Outcome.NOTHING
        r.start_call(name)
        r.end_call((yield from _Call(self, run, name).read(opening)))
        return Outcome.CALL

    def _name(self, run: Run) -> Step[str]:
        if self.call:
            opening = yield from read_tag(run.r, self.call)
            return opening["name"] if opening else ""
        if not run.inside_all():
            return ""
        name = yield from read_word(run.r)
        yield from run.r.skip_space()
        separator = yield from literals(self.separator).here(run.r)
        run.r.take(run.r.pos + len(separator))
        return name


def tag_at(text: str, start: int, tag: Tag) -> tuple[re.Match[str] | None, int]:
    """The opening tag at `start`, if all of it is there, and where it ends."""
    begin = literals(tag.begin).match(text, start)
    if begin is None:
        return None, 0
    end = text.find(tag.end, begin.end(), begin.end() + _LONGEST_TAG)
    if end < 0:
        return None, 0
    return _inner(tag.inner).fullmatch(text, begin.end(), end), end + len(tag.end)


def read_tag(r: Reader, tag: Tag) -> Step[re.Match[str] | None]:
    """Read an opening tag; None if there is none here (its beginning may have been read then)."""
    found, end = tag_at(r.text, r.pos, tag)
    if found:
        r.take(end)
        return found
    begin = yield from literals(tag.begin).here(r)
    if not begin:
        return None
    r.take(r.pos + len(begin))
    searched = 0
    while True:
        end = r.text.find(tag.end, max(r.pos, r.pos + searched - len(tag.end)))
        if end >= 0 or r.eof or len(r.text) - r.pos > _LONGEST_TAG:
            break
        searched = len(r.text) - r.pos
        yield
    if not 0 <= end - r.pos <= _LONGEST_TAG:
        return None
    found = _inner(tag.inner).fullmatch(r.text, r.pos, end)
    if found:
        r.take(end + len(tag.end))
    return found


class _Call:
    """Reads a call's parameters."""

    def __init__(self, shape: Tags, run: Run, name: str) -> None:
        self.shape = shape
        self.run = run
        self.r = run.r
        self.tool: Tool = run.tool(name)
        self.object = ObjectBuilder(self.r.arguments)
        opened = run.opened
        if opened not in run.worked_out:
            run.worked_out[opened] = _plan(shape, run.format.wrappers, opened)
        self.plan: _Plan = run.worked_out[opened]

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
        said = opening["string"] if "string" in opening.re.groupindex else None
        kind = _SAID[said] if said else self.tool.kind(key)
        self.object.key(key)
        value = value_of(kind, r)
        inline = not (yield from r.skip_newline())
        search, passing = self.plan.stops.search, None
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
                    passing = passing or value.passing(self.plan.plain.fullmatch)
                    r.shortcut = passing
                yield
                continue
            tag = found[0].lstrip("\r\n")
            if len(tag) < len(found[0]):
                value.add(newline)
                newline = r.take(found.end() - len(tag))
            pieces = [newline]
            ended: re.Match[str] | bool | None
            if tag in self.shape.parameter.begin:
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
        closer = plan.closer.match(text, r.pos)
        if closer is None:
            return False
        behind = closer.end()
        opening, end = tag_at(text, behind, self.shape.parameter)
        starts = self.run.marks.starts
        if opening and not (plan.above[1].match(text, behind) or starts.match(text, behind)):
            r.take(end)
            return opening
        if plan.whole_row.match(text, r.pos):
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
        opening = yield from read_tag(r, self.shape.parameter)
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
        tag = self.shape.parameter
        if begin:
            return re.fullmatch(tag.unfinished, rest) is not None
        return literals(tag.begin).begun(rest)

    def _unclosed(self, inline: bool, pieces: list[str]) -> Step[re.Match[str] | None]:
        """At a parameter's opening tag at the start of a line, inside a value that was not closed.

        It counts if the parameter is declared, has not come yet, and is written like this one: with
        its value on the same line, or on the next.
        """
        r = self.r
        r.hold()
        opening = yield from read_tag(r, self.shape.parameter)
        pieces.append(r.held_since(0))
        r.drop()
        if opening is None:
            return None
        name = (opening["name"] or "").strip()
        if not self.tool.declares(name) or name in self.object.keys:
            return None
        same_line = (yield from r.peek()) not in ("\r", "\n")
        return opening if same_line == inline else None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to look for in a call's values, given the wrappers around it."""

    closer: re.Pattern[str]  # of a parameter (its first group), and the whitespace behind it
    whole_row: re.Pattern[str]  # a closer of each kind that ends a call, innermost first
    row: tuple[Literals, ...]  # the closers that end a call, innermost first
    above: tuple[Literals, ...]  # above[i]: those from row[i] on
    stops: re.Pattern[str]  # what to stop at in a value
    plain: re.Pattern[str]  # text in a value that nothing has to be looked at in


@lru_cache(maxsize=256)
def _plan(shape: Tags, wrappers: tuple[Wrapper, ...], opened: frozenset[int]) -> _Plan:
    around = [wrappers[level].close for level in sorted(opened, reverse=True)]
    row = [close for close in (shape.parameter_close, shape.close, *around) if close]
    above = [[c for close in row[i:] for c in close] for i in range(len(row) + 1)]
    return _Plan(
        closer=re.compile(rf"({any_of(row[0])})\s*"),
        whole_row=re.compile(r"\s*".join(f"(?:{any_of(close)})" for close in row)),
        row=tuple(map(Literals, row)),
        above=tuple(map(Literals, above)),
        stops=_stops(above[0], shape.parameter.begin),
        plain=_plain([*above[0], *shape.parameter.begin]),
    )


def _plain(tags: list[str]) -> re.Pattern[str]:
    """Without the beginning of a tag, and without a newline at its end, which may be a tag's."""
    first = first_characters(tags)
    return re.compile(rf"[^{first}]*[^{first}\r\n]")


def _stops(closers: list[str], begins: tuple[str, ...]) -> re.Pattern[str]:
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
