"""Which format does a chat template show the model?

The template is rendered with conversations whose calls are known (`probes`), and every format is asked
to read the calls back and leave nothing over. Several may manage: first come those whose own layout is
what the template wrote, then those of toolwire's own templates. Where none does, but the
pieces of a call can be told apart, a new format is proposed, proven by the same round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.spec import Format
from ..engines.structural_tags import known_layout
from ..errors import ToolwireError
from ..formats import get_format, list_formats
from ..templates import list_templates
from .cuts import Call
from .files import ModelFiles
from .frames import frame_by_tokens, frame_of, template_for
from .probes import (
    CALLS,
    NEXT,
    QUESTION,
    RESULT,
    SIMPLE_CALLS,
    WORD,
    Manner,
    Render,
    Turn,
    shown_turn,
)
from .propose import propose, read_back, tools_for
from .rendering import template_renderer

#: What a proposed format is called, until somebody gives it a name.
PROPOSED = "detected"

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Detection:
    """What a chat template shows the model."""

    formats: tuple[str, ...] = ()
    """The formats that read the template's calls, best first."""
    proposal: Format | None = None
    """A new format that reads them, where none of those that exist does."""
    shows_tools: bool = False
    frame: str | None = None
    """The frame of toolwire's templates that marks turns like this one."""
    template: str | None = None
    """The template of toolwire's to use instead, where this one does not do."""
    why: tuple[str, ...] = ()
    """What was found, in sentences."""

    @property
    def format(self) -> str | None:
        """The format to use."""
        if self.proposal is not None:
            return self.proposal.name
        return self.formats[0] if self.formats else None


def detect(
    render: Render,
    *,
    special: Mapping[str, str] | None = None,
    vocabulary: frozenset[str] | None = None,
    name: str = PROPOSED,
) -> Detection:
    """Asks a template. Raises a `ToolwireError` where it can't be rendered at all.

    `special` and `vocabulary` are what is known of the model's tokens; a proposal is called `name`.
    """
    shows_tools = _shows_tools(render)
    frame = frame_of(render, special)
    found = _find(_shown(render), name)
    ranked = _best_first(found.readings, found.turns[0]) if found.readings else []
    template = None
    if frame and not (shows_tools and (ranked or found.proposal)):
        template = template_for(frame, ranked[0] if ranked else _likely(vocabulary)).name
    why = [*_why(shows_tools, frame, found, ranked)]
    if ranked or found.proposal:
        why += _limits(found, ranked[0] if ranked else "")
        why += filter(None, [results_problem(render, found.turns[0].manner)])
    return Detection(tuple(ranked), found.proposal, shows_tools, frame, template, tuple(why))


def detect_model(files: ModelFiles, name: str = PROPOSED) -> Detection:
    """Asks the template that a model's files have, if they have one."""
    if files.template is not None:
        render = template_renderer(files.template, files.special)
        return detect(render, special=files.special, vocabulary=files.vocabulary, name=name)
    frame = frame_by_tokens(files.vocabulary or frozenset())
    template = template_for(frame, _likely(files.vocabulary)).name
    return Detection(
        frame=frame,
        template=template,
        why=("The model has no chat template, so nothing tells it about tools.",),
    )


def _likely(vocabulary: frozenset[str] | None) -> str | None:
    """A model with Hermes' tokens in its vocabulary was trained on them."""
    return "hermes" if vocabulary and {"<tool_call>", "</tool_call>"} <= vocabulary else None


# -- asking ---------------------------------------------------------------------------------------


def _shows_tools(render: Render) -> bool:
    tools = tools_for(CALLS)
    return CALLS[0][0] in render([{"role": "user", "content": QUESTION}], tools)


def _shown(render: Render) -> Iterator[list[Turn]]:
    """What the template writes for calls, in every manner that it puts up with; the usual one first."""
    seen = set()
    for calls in (CALLS, SIMPLE_CALLS):
        for manner in Manner.all():
            turns = _in_manner(render, calls, manner)
            texts = tuple(turn.sample.text for turn in turns)
            if turns and texts not in seen:
                seen.add(texts)
                yield turns


def _in_manner(render: Render, calls: Sequence[Call], manner: Manner) -> list[Turn]:
    """One turn with each call by itself, and one with both, where the template allows that."""
    turns: list[Turn] = []
    alone = [[call] for call in calls]
    for several in alone if len(calls) == 1 else [*alone, calls]:
        try:
            turn = shown_turn(render, several, manner)
        except ToolwireError:
            turn = None  # another manner may do; two calls at once are too much for some
        if turn is None and len(several) == 1:
            return []
        if turn is not None:
            turns.append(turn)
    return turns


def manner_of(render: Render, spec: Format) -> Manner | None:
    """The first manner in which the template writes a call as a format reads it, if there is one."""
    for calls in (CALLS[:1], SIMPLE_CALLS[:1]):
        for manner in Manner.all():
            for turn in _in_manner(render, calls, manner):
                if _text_left(spec, turn) == "":
                    return manner
    return None


@dataclass(frozen=True, slots=True)
class _Reading:
    """How well a format reads a template's calls."""

    parallel: bool  # both calls of one turn, too
    left: str  # markup that stays in the text


@dataclass(frozen=True, slots=True)
class _Found:
    """The turns that could be read, or the first ones; and by what."""

    turns: Sequence[Turn] = ()
    readings: Mapping[str, _Reading] = field(default_factory=dict)
    proposal: Format | None = None


def _find(shown: Iterable[Sequence[Turn]], name: str) -> _Found:
    """Best is a format that leaves nothing over, then a new one that does; then one that does not."""
    seen: list[Sequence[Turn]] = []
    unclean: list[_Found] = []
    for turns in shown:
        seen.append(turns)
        readings = _readings(turns)
        clean = {name: reading for name, reading in readings.items() if not reading.left}
        if clean:
            return _Found(turns, clean)
        if readings:
            unclean.append(_Found(turns, readings))
    for turns in seen:
        proposal = propose([turn.sample for turn in turns], name)
        if proposal is not None:
            return _Found(turns, {}, proposal)
    return unclean[0] if unclean else _Found(seen[0] if seen else ())


def _readings(turns: Sequence[Turn]) -> dict[str, _Reading]:
    """The formats that read single calls back, and how well."""
    found = {}
    for name in list_formats():
        texts = [_text_left(get_format(name), turn) for turn in turns]
        if None not in texts[: len(CALLS)]:
            found[name] = _Reading(None not in texts, "".join(filter(None, texts)))
    return found


def _text_left(spec: Format, turn: Turn) -> str | None:
    """What a format leaves beside the turn's calls and its own text; None if it reads others."""
    left = read_back(spec, turn.sample, tools_for(turn.sample.calls))
    return left if left is None else left.replace(turn.content or "", "").strip()


# -- choosing -------------------------------------------------------------------------------------


def _best_first(readings: Mapping[str, _Reading], turn: Turn) -> list[str]:
    """Several formats may read the same text. First those that would write it like that, too."""
    text = turn.sample.text.removeprefix(turn.content or "").lstrip()
    suits = {template.format for template in list_templates()}

    def rank(name: str) -> tuple[object, ...]:
        reading, spec = readings[name], get_format(name)
        likeness = _likeness(spec, text)
        return (
            bool(reading.left),
            -likeness,
            not reading.parallel,
            spec.bare,
            name not in suits,
            name,
        )

    return sorted(readings, key=rank)


def _likeness(spec: Format, text: str) -> int:
    """How much of the text's beginning is what the format itself would write; more is better."""
    layout = known_layout(spec)
    if layout is None:
        return 0
    begin = layout.outer_begin + layout.begin + CALLS[0][0] + layout.middle
    if text.startswith(begin):
        return 2 * len(begin)
    return len(begin) if _squeezed(text).startswith(_squeezed(begin)) else 0


def _squeezed(text: str) -> str:
    return "".join(text.split())


# -- why ------------------------------------------------------------------------------------------


def _why(
    shows_tools: bool, frame: str | None, found: _Found, ranked: Sequence[str]
) -> Iterator[str]:
    if shows_tools:
        yield "The template shows tools to the model."
    else:
        yield "The template does not show tools to the model, so it would never call one."
    if not frame and not (shows_tools and (ranked or found.proposal)):
        yield "It marks turns in a way of its own, as none of toolwire's templates does."
    if not found.turns:
        yield "It does not show how a call is written."
        return
    written = _short(found.turns[0].sample.text)
    if ranked:
        yield f"It writes a call as {written}, and {ranked[0]} reads that back."
        if ranked[1:]:
            yield f"Others can read it, too: {', '.join(ranked[1:])}."
    elif found.proposal:
        yield f"It writes a call as {written}, which no format of toolwire reads."
        yield "A format made from its pieces does; it was proven by rendering and reading."
    else:
        yield f"It writes a call as {written}, and no format could be made that reads this back."


def _limits(found: _Found, chosen: str) -> Iterator[str]:
    """What does not work, although calls are read."""
    reading, turns = found.readings.get(chosen), found.turns
    if reading is not None and reading.left:
        yield f"Beside the call, this would stay in the text: {_short(reading.left)}."
    if len(turns) == len(CALLS):
        yield "The template refuses two calls in one turn."
    elif reading is not None and not reading.parallel:
        yield "Two calls in one turn are not read back."
    if turns[0].sample.calls != CALLS[:1]:
        yield "Nested values in arguments are not read back, only simple ones."
    if turns[0].manner.json_text:
        yield (
            "The template takes a call's arguments as JSON text. vLLM and SGLang hand it objects, so "
            "it may show the model its earlier calls wrongly."
        )


def results_problem(render: Render, manner: Manner) -> str:
    """What is wrong with how the template shows a tool's answer and the turns after it, or nothing."""
    manner = replace(manner, answered=True)
    calls = CALLS[:1]
    messages = [
        {"role": "user", "content": QUESTION},
        manner.assistant(calls),
        *manner.results(calls),
        {"role": "assistant", "content": WORD},
        {"role": "user", "content": NEXT},
    ]
    try:
        shown = render(messages, tools_for(calls))
    except ToolwireError as error:
        return f"A conversation with a tool's answer in it fails: {error}."
    if RESULT not in shown:
        return "The template does not show the model what a tool gave back."
    return ""


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
