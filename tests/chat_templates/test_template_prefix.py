"""What was rendered stays: a longer conversation begins with the rendering of a shorter one.

Engines keep what they computed for a prefix. A template that rewrites the past throws that away
with every turn.
"""

from typing import Any

import pytest
from hypothesis import given

from .template_conversations import Message, Tool, conversations, generated, switches
from .template_renderers import FRAMES, STYLES, with_jinja2

# They render long conversations again and again.
pytestmark = pytest.mark.slow

RESULTS = {"tool", "function"}


def _stable_points(messages: list[Message]) -> list[int]:
    """Lengths of the conversation at which no result of a turn is missing that comes later."""
    inner = range(1, len(messages))
    between_results = {
        n for n in inner if {messages[n - 1]["role"], messages[n]["role"]} <= RESULTS
    }
    return [n for n in range(1, len(messages) + 1) if n not in between_results]


@pytest.mark.parametrize("style", STYLES)
@generated(20)
@given(conversation=conversations(), switch=switches)
def test_a_shorter_conversation_is_a_prefix_of_a_longer_one(
    style: str, conversation: tuple[list[list[Message]], list[Tool] | None], switch: dict[str, Any]
) -> None:
    turns, tools = conversation
    messages = [message for turn in turns for message in turn]
    for frame in FRAMES:
        name = f"{frame}-{style}"
        before = ""
        for length in _stable_points(messages):
            rendered = with_jinja2(name, messages[:length], tools, **switch)
            assert rendered.startswith(before)
            before = rendered


@pytest.mark.parametrize("style", STYLES)
@generated(20)
@given(conversation=conversations(), switch=switches)
def test_a_prompt_for_an_answer_is_a_prefix_of_the_conversation_with_that_answer(
    style: str, conversation: tuple[list[list[Message]], list[Tool] | None], switch: dict[str, Any]
) -> None:
    turns, tools = conversation
    messages = [message for turn in turns for message in turn]
    answers = [n for n, message in enumerate(messages) if message["role"] == "assistant" and n]
    for frame in FRAMES:
        name = f"{frame}-{style}"
        for n in answers:
            answer = _without_thoughts(messages[n]) if _is_off(switch) else messages[n]
            asked = {"add_generation_prompt": True, **switch}
            prompt = with_jinja2(name, messages[:n], tools, **asked)
            assert with_jinja2(name, [*messages[:n], answer], tools, **switch).startswith(prompt)


def _is_off(switch: dict[str, Any]) -> bool:
    return bool({False, "none", "disabled"} & set(switch.values()))


def _without_thoughts(message: Message) -> Message:
    """The answer of a model that was told not to think; those before it may have some."""
    return {key: value for key, value in message.items() if not key.startswith("reasoning")}
