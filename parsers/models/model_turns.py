"""Turns as the model of a chat template would write them: thoughts, text, and calls behind them.

Calls are written as the format writes them (`write`), and as the template shows them, where that is
another way which the format reads. What stands between the parts of a turn is the template's own, since
the model has learned it from that; where the template does not show it, it is what most models write.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..core.format import Format
from ..core.samples import Call
from ..errors import ToolwireError
from ..formats.tools_for import tools_for
from ..formats.write import write
from ..openai.message import parse
from .detect import manner_of
from .next_turn import Asked, Continued, next_turn
from .probes import THINK, Manner, Markers, Message, Render, Setting, setting_of, shown_turn
from .readings import text_left
from .reasoning import ShownReasoning, is_open, switched_on

Kind = Literal["thought", "text", "gap", "call"]
Pieces = tuple[tuple[Kind, str], ...]
By = Literal["format", "template"]

TEXT = "Let me look that up."
THOUGHT = "The user wants to know it. I have a tool for that."
#: Between text and calls, besides what the template writes there.
GAPS = ("\n", "\n\n")
#: … with a number behind it makes nine letters and digits, as Mistral's templates insist on.
ID = "toolwire"
#: So much of a call has to be there to be taken for its beginning.
_BEGINNING = 4


@dataclass(frozen=True, slots=True)
class Said:
    """What a turn says, however it is written."""

    calls: tuple[Call, ...]
    text: str = ""
    thought: str = ""

    def message(self, ids: Sequence[str] = ()) -> Message:
        """As a parser gives it that understands all of it."""
        thought = {"reasoning_content": self.thought} if self.thought else {}
        calls = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, (name, arguments) in zip(ids or _ids(self), self.calls, strict=True)
        ]
        return {"role": "assistant", "content": self.text, **thought, "tool_calls": calls}


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One turn: what was asked, and what the model wrote."""

    said: Said
    asked: Asked
    pieces: Pieces
    by: By
    """Whose way to write calls it is."""
    usual: bool
    """Whether text and calls are apart as the template has them."""
    in_thought: bool
    """Whether the prompt has opened the thoughts already."""
    ids: tuple[str, ...]
    """The ids of the calls: the model's own, where it wrote some."""

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    @property
    def gap(self) -> str:
        """What stands between text and calls."""
        return next((text for kind, text in self.pieces if kind == "gap"), "")

    def place(self, at: int) -> Kind | Literal["prompt", "end"]:
        """What stands at a place of prompt and text."""
        at -= len(self.asked.prompt)
        if at < 0:
            return "prompt"
        for kind, text in self.pieces:
            if at < len(text):
                return kind
            at -= len(text)
        return "end"

    def kept(self, message: Message) -> Continued | None:
        """What the next prompt keeps of this turn if it is parsed to `message`."""
        return next_turn(self.asked, self.text, message)

    def at_best(self) -> Continued | None:
        """What it keeps of it at best, whichever white space a parser would give to text and thoughts:
        what is lost then, only the template can keep."""
        found = [kept for message in self.readings() if (kept := self.kept(message))]
        return min(found, key=lambda kept: kept.lost, default=None)

    def readings(self) -> Iterator[Message]:
        """All ways to read the turn that differ in white space only; the plain one first."""
        said = self.said.message(self.ids)
        befores = ("", "\n\n") if self.said.thought else ("",)
        text = self._lead + self.said.text
        texts = [f"{before}{text}{gap}" for before in befores for gap in self._gaps()]
        thought = self.said.thought
        thoughts = dict.fromkeys((thought, f"\n{thought}\n", f"{thought}\n")) if thought else ("",)
        for text, thought in itertools.product(dict.fromkeys(texts), thoughts):
            more = {"reasoning_content": thought} if thought else {}
            yield {**said, "content": text, **more}

    @property
    def _lead(self) -> str:
        """White space that the turn begins with, right before its text: that goes out as text before
        anybody knows of a call."""
        kind, text = self.pieces[0]
        begins = self.said.text and not self.said.thought and kind == "thought"
        return text if begins and text.isspace() else ""

    def _gaps(self) -> tuple[str, ...]:
        """What of the white space behind it may be the text's."""
        return tuple(self.gap[:length] for length in range(len(self.gap) + 1))


@dataclass(frozen=True, slots=True)
class TemplateModel:
    """A template, and what is known of the model behind it."""

    render: Render
    spec: Format
    setting: Setting
    manner: Manner | None
    reasoning: ShownReasoning

    @staticmethod
    def of(render: Render, spec: Format, reasoning: ShownReasoning) -> TemplateModel:
        manner = manner_of(render, spec, reasoning.markers or THINK)
        return TemplateModel(render, spec, setting_of(render)[0], manner, reasoning)

    @property
    def thinks(self) -> bool:
        return self.reasoning.markers is not None or self.spec.channels is not None

    def turns(self, calls: Sequence[Call]) -> Iterator[ModelTurn]:
        """One of the calls, and all of them; with text before them and without; with thoughts and
        without. What the template refuses, or the format can't write, is left out."""
        # A prompt that opens the thoughts, whatever is asked, gets some.
        silent = not self.reasoning.opened or self.reasoning.switch is not None
        thoughts = [*([""] if silent else []), *([THOUGHT] if self.thinks else [])]
        # In channels, text is a part with a header of its own, which `write` does not write.
        texts = ("", TEXT) if self.spec.channels is None else ("",)
        counts = dict.fromkeys((1, len(calls)))
        for thought, count, text in itertools.product(thoughts, counts, texts):
            yield from self._turns(Said(tuple(calls[:count]), text, thought))

    def _turns(self, said: Said) -> Iterator[ModelTurn]:
        tools = self.setting.tools(said.calls)
        asked = Asked(
            self.render,
            tuple(self.setting.question()),
            None if tools is None else tuple(tools),
            self._variables(bool(said.thought)),
        )
        seen = set()
        for by, calls in self._calls(said):
            for gap in (None, *GAPS) if said.text else (None,):
                try:
                    turn = self._turn(said, asked, by, calls, gap)
                except ToolwireError:
                    continue
                if turn.text not in seen:
                    seen.add(turn.text)
                    yield turn

    def _turn(self, said: Said, asked: Asked, by: By, calls: str, gap: str | None) -> ModelTurn:
        markers = self.reasoning.markers
        opened = bool(said.thought and markers and is_open(asked.prompt, markers))
        ids = _own_ids(self.spec, said, calls)
        pieces = self._pieces(asked, said, calls, opened, ids)
        if gap is not None:
            pieces = tuple((kind, gap if kind == "gap" else text) for kind, text in pieces)
        asked.next_prompt(said.message(ids))  # a template may refuse it
        return ModelTurn(said, asked, pieces, by, gap is None, opened, ids)

    def _variables(self, thinking: bool) -> Mapping[str, Any]:
        shown = self.reasoning
        if shown.switch is None:
            return {}
        if not thinking:
            return {shown.switch: shown.off}
        return switched_on(shown.switch) if shown.off_by_default else {}

    def _calls(self, said: Said) -> Iterator[tuple[By, str]]:
        """The calls as they may be written."""
        with contextlib.suppress(ToolwireError):
            yield "format", write(self.spec, _given(said), tools_for(said.calls))
        shown = self._shown(said)
        if shown:
            yield "template", shown

    def _shown(self, said: Said) -> str:
        """The calls as the template writes them, where the format reads that."""
        if self.manner is None or self.manner.content or self.spec.channels is not None:
            return ""
        try:
            turn = shown_turn(self.render, said.calls, self.manner, self.reasoning.markers or THINK)
        except ToolwireError:
            return ""
        return turn.sample.text.strip() if turn and text_left(self.spec, turn) == "" else ""

    def _pieces(
        self, asked: Asked, said: Said, calls: str, opened: bool, ids: Sequence[str]
    ) -> Pieces:
        if self.spec.channels is not None:
            whole = write(self.spec, _given(said), reasoning=said.thought or None)
            return (("thought", whole.removesuffix(calls)), ("call", calls))
        prompt, shown = asked.prompt, asked.answered(said.message(ids))
        found = None
        if shown.startswith(prompt):
            found = _as_shown(shown[len(prompt) :], said, calls, self.reasoning.markers)
        return found or _as_usual(prompt, said, calls, self.reasoning.markers, opened)


def _ids(said: Said) -> tuple[str, ...]:
    return tuple(f"{ID}{number}" for number in range(len(said.calls)))


def _own_ids(spec: Format, said: Said, calls: str) -> tuple[str, ...]:
    """Ids as the model wrote them, or ours."""
    read = [call.id for call in parse(spec, calls, tools_for(said.calls)).tool_calls]
    ours = _ids(said)
    if len(read) != len(ours):
        return ours
    return tuple(own if own in calls else our for own, our in zip(read, ours, strict=True))


def _given(said: Said) -> list[dict[str, Any]]:
    return [
        {"name": name, "arguments": arguments, "id": id}
        for id, (name, arguments) in zip(_ids(said), said.calls, strict=True)
    ]


def _as_shown(shown: str, said: Said, calls: str, markers: Markers | None) -> Pieces | None:
    """The turn's parts with what the template writes between them; None where it leaves one out, or
    has them in another order."""
    found: list[tuple[Kind, str]] = []
    rest = shown
    if said.thought:
        before, there, rest = rest.partition(said.thought)
        if not there:
            return None
        found.append(("thought", before + there))
    if said.text:
        before, there, rest = rest.partition(said.text)
        if not there:
            return None
        found += [("thought", before), ("text", there)]
    start = _beginning(rest, calls)
    name = said.calls[0][0]
    if start is None or name not in rest[start:] or any(name in text for _, text in found):
        return None
    found.append(("gap" if said.text else "thought", rest[:start]))
    if not said.thought and any(marker in text for marker in markers or () for _, text in found):
        return None  # an empty thought: the model would not write one
    return (*(piece for piece in found if piece[1] or piece[0] == "gap"), ("call", calls))


def _beginning(shown: str, calls: str) -> int | None:
    """Where the calls begin in what a template writes: what it writes then may differ."""
    for length in range(len(calls), min(_BEGINNING, len(calls)) - 1, -1):
        place = shown.find(calls[:length])
        if place >= 0:
            return place
    return None


def _as_usual(prompt: str, said: Said, calls: str, markers: Markers | None, opened: bool) -> Pieces:
    """The turn's parts with what most models write between them."""
    found: list[tuple[Kind, str]] = []
    if said.thought and markers is not None:
        opener, closer = markers
        line = "\n" if closer.startswith("</") else ""
        begin = "" if opened else opener
        begin += "" if opened and prompt[-1:].isspace() else line
        found.append(("thought", f"{begin}{said.thought}{line}{closer}{line * 2}"))
    if said.text:
        found += [("text", said.text), ("gap", GAPS[0])]
    return (*found, ("call", calls))
