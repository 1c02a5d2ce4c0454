"""How a template marks a model's thoughts: between which markers, whether the prompt has opened them
already, and which switch turns thinking off.

Found by rendering, as calls are. A message with a thought in it is handed over in every way that
templates know (`reasoning_content`, `reasoning`, a part of the content, tags in its text), in a plain
turn and in one with a call, and with each switch on. What stands before the thought, without what begins
every turn of the assistant's (the head), is the opener; what stands between the thought and the answer
is the closer. Where no thought is ever shown, the prompts tell: an open block at the end of one, or an
empty one where thinking is off.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ToolwireError
from ..shapes.tokens import Token, common_start, joined, tokens, tokens_without_space
from .probes import NEXT, QUESTION, SIMPLE_CALLS, WORD, Manner, Message, Render, remembering

#: A word that appears nowhere else.
THOUGHT = "Toolwirethinks"

#: What a request may say to turn thinking on and off: values for on, values for off.
_SWITCHES: Mapping[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "enable_thinking": ((True,), (False,)),
    "thinking": ((True,), (False,)),
    "thinking_mode": (("enabled",), ("disabled",)),
    "add_thoughts": ((True,), (False,)),
    "reasoning_effort": (("high",), ("none", "no_think")),
}
#: The markers that templates look for in a message's text, to take the thoughts out of earlier turns.
_IN_TEXT = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"))
_THINKS = re.compile(r"think|thought|reason", re.IGNORECASE)
#: A message, or a part of it, that was not understood, but written as it is.
_DUMPED = re.compile(r"""['"](?:type|blocks|reasoning_content)['"]:""")
#: A phrase in quotes that ends in a colon, as in: after 'Here is my answer:'.
_PHRASE = re.compile(r"'([^'\n]{3,60}:)'")


@dataclass(frozen=True, slots=True)
class ShownReasoning:
    """What a template says about thoughts."""

    markers: tuple[str, str] | None = None
    """What stands before and after them, without white space around it."""
    opened: bool = False
    """Whether the prompt opens the block, so that the model's text begins inside it."""
    switch: str | None = None
    """What a request sets to turn thinking off."""
    off: Any = None
    """… and to which value."""
    off_by_default: bool = False


def find_reasoning(render: Render) -> ShownReasoning:
    """Asks a template how it marks thoughts. Never raises: where it says nothing, nothing is found."""
    asked = _Asked(remembering(render))
    switch = next(filter(None, (_switch(asked, name) for name in _SWITCHES)), None)
    markers = _shown(asked) or _taken_out(asked) or _prompted(asked) or _told(asked, switch)
    opened = markers is not None and is_open(asked.prompt({}) or "", markers)
    if switch is None:
        return ShownReasoning(markers, opened)
    off = {switch.name: switch.off}
    return ShownReasoning(
        markers, opened, switch.name, switch.off, asked.prompt({}) == asked.prompt(off)
    )


def switched_on(switch: str) -> dict[str, Any]:
    """What a request sets to turn thinking on."""
    return {switch: _SWITCHES[switch][0][0]}


# -- asking ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    """A template that is asked about thoughts."""

    render: Render

    def text(self, messages: Sequence[Message], variables: Mapping[str, Any]) -> str | None:
        """What it writes for these messages behind a question; None where it refuses them."""
        try:
            return self.render(
                [{"role": "user", "content": QUESTION}, *messages], None, **variables
            )
        except ToolwireError:
            return None

    def turn(self, messages: Sequence[Message], variables: Mapping[str, Any]) -> str | None:
        """The same without the question and what stands before it."""
        shown = self.text(messages, variables)
        return shown.rpartition(QUESTION)[2] if shown is not None and QUESTION in shown else None

    def prompt(self, variables: Mapping[str, Any]) -> str | None:
        """What the model is given to go on from."""
        return self.text([], {**variables, "add_generation_prompt": True})

    def prompts(self) -> list[str]:
        """The ends of all prompts, the usual one first; without those that go on with the question
        (`/nothink`) before the turn begins."""
        each = (
            self.turn([], {**variables, "add_generation_prompt": True})
            for variables in ({}, *_all_variables())
        )
        prompts = [prompt for prompt in each if prompt is not None]
        begins = [tokens_without_space(prompt)[:1] for prompt in prompts]
        return [p for p, begin in zip(prompts, begins, strict=True) if begin == begins[0]]

    def heads(self) -> list[str]:
        """What stands before plain answers, in the last turn and in an earlier one."""
        answer = {"role": "assistant", "content": WORD}
        after = {"role": "user", "content": NEXT}
        turns = [self.turn([answer], {}), self.turn([answer, after], {})]
        return [turn.partition(WORD)[0] for turn in turns if turn and WORD in turn]


def _all_variables() -> Iterator[dict[str, Any]]:
    for name, (on, off) in _SWITCHES.items():
        for value in (*on, *off):
            yield {name: value}


# -- messages with a thought in them --------------------------------------------------------------


def _shown(asked: _Asked) -> tuple[str, str] | None:
    """The markers around a thought that the template writes."""
    ons: list[dict[str, Any]] = [{}, *({name: on[0]} for name, (on, _) in _SWITCHES.items())]
    for variables, (with_thought, without) in itertools.product(ons, _turns()):
        turn = asked.turn(with_thought, variables)
        if turn is None or THOUGHT not in turn:
            continue
        before, _, after = turn.partition(THOUGHT)
        if WORD in before or _DUMPED.search(before):
            continue  # that is no place in which the model would write a thought
        plain = asked.turn(without, variables) or ""
        head = _head(asked, before, plain)
        answer = _rest(plain, head)
        if WORD in after:
            after, answer = after.partition(WORD)[0], answer.partition(WORD)[0]
        found = _markers(asked, _rest(before, head), head, after, answer)
        if found:
            return found
    return None


def _turns() -> Iterator[tuple[list[Message], list[Message]]]:
    """Turns with a thought in them, and the same without."""
    calls = SIMPLE_CALLS[:1]
    for manner in (None, Manner(), Manner(json_text=True)):
        plain = manner.assistant(calls) if manner else {"role": "assistant", "content": WORD}
        after = manner.results(calls) if manner else []
        for thoughtful in _thoughtful(plain):
            yield [thoughtful], [plain]
            if after:
                yield [thoughtful, *after], [plain, *after]


def _thoughtful(plain: Message) -> Iterator[Message]:
    """A message with a thought in it, said in every way that templates know."""
    keys = ("reasoning_content", "reasoning", "thinking", "thought")
    yield {**plain, **dict.fromkeys(keys, THOUGHT)}
    if "tool_calls" in plain:
        yield {**plain, "tool_plan": THOUGHT}
        return
    yield {
        **plain,
        "content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": WORD}],
    }
    blocks = [{"type": "thoughts", "text": THOUGHT}, {"type": "response", "text": WORD}]
    yield {**plain, "content": {"blocks": blocks}}


def _head(asked: _Asked, *turns: str) -> str:
    """What every turn of the assistant's begins with, thoughts or not."""
    head = common_start([*turns, *asked.heads(), *asked.prompts()])
    opener = _rest(turns[0], joined(head)) if turns else ""
    halved = re.match(r"\w", opener) and tokens(opener)[-1].kind == "tag"
    if halved and head and head[-1].kind == "tag":
        head = head[:-1]  # `<|open|>think<|sep|>`, and `<|open|>answer<|sep|>`
    return joined(head)


def _rest(text: str, head: str) -> str:
    """A text without the head, which may have other white space in it."""
    return text[_end_of(text, tokens_without_space(head)) :]


def _end_of(text: str, some: Sequence[Token]) -> int:
    """Where tokens end that a text begins with."""
    place = 0
    for token in some:
        place = text.index(token.text, place) + len(token.text)
    return place


def _markers(
    asked: _Asked, opener: str, head: str, after: str, answer: str
) -> tuple[str, str] | None:
    """The markers, from what stands between the head and the thought, and behind the thought."""
    closer = _closer(opener, head, after, answer)
    prompt = _rest(next(iter(asked.prompts()), head), head)
    opener = opener.strip() or ("" if closer in prompt else prompt.strip())
    if not opener:  # every turn and every prompt has it
        tags = [token.text for token in tokens(head) if token.kind == "tag"]
        opener = tags[-1] if tags and _closing(tags[-1]) == closer else ""
    return (opener, closer) if opener and closer else None


def _closer(opener: str, head: str, after: str, answer: str) -> str:
    """What stands behind a thought, without what begins an answer, or a turn."""
    pair = _closing(opener)
    if pair and pair in after:
        return pair
    left = tokens_without_space(after)
    like = _like(left, tokens_without_space(opener))
    if len(like) > 1:
        return after[: _end_of(after, like)].strip()
    for begins in (answer, head):
        same = _same_end(left, tokens_without_space(begins))
        if same == len(left):  # an empty thought is written where there is none
            left = like
            break
        left = left[: len(left) - same]
    return after[: _end_of(after, left)].strip()


def _same_end(one: Sequence[Token], other: Sequence[Token]) -> int:
    """How many tokens both end with."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _like(some: list[Token], opener: Sequence[Token]) -> list[Token]:
    """As many tokens as the opener has, where they are the same but for the first; else only one."""
    length = len(opener)
    return some[:length] if length > 1 and some[1:length] == opener[1:] else some[:1]


def _closing(opener: str) -> str | None:
    """`</tag>` for `<tag>`, `[/TAG]` for `[TAG]`."""
    tag = re.fullmatch(r"([<\[])([\w:|-]+[>\]])", opener)
    return f"{tag[1]}/{tag[2]}" if tag and "|" not in opener[:2] else None


# -- where no thought is shown --------------------------------------------------------------------


def _taken_out(asked: _Asked) -> tuple[str, str] | None:
    """The markers that a template knows in a message's text: it takes them out of earlier turns."""
    after = {"role": "user", "content": NEXT}
    for opener, closer in _IN_TEXT:
        texts = (f"{opener}{THOUGHT}{closer}{WORD}", f"{THOUGHT}{WORD}")
        marked, plain = (
            asked.turn([{"role": "assistant", "content": text}, after], {}) or "" for text in texts
        )
        if THOUGHT in plain and WORD in marked and THOUGHT not in marked:
            return opener, closer
    return None


def _prompted(asked: _Asked) -> tuple[str, str] | None:
    """The markers at the end of a prompt: of a block that was left open, or of an empty one."""
    head = _head(asked)
    for prompt in asked.prompts():
        tags = [token.text for token in tokens(_rest(prompt, head)) if _is_think_tag(token)]
        if len(tags) > 1:
            return tags[0], tags[1]
        if tags and (closer := _closing(tags[0])) is not None:
            return tags[0], closer
    return None


def _is_think_tag(token: Token) -> bool:
    return token.kind == "tag" and _THINKS.search(token.text) is not None


def _told(asked: _Asked, switch: _Switch | None) -> tuple[str, str] | None:
    """The markers that the model is told to use where thinking is on."""
    if switch is None:
        return None
    on = asked.prompt({switch.name: switch.on}) or ""
    off = asked.prompt({switch.name: switch.off}) or ""
    for opener in (token.text for token in tokens(on) if _is_think_tag(token)):
        closer = _closing(opener)
        if closer and closer in on and closer not in off:
            return opener, closer
    phrases = [phrase for phrase in _PHRASE.findall(on) if phrase not in off]
    return (phrases[0], phrases[1]) if len(phrases) == 2 else None


# -- switches and prompts -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Switch:
    name: str
    on: Any
    off: Any


def _switch(asked: _Asked, name: str) -> _Switch | None:
    """The switch, if the template knows it. An effort is one only if it changes the block itself."""
    for on, off in itertools.product(*_SWITCHES[name]):
        prompts = [asked.prompt({name: value}) for value in (on, off)]
        if name == "reasoning_effort":
            prompts = [prompt and prompt.rpartition(QUESTION)[2] for prompt in prompts]
        if None not in prompts and prompts[0] != prompts[1]:
            return _Switch(name, on, off)
    return None


def is_open(prompt: str, markers: tuple[str, str]) -> bool:
    """Whether a prompt ends in an open block."""
    opener, closer = markers
    _, found, inside = prompt.rpartition(opener)
    return bool(found) and closer not in inside and not inside.strip()
