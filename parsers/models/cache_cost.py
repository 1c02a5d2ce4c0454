"""What a chat template costs a server's prefix cache, in sentences.

A turn is written as the model would write it, read in the best way that a parser could, and rendered
again with a tool's result behind it (`model_turns`). What is lost then, no parser can keep: it is the
template that writes the turn otherwise than the model did. The other way round, white space that a model
writes between text and a call otherwise than its template does is in no message, by rule 10.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.samples import Call
from ..errors import ToolwireError
from .model_turns import ModelTurn, TemplateModel
from .next_turn import Continued, rough_tokens
from .probes import NEXT, SIMPLE_CALLS, WORD

#: Keys in no order, letters beyond ASCII, nested values: what templates like to write anew.
CALLS: tuple[Call, ...] = (
    ("toolwire_weather", {"place": "Tromsø", "days": 14, "options": {"wind": True, "of": ["sea"]}}),
    ("toolwire_note", {"text": "Take a coat", "pinned": False}),
)
#: So much of what differs is shown.
_SHOWN = 16

_WHAT = {
    "prompt": "writes the prompt otherwise once the model has answered",
    "head": "begins the model's turn otherwise than its prompt does",
    "no thoughts": "leaves out thoughts as soon as a tool has answered",
    "thought": "writes other white space around thoughts than the model",
    "no text": "leaves out the text before calls",
    "text": "writes text before calls otherwise than the model",
    "gap": "writes other white space between text and calls than the model",
    "no calls": "leaves out calls",
    "ids": "writes ids into calls that the model did not write",
    "arguments": "rewrites arguments",
    "call": "writes what stands around calls otherwise than {format} does",
}
#: … and what it is that costs.
_WHO = {
    "no thoughts": "a turn with thoughts",
    "thought": "a turn with thoughts",
    "no calls": "every call",
    "ids": "every call",
    "arguments": "every call",
    "call": "a call as {format} writes it",
}


def cache_costs(model: TemplateModel) -> list[str]:
    """A sentence for each thing that a template does to the turns of its model, the dearest first;
    none where the next prompt goes on from what was there."""
    turns = _turns(model)
    lost: dict[str, list[Continued]] = {}
    for turn in turns:
        found = turn.at_best()
        if found is not None and not found.kept:
            lost.setdefault(_cause(turn, found), []).append(found)
    dearest = sorted(lost, key=lambda cause: -_mean(lost[cause]))
    sentences = [_sentence(cause, lost[cause], model.spec.name) for cause in dearest]
    if "no thoughts" not in lost and "prompt" not in lost:
        sentences += _later(turns)
    return sentences


def written_between(model: TemplateModel) -> str:
    """What the template writes between text and calls, and what it costs if the model does not: a
    sentence, or "" where no such turn is kept anyway."""
    for turn in _turns(model):
        kept = turn.kept(turn.said.message(turn.ids)) if turn.said.text else None
        if kept is not None and kept.kept:
            what = repr(turn.gap) if turn.gap else "nothing"
            return (
                f"Between text and a call it writes {what}: where the model writes other white space, "
                "all from there on is read anew, since white space at a call's edge is no text."
            )
    return ""


def can_be_asked(model: TemplateModel) -> bool:
    """Whether there is a turn that the template takes."""
    return bool(_turns(model))


def _turns(model: TemplateModel) -> list[ModelTurn]:
    """In the format's own way to write calls, text and calls apart as the template has them."""
    for calls in (CALLS, SIMPLE_CALLS):
        found = [t for t in model.turns(calls) if t.usual and t.by == "format"]
        if found:
            return found
    return []


def _sentence(cause: str, lost: Sequence[Continued], format: str) -> str:
    what = _WHAT[cause].format(format=format)
    who = _WHO.get(cause, "a turn").format(format=format)
    first = lost[0]
    shown = f"{first.was[:_SHOWN]!r} becomes {first.now[:_SHOWN]!r}"
    tokens = rough_tokens(_mean(lost))
    return f"This template {what} ({shown}): {who} costs about {tokens} tokens of the prefix cache."


def _mean(lost: Sequence[Continued]) -> float:
    return sum(one.lost for one in lost) / len(lost)


def _later(turns: Sequence[ModelTurn]) -> Iterator[str]:
    """Thoughts that stay while tools answer may be left out when the user asks again."""
    for turn in turns:
        if not turn.said.thought:
            continue
        answer = {"role": "assistant", "content": WORD}
        message = turn.said.message(turn.ids)
        try:
            shown = turn.asked.later_prompt(message, answer, {"role": "user", "content": NEXT})
        except ToolwireError:
            continue
        if turn.said.thought not in shown:
            yield (
                "This template leaves out the thoughts of earlier turns once the user asks again: all "
                "that came since the first of them is read anew then."
            )
            return


# -- why ------------------------------------------------------------------------------------------


def _cause(turn: ModelTurn, found: Continued) -> str:
    place, said = turn.place(found.same), turn.said
    shown = turn.asked.next_prompt(said.message(turn.ids))
    if place == "prompt":
        return place
    if said.thought and said.thought not in shown:
        return "no thoughts"
    if said.text and said.text not in shown:
        return "no text"
    if not all(word in shown for word in _plain_words(said.calls)):
        return "no calls"
    if any(id in found.now and id not in turn.text for id in turn.ids):
        return "ids"
    if found.same <= len(turn.asked.prompt) + 1:  # a tag begins as another one does
        return "head"
    if place == "call" and said.text and found.same == _calls_start(turn):
        return "gap"  # a parser may have kept as much of it as the template lets it
    if place != "call":
        return place
    return "arguments" if _in_arguments(turn, found.same) else "call"


def _plain_words(calls: Sequence[Call]) -> list[str]:
    """Words of the arguments that every template writes alike. (A name stands in results, too.)"""
    words = [word for _, arguments in calls for word in _leaves(arguments)]
    return [word for word in words if word.isascii() and word.replace(" ", "").isalpha()]


def _calls_start(turn: ModelTurn) -> int:
    return len(turn.asked.prompt) + len(turn.text) - len(turn.pieces[-1][1])


def _in_arguments(turn: ModelTurn, at: int) -> bool:
    """Whether a place is between a call's first key and the end of its last value."""
    text = turn.pieces[-1][1].lower()
    at -= _calls_start(turn)
    end = 0
    for number, (name, arguments) in enumerate(turn.said.calls):
        begin = text.find(next(iter(arguments)), text.find(name, end) + len(name))
        following = [text.find(later, begin) for later, _ in turn.said.calls[number + 1 :][:1]]
        part = text[: following[0] if following else len(text)]
        ends = [part.rfind(word.lower()) + len(word) for word in _words(arguments)]
        end = max([begin, *ends])
        if begin - len('{"') < at < end:
            return True
    return False


def _leaves(value: Any) -> list[str]:
    """The texts that a value is made of."""
    if isinstance(value, dict):
        return [word for member in value.values() for word in _leaves(member)]
    if isinstance(value, list):
        return [word for item in value for word in _leaves(item)]
    return [value] if isinstance(value, str) else []


def _words(arguments: dict[str, Any]) -> list[str]:
    """All values that are not made of others."""
    plain = [json.dumps(v) for v in arguments.values() if not isinstance(v, (str, dict, list))]
    return [*_leaves(arguments), *plain]
