"""Reads messages whose format nobody has named: each block of calls says by itself what it is.

    prose ──an opener of any format──▶ choose ──one format──▶ that format's own block ──▶ prose
                                         └─ none: content

Prose is searched for what begins a call in any of the formats. There, the *candidates* are those formats
whose opener this is, in the order of the formats; but the format of the last block goes first, for a
message is written by one model. What follows the opener narrows them down: a format is out if no call of
its shape, and no other opener of its own, can begin there; where that goes for all of them, a call in
JSON may stand there, which most formats read in place of their own. Of those that are left, one after
the other reads the text as it would in a message of its own, with the thoughts, the window and the
output of the message. The first that commits to a call goes on, up to where its block ends. One that
gives up puts back what it has read, and the next one reads it; what the last one gives up is content.

A format may give up in a list, of which the next member may be a call again. Where all others give up,
too, prose goes on in the list of the first that did so. At its next member it is asked once more, and
with it those that gave up in the same place and read lists alike.

What makes every cut give the same result, and keeps cost linear:

* What narrows the candidates down, whether a format commits, and where it gives up, depends on the text
  alone.
* Before it commits, a run changes nothing but the window, and what it has let go as prose it keeps.
* Where a format gave up is remembered: before that place, it is no candidate again. So each format reads
  each character once at most; that of the last block twice, where nobody else can read it.
* One block is remembered, the last one, with its format: only that format's closers count in prose.

In the candidates only declared names make a call, where any tools are declared: what one format marks as
a call may be just text to the model at hand.

A message that is a row of parts (`core/any_channels.py`) is known by the first token of a header: from
there on it is read as such, to its end. In thoughts that are marked otherwise, such a token is text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..schema.recent import Recent
from ..schema.tools import NameIndex, Tool
from .any_channels import AnyChannelRun, Family
from .block import Block
from .channel_run import first_words
from .context import Context
from .driver import Run
from .format import Format
from .literals import Literals
from .open_list import OpenList
from .outgoing import Outgoing
from .shape_reader import ShapeReader
from .spelling import Spelling
from .thoughts import Thoughts
from .window import Step, Window

if TYPE_CHECKING:
    from .shape import Shape


class Candidate:
    """A format that may begin where an opener stands."""

    __slots__ = ("format", "length")

    def __init__(self, format: Format, length: int) -> None:
        self.format = format
        self.length = length  # of its own opener: another format's may be longer


def _stands(names: NameIndex, w: Window) -> bool | None:
    """Whether any of these names stands at the reading position; None as long as the text does not tell.
    Reads nothing."""
    ahead = w.text[w.pos : w.pos + names.longest]
    if len(ahead) < names.longest and not w.eof and (not ahead or names.begins_longer(ahead)):
        return None
    return names.begin(ahead)


def _does_the_same(one: Format, other: Format) -> bool:
    """Whether both commit to the same calls right behind their openers: they differ in what stands
    around calls, and that is one wrapper, which is open."""
    return one.shape == other.shape and len(one.wrappers) == len(other.wrappers) == 1


class AnyReader(ShapeReader):
    """What reads a message in any of several formats. Those that come first are preferred."""

    def __init__(self, shape: Shape, formats: Sequence[Format], families: Sequence[Family]) -> None:
        super().__init__(shape)
        formats = (*formats, *[family.merged for family in families])
        self._formats: Final = formats
        self.families: Final = {family.merged.name: family for family in families}
        #: what a call can begin with in any of them
        self.starts: Final = Literals(
            [spelling for format in formats for spelling in format.delimiters.starts.spellings]
        )
        #: what a header may begin with before its first token, beside a tool's name
        self._recipients: Final = [f.recipient for f in families if f.recipient]
        self._first_words: Final = Recent(self._words)
        self._known: Final[dict[tuple[str, bool], list[Candidate]]] = {}

    def own_run(self, context: Context) -> Run:
        return AnyRun(context, self)

    def first_words(self, tools: Mapping[str, Tool] | None) -> NameIndex:
        """What a header may begin with before its first token."""
        return self._words(tools) if tools is None else self._first_words(tools)

    def _words(self, tools: Mapping[str, Tool] | None) -> NameIndex:
        return NameIndex([*self._recipients, *filter(None, tools or ())])

    def candidates(self, opener: str, line_start: bool) -> list[Candidate]:
        """Those of the formats that may begin with `opener`, which may begin a line."""
        key = (self.starts.spelling_of(opener), line_start)
        found = self._known.get(key)
        if found is None:
            every = [
                Candidate(format, len(_own_opener(format, opener, line_start)))
                for format in self._formats
            ]
            found = self._known[key] = [candidate for candidate in every if candidate.length]
        return found


def _own_opener(format: Format, opener: str, line_start: bool) -> str:
    """What of `opener` begins a call in this format, or ""."""
    delimiters = format.delimiters
    heads_count = format.inline or (format.bare and line_start)
    return (delimiters.starts if heads_count else delimiters.opens).at(opener, 0)


class _FormatRun(Run):
    """The part of a message that is in one of the formats, or that may be."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.trying = False  # it has not committed yet, and another format may be tried
        self._let_go: list[str] = []  # what is prose, if it commits

    def enter(
        self,
        out: Outgoing,
        thoughts: Thoughts,
        spelling: Spelling,
        block: Block,
        line_start: bool,
        trying: bool,
    ) -> None:
        """Before a block: take over what is known of the message."""
        self.out, self.thoughts, self.spelling = out, thoughts, spelling
        self._block = block
        self.line_start = line_start
        self.trying = trying
        self._open_list = None
        self._let_go.clear()

    @property
    def block(self) -> Block:
        return self._block

    @property
    def open_list(self) -> OpenList | None:
        """The list that it has left open: a member of it was no call."""
        return self._open_list

    def enter_list(self, here: OpenList) -> None:
        """At a member of a list that it has left open."""
        self._open_list = here

    def allowed(self, name: str) -> bool:
        return bool(name) and (self.tools is None or name in self.tools)

    def let_go(self) -> str:
        """What it has read and does not want."""
        text = "".join(self._let_go)
        self._let_go.clear()
        return text

    def nearly(self) -> None:
        if not self.trying:  # else the next format may find a call
            super().nearly()

    def release(self) -> None:
        if self.trying:
            self._let_go.append(self.window.release())
        else:
            super().release()

    def _more_in_block(self) -> Step[bool]:
        """A sibling without a wrapper that begins with a tag may be another format's: who reads it is
        chosen anew."""
        if self._block.bare and self.format.shape.heads:
            return False
        return (yield from super()._more_in_block())

    def commit(self) -> None:
        if self.trying:
            self.trying = False
            if text := self.let_go():
                self.say(text)
                self.note_line(text)
        super().commit()


class _InList:
    """A format that has given up in a list, and what it knows of the block."""

    __slots__ = ("block", "format", "here", "place")

    def __init__(self, format: Format, block: Block, here: OpenList, place: int) -> None:
        self.format = format
        self.block = block
        self.here = here
        self.place = place  # where it gave up

    def goes_with(self, other: _InList) -> bool:
        """Whether both see the same list."""
        one, two = self.format.reading, other.format.reading
        alike = one.quotes == two.quotes and one.comments == two.comments
        return alike and self.place == other.place and self.here.lists == other.here.lists


class AnyRun(Run):
    """One message being read in whatever formats it has."""

    def __init__(self, context: Context, reader: AnyReader) -> None:
        super().__init__(context)
        self._reader: Final = reader
        self._runs: Final[dict[str, _FormatRun]] = {}
        self._last: Format | None = None  # whose block is remembered
        self._last_before_trial: Format | None = None
        self._on_trial = False
        self._given_up: Final[dict[str, int]] = {}  # where each format did last
        self._run: _FormatRun | None = None  # who reads the block at hand
        self._in_list: list[_InList] = []  # who reads the members of the list that is passed on

    # -- blocks -------------------------------------------------------------------------------

    def main(self, in_reasoning: bool) -> Step[None]:
        family = None if in_reasoning else (yield from self._first_family())
        if family is not None:
            parts = self._parts(family)
            header = yield from parts.first_header()
            yield from parts.rest(header)
        yield from super().main(in_reasoning)

    def _first_family(self) -> Step[Family | None]:
        """Whose header the message begins with, where the prompt began it and left a word to the model:
        for whom the part is. Reads nothing."""
        w, families = self.window, list(self._reader.families.values())
        words = self._reader.first_words(self.tools)
        while (space := w.space()) is None:
            yield
        while (word := _stands(words, w)) is None:
            yield
        found: Family | None = None
        for family in families if word else ():
            boundaries = family.merged.boundaries
            while (length := first_words(w, boundaries)) is None:
                yield
            while (token := boundaries.starts.here(w, length)) is None:
                yield
            if token and found is None:
                found = family
        w.unread(space)
        return found

    def _parts(self, family: Family) -> AnyChannelRun:
        return AnyChannelRun(Context(family.merged, self.tools, self.window), self.out, family)

    def read_block(self) -> Step[bool]:
        w = self.window
        w.hold()
        while (opener := self._reader.starts.here(w)) is None:
            yield
        candidates = self._candidates(opener)
        if not candidates:
            w.take(w.pos + len(opener))
            self.release()
            return False
        given_up: list[_InList] = []
        first = candidates[:1] if candidates[0].format is self._last else []
        if first and len(candidates) > 1 and (yield from self._likely(first, opener)):
            # Nearly always it goes on as it began: then nobody has to find out who else might read this.
            run = self._enter(first[0].format, self._block, trying=True)
            at_opener = yield from self._read_with(run, run.read_block(), given_up)
            if not run.trying:
                return at_opener
            formats = (yield from self._likely(candidates, opener))[1:]
            if not formats:
                formats, given_up = [run.format], []
        else:
            formats = yield from self._likely(candidates, opener)
        formats = formats or [candidate.format for candidate in candidates]
        return (yield from self._read_one_of(formats, given_up))

    def _read_one_of(self, formats: Sequence[Format], given_up: list[_InList]) -> Step[bool]:
        """Let one after the other read what may be a call, until one does. `given_up`: who has tried
        already, and gave up in a list."""
        for format in formats:
            family = self._reader.families.get(format.name)
            if family is not None:
                yield from self._parts(family).rest()
                return False
            trying = format is not formats[-1] or bool(given_up)
            run = self._enter(format, self._block_of(format), trying)
            at_opener = yield from self._read_with(run, run.read_block(), given_up)
            if not run.trying:
                return at_opener
        self._go_on_in_list(given_up)
        return False

    def read_member(self) -> Step[bool]:
        here, self._open_list = self._open_list, None
        assert here is not None
        place = self.window.place
        readers = [r for r in self._in_list if self._given_up.get(r.format.name, 0) <= place]
        given_up: list[_InList] = []
        for reader in readers:
            trying = reader is not readers[-1] or bool(given_up)
            run = self._enter(reader.format, reader.block, trying)
            run.enter_list(here)
            at_opener = yield from self._read_with(run, run.read_member(), given_up)
            if not run.trying:
                return at_opener
        self._go_on_in_list(given_up)
        return False

    def _read_with(self, run: _FormatRun, call: Step[bool], given_up: list[_InList]) -> Step[bool]:
        """Let a format read what may be a call. If it gives up, and another is to be tried, that is put
        back; `given_up` is told where that is in a list."""
        w, calls = self.window, self.out.calls
        format, place = run.format, w.place
        self._run = run
        at_opener = yield from call
        self._run = None
        here = run.open_list
        if not run.trying:
            self.line_start = run.line_start
            if self.out.calls > calls:
                self._block, self._last = run.block, format
            self._open_list = here
            self._in_list = [_InList(format, run.block, here, 0)] if here is not None else []
            return at_opener
        text = run.let_go()
        self._given_up[format.name] = place + len(text)
        w.unread(text)
        if here is not None:
            given_up.append(_InList(format, run.block, here, place + len(text)))
        return False

    def _go_on_in_list(self, given_up: list[_InList]) -> None:
        """Nobody wants what stands here: up to where the first gave up in a list, it is prose."""
        if not given_up:
            return
        w, first = self.window, given_up[0]
        text = w.take(w.pos + first.place - w.place)
        self.say(text)
        self.note_line(text)
        self._open_list = first.here
        self._in_list = [reader for reader in given_up if reader.goes_with(first)]

    def may_start_member(self, character: str) -> bool:
        return any(reader.format.reading.may_start(character) for reader in self._in_list)

    def release(self) -> None:
        if self._run is not None and (text := self._run.let_go()):  # nobody reads on
            self.say(text)
            self.note_line(text)
        self._run = None
        super().release()

    def _after(self) -> Step[bool]:
        assert self._last is not None
        run = self._enter(self._last, self._block_of(self._last), trying=False)
        return (yield from self._read_with(run, run._after(), []))

    def _enter(self, format: Format, block: Block, trying: bool) -> _FormatRun:
        run = self._runs.get(format.name)
        if run is None:
            run = self._runs[format.name] = _FormatRun(Context(format, self.tools, self.window))
        run.enter(self.out, self.thoughts, self.spelling, block, self.line_start, trying)
        return run

    def _block_of(self, format: Format) -> Block:
        return self._block if self._last is format else Block()

    def _closer_counts(self, closer: str) -> bool:
        last = self._last
        is_own = last is not None and last.delimiters.closes.spelling_of(closer) != ""
        return is_own and super()._closer_counts(closer)

    def begin_trial(self) -> None:
        super().begin_trial()
        self._last_before_trial, self._last = self._last, None
        self._on_trial = True

    def end_trial(self, holds: bool) -> None:
        super().end_trial(holds)
        self._on_trial = False
        self._run = None
        if not holds:
            self._last = self._last_before_trial

    # -- choosing -----------------------------------------------------------------------------

    def _candidates(self, opener: str) -> list[Candidate]:
        """Those that may read what begins here, with `opener`; that of the last block first."""
        found = self._reader.candidates(opener, self.line_start) if opener else []
        if self._given_up:
            place = self.window.place
            found = [c for c in found if self._given_up.get(c.format.name, 0) <= place]
        if self._on_trial or self.thoughts.active:
            found = [c for c in found if c.format.channels is None]
        if self._last is not None and len(found) > 1:
            found = sorted(found, key=lambda candidate: candidate.format is not self._last)
        return found

    def _likely(self, candidates: Sequence[Candidate], opener: str) -> Step[list[Format]]:
        """Those of which a call, or another opener, may begin behind this one. Who has a shorter opener
        is not there yet. Reads nothing."""
        w, length = self.window, len(opener)
        w.hold()
        w.take(w.pos + length)
        while w.space() is None:
            yield
        likely: list[Format] = []
        direct: list[Format] = []  # a call begins right here
        for candidate in candidates:
            format = candidate.format
            if candidate.length < length:
                likely.append(format)
                continue
            while (begins := format.reading.begins(w)) is None:
                yield
            while not begins and (nested := format.delimiters.opens.here(w)) is None:
                yield
            if begins:
                if not any(_does_the_same(other, format) for other in direct):
                    direct.append(format)
                    likely.append(format)
            elif nested:
                likely.append(format)
        w.unread(w.release())
        return likely
