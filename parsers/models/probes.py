"""Conversations that show how a chat template writes calls, and the assistant's turn in them.

What the model would have written is found by comparing: the turn begins where the prompt for it ends, or
else where the same turn with nothing but a word in it begins to differ, and it ends with what follows
that word. Templates differ in what they put up with. Some show tools only behind a system message, or
take them without `function` around them, or only such as have no nested values, or under another name
than `tools`: that is the setting. And there are several manners to say that
calls were made: arguments as an object or as JSON text, ids of several kinds, a text beside them, an
empty one or none, with the tools' answers or without.
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ..core.samples import Call, Sample
from ..errors import ToolwireError
from ..formats.tools_for import tools_for
from ..shapes.tokens import tokens

Message = dict[str, Any]

#: What stands before and after a thought.
Markers: TypeAlias = tuple[str, str]
THINK: Markers = ("<think>", "</think>")

SYSTEM = "Toolwire is polite."
QUESTION = "Toolwire asks about a city."
NEXT = "And toolwire asks again."
WORD = "Toolwireanswers"
RESULT = "Toolwire was told."
TEXT = "One moment please."
_DATE = "1 January 2025"

#: Calls with a text, a number, a truth value, and nested values; and simpler ones.
CALLS: tuple[Call, ...] = (
    (
        "toolwire_weather",
        {"city": "Oslo", "days": 3, "options": {"units": ["metric"], "wind": True}},
    ),
    ("toolwire_note", {"text": "Take a coat", "pinned": False}),
)
SIMPLE_CALLS: tuple[Call, ...] = (
    ("toolwire_weather", {"city": "Oslo", "days": 3}),
    ("toolwire_note", {"text": "Take a coat"}),
)
#: Some templates write every value as a text, or forget what stands between two of them, or the quotes.
TEXT_CALLS: tuple[Call, ...] = (
    ("toolwire_weather", {"city": "Oslo", "unit": "metric"}),
    ("toolwire_note", {"text": "Take a coat"}),
)
WORD_CALLS: tuple[Call, ...] = (
    ("toolwire_weather", {"city": "Oslo"}),
    ("toolwire_note", {"text": "Coat"}),
)
NUMBER_CALLS: tuple[Call, ...] = (
    ("toolwire_weather", {"days": 41}),
    ("toolwire_note", {"number": 73}),
)
#: From the one that shows most to the one that asks for the least.
PROBES = (CALLS, SIMPLE_CALLS, TEXT_CALLS, WORD_CALLS, NUMBER_CALLS)

#: A turn with two short calls in it has not more characters.
_LONGEST = 20_000
#: How much a tag has to look like another one to stand for it.
_ALIKE = 0.7


class Render(Protocol):
    """A chat template, ready to be asked. Whatever goes wrong in it is a `ToolwireError`.

    `variables` are what a request hands over beside its messages, such as `add_generation_prompt`.
    """

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None = None,
        **variables: Any,
    ) -> str: ...


def remembering(render: Render) -> Render:
    """The same template, rendered once for each question."""
    answers: dict[str, str | ToolwireError] = {}

    def remembered(
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None = None,
        **variables: Any,
    ) -> str:
        key = repr((messages, tools, variables))
        if key not in answers:
            try:
                answers[key] = render(messages, tools, **variables)
            except ToolwireError as error:
                answers[key] = error
        answer = answers[key]
        if isinstance(answer, ToolwireError):
            raise answer
        return answer

    return remembered


@dataclass(frozen=True, slots=True)
class Setting:
    """What a template needs before it shows tools."""

    system: bool = False  # a system message
    flat: bool = False  # tools without `function` around them
    plain: bool = False  # tools whose parameters are neither lists nor objects

    @staticmethod
    def all() -> Iterator[Setting]:
        """The usual one first."""
        for plain, flat, system in itertools.product((False, True), repeat=3):
            yield Setting(system, flat, plain)

    def question(self) -> list[Message]:
        system = [{"role": "system", "content": SYSTEM}] if self.system else []
        return [*system, {"role": "user", "content": QUESTION}]

    def tools(self, calls: Sequence[Call]) -> list[dict[str, Any]] | None:
        tools = tools_for(map(_without_nested, calls) if self.plain else calls)
        if self.flat and tools:
            return [{"type": "function", **tool["function"]} for tool in tools]
        return tools


USUAL = Setting()


def _without_nested(call: Call) -> Call:
    name, arguments = call
    return name, {k: v for k, v in arguments.items() if not isinstance(v, (dict, list))}


#: What templates call the tools that do not take them as `tools`, and whether they want them as text.
_ELSEWHERE = {"functions": True, "xml_tools": False, "custom_tools": False}


def taking_tools(render: Render) -> tuple[Render, str]:
    """The template, and the name that it takes tools by. Where that is not `tools`, the template gets
    them under both, and the date, too, which such templates show."""
    usual = _shows_tools(render)
    for name, as_text in _ELSEWHERE.items() if usual is not True else ():
        renamed = _with_tools_as(name, as_text, render)
        if _shows_tools(renamed):
            return renamed, name
    return render, "tools"


def _shows_tools(render: Render) -> bool | None:
    """Whether a template shows tools in some setting; None where it refuses all of them."""
    try:
        return setting_of(render)[1]
    except ToolwireError:
        return None


def _with_tools_as(name: str, as_text: bool, render: Render) -> Render:
    def renamed(
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None = None,
        **variables: Any,
    ) -> str:
        given = json.dumps(tools or [], ensure_ascii=False) if as_text else tools
        return render(messages, tools, **{name: given, "datetime": _DATE, **variables})

    return renamed


@dataclass(frozen=True, slots=True)
class Manner:
    """One way to say that the assistant made calls."""

    json_text: bool = False  # arguments as JSON text; engines hand objects over
    counted_ids: bool = (
        False  # ids like `functions.NAME:0`, which Kimi's template writes as the name
    )
    content: str | None = ""
    has_content: bool = True
    answered: bool = False  # the tools' answers follow
    from_prompt: bool = (
        True  # the turn begins where the prompt for it ends, if it goes on from there
    )
    setting: Setting = USUAL

    @staticmethod
    def all(setting: Setting) -> Iterator[Manner]:
        """The usual one first."""
        contents = (("", True), (None, True), (TEXT, True), (None, False))
        for answered, (content, there), counted, text, prompt in itertools.product(
            (False, True), contents, (False, True), (False, True), (True, False)
        ):
            yield Manner(text, counted, content, there, answered, prompt, setting)

    def ids(self, calls: Sequence[Call]) -> tuple[str, ...]:
        return tuple(self._id(number, name) for number, (name, _) in enumerate(calls))

    def assistant(self, calls: Sequence[Call]) -> Message:
        tool_calls = [
            {
                "id": id,
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": (
                        json.dumps(arguments, ensure_ascii=False) if self.json_text else arguments
                    ),
                },
            }
            for id, (name, arguments) in zip(self.ids(calls), calls, strict=True)
        ]
        content = {"content": self.content} if self.has_content else {}
        return {"role": "assistant", **content, "tool_calls": tool_calls}

    def results(self, calls: Sequence[Call]) -> list[Message]:
        return [
            {"role": "tool", "tool_call_id": id, "name": name, "content": RESULT}
            for id, (name, _) in zip(self.ids(calls), calls, strict=True)
        ]

    def _id(self, number: int, name: str) -> str:
        # Nine letters and digits: Mistral's templates insist on it.
        return f"functions.{name}:{number}" if self.counted_ids else f"toolwire{number}"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a template writes for the assistant's calls."""

    sample: Sample
    content: str | None
    manner: Manner
    #: what a tool's answer begins with: some templates write it as soon as there are calls
    answer_begins: str = ""


def setting_of(render: Render) -> tuple[Setting, bool]:
    """The first setting in which a template shows tools, and whether there is one.

    Raises where the template can't be rendered in any.
    """
    refused: ToolwireError | None = None
    taken: Setting | None = None
    for setting in Setting.all():
        try:
            shown = render(setting.question(), setting.tools(CALLS))
        except ToolwireError as error:
            refused = refused or error
            continue
        if CALLS[0][0] in shown:
            return setting, True
        taken = taken or setting
    if taken is None and refused is not None:
        raise refused
    return taken or USUAL, False


def shown_turn(
    render: Render, calls: Sequence[Call], manner: Manner, markers: Markers = THINK
) -> Turn | None:
    """The turn with these calls in it, or None where the template does not write all of them.

    An empty thought between `markers` is no part of it.
    """
    question, tools = manner.setting.question(), manner.setting.tools(calls)
    before, rest = _plain_turn(render, manner, tools)
    after = manner.results(calls) if manner.answered else []
    shown = render([*question, manner.assistant(calls), *after], tools)
    prompt = _prompt(render, question, tools) if manner.from_prompt else ""
    start = len(prompt) if prompt and shown.startswith(prompt) else _shared(before, shown)
    last = _last_place(shown, calls, start)
    if last is None:
        return None
    text = _without_thought(shown[start : _turn_end(shown, start, last, rest)].rstrip(), markers)
    text = text.lstrip("\r\n")
    if len(text) > _LONGEST:
        return None
    sample = Sample(text, tuple(calls), manner.ids(calls))
    return Turn(sample, manner.content, manner, _answer_begins(render, calls, manner, text, rest))


def _answer_begins(
    render: Render, calls: Sequence[Call], manner: Manner, text: str, rest: str
) -> str:
    """The tag at the end of a turn, if tools answer behind it within the same turn."""
    messages = [*manner.setting.question(), manner.assistant(calls), *manner.results(calls)]
    try:
        shown = render(messages, manner.setting.tools(calls))
    except ToolwireError:
        return ""
    ends = text.rpartition("<")[1:]
    _, found, answered = shown.rpartition("".join(ends))
    between = answered.partition(RESULT)[0]
    same_turn = found and RESULT in answered and not any(e in between for e in _ends(rest))
    return "".join(ends) if same_turn and text.endswith(">") else ""


def _plain_turn(
    render: Render, manner: Manner, tools: list[dict[str, Any]] | None
) -> tuple[str, str]:
    """What stands before and after a word of the assistant's."""
    said = [*manner.setting.question(), {"role": "assistant", "content": WORD}]
    followed = [*said, {"role": "user", "content": NEXT}]
    plain = render(followed if manner.answered else said, tools)
    if WORD not in plain:
        raise ToolwireError("The chat template does not show what the assistant says")
    before, _, rest = plain.partition(WORD)
    if not rest.strip():  # the last turn is left open
        rest = render(followed, tools).rpartition(WORD)[2]
    return before, rest


def _prompt(render: Render, question: list[Message], tools: list[dict[str, Any]] | None) -> str:
    """What the model is given to go on from; nothing where the template refuses to end there."""
    try:
        return render(question, tools, add_generation_prompt=True)
    except ToolwireError:
        return ""


def _without_thought(text: str, markers: Markers) -> str:
    """Without an empty thought at the beginning, which the prompt may have opened."""
    opener, closer = markers
    inside = text.removeprefix(opener).lstrip()
    return inside.removeprefix(closer).strip() if inside.startswith(closer) else text


def common_prefix(one: str, other: str) -> int:
    """With how many characters both texts begin."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _shared(before: str, shown: str) -> int:
    """Where the turn begins: what both texts begin with, without half a tag at the end."""
    length = common_prefix(before, shown)
    if length < len(before):
        tag = before.rfind("<", 0, length)
        if tag > before.rfind(">", 0, length):
            return tag
    return length


def _last_place(shown: str, calls: Sequence[Call], start: int) -> int | None:
    """Where the last plain value of the calls stands, if there is one, and all names and such values
    are there."""
    turn = shown[start : _result_place(shown, start)]
    texts = [str(v) for _, arguments in calls for v in arguments.values() if _is_plain(v)]
    if not texts or not all(word in turn for word in (*(name for name, _ in calls), *texts)):
        return None
    return start + turn.rfind(texts[-1])


def _is_plain(value: Any) -> bool:
    """Whether a value is written the same by everyone, but for quotes around it."""
    if isinstance(value, int) and value >= 10:
        return True  # a single digit may stand anywhere
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z ]+", value) is not None


def _result_place(shown: str, start: int) -> int:
    place = shown.find(RESULT, start)
    return place if place >= 0 else len(shown)


def _turn_end(shown: str, start: int, last: int, rest: str) -> int:
    """Where the turn ends: at what ends a turn of plain text, or at what looks like it. What calls
    have in them, too, does not end the turn."""
    latest = _result_place(shown, last)
    ending = _ends(rest)
    ending = [end for end in ending if end not in shown[start:last]] or ending
    places = [at for end in ending if (at := shown.find(end, last)) >= 0]
    if places or not ending:
        return min(places, default=latest)
    for tag in re.compile(r"<[^<>]*>").finditer(shown, last, latest):
        if difflib.SequenceMatcher(None, tag[0], ending[0]).ratio() > _ALIKE:
            return tag.start()  # a turn with calls may end differently: `<|eom_id|>`
    return latest


def _ends(rest: str) -> list[str]:
    """What ends a turn: the tags in the text up to the next one, or else its first word."""
    text = rest.partition(NEXT)[0]
    return [token.text for token in tokens(text) if token.kind == "tag"] or text.split()[:1]
