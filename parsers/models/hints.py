"""Which format a template means that shows tools, but writes no call, or none that can be read.

There are some hints, from the plainest to the faintest. The instructions may show a call (`<tool_call>
{"name": <function-name>, …}`): the formats read the prompt as if a model had written it. They may name
the delimiters. The vocabulary may have them. And where that is not known: a family's tokens are made
alike, so that who writes lists of tools in `<|tool_list_start|>` writes calls in `<|tool_call_start|>`;
and families have words of their own before a list of tools, and tokens of their own around turns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..core.format import Format
from ..core.parser import EventParser
from ..core.samples import Call
from ..errors import ToolwireError
from ..formats import get_format
from ..formats.any_format import is_written_marked
from ..formats.registry import formats_in_order
from ..openai.message import collect
from ..shapes.tokens import tokens
from .probes import CALLS, NEXT, RESULT, WORD, Manner, Message, Render, Setting
from .readings import beginning, may_read, written_by

#: What instructions write where a call has a name, or arguments.
_NAME = re.compile(r'("(?:name|tool_name|tool|function)": ?)(?![" ])[^,"{}\n]+')
_ARGUMENTS = re.compile(r'("(?:arguments|parameters|args|input)": ?)(?![{" ])[^{}"\n]+')
#: A word that stands for a value: `NAME(key=value, other=another...)`.
_VALUE = re.compile(r"=([A-Za-z]\w*)(?:\.\.\.)?(?=[,)])")
#: Where a call without delimiters may be shown in the middle of a line.
_IN_LINE = re.compile(r"(?<=[ :'`])(?=[\[{])")
_WORD = re.compile(r"[A-Za-z]+")

#: What families write before a list of tools, whose models write calls in tokens that it does not show.
_INTRODUCED = {"List of tools:": "lfm2"}
#: The tokens around turns by which a family is known, where a template shows neither tools nor calls.
#: Newer families, which have those of older ones, too, come first.
_FAMILY_TURNS = {"<|START_RESPONSE|>": "cohere", "<|CHATBOT_TOKEN|>": "command_r"}
#: A role that no template knows.
_ANYBODY = "nobody"
#: Those that many have in common; it has to know by other signs what a tool is.
_COMMON_TURNS = {"<|im_start|>": "hermes"}


@dataclass(frozen=True, slots=True)
class Hint:
    """Formats that a template may mean, best first, and why."""

    formats: tuple[str, ...]
    says: str


def find_hint(
    render: Render,
    setting: Setting,
    vocabulary: Collection[str] | None,
    writes_calls: bool,
    shows_tools: bool = True,
) -> Hint | None:
    """The plainest hint there is. Where calls are written, but can't be read, tokens are none."""
    hints = _hints if shows_tools else _hints_without_tools
    for formats, says in hints(render, setting, vocabulary, writes_calls):
        if formats:
            return Hint(tuple(formats), says.format(formats[0]))
    return None


def told_marker(render: Render, setting: Setting, read_by: str) -> Hint | None:
    """The format with a marker that the instructions show, where the template itself forgets the marker
    and writes calls as another format, which needs none, can read them."""
    prompt = render(setting.question(), setting.tools(CALLS))
    marked = [name for name, plain in _shown(prompt) if plain >= _AS_WRITTEN]
    marked = [name for name in marked if not get_format(name).bare and name != read_by]
    if not marked:
        return None
    says = f"It writes calls without a marker, as {read_by} reads them"
    return Hint((marked[0],), f"{says}, but tells the model to write {marked[0]}'s.")


def _hints(
    render: Render, setting: Setting, vocabulary: Collection[str] | None, writes_calls: bool
) -> Iterator[tuple[list[str], str]]:
    prompt = render(setting.question(), setting.tools(CALLS))
    yield (
        [name for name, _ in _shown(prompt)],
        "It tells the model how to write calls: {} reads it.",
    )
    without = _rendered(render, setting.question()) or ""
    yield _named(prompt, without), "It tells the model what {} marks calls with."
    if writes_calls:
        return
    if vocabulary is not None:
        yield _in_vocabulary(vocabulary), "It writes no calls. The model has the tokens of {}."
        return
    new = _tags(_with_results(render, setting) or prompt) - turn_tags(render, setting)
    yield _akin(new), "It writes no calls. Its tokens are like those of {}."
    introduced = [name for words, name in _INTRODUCED.items() if words in prompt]
    yield introduced, "It writes no calls. It lists tools as templates do whose models write {}."


def _hints_without_tools(
    render: Render, setting: Setting, vocabulary: Collection[str] | None, writes_calls: bool
) -> Iterator[tuple[list[str], str]]:
    """What the tokens around turns tell. A model that was trained on calls may come with a template that
    shows none."""
    if writes_calls:
        return
    tags = turn_tags(render, setting)
    family = [name for tag, name in _FAMILY_TURNS.items() if tag in tags]
    if not family and _knows_results(render, setting):
        family = [name for tag, name in _COMMON_TURNS.items() if tag in tags]
    yield family, "It writes no calls. Models whose turns are marked so write {}."


def _knows_results(render: Render, setting: Setting) -> bool:
    """Whether a tool's answer is shown, and as something else than a turn of somebody called `tool`, or
    of anybody."""
    shown = _result_shown(render, setting, "tool")
    if shown is None or "tool" in shown:
        return False
    return shown != _result_shown(render, setting, _ANYBODY)


def _result_shown(render: Render, setting: Setting, role: str) -> str | None:
    """What stands between an answer and a text that somebody else says behind it."""
    answer, result = {"role": "assistant", "content": WORD}, {"role": role, "content": RESULT}
    shown = _rendered(render, [*setting.question(), answer, result]) or ""
    before, found, _ = shown.rpartition(WORD)[2].partition(RESULT)
    return before if found else None


def has_tokens(spec: Format, vocabulary: Collection[str] | None, tags: Collection[str]) -> bool:
    """Whether a model seems to have tokens for a format's delimiters: they are in its vocabulary, or,
    where that is not known, made like the tags that a template marks turns with."""
    literals = delimiters(spec)
    if not literals:
        return False
    if vocabulary is not None:
        return all(literal in vocabulary for literal in literals)
    return _kinship(literals, tags) > 0


def delimiters(spec: Format) -> list[str]:
    """What stands around calls, in the first spelling."""
    each = [spelling for w in spec.wrappers for spelling in (*w.open[:1], *w.close[:1])]
    return [literal.strip() for literal in each]


def _scored(score: Callable[[Format], tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The formats with a score, the highest first; of equal ones, the one that was there first."""
    scores = {name: score(get_format(name)) for name in formats_in_order()}
    names = sorted(
        (name for name in scores if any(scores[name])), key=lambda n: scores[n], reverse=True
    )
    return {name: scores[name] for name in names}


def _is_marked(spec: Format) -> bool:
    """Whether its calls stand between its delimiters, though they may be read without."""
    return not spec.bare or (not spec.shape.heads and bool(spec.layout) and is_written_marked(spec))


def _ranked(score: Callable[[Format], tuple[int, ...]]) -> list[str]:
    return list(_scored(score))


# -- instructions ---------------------------------------------------------------------------------


def _shown(prompt: str) -> list[tuple[str, int]]:
    """The formats that read a call in the instructions, and how much it is as they would write it."""
    filled = _ARGUMENTS.sub(r"\1{}", _NAME.sub(r'\1"NAME"', _VALUE.sub(r'="\1"', prompt)))
    on_lines = _IN_LINE.sub("\n", filled)

    def score(spec: Format) -> tuple[int, ...]:
        text = on_lines if spec.bare else filled
        if not (spec.wrappers or spec.bare) or not may_read(spec, text):
            return (0,)  # what needs no delimiter at all is in any prose
        return max((_plainness(spec, text, call) for call in _calls_in(spec, text)), default=(0,))

    return [(name, plainness[0]) for name, plainness in _scored(score).items()]


def _calls_in(spec: Format, text: str) -> Iterator[Call]:
    """The calls in a text, without those that the list of tools looks like."""
    parser = EventParser(spec)
    message = collect([*parser.feed(text), *parser.finish()])
    ours = {name for name, _ in CALLS}
    for call in message.tool_calls:
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            continue
        if call.complete and call.name not in ours and isinstance(arguments, dict):
            yield call.name, arguments


#: The least that a call in the instructions has which begins as the format would write it.
_AS_WRITTEN = 2


def _plainness(spec: Format, text: str, call: Call) -> tuple[int, ...]:
    """How much of what the format would write stands in the text."""
    written = written_by(spec, [call])
    if written and written in text:
        return (_AS_WRITTEN + 1, len(written))
    begin = beginning(spec, call[0])
    if begin and begin in text:
        return (_AS_WRITTEN, len(begin))
    return (1, 0) if not spec.bare and all(d in text for d in delimiters(spec)) else (0,)


def _named(prompt: str, without: str) -> list[str]:
    """The formats whose delimiters are all in the instructions about tools."""

    def score(spec: Format) -> tuple[int, ...]:
        literals = delimiters(spec)
        told = _is_marked(spec) and all(d in prompt and d not in without for d in literals)
        return (sum(map(len, literals)) if told else 0,)

    return _ranked(score)


# -- tokens ---------------------------------------------------------------------------------------


def _in_vocabulary(vocabulary: Collection[str]) -> list[str]:
    def score(spec: Format) -> tuple[int, ...]:
        literals = delimiters(spec)
        there = _is_marked(spec) and all(literal in vocabulary for literal in literals)
        return (sum(map(len, literals)) if there else 0,)

    return _ranked(score)


def _akin(tags: Collection[str]) -> list[str]:
    return _ranked(lambda spec: (_kinship(delimiters(spec), tags) if _is_marked(spec) else 0,))


def _kinship(literals: Sequence[str], tags: Collection[str]) -> int:
    """How many words delimiters have in common with tags that differ in one word only."""
    shared = [max((_shared_words(literal, tag) for tag in tags), default=0) for literal in literals]
    return sum(shared) if all(shared) else 0


def _shared_words(one: str, other: str) -> int:
    if _WORD.sub("_", one) != _WORD.sub("_", other):
        return 0
    pairs = list(zip_longest(_WORD.findall(one), _WORD.findall(other)))
    same = sum(a == b for a, b in pairs)
    return same if same == len(pairs) - 1 else 0


# -- rendering ------------------------------------------------------------------------------------


def turn_tags(render: Render, setting: Setting) -> set[str]:
    """The tags that a conversation without tools has in it."""
    answer, again = {"role": "assistant", "content": WORD}, {"role": "user", "content": NEXT}
    return _tags(_rendered(render, [*setting.question(), answer, again]) or "")


def _with_results(render: Render, setting: Setting) -> str | None:
    manner = Manner(setting=setting)
    calls = CALLS[:1]
    messages = [*setting.question(), manner.assistant(calls), *manner.results(calls)]
    return _rendered(render, messages, setting.tools(calls))


def _rendered(
    render: Render, messages: list[Message], tools: list[dict[str, object]] | None = None
) -> str | None:
    try:
        return render(messages, tools)
    except ToolwireError:
        return None


def _tags(text: str) -> set[str]:
    return {token.text for token in tokens(text) if token.kind == "tag"}
