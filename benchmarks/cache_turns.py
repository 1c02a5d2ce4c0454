"""The turns of the part `cache`: every chat template at hand, and what its model would write.

The templates are the project's own and, where a corpus of official ones lies beside the checkout, those,
too. Each is asked which format it shows (`toolwire detect`); the turns are then drawn in that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolwire import ToolwireError, get_format, parse
from toolwire.core.samples import Call
from toolwire.formats.tools_for import tools_for
from toolwire.models.detect import detect
from toolwire.models.model_turns import ModelTurn, TemplateModel
from toolwire.models.next_turn import Continued
from toolwire.models.probes import Message, remembering, taking_tools
from toolwire.models.rendering import template_renderer
from toolwire.models.styles import known_styles
from workloads import CODE, ROOT

OURS = ROOT / "chat_templates"
#: An extra, which is left out where it is not there.
OFFICIAL = ROOT.parent / "shared" / "corpus" / "templates"

#: What is called: plain values, a file, and nested ones. Keys are in no order of the alphabet; each call
#: has a plain word or number, by which it is found in what a template writes.
DRAWS: tuple[tuple[Call, ...], ...] = (
    (
        ("get_weather", {"city": "Oslo", "days": 3}),
        ("get_weather", {"city": "Tromsø", "days": 14}),
    ),
    (
        ("write_file", {"path": "area.py", "content": CODE.strip(), "mode": "text"}),
        ("set_volume", {"level": 0.5, "fade": False, "device": "radio"}),
    ),
    (
        ("plot", {"points": [[1, 2], [3.5, -4]], "axes": {"y": {"label": "t"}}, "title": "Speed"}),
        ("save_plot", {"folder": "charts"}),
    ),
)


@dataclass(frozen=True)
class Case:
    """One turn of one template's model."""

    template: str
    official: bool
    format: str
    style: str | None
    turn: ModelTurn

    def asked(self) -> dict[str, Any]:
        """What a parser is told, for workers in other processes."""
        turn = self.turn
        return {
            "template": self.template,
            "format": self.format,
            "tools": tools_for(turn.said.calls),
            "text": turn.text,
            "thought": turn.said.thought,
            "in_thought": turn.in_thought,
            "prompt": turn.asked.prompt,
            "variables": dict(turn.asked.variables),
        }


def template_files(quick: bool) -> list[Path]:
    ours = sorted(OURS.glob("chatml-*.jinja" if quick else "*-*.jinja"))
    return [*ours, *(sorted(OFFICIAL.glob("*.jinja")) if OFFICIAL.is_dir() else ())]


def cases(file: Path, quick: bool) -> Iterator[Case]:
    """The turns of one template; none where it shows no format of toolwire's."""
    renderer = template_renderer(file.read_text(encoding="utf-8"))
    try:
        found = detect(renderer)
        if not found.formats:
            return
        render, _ = taking_tools(remembering(renderer))
        model = TemplateModel.of(render, get_format(found.formats[0]), found.reasoning)
    except ToolwireError:
        return
    for calls in DRAWS[:1] if quick else DRAWS:
        for turn in model.turns(calls):
            yield Case(
                file.stem, file.parent == OFFICIAL, model.spec.name, found.reasoning_style, turn
            )


def read_by_toolwire(case: Case) -> Message:
    spec, turn = get_format(case.format), case.turn
    style = None if case.style is None else known_styles(spec)[case.style]
    thoughts = True if spec.channels is not None else style
    found = parse(spec, turn.text, tools_for(turn.said.calls), thoughts, turn.in_thought)
    return found.to_dict()


@dataclass(frozen=True)
class Judged:
    """What became of one turn with one parser."""

    read: bool
    """Whether the calls are those that were written; what is kept of others says nothing."""
    lost: int
    """Characters of prompt and text that the next prompt does not begin with."""
    place: str
    """What stands where it differs."""

    @property
    def kept(self) -> bool:
        return self.read and not self.lost


def right(case: Case, message: Mapping[str, Any]) -> bool:
    """Whether a parser got what was said, but for white space around it."""
    said = case.turn.said
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return (
        [(call["name"], json.loads(call["arguments"])) for call in calls] == list(said.calls)
        and (message.get("content") or "").strip() == said.text
        and (message.get("reasoning_content") or "").strip() == said.thought
    )


def judged(case: Case, message: Mapping[str, Any]) -> Judged:
    turn = case.turn
    names = [call["function"]["name"] for call in message.get("tool_calls") or ()]
    read = names == [name for name, _ in turn.said.calls]
    kept = turn.kept(with_settled_ids(message, turn.text)) if read else None
    return _judged(case, kept)


def judged_at_best(case: Case) -> Judged:
    return _judged(case, case.turn.at_best())


def _judged(case: Case, kept: Continued | None) -> Judged:
    if kept is None:
        return Judged(False, len(case.turn.text), "")
    return Judged(True, kept.lost, "" if kept.kept else case.turn.place(kept.same))


def with_settled_ids(message: Mapping[str, Any], text: str) -> Message:
    """Ids that were made up are random, and some templates write them: here they are always the same."""
    calls = [
        {**call, "id": call["id"] if call.get("id") and call["id"] in text else f"toolcall{number}"}
        for number, call in enumerate(message.get("tool_calls") or ())
    ]
    return {**message, "tool_calls": calls}
