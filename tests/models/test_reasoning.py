"""How a template marks thoughts: found by rendering, in templates made for it and in official ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toolwire import ToolwireError
from toolwire.models.reasoning import ShownReasoning, find_reasoning
from toolwire.models.rendering import template_renderer

THINK = ("<think>", "</think>")

#: An assistant's turn (ANSWER) and what the model is given to go on from (PROMPT).
_CHAT = """\
{%- for m in messages %}
{%- if m.role == 'assistant' %}{{- '<|im_start|>assistant\\n' }}ANSWER{{- '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}PROMPT{% endif %}
"""
_CALLS = "{%- for c in m.tool_calls or [] %}{{- '<tool_call>' ~ c.function | tojson }}{% endfor %}"
_PLAIN = "{{- m.content }}" + _CALLS
_THOUGHT = "{{- '<think>\\n' ~ (m.reasoning_content or '') ~ '\\n</think>\\n\\n' }}"
_SHOWN = "{%- if m.reasoning_content %}" + _THOUGHT + "{% endif %}"


def chat(answer: str, prompt: str = "") -> str:
    return _CHAT.replace("ANSWER", answer).replace("PROMPT", prompt)


def found(text: str) -> ShownReasoning:
    return find_reasoning(template_renderer(text))


def shown(opener: str, closer: str, key: str = "reasoning_content") -> str:
    return f"{{%- if m.{key} %}}{{{{- '{opener}' ~ m.{key} ~ '{closer}' }}}}{{% endif %}}" + _PLAIN


# -- markers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
@pytest.mark.parametrize(
    ("opener", "closer"),
    [
        ("<think>\\n", "\\n</think>\\n\\n"),
        ("<think>", "</think>"),
        ("[THINK]", "[/THINK]"),
        ("<seed:think>", "</seed:think>"),
        ("<think:6124c78e>", "</think:6124c78e>"),
        ("<|channel>thought\\n", "\\n<channel|>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        ("◁think▷", "◁/think▷"),
        ("Here is my thought process: ", " Here is my response: "),
    ],
)
def test_what_stands_around_a_thought(opener: str, closer: str, key: str) -> None:
    markers = tuple(text.replace("\\n", "\n").strip() for text in (opener, closer))
    assert found(chat(shown(opener, closer, key))) == ShownReasoning(markers)


@pytest.mark.parametrize(
    "answer",
    [
        # only in turns with calls, or only in the last turn
        "{%- if m.tool_calls %}" + _SHOWN + "{% endif %}" + _PLAIN,
        "{%- if loop.last %}" + _SHOWN + "{% endif %}" + _PLAIN,
        "{%- if m.tool_calls and not loop.last %}" + _SHOWN + "{% endif %}" + _PLAIN,
        # only where thinking is on
        "{%- if enable_thinking %}" + _SHOWN + "{% endif %}" + _PLAIN,
        "{%- if thinking %}" + _SHOWN + "{% endif %}" + _PLAIN,
        # an empty one where there is none, everywhere or in the last turn
        "{{- '<think>' ~ (m.reasoning_content or '') ~ '</think>' }}" + _PLAIN,
        "{%- if loop.last %}" + _THOUGHT + "{% endif %}" + _PLAIN,
        # as a part of the content
        "{%- if m.content is string %}{{- m.content }}{% else %}{%- for p in m.content %}"
        "{{- '<think>' ~ p.thinking ~ '</think>' if p.type == 'thinking' else p.text }}"
        "{%- endfor %}{% endif %}",
        # taken out of the text
        "{{- m.content.split('</think>')[-1] }}",
    ],
)
def test_thoughts_are_not_shown_always(answer: str) -> None:
    assert found(chat(answer)).markers == THINK


def test_an_answer_has_markers_of_its_own() -> None:
    answer = shown("<|START_THINKING|>", "<|END_THINKING|>").replace(
        "{{- m.content }}", "{{- '<|START_TEXT|>' ~ m.content ~ '<|END_TEXT|>' }}"
    )
    assert found(chat(answer)).markers == ("<|START_THINKING|>", "<|END_THINKING|>")


def test_thoughts_in_a_channel() -> None:
    text = """\
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{%- if m.reasoning_content %}
{{- '<|start|>assistant<|channel|>analysis<|message|>' ~ m.reasoning_content ~ '<|end|>' }}
{%- endif %}
{{- '<|start|>assistant<|channel|>final<|message|>' ~ m.content ~ '<|return|>' }}
{%- else %}{{- '<|start|>' ~ m.role ~ '<|message|>' ~ m.content ~ '<|end|>' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{% endif %}
"""
    assert found(text).markers == ("<|channel|>analysis<|message|>", "<|end|>")
    recipients = text.replace("<|channel|>analysis", " to=self").replace(
        "<|channel|>final", " to=user"
    )
    assert found(recipients).markers == ("to=self<|message|>", "<|end|>")


def test_openers_and_answers_may_begin_alike() -> None:
    answer = shown("<|open|>think<|sep|>", "<|close|>think<|sep|>").replace(
        "{{- m.content }}", "{{- '<|open|>answer<|sep|>' ~ m.content ~ '<|close|>answer<|sep|>' }}"
    )
    prompt = switched("thinking | default(true)", "<|open|>think<|sep|>", "<|open|>answer<|sep|>")
    markers = ("<|open|>think<|sep|>", "<|close|>think<|sep|>")
    text = chat(answer, prompt).replace("assistant\\n", "assistant<|sep|>")
    assert found(text) == ShownReasoning(markers, True, "thinking", False)


@pytest.mark.parametrize(
    "text",
    [
        chat(_PLAIN),
        chat("{{- m | tojson }}"),
        chat("{{- m.content | string }}"),
        chat(_PLAIN, "{{- '<|speak|>' }}"),
        "Hello.",
        "{{ raise_exception('no') }}",
        "{%- if add_generation_prompt %}{{ raise_exception('no') }}{% endif %}" + chat(_PLAIN),
    ],
)
def test_templates_without_thoughts(text: str) -> None:
    assert found(text) == ShownReasoning()


# -- prompts and switches -------------------------------------------------------------------------


def switched(condition: str, on: str, off: str) -> str:
    return f"{{%- if {condition} %}}{{{{- '{on}' }}}}{{% else %}}{{{{- '{off}' }}}}{{% endif %}}"


OPEN, EMPTY, CLOSED = "<think>\\n", "<think>\\n\\n</think>\\n\\n", "</think>"


@pytest.mark.parametrize("answer", [_PLAIN, _SHOWN + _PLAIN])
@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        # opened, always
        ("{{- '<think>\\n' }}", {"opened": True}),
        # on or off by default, with one switch or another
        (
            switched("enable_thinking | default(true)", OPEN, EMPTY),
            {"opened": True, "switch": "enable_thinking", "off": False},
        ),
        (
            switched("enable_thinking", OPEN, EMPTY),
            {"switch": "enable_thinking", "off": False, "off_by_default": True},
        ),
        (
            switched("enable_thinking is defined and not enable_thinking", EMPTY, ""),
            {"switch": "enable_thinking", "off": False},
        ),
        (
            switched("thinking", "<think>", CLOSED),
            {"switch": "thinking", "off": False, "off_by_default": True},
        ),
        (
            switched("reasoning_effort == 'none'", CLOSED, "<think>"),
            {"opened": True, "switch": "reasoning_effort", "off": "none"},
        ),
        (
            switched("reasoning_effort | default('no_think') == 'no_think'", EMPTY, OPEN),
            {"switch": "reasoning_effort", "off": "no_think", "off_by_default": True},
        ),
        (
            switched("thinking_mode == 'enabled'", "<think>", CLOSED),
            {"switch": "thinking_mode", "off": "disabled", "off_by_default": True},
        ),
    ],
)
def test_what_prompts_say(answer: str, prompt: str, says: dict[str, Any]) -> None:
    assert found(chat(answer, prompt)) == ShownReasoning(THINK, **says)


def test_an_opener_that_only_the_prompt_has() -> None:
    answer = "{%- if m.reasoning_content %}{{- m.reasoning_content ~ '\\n[ANSWER]\\n' }}{% endif %}"
    text = chat(answer + _PLAIN, "{{- 'My reasoning steps:\\n' }}")
    assert found(text) == ShownReasoning(("My reasoning steps:", "[ANSWER]"), opened=True)


def test_an_effort_that_is_only_told_is_no_switch() -> None:
    text = "{{- 'Effort: ' ~ reasoning_effort | default('medium') ~ '.' }}" + chat(_SHOWN + _PLAIN)
    assert found(text) == ShownReasoning(THINK)


@pytest.mark.parametrize(
    ("told", "markers"),
    [
        ("Put thoughts between <think></think>, the answer behind.", THINK),
        (
            "Write \\'Here is my thought process:\\', and then \\'Here is my response:\\'.",
            ("Here is my thought process:", "Here is my response:"),
        ),
    ],
)
def test_markers_that_the_model_is_told(told: str, markers: tuple[str, str]) -> None:
    text = f"{{%- if thinking %}}{{{{- '{told}' }}}}{{% endif %}}" + chat(_PLAIN)
    assert found(text) == ShownReasoning(markers, False, "thinking", False, True)


def test_templates_that_refuse_a_switch_are_asked_all_the_same() -> None:
    refuses = (
        "{%- if reasoning_effort is defined and reasoning_effort not in ['high', 'no_think'] %}"
        "{{ raise_exception('no such effort') }}{% endif %}"
    )
    prompt = switched("reasoning_effort == 'no_think'", EMPTY, OPEN)
    render = template_renderer(refuses + chat(_PLAIN, prompt))
    with pytest.raises(ToolwireError, match="no such effort"):
        render([{"role": "user", "content": "Hello."}], reasoning_effort="none")
    assert find_reasoning(render) == ShownReasoning(THINK, True, "reasoning_effort", "no_think")


def test_a_switch_may_add_to_the_question() -> None:
    """GLM's `/nothink` stands before the turn. The turn's head is no opener for that."""
    asks = "~ '<|im_end|>\\n'"
    assert asks in chat(_PLAIN)
    text = chat("{{- '\\n' }}" + _THOUGHT + _PLAIN, "{{- '<think></think>' if quiet }}")
    text = text.replace(asks, f"~ ('/nothink' if quiet else '') {asks}", 1)
    quiet = "{%- set quiet = enable_thinking is defined and not enable_thinking %}"
    assert found(quiet + text) == ShownReasoning(THINK, False, "enable_thinking", False)


# -- official templates, where they are at hand ---------------------------------------------------

OFFICIAL = Path(__file__).parents[3] / "shared" / "corpus" / "templates"
#: Whether the prompt opens the block, and what turns it off (`-` before it: it is off by default).
THINKING = {
    "llamacpp--Bielik-11B-v3.0-Instruct": (False, "-enable_thinking"),
    "llamacpp--HuggingFaceTB-SmolLM3-3B": (False, "enable_thinking"),
    "llamacpp--Kimi-K2-Thinking": (False, None),
    "llamacpp--MiniMax-M2": (True, None),
    "llamacpp--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (True, "enable_thinking"),
    "llamacpp--NVIDIA-Nemotron-Nano-v2": (True, None),
    "llamacpp--Qwen-QwQ-32B": (False, "-enable_thinking"),
    "llamacpp--Reka-Edge": (False, "-enable_thinking"),
    "llamacpp--StepFun3.5-Flash": (True, None),
    "llamacpp--deepseek-ai-DeepSeek-V3.1": (False, "-enable_thinking"),
    "llamacpp--deepseek-ai-DeepSeek-V4": (False, "-enable_thinking"),
    "llamacpp--llama-cpp-rwkv-world": (False, "enable_thinking"),
    "llamacpp--poolside-Laguna-S-2.1": (True, "enable_thinking"),
    "sglang--tool_chat_template_deepseekr1": (False, None),
    "vllm--tool_chat_template_deepseekr1": (False, None),
}
#: Markers of their own.
OTHERS = {
    "llamacpp--Apertus-8B-Instruct": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "llamacpp--Apriel-1.6-15b-Thinker-fixed": (
        "Here are my reasoning steps:",
        "[BEGIN FINAL RESPONSE]",
    ),
    "llamacpp--CohereForAI-c4ai-command-r7b-12-2024-tool_use": (
        "<|START_THINKING|>",
        "<|END_THINKING|>",
    ),
    "llamacpp--google-gemma-4-31B-it": ("<|channel>thought", "<channel|>"),
    "llamacpp--mistralai-Ministral-3-14B-Reasoning-2512": ("[THINK]", "[/THINK]"),
    "llamacpp--muse-glimmer": ("to=self<|message|>", "<|eom|>"),
    "llamacpp--tencent-Hy3": ("<think:opensource>", "</think:opensource>"),
    "llamacpp--unsloth-Apriel-1.5": ("<thinking>", "</thinking>"),
    "vllm--tool_chat_template_muse_glimmer": ("to=self<|message|>", "<|eom|>"),
}


@pytest.mark.parametrize("path", sorted(OFFICIAL.glob("*.jinja")), ids=lambda path: path.stem)
def test_official_templates(path: Path) -> None:
    reasoning = found(path.read_text(encoding="utf-8"))
    if path.stem in THINKING:
        switch = f"{'-' * reasoning.off_by_default}{reasoning.switch}" if reasoning.switch else None
        assert (reasoning.markers, reasoning.opened, switch) == (THINK, *THINKING[path.stem])
    else:
        assert reasoning.markers == OTHERS.get(path.stem)
        assert reasoning.opened == path.stem.startswith("llamacpp--Apriel-1.6")
