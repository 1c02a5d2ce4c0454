"""`EventParser`: chunks of text in, events out."""

from __future__ import annotations

from typing import Any, Final

from ..errors import ToolwireError
from ..events import Event
from ..schema.tools import KnownTools
from .channel_run import ChannelRun
from .context import Context
from .driver import Run
from .end_of_turn import Tail
from .format import Format
from .reasoning import ReasoningStyle
from .window import Window

#: A longer chunk is read in pieces: what stands behind a limit is copied each time the limit moves.
_LARGEST: Final = 1 << 16
_FINISHED: Final = "feed() after finish(): make a new Parser for the next message."


def _run(context: Context) -> Run:
    if context.format.channels is not None:
        return ChannelRun(context)
    return context.format.reading.own_run(context) or Run(context)


class EventParser:
    """Reads one message in one format. Any way to cut the text gives the same events."""

    __slots__ = ("_finished", "_out", "_run", "_steps", "_tail", "_window", "format")

    def __init__(
        self,
        format: Format,
        tools: Any = None,
        style: ReasoningStyle | None = None,
        in_reasoning: bool = False,
        *,
        constrained: bool = False,
        fast_paths: bool = True,
    ) -> None:
        """`style`: how the model marks its thoughts, if any are looked for; `in_reasoning`: the prompt
        has opened them. `constrained`: a grammar holds the model to its calls, so that one begins with
        its name. `fast_paths` is for tests: without them the same events take longer."""
        self.format = format
        self._window = Window(fast_paths)
        self._tail = Tail(format.turn_ends)
        known = tools if isinstance(tools, KnownTools) else KnownTools(tools)
        run = _run(Context(format, known.by_name, self._window, style, known, constrained))
        self._run = run
        self._out = run.out
        self._steps = run.main(in_reasoning)
        self._finished = False
        next(self._steps)  # to the first place where it waits for text

    @property
    def drift(self) -> list[str]:
        """What of the message was not spelled as the format has it (see `spelling`), when it is over."""
        return sorted(self._run.spelling.drift)

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk of the model's text; returns what it decides."""
        fast_path = self._window.fast_path
        if fast_path is not None and chunk:
            events = fast_path(chunk)
            if events is not None:
                return events
        return self._feed(chunk)

    def _feed(self, chunk: str) -> list[Event]:
        """Where the fast path does not tell, or there is none."""
        if self._finished:
            raise ToolwireError(_FINISHED)
        tail = self._tail
        if not tail.kept and tail.sign not in chunk:
            return self._read(chunk)
        chunk = tail.push(chunk)
        events = self._read(chunk) if chunk else []
        if tail.kept:
            self._window.fast_path = None  # the next chunk comes behind what is kept
        return events

    def _read(self, chunk: str) -> list[Event]:
        window = self._window
        window.fast_path = None
        if len(chunk) <= _LARGEST:
            window.push(chunk)
            next(self._steps)
        else:
            for start in range(0, len(chunk), _LARGEST):
                window.fast_path = None  # one that an earlier part has left does not fit this one
                window.push(chunk[start : start + _LARGEST])
                next(self._steps)
        return self._out.take_events()

    def finish(self) -> list[Event]:
        """The message is over; returns what was still undecided. A second call returns nothing."""
        if self._finished:
            return []
        rest = self._tail.finish()
        events = self._read(rest) if rest else []
        self._finished = True
        self._window.finish()
        next(self._steps, None)
        return events + self._out.take_events()
