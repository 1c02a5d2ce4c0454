"""Calls and thoughts in an answer's text: a parser that knows what it holds.

What is done about thoughts in the text, the policy says:

* `split`: they come out apart, as `Reasoning`;
* `keep`: they stay in the text as they were written, markers and all, but calls in them are none;
* `off`: nobody looks for them. (Formats with channels always know theirs, and they come out apart.)

Where no calls are wanted, the text is read for thoughts only. One that begins otherwise has none, and
passes as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..core.format import Format
from ..core.literals import GAP, pattern_of, without_optional
from ..core.reasoning import ReasoningStyle, StyleChoice
from ..events import Arguments, CallStart, Content, Event, Reasoning
from ..formats.parser import Parser, text_only
from ..formats.reasoning import style_of
from .policy import Policy
from .sizes import Pieces

#: What a parser takes by itself, and each piece of text that it waits with.
_PARSER, _PIECE = 8192, 64
_SAID = (Content, Reasoning, Arguments)


class TextReader:
    """Reads one text of an answer. `held` is about how many bytes of it are held back."""

    __slots__ = ("_begins", "_kept", "_parser", "_passing", "_pieces", "_undecided")

    def __init__(self, policy: Policy, *, calls: bool = True) -> None:
        """`calls`: whether they are read, where the policy wants any."""
        format = policy.format or ""
        calls = calls and policy.reads_text
        tools = policy.request.known if calls else None
        looks = policy.reasoning != "off"
        self._parser = Parser(format if calls else text_only(format), tools, looks or None)
        self._begins = not calls and _only_at_the_start(self._parser.format)
        self._passing = False  # nothing is read any more
        self._kept = _Kept(style_of(self._parser.format, looks)) if policy.keeps_thoughts else None
        self._undecided = 0  # bytes that went in and did not come out: markup, and what is held
        self._pieces = 0  # since something came out

    @property
    def held(self) -> int:
        kept = self._kept.held if self._kept is not None else 0
        return _PARSER + self._undecided + kept + _PIECE * self._pieces

    def feed(self, text: str) -> list[Event]:
        if self._passing:
            return [Content(text)] if text else []
        events = self._parser.feed(text)
        if self._begins and events:
            self._begins = False
            if isinstance(events[0], Content):
                self._passing = True
                events += self._parser.finish()
        if is_just(events, text):
            self._pieces = 0
        else:
            given = sum(_length(e.text) for e in events if isinstance(e, _SAID))
            self._undecided = max(0, self._undecided + _length(text) - given)
            self._pieces = 0 if events else self._pieces + 1
        return events if self._kept is None else self._kept.take(text, events)

    def finish(self) -> list[Event]:
        self._undecided = self._pieces = 0
        events = self._parser.finish()
        return events if self._kept is None else self._kept.finish(events)


@lru_cache(maxsize=64)
def _only_at_the_start(format: Format) -> bool:
    """Whether a text without calls that begins with anything but thoughts has no markup at all: markers
    that are special tokens count anywhere, and so do those around text."""
    style = style_of(format, True)
    if style is None:
        return False
    styles = style.choices if isinstance(style, StyleChoice) else (style,)
    special = any(one.special or any(GAP in opener for opener in one.open) for one in styles)
    return not (special or format.text_wrapper or format.annotations)


class _Kept:
    """Puts thoughts back into the text, as they were written.

    Up to the first call, what was said is found again in the text that came: between two texts of
    different kinds stand markers. Behind a call the markers are those that the style has first.
    """

    __slots__ = ("_kind", "_loose", "_raw", "_style")

    def __init__(self, style: ReasoningStyle | None) -> None:
        self._style = style
        self._raw = Pieces()  # what came and did not go out
        self._loose = style is None  # a call came: the text can't be found again
        self._kind: type[Event] | None = None  # of what was said last

    @property
    def held(self) -> int:
        return self._raw.size

    def take(self, text: str, events: list[Event]) -> list[Event]:
        if not self._loose:
            self._raw.add(text)
        return [one for event in events for one in self._one(event)]

    def finish(self, events: list[Event]) -> list[Event]:
        out = [one for event in events for one in self._one(event)]
        if self._loose:
            return out + self._changed(Content)
        rest = self._raw.text()
        return out + ([Content(rest)] if rest else [])

    def _one(self, event: Event) -> list[Event]:
        if isinstance(event, (Content, Reasoning)):
            return self._said(event)
        if isinstance(event, CallStart) and not self._loose:
            before = _markers(self._style).match(self._raw.text())
            closer = before[0].rstrip() if before is not None else ""
            self._loose, self._raw, self._kind = True, Pieces(), Content
            return [Content(closer), event] if closer else [event]
        return [event]

    def _said(self, event: Content | Reasoning) -> list[Event]:
        raw = self._raw.text()
        at = None if self._loose else self._place(event, raw)
        if at is not None:
            self._kind = type(event)
            end = at + len(event.text)
            self._raw = Pieces(raw[end:])
            return [Content(raw[:end])]
        self._loose, self._raw = True, Pieces()
        return [*self._changed(type(event)), Content(event.text)]

    def _place(self, event: Content | Reasoning, raw: str) -> int | None:
        """Where in the text that came this was said."""
        changed = self._kind is not type(event)
        may_be_here = not changed or (self._kind is None and isinstance(event, Content))
        if may_be_here and raw.startswith(event.text):
            return 0
        marker, at = _markers(self._style), 0
        while changed and (found := marker.match(raw, at)):
            at = found.end()
            if raw.startswith(event.text, at):
                return at
        return None

    def _changed(self, kind: type[Event]) -> list[Event]:
        """The marker between thoughts and text, where they change."""
        before, self._kind = self._kind or Content, kind
        if before is kind or self._style is None:
            return []
        marker = self._style.open if kind is Reasoning else self._style.close
        return [Content(without_optional(marker[0]))] if marker else []


@lru_cache(maxsize=64)
def _markers(style: ReasoningStyle | None) -> re.Pattern[str]:
    """One marker, and the space around it."""
    spellings = sorted(style.markers if style is not None else (), key=len, reverse=True)
    any_of = "|".join(map(pattern_of, spellings))
    return re.compile(rf"\s*(?:{any_of})\s*" if any_of else r"(?!)")


class ThoughtsReader:
    """Reads the thoughts that a server sends apart, as thoughts that were never closed: a model may have
    ended them with its calls. Whether these count is known at the end: if text or calls of the server's
    own come, they are thoughts.
    """

    __slots__ = ("_events", "_parser", "_raw", "_start")

    def __init__(self, policy: Policy) -> None:
        self._parser = Parser(policy.format or "", policy.request.known, True, in_reasoning=True)
        self._raw = Pieces()  # what came and did not go out
        self._events: list[Event] | None = []  # the calls so far; None: nothing is read any more
        self._start = True

    @property
    def held(self) -> int:
        return _PARSER + self._raw.size + _PIECE * len(self._events or ())

    def feed(self, text: str) -> str:
        """What is a thought, whatever comes."""
        if self._events is None:
            return text
        self._raw.add(text)
        return self._take(self._parser.feed(text))

    def release(self) -> str:
        """All of it is a thought: what is left to say."""
        raw, self._raw, self._events = self._raw.text(), Pieces(), None
        return raw

    def finish(self) -> tuple[str, list[Event]]:
        """Nothing else came: what is left of the thoughts, and the calls behind them."""
        said = self._take(self._parser.finish())
        if not self._events:
            return said + self.release(), []
        return said, self._events

    def _take(self, events: list[Event]) -> str:
        said = ""
        for event in events:
            if self._events is None:
                break
            if isinstance(event, Reasoning) and not self._events:
                said += self._found(event.text)
            elif isinstance(event, (Content, Reasoning)):
                said += self.release()  # it is no longer what such thoughts are
            else:
                self._events.append(event)
        return said

    def _found(self, text: str) -> str:
        """A thought, with the space before it. One that is not what came next ends the reading."""
        raw = self._raw.text()
        space = len(raw) - len(raw.lstrip()) if self._start else 0
        if not raw.startswith(text, space):
            return self.release()
        self._start = False
        end = space + len(text)
        self._raw = Pieces(raw[end:])
        return raw[:end]


def is_just(events: list[Event], text: str) -> bool:
    """Whether these events say that a text is just text."""
    return len(events) == 1 and isinstance(events[0], Content) and events[0].text == text


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
