"""A trace: everything a parser does with one text, step by step, as JSON for a page.

The same text goes through the same parser twice. Once in the pieces that somebody sees it come in, for
what each of them gives: events, and OpenAI's deltas. And once character by character (but words in one
go, and pieces that give nothing), to know of each character what became of it, when, and why it waited
until then (`core/watch.py`, `align`).

    {"kinds": ["markup", …], "runs": [start, kind, step, …], "steps": [{"to", "held", "why", …}], …}

A run reaches up to the next one's start; its characters are of one kind and were known after the same
step. A step's `held` is where the text begins that is undecided after it. Places count UTF-16 units,
as JavaScript does. The last step is the end of the message. Text from a model never raises here, and
costs linear time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate as sums
from itertools import chain, pairwise
from typing import Any

from ..core.format import Format
from ..core.watch import REASONS, Watch
from ..events import Arguments, CallStart, Content, Event, Reasoning
from ..formats.parser import Parser
from ..formats.reasoning import Reasoning as ReasoningChoice
from ..openai import DeltaStream, accumulate
from ..openai.message import ToolCall, call_problem, collect
from ..schema.definitions import Tools
from .align import ARGUMENTS, CONTENT, KINDS, REASONING, Alignment
from .due import Due

Json = dict[str, Any]

#: Characters at a time, where nobody says where tokens end.
TOKEN = 4
#: There are not more steps than this: of a longer text, each is several tokens.
MOST_STEPS = 4000
#: What is tried to be passed on in one go: at least, and at most.
_LEAST_PASSED = 8
_BLOCK = 256

WHY = REASONS | {
    "value": "It is part of a value that is known only at its end: its type decides how it is written.",
    "space": "White space at the edge of a call is markup, before text it is content.",
}

_PASSED = {Content: CONTENT, Reasoning: REASONING, Arguments: ARGUMENTS}


def trace(
    format: str | Format,
    text: str,
    tools: Tools | None = None,
    reasoning: ReasoningChoice = None,
    in_reasoning: bool = False,
    ends: Sequence[int] | None = None,
) -> Json:
    """`ends`: where each token of the text ends; without them, they have four characters each."""
    tokens = token_ends(text, ends)
    per_step = -(-len(tokens) // MOST_STEPS) or 1
    stops = [*tokens[per_step - 1 :: per_step]]
    if text and (not stops or stops[-1] < len(text)):
        stops.append(len(text))
    parser = Parser(format, tools, reasoning, in_reasoning)
    said = [parser.feed(text[start:stop]) for start, stop in pairwise([0, *stops])]
    said.append(parser.finish())
    watched = _Watched(Parser(parser.format, tools, reasoning, in_reasoning), text, stops, said)
    stream = DeltaStream(parser.format, tools, reasoning=reasoning, in_reasoning=in_reasoning)
    steps, deltas = [], []
    units = _units(text)
    places, helds = [*stops, len(text)], [*watched.held, (len(text), "")]
    for place, events, (held, why) in zip(places, said, helds, strict=True):
        sent = stream.encode(events)
        deltas += sent
        steps.append(
            {
                "to": units[place],
                "held": units[held],
                "why": why,
                "events": [*map(event_json, events)],
                "deltas": sent,
            }
        )
    message = accumulate(deltas)
    return {
        "format": parser.format.name,
        "length": units[len(text)],
        "kinds": KINDS,
        "runs": _runs(watched.alignment, units),
        "steps": steps,
        "tokens_per_step": per_step,
        "own_tokens": ends is not None,
        "message": message.to_dict(),
        "calls": [_call_json(call) for call in collect(chain.from_iterable(said)).tool_calls],
        "finish_reason": stream.finish_reason("stop"),
        "why": WHY,
    }


def token_ends(text: str, ends: Sequence[int] | None) -> list[int]:
    """Where tokens end: in order, inside the text, and the last one at its end."""
    if ends is None:
        found = [*range(TOKEN, len(text), TOKEN)]
    else:
        found = sorted({end for end in ends if 0 < end < len(text)})
    return [*found, len(text)] if text else found


def event_json(event: Event) -> Json:
    if isinstance(event, Content):
        return {"event": "Content", "text": event.text}
    if isinstance(event, Reasoning):
        return {"event": "Reasoning", "text": event.text}
    if isinstance(event, CallStart):
        return {"event": "CallStart", "index": event.index, "name": event.name, "id": event.id}
    if isinstance(event, Arguments):
        return {"event": "Arguments", "index": event.index, "text": event.text}
    return {"event": "CallEnd", "index": event.index, "complete": event.complete}


def _call_json(call: ToolCall) -> Json:
    return {"name": call.name, "arguments": call.arguments, "problem": call_problem(call)}


# -- character by character -----------------------------------------------------------------------


class _Watched:
    """What is seen: each character's part, and after each step what was held, and why.

    Prose, and the middle of a string, are passed on in large pieces. Of all else words come as they
    are, and other characters one by one: what an event is about is then right before it. Where a step
    gives no more events, as is known already, the rest of it comes in one go. No piece reaches over the
    end of a step.
    """

    def __init__(
        self,
        parser: Parser,
        text: str,
        stops: Sequence[int],
        said: Sequence[Sequence[Event]],
    ) -> None:
        self.alignment = Alignment(text)
        self.held: list[tuple[int, str]] = []
        self._parser = parser._parser
        self._watch = Watch(self._parser)
        self._size = 1  # how much may be passed on next
        self._due = Due()
        place = 0
        for step, stop in enumerate(stops):
            self._due.come(said[step])
            while place < stop:
                place, held = self._next(place, stop, step)
            self.held.append(held)
        self.alignment.said(parser.finish(), len(text), len(stops))
        self.alignment.decided(len(text), len(stops))

    def _next(self, place: int, stop: int, step: int) -> tuple[int, tuple[int, str]]:
        """Reads the piece that begins here: where it ends, and what is held then."""
        alignment, text = self.alignment, self.alignment.text
        events, end = None, min(place + self._size, stop)
        if self._size >= _LEAST_PASSED:
            events = self._watch.pass_on(text[place:end])
        if events is None:
            self._size = min(self._size, _LEAST_PASSED // 2)
            end = self._due.piece(text, place, stop)
            events = self._parser.feed(text[place:end])
        elif _is_text(events, text[place:end]):
            alignment.passed(place, end, _PASSED[type(events[0])], step)
            self._size = min(2 * self._size, _BLOCK)
            self._due.came(events)
            return end, (end, "")
        held = self._watch.look(end)
        if events:
            alignment.said(events, held[0], step)
            self._due.came(events)
        alignment.decided(held[0], step)
        self._size = min(2 * self._size, _BLOCK) if held[0] == end else 1
        return end, held


def _is_text(events: Sequence[Event], chunk: str) -> bool:
    """Whether a chunk went out as it is."""
    return len(events) == 1 and type(events[0]) in _PASSED and events[0].text == chunk  # type: ignore[union-attr]


def _runs(alignment: Alignment, units: Sequence[int]) -> list[int]:
    """Neighbours of one kind that were known after the same step: start, kind and step, in a row."""
    runs: list[int] = []
    kind_before = step_before = -1
    for place, (kind, step) in enumerate(zip(alignment.kinds, alignment.steps, strict=True)):
        if step != step_before or kind != kind_before:
            runs += (units[place], kind, step)
            kind_before, step_before = kind, step
    return runs


def _units(text: str) -> Sequence[int]:
    """For each place in the text, the same in UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    return array("L", sums((1 + (c > "\uffff") for c in text), initial=0))


def trace_kinds(runs: Sequence[int], length: int) -> Iterator[tuple[int, int, str]]:
    """Runs as start, end and the kind's name, whenever they were known."""
    starts = [*runs[::3], length]
    for (start, end), kind in zip(pairwise(starts), runs[1::3], strict=True):
        yield start, end, KINDS[kind]
