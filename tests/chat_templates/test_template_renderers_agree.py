"""Jinja2's sandbox, transformers and minijinja write the same, for every template."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .template_conversations import Message, Tool, conversations, generated, switches, texts
from .template_renderers import FRAMES, NAMES, STYLES, render_everywhere


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@generated(25)
@given(conversation=conversations(), generation_prompt=st.booleans(), switch=switches)
def test_every_conversation_is_the_same_everywhere(
    style: str,
    conversation: tuple[list[list[Message]], list[Tool] | None],
    generation_prompt: bool,
    switch: dict[str, Any],
) -> None:
    turns, tools = conversation
    messages = [message for turn in turns for message in turn]
    for frame in FRAMES:
        name = f"{frame}-{style}"
        render_everywhere(name, messages, tools, add_generation_prompt=generation_prompt, **switch)


@pytest.mark.parametrize("name", NAMES)
def test_the_tokenizers_own_tokens_are_used_where_there_are_some(name: str) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
    ]
    rendered = render_everywhere(name, messages, bos_token="<B>", eos_token="<E>")
    frame = name.split("-")[0]
    assert rendered.startswith("<B>") == (frame in {"llama3", "mistral", "gemma", "deepseek"})
    assert ("<E>" in rendered) == (frame in {"mistral", "deepseek", "zephyr"})


@pytest.mark.parametrize("frame", FRAMES)
@generated(20)
@given(text=texts.filter(lambda text: text != ""))
def test_a_final_message_goes_on_in_the_same_way_everywhere(frame: str, text: str) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": text}]
    for style in STYLES:
        rendered = render_everywhere(f"{frame}-{style}", messages, continue_final_message=True)
        assert rendered.endswith(text)
