"""A model's thoughts in a message: where they begin and end, and what a call in them means.

    text ──opener──▶ thoughts ──closer──▶ text
                       │  special opener, and a call behind it ──▶ the call
                       │  any other opener ──▶ a trial: calls and nothing else up to the message's end?
                       └  the end of the message

The rules, to the letter, are in docs/rules.md. While a message is in its thoughts, the window is limited
to them: nobody else has to know how they end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..events import Arguments, CallEnd, CallStart, Event
from .code import CodeTracker
from .reasoning import ReasoningStyle
from .triggers import ANSWER, NOTE, THINK, THOUGHT, ReasoningTriggers, Triggers
from .window import Step

if TYPE_CHECKING:
    from .driver import Run
    from .prose import Prose


class Thoughts:
    """What is known of a message's thoughts."""

    __slots__ = (
        "_answering",
        "_code",
        "_end",
        "_noted",
        "_notes_code",
        "_seen",
        "_style",
        "_style_known",
        "_triggers",
        "_watches_code",
        "active",
    )

    def __init__(self, style: ReasoningStyle | None, triggers: ReasoningTriggers) -> None:
        self.active = False  # inside of them
        self._style = style
        self._triggers: Final = triggers
        self._end = triggers.end  # what ends thoughts
        self._style_known = False  # the style was one of several, and now is known
        self._seen = False  # there were some
        self._noted = 0  # how many annotations are open
        self._answering = False  # behind a marker that begins the answer
        self._code = CodeTracker()
        self._watches_code: Final = triggers.watches_code
        self._notes_code = triggers.watches_code

    @property
    def triggers(self) -> Triggers:
        """What text is searched for, here and now."""
        return self._triggers.in_thoughts if self.active else self._triggers.in_prose

    @property
    def settled(self) -> bool:
        """Whether text without backticks changes nothing about what is code."""
        return self._code.settled

    @property
    def in_fence(self) -> bool:
        """Whether a fenced block of code is open in the text."""
        return self._code.in_fence

    def in_inline_code(self, before: str, line_start: bool) -> bool:
        """Whether the place behind `before`, which was not passed on yet, is in inline code. In thoughts
        none is: a call in them counts only if nothing follows it, so no backtick either."""
        return not self.active and self._code.inside_span(before, line_start)

    def fence_goes_on(self) -> None:
        """The fence around some calls was not closed behind them."""
        if self._watches_code:
            self._code.open_fence()

    def note(self, text: str, line_start: bool) -> None:
        """Content that was passed on, and whether it begins a line."""
        if self._notes_code and ("`" in text or not self._code.settled):
            self._code.note(text, line_start)

    # -- markers ------------------------------------------------------------------------------

    def counts(self, run: Prose, kind: str, marker: str, before: str) -> bool:
        """Whether a marker that was found in text, behind `before`, is one."""
        style = self._style
        if (
            self._style_known
            and style is not None
            and not style.has(marker)
            and not self._is_always(marker)
        ):
            return False
        if kind == THINK:
            assert style is not None
            at_edge = run.out.fresh and not before.strip()
            return at_edge or self._is_special(marker) or self._in_answer(run, before)
        if kind == THOUGHT:
            at_start = run.out.empty and not before.strip()
            ends_text = not self._seen and self._is_always(marker)
            return at_start or ends_text or self._in_answer(run, before)
        if kind == NOTE:
            return marker in self._triggers.notes or self._noted > 0
        if kind != ANSWER or style is None or self._is_always(marker):
            return True
        if marker in style.answer_open:  # behind thoughts, or where there were none
            return (self._seen or run.out.empty) and run.out.fresh and not before.strip()
        return self._answering or (self._seen and not style.answer_open)

    def _is_always(self, marker: str) -> bool:
        """Whether it is one of those markers that are never text."""
        return marker in self._triggers.always

    def ends_text(self, closer: str) -> bool:
        """Whether what closes a call, and stands behind none, is a marker around text, too."""
        return not self.active and self._is_always(closer)

    def _is_special(self, opener: str) -> bool:
        style = self._style.choice(opener) if self._style is not None else None
        return style is not None and style.is_special(opener)

    def _in_answer(self, run: Prose, before: str) -> bool:
        """Whether a marker behind `before` stands in text that follows thoughts, and not in code."""
        return self._seen and not self._code.inside(before, run.line_start)

    def follow(self, run: Run) -> bool | None:
        """Whether a marker stands here; None as long as the text does not tell."""
        w = run.window
        found = self._triggers.any_marker.match(w.text, w.pos)
        if found is None:
            return False
        return True if found.lastindex == 1 else False if w.eof else None

    def read_marker(self, run: Run, kind: str) -> None:
        """At a marker that counts, or at the limit of the thoughts."""
        w, out = run.window, run.out
        if self.active:
            self.end(run)
        found = self._triggers.any_marker.match(w.text, w.pos)
        assert found is not None
        marker = w.take(found.end())
        self._settle(marker)
        if kind == THINK:
            self.begin(run)
        elif kind == THOUGHT:
            if out.fresh or out.empty:
                out.edge()
        elif kind == ANSWER:
            out.edge()
            self._answering = self._style is not None and marker in self._style.answer_open
        elif kind == NOTE:
            self._noted += 1 if marker in self._triggers.notes else -1
        run.line_start = True

    def _settle(self, marker: str) -> None:
        """Where the style is one of several: the first marker says which."""
        chosen = self._style.choice(marker) if self._style is not None else None
        if chosen is not None and chosen is not self._style:
            self._style, self._style_known = chosen, True
            self._end = self._triggers.end_of(chosen)

    def begin(self, run: Run) -> None:
        self.active = self._seen = self._notes_code = True
        run.out.begin_thoughts()
        run.window.limit(self._end)

    def end(self, run: Run) -> None:
        self.active = False
        run.out.end_thoughts()
        run.window.unlimit()

    def from_the_start(self, run: Run) -> Step[None]:
        """The prompt has opened them. An opener that comes all the same is markup."""
        w = run.window
        while w.space() is None:
            yield
        while (found := self._triggers.opener.match(w.text, w.pos)) or w.pos == len(w.text):
            if found and found.lastindex == 1:
                self._settle(w.take(found.end()))
                break
            if w.eof:
                break
            yield
        self.begin(run)

    # -- calls in thoughts --------------------------------------------------------------------

    def read_call(self, run: Run, member: bool = False) -> Step[None]:
        """At what may begin a call: an opener, or the next member of a list, which goes on only where
        its calls are for real."""
        assert self._style is not None
        if member:
            yield from self._for_real(run, run.read_member())
            return
        opener = run.delimiters.opens.at(run.window.text, run.window.pos)
        if self._style.calls or run.format.is_special(opener):
            yield from self._for_real(run, run.read_block())
        else:
            yield from self._on_trial(run)

    def call_begins(self, run: Run) -> None:
        """A call in them has begun, for real: they are over, or go on behind it."""
        assert self._style is not None
        if self._style.calls:
            run.window.unlimit()
        else:
            self.end(run)

    def _for_real(self, run: Run, call: Step[bool]) -> Step[None]:
        """Where it is a call, it counts."""
        w = run.window
        for _ in call:
            if w.stopped:  # the thoughts end before it is one
                run.release()
                w.forget()
                run.say(w.take(len(w.text)))
                return
            yield
        if self.active and not w.limited:
            w.limit(self._end)

    def _on_trial(self, run: Run) -> Step[None]:
        """It is a thought, unless calls are all that comes up to the end of the message."""
        w = run.window
        run.begin_trial()
        w.record()
        self.active = False  # on trial, what is read is a message by itself
        events: list[Event] = []
        closed = False
        for _ in self._whole_calls(run, events):
            if w.stopped:  # the thoughts end in the middle of it
                closed = True
                break
            yield
        self.active = True
        if events and w.eof and w.pos == len(w.text):
            w.recorded()
            run.end_trial(True)
            self.end(run)
            run.out.follow(run.new_calls(events))
            return
        run.end_trial(False)
        if closed:
            w.take(len(w.text))
        text = w.recorded()
        run.say(text)
        run.note_line(text)

    def _whole_calls(self, run: Run, events: list[Event]) -> Step[None]:
        """Read calls as long as nothing else comes, and say them to `events`; no events, where they
        don't count. Where one is not finished, the next may begin calls that do."""
        more = True
        while more:
            more = yield from run.read_calls()
            said = run.out.take_events()
            events += said
            if not _all_whole(said) or not _declared(events, run):
                events.clear()
                return


def _all_whole(events: Sequence[Event]) -> bool:
    """Whether these are calls that are finished, and nothing else."""
    for event in events:
        if isinstance(event, CallEnd):
            if not event.complete:
                return False
        elif not isinstance(event, CallStart | Arguments):
            return False
    return True


def _declared(events: Sequence[Event], run: Run) -> bool:
    """Whether the first call is to a tool that is declared: calls to others may follow it."""
    first = events[0] if events else None
    return run.tools is None or not isinstance(first, CallStart) or first.name in run.tools
