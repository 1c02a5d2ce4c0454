"""Reads messages whose format nobody has named: each block of calls says by itself what it is.

    prose ──an opener of any format──▶ choose ──one format──▶ that format's own block ──▶ prose
                                         └─ none: content

Prose is searched for what begins a call in any of the formats. There, the *candidates* are those formats
whose opener this is, in the order of the formats. What follows the opener narrows them down: a format is
out if no call of its shape, and no other opener of its own, can begin there. If the format of the last
block is among them, it is chosen: a message is written by one model. Otherwise, as long as several are
left, the first is tried by a *scout*, a reader of that format with a window of its own. If the scout
commits to a call, its format is chosen; if it gives up, the next is tried, and the last that is left is
chosen without a trial.

Then the text is put back, and the chosen format reads it as it would in a message of its own, up to
where that format's block ends, with the thoughts, the window and the output of the message.

What makes every cut give the same result, and keeps cost linear:

* What narrows the candidates down, whether a scout commits, and where it gives up, depends on the text
  alone.
* Only what is undecided is read twice: an opener, a name, and the beginning of the arguments.
* Where a scout gave up is remembered: before that place, its format is no candidate again. So each
  format reads each character once at most on trial, and once at most for real.
* One block is remembered, the last one, with its format: only that format's closers count in prose.

In the candidates only declared names make a call, where any tools are declared: what one format marks as
a call may be just text to the model at hand.

A message that is a row of parts (`core/any_channels.py`) is known by the first token of a header: from
there on it is read as such, to its end. In thoughts that are marked otherwise, such a token is text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..schema.tools import Tool
from .any_channels import AnyChannelRun, Family
from .block import Block
from .driver import Run, ShapeReader
from .format import Format
from .literals import Literals
from .outgoing import Outgoing
from .reasoning import ReasoningStyle
from .thoughts import Thoughts
from .window import Step, Window

if TYPE_CHECKING:
    from .shape import Shape

#: How much scouts are shown at a time: they are done long before the end of a long text.
_GLANCE: Final = 128


class Candidate:
    """A format that may begin where an opener stands."""

    __slots__ = ("format", "length")

    def __init__(self, format: Format, length: int) -> None:
        self.format = format
        self.length = length  # of its own opener: another format's may be longer


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
        #: those whose headers may begin with the recipient, by the word before it
        self.addressed: Final = {
            family.recipient: family for family in reversed(families) if family.recipient
        }
        self.recipients: Final = Literals(self.addressed)
        self._known: Final[dict[tuple[str, bool], list[Candidate]]] = {}

    def run(
        self,
        format: Format,
        tools: Mapping[str, Tool] | None,
        window: Window,
        style: ReasoningStyle | None,
    ) -> Run:
        return AnyRun(format, tools, window, style, self)

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
    """The part of a message that is in one of the formats."""

    def allowed(self, name: str) -> bool:
        return bool(name) and (self.tools is None or name in self.tools)

    def enter(self, out: Outgoing, thoughts: Thoughts, block: Block, line_start: bool) -> None:
        """Before a block: take over what is known of the message."""
        self.out, self.thoughts = out, thoughts
        self._block = block
        self.line_start = line_start

    @property
    def block(self) -> Block:
        return self._block


class _Scout(_FormatRun):
    """Tells whether the text that it is fed begins with a call."""

    def __init__(self, format: Format, tools: Mapping[str, Tool] | None, block: Block) -> None:
        super().__init__(format, tools, Window(False), None)
        self._block.left_open = block.left_open
        self.committed = False
        self.over = False
        self._fed = 0
        self._steps: Final[Step[bool]] = self.read_block()
        next(self._steps)

    @property
    def length(self) -> int:
        """How much of the text it has read."""
        return self._fed - len(self.window.text) + self.window.pos

    def feed(self, chunk: str) -> None:
        if not self.over:
            self._fed += len(chunk)
            self.window.push(chunk)
            self._step()

    def finish(self) -> None:
        if not self.over:
            self.window.finish()
            self._step()

    def _step(self) -> None:
        ended = next(self._steps, True)
        self.over = ended is not None or self.committed

    def commit(self) -> None:
        self.committed = True
        super().commit()


class AnyRun(Run):
    """One message being read in whatever formats it has."""

    def __init__(
        self,
        format: Format,
        tools: Mapping[str, Tool] | None,
        window: Window,
        style: ReasoningStyle | None,
        reader: AnyReader,
    ) -> None:
        super().__init__(format, tools, window, style)
        self._reader: Final = reader
        self._runs: Final[dict[str, _FormatRun]] = {}
        self._last: Format | None = None  # whose block is remembered
        self._last_before_trial: Format | None = None
        self._on_trial = False
        self._given_up: Final[dict[str, int]] = {}  # where each format's scout did last

    # -- blocks -------------------------------------------------------------------------------

    def main(self, in_reasoning: bool) -> Step[None]:
        recipient = "" if in_reasoning else (yield from self._recipient())
        if recipient:
            parts = self._parts(self._reader.addressed[recipient])
            if header := (yield from parts.first_header()):
                yield from parts.rest(header)
        yield from super().main(in_reasoning)

    def _recipient(self) -> Step[str]:
        """What the message begins with, if a header's recipient may follow; the prompt began the header
        then. Reads nothing."""
        w = self.window
        while (space := w.space()) is None:
            yield
        while (recipient := self._reader.recipients.here(w)) is None:
            yield
        w.unread(space)
        return recipient

    def _parts(self, family: Family) -> AnyChannelRun:
        return AnyChannelRun(family.merged, self.tools, self.window, self.out, family)

    def read_block(self) -> Step[bool]:
        chosen = yield from self._choose()
        if chosen is None:
            return False
        family = self._reader.families.get(chosen.name)
        if family is not None:
            yield from self._parts(family).rest()
            return False
        calls, run = self.out.calls, self._enter(chosen)
        at_opener = yield from run.read_block()
        self.line_start = run.line_start
        if self.out.calls > calls:
            self._block, self._last = run.block, chosen
        return at_opener

    def _after(self) -> Step[bool]:
        assert self._last is not None
        run = self._enter(self._last)
        at_opener = yield from run._after()
        self.line_start = run.line_start
        return at_opener

    def _enter(self, format: Format) -> _FormatRun:
        run = self._runs.get(format.name)
        if run is None:
            run = self._runs[format.name] = _FormatRun(format, self.tools, self.window, None)
        run.enter(self.out, self.thoughts, self._block_of(format), self.line_start)
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
        if not holds:
            self._last = self._last_before_trial

    # -- choosing -----------------------------------------------------------------------------

    def _choose(self) -> Step[Format | None]:
        """At what may begin a call: which format reads it. None if none does: the opener has been read
        then, and is content."""
        w = self.window
        w.hold()
        place = w.place
        while (opener := self._reader.starts.here(w)) is None:
            yield
        candidates = self._candidates(opener, place)
        w.take(w.pos + len(opener))
        if not candidates:
            self.release()
            return None
        while (space := w.space()) is None:
            yield
        likely = yield from self._likely(candidates, len(opener))
        chosen = yield from self._try(likely, opener + space, place)
        w.unread(w.release())
        return chosen

    def _candidates(self, opener: str, place: int) -> list[Candidate]:
        """Those that may read what begins with `opener`."""
        every = self._reader.candidates(opener, self.line_start) if opener else []
        found = [c for c in every if self._given_up.get(c.format.name, 0) <= place]
        if self._on_trial or self.thoughts.active:
            found = [c for c in found if c.format.channels is None]
        return found

    def _likely(self, candidates: Sequence[Candidate], length: int) -> Step[list[Format]]:
        """Behind an opener of that length: those whose calls, or other openers, may begin here. Who has
        a shorter opener is not here yet. Where there are none, a call in JSON may stand here, which most
        formats read in place of their own."""
        w = self.window
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
        if self._last is not None and self._last in likely:
            return [self._last]
        return likely or [candidate.format for candidate in candidates]

    def _try(self, formats: Sequence[Format], text: str, place: int) -> Step[Format]:
        """Which of these commits to the call that begins with `text`, at `place`. The last one is taken
        at its word."""
        w = self.window
        read = [text]
        for format in formats[:-1]:
            scout = _Scout(format, self.tools, self._block_of(format))
            scout.feed("".join(read))
            while not scout.over:
                while w.pos == len(w.text) and not w.eof:
                    yield
                more = w.take(min(w.pos + _GLANCE, len(w.text)))
                if more:
                    read.append(more)
                    scout.feed(more)
                else:
                    scout.finish()
            if scout.committed:
                return format
            self._given_up[format.name] = place + scout.length
        return formats[-1]
