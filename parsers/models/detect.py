"""Which format does a chat template show the model?

The template is rendered with conversations whose calls are known (`probes`), and every format is asked
to read the calls back and leave nothing over; `readings` chooses between those that manage. Where none
does, but the pieces of a call can be told apart, a new format is proposed, proven by the same round
trip. Where a template writes no call at all, there may be hints of what it means (`hints`).

A checkpoint that says by itself how it writes messages, in a `response_template`, is believed: that is
the format, whatever else could read what the chat template writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.format import Format
from ..core.samples import Call
from ..errors import ToolwireError
from ..formats import get_format
from ..formats.reasoning import channel_style
from ..formats.response_template import load_response_template
from .files import ModelFiles
from .frames import frame_by_tokens, frame_of, template_for
from .hints import Hint, find_hint, has_tokens, told_marker, turn_tags
from .probes import (
    CALLS,
    NEXT,
    PROBES,
    RESULT,
    SIMPLE_CALLS,
    THINK,
    USUAL,
    WORD,
    WORD_CALLS,
    Manner,
    Markers,
    Render,
    Setting,
    Turn,
    remembering,
    setting_of,
    shown_turn,
    taking_tools,
)
from .propose import propose
from .readings import Reading, best_first, is_marked, readings_of, text_left
from .reasoning import ShownReasoning, find_reasoning
from .rendering import template_renderer
from .styles import fitting_styles, own_style

#: What a proposed format is called, until somebody gives it a name.
PROPOSED = "detected"

SAYS_SO = "The model's response_template says how it writes messages"
CHANGES_LISTS = "It treats lists in a way that llama.cpp lets it, but vLLM and SGLang refuse."

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Detection:
    """What a chat template shows the model."""

    formats: tuple[str, ...] = ()
    """The formats that read the template's calls, best first."""
    proposal: Format | None = None
    """A new format that reads them, where none of those that exist does; or the one that the model's own
    response template describes."""
    hinted: bool = False
    """The template writes no call that could be read; the formats are what it hints at."""
    shows_tools: bool = False
    reasoning: ShownReasoning = field(default_factory=ShownReasoning)
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

    @property
    def reasoning_style(self) -> str | None:
        """The name of the style in which thoughts are marked, if it has one."""
        spec = self.proposal or (get_format(self.formats[0]) if self.formats else None)
        if spec is not None and channel_style(spec):
            return own_style(spec)
        if self.reasoning.markers is None:
            return None
        return next(iter(fitting_styles(self.reasoning.markers, spec)), None)


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
    render, tools_name = taking_tools(remembering(render))
    setting, shows_tools = setting_of(render)
    frame = frame_of(render, special)
    reasoning = find_reasoning(render)
    found = _find(shown_turns(render, setting, reasoning.markers or THINK), name)
    tags = set() if frame else turn_tags(render, setting)  # many families have our frames in common
    tokens = {name: has_tokens(get_format(name), vocabulary, tags) for name in found.readings}
    ranked = best_first(found.readings, found.turns, tokens, reasoning.markers)
    hint = None
    if not (ranked or found.proposal):
        hint = find_hint(render, setting, vocabulary, bool(found.turns), shows_tools)
        ranked = list(hint.formats) if hint else []
    elif shows_tools and ranked and not is_marked(get_format(ranked[0]), found.turns[0]):
        hint = told_marker(render, setting, ranked[0])
        ranked = [*(hint.formats if hint else ()), *ranked]
    template = None
    if frame and not (shows_tools and (ranked or found.proposal)):
        template = template_for(frame, ranked[0] if ranked else _likely(vocabulary)).name
    why = [*_about_tools(setting, shows_tools, tools_name)]
    why += _why(shows_tools, frame, found, ranked, hint)
    if (ranked or found.proposal) and not hint:
        why += _limits(found, ranked[0] if ranked else "")
        why += filter(None, [results_problem(render, found.turns[0].manner)])
    return Detection(
        formats=tuple(ranked),
        proposal=found.proposal,
        hinted=hint is not None,
        shows_tools=shows_tools,
        reasoning=reasoning,
        frame=frame,
        template=template,
        why=tuple(why),
    )


def detect_model(files: ModelFiles, name: str = PROPOSED) -> Detection:
    """Asks the template that a model's files have, if they have one."""
    found = _by_template(files, name)
    return found if files.response_template is None else _as_said(found, files, name)


def _as_said(found: Detection, files: ModelFiles, name: str) -> Detection:
    """What was found, with the format that the model's own response template describes."""
    try:
        spec = load_response_template(files.response_template, name)
    except ToolwireError as error:
        return replace(found, why=(f"{SAYS_SO}, but not so that a format can. {error}", *found.why))
    why = f"{SAYS_SO}: the format is made of that."
    return replace(found, proposal=spec, hinted=False, why=(why, *found.why))


def _by_template(files: ModelFiles, name: str) -> Detection:
    if files.template is not None:
        render = template_renderer(files.template, files.special)
        found = detect(render, special=files.special, vocabulary=files.vocabulary, name=name)
        return replace(found, why=(*found.why, CHANGES_LISTS)) if render.changes_lists else found
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


def shown_turns(
    render: Render, setting: Setting = USUAL, markers: Markers = THINK
) -> Iterator[list[Turn]]:
    """What the template writes for calls, in every manner that it puts up with; the usual one first."""
    seen = set()
    manners: Iterable[Manner] = _manners(render, setting, markers)
    for calls in PROBES:
        taken = []
        for manner in manners:
            taken.append(manner)
            turns = _in_manner(render, calls, manner, markers)
            texts = tuple(turn.sample.text for turn in turns)
            if turns and texts not in seen:
                seen.add(texts)
                yield turns
        manners = taken


def _manners(render: Render, setting: Setting, markers: Markers) -> Iterator[Manner]:
    """The manners that the template puts up with, of those that make no difference the first."""
    seen = set()
    for manner in Manner.all(setting):
        for turn in _in_manner(render, WORD_CALLS[:1], manner, markers):
            if turn.sample.text not in seen:
                seen.add(turn.sample.text)
                yield manner


def _in_manner(
    render: Render, calls: Sequence[Call], manner: Manner, markers: Markers
) -> list[Turn]:
    """One turn with each call by itself, and one with both, where the template allows that."""
    turns: list[Turn] = []
    alone = [[call] for call in calls]
    for several in alone if len(calls) == 1 else [*alone, calls]:
        try:
            turn = shown_turn(render, several, manner, markers)
        except ToolwireError:
            turn = None  # another manner may do; two calls at once are too much for some
        if turn is None and len(several) == 1:
            return []
        if turn is not None:
            turns.append(turn)
    return turns


def manner_of(render: Render, spec: Format, markers: Markers = THINK) -> Manner | None:
    """The first manner in which the template writes a call as a format reads it, if there is one."""
    render = remembering(render)
    setting, _ = setting_of(render)
    manners = list(_manners(render, setting, markers))
    for calls in PROBES:
        for manner in manners:
            for turn in _in_manner(render, calls[:1], manner, markers):
                if text_left(spec, turn) == "":
                    return manner
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    """The turns that could be read, or the first ones; and by what."""

    turns: Sequence[Turn] = ()
    readings: Mapping[str, Reading] = field(default_factory=dict)
    proposal: Format | None = None


def _find(shown: Iterable[Sequence[Turn]], name: str) -> _Found:
    """Best is a format that leaves nothing over, then a new one that does; then one that does not."""
    seen: list[Sequence[Turn]] = []
    unclean: list[_Found] = []
    for turns in shown:
        seen.append(turns)
        readings = readings_of(turns)
        clean = {name: reading for name, reading in readings.items() if not reading.left}
        if clean:
            return _Found(turns, clean)
        if readings:
            unclean.append(_Found(turns, readings))
    for turns in seen:
        proposal = propose([turn.sample for turn in turns], name) if _tells_enough(turns) else None
        if proposal is not None:
            return _Found(turns, {}, proposal)
    return unclean[0] if unclean else _Found(seen[0] if seen else ())


def _tells_enough(turns: Sequence[Turn]) -> bool:
    """Whether a new format may be made of turns: texts alone do not show how values are written."""
    return turns[0].sample.calls in (CALLS[:1], SIMPLE_CALLS[:1])


# -- why ------------------------------------------------------------------------------------------


def _why(
    shows_tools: bool,
    frame: str | None,
    found: _Found,
    ranked: Sequence[str],
    hint: Hint | None,
) -> Iterator[str]:
    if not frame and not (shows_tools and (ranked or found.proposal)):
        yield "It marks turns in a way of its own, as none of toolwire's templates does."
    written = _short(found.turns[0].sample.text) if found.turns else ""
    if hint:
        yield hint.says
    elif not found.turns:
        yield "It does not show how a call is written."
    elif ranked:
        yield f"It writes a call as {written}, and {ranked[0]} reads that back."
    elif found.proposal:
        yield f"It writes a call as {written}, which no format of toolwire reads."
        yield "A format made from its pieces does; it was proven by rendering and reading."
    else:
        yield f"It writes a call as {written}, and no format could be made that reads this back."
    if ranked[1:]:
        yield f"Others can read it, too: {', '.join(ranked[1:])}."


def _about_tools(setting: Setting, shows_tools: bool, name: str) -> Iterator[str]:
    if not shows_tools:
        yield "The template does not show tools to the model, so it would never call one."
        return
    yield "The template shows tools to the model."
    if setting.system:
        yield "It does so only where a conversation begins with a system message."
    if setting.flat:
        yield "It takes tools without `function` around them, as SGLang hands them over; vLLM does not."
    if setting.plain:
        yield "It fails where a tool's parameter is an object or a list."
    if name != "tools":
        yield f"It takes tools as `{name}`, not as `tools`: tell the engine to hand them over so."


def _limits(found: _Found, chosen: str) -> Iterator[str]:
    """What does not work, although calls are read."""
    reading, turns = found.readings.get(chosen), found.turns
    if reading is not None and reading.left:
        yield f"Beside the call, this would stay in the text: {_short(reading.left)}."
    if len(turns) == len(CALLS):
        yield "The template refuses two calls in one turn."
    elif reading is not None and not reading.parallel:
        yield "Two calls in one turn are not read back."
    if turns[0].sample.calls == SIMPLE_CALLS[:1]:
        yield "Nested values in arguments are not read back, only simple ones."
    elif turns[0].sample.calls != CALLS[:1]:
        yield "Only the simplest arguments are read back: it does not write others as a model would."
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
        *manner.setting.question(),
        manner.assistant(calls),
        *manner.results(calls),
        {"role": "assistant", "content": WORD},
        {"role": "user", "content": NEXT},
    ]
    try:
        shown = render(messages, manner.setting.tools(calls))
    except ToolwireError as error:
        return f"A conversation with a tool's answer in it fails: {error}."
    if RESULT not in shown:
        return "The template does not show the model what a tool gave back."
    return ""


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
