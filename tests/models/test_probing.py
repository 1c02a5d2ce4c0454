"""Templates that are hard to ask, and those that only hint at what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from toolwire import ToolwireError, get_format, list_formats
from toolwire.engines.startup_checks import check_special_tokens, check_template, choose_format
from toolwire.models.detect import detect, detect_model, shown_turns
from toolwire.models.files import ModelFiles
from toolwire.models.probes import CALLS
from toolwire.models.rendering import template_renderer
from toolwire.templates import get_template

from .odd_templates import (
    AKIN,
    CHANNELS,
    LIKE_PYTHON_START,
    ODD,
    UNLIKE_PYTHON_START,
    frame,
    told,
)

LFM2 = frozenset({"<|tool_call_start|>", "<|tool_call_end|>"})
PYTHON_START = frozenset({"<|python_start|>", "<|python_end|>"})


@pytest.mark.parametrize("peculiarity", ODD)
def test_templates_that_are_hard_to_ask(peculiarity: str) -> None:
    text, format_name = ODD[peculiarity]
    found = detect(template_renderer(text))
    assert (found.format, found.proposal) == (format_name, None)
    assert found.shows_tools
    assert not any("would stay in the text" in sentence for sentence in found.why)
    assert found.hinted == peculiarity.startswith(
        ("shows a call", "shows a list", "names", "has tok")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("peculiarity", "sentence"),
    [
        ("shows tools only behind a system message", "begins with a system message"),
        ("takes tools without a wrapper", "without `function` around them"),
        ("takes tools with simple parameters only", "parameter is an object or a list"),
        ("takes tools as text, under another name", "takes tools as `functions`"),
        ("takes tools under another name", "takes tools as `xml_tools`"),
        ("takes texts only", "Only the simplest arguments"),
        ("forgets the quotes", "Only the simplest arguments"),
        ("shows a call in tags", "how to write calls: glm45 reads it"),
        ("names the token before calls", "what granite marks calls with"),
        ("has tokens that are made alike", "tokens are like those of lfm2"),
    ],
)
def test_what_is_peculiar_is_said(peculiarity: str, sentence: str) -> None:
    for name, (text, _) in ODD.items():
        said = any(sentence in each for each in detect(template_renderer(text)).why)
        assert said == (name == peculiarity) or "simplest" in sentence


def test_a_template_that_changes_lists_is_warned_about() -> None:
    """vLLM and SGLang refuse it; llama.cpp does not."""
    for peculiarity in (
        "changes a list of its own",
        "changes a list into JSON before it is made",
        "leaves the last answer open",
    ):
        files = ModelFiles(Path("model"), templates={"default": ODD[peculiarity][0]})
        warned = any("vLLM and SGLang refuse" in sentence for sentence in detect_model(files).why)
        assert warned == ("changes a list" in peculiarity)


def test_a_template_can_not_change_what_it_is_given() -> None:
    text = "{%- set own = [] %}{%- set _ = own.append(1) %}{{- CHANGE }}{{- messages | length }}"
    messages = [{"role": "user", "content": "Hello.", "parts": [1]}]
    for change in ("messages.append(1)", "tools.pop()", "messages[0].update(a=1)"):
        with pytest.raises(ToolwireError, match="can't be rendered"):
            template_renderer(text.replace("CHANGE", change))(messages, [{}])
    own = template_renderer(text.replace("CHANGE", "messages[0].parts.append(2)"))
    assert own(messages, [{}]).endswith("1")
    assert messages == [{"role": "user", "content": "Hello.", "parts": [1]}]


# -- hints ----------------------------------------------------------------------------------------


def test_the_vocabulary_tells_where_the_template_does_not() -> None:
    silent = frame("{{- m.content }}")
    assert detect(template_renderer(silent)).format is None
    found = detect(template_renderer(silent), vocabulary=LFM2)
    assert (found.format, found.hinted) == ("lfm2", True)
    assert any("has the tokens of lfm2" in sentence for sentence in found.why)


def test_what_the_template_says_comes_before_the_vocabulary() -> None:
    text = told('\nAnswer with <tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>')
    assert detect(template_renderer(text), vocabulary=LFM2).format == "hermes"


def test_a_template_that_shows_no_tools_hints_at_nothing() -> None:
    text = AKIN.replace("{%- if tools %}", "{%- if false %}")
    found = detect(template_renderer(text), vocabulary=LFM2)
    assert (found.format, found.hinted, found.shows_tools) == (None, False, False)


@pytest.mark.parametrize("text", [LIKE_PYTHON_START, UNLIKE_PYTHON_START])
def test_the_vocabulary_tells_formats_apart_that_differ_only_in_tokens(text: str) -> None:
    for vocabulary, format_name in (
        (PYTHON_START, "llama4_pythonic"),
        (LFM2, "lfm2"),
        (frozenset({"a"}), "pythonic"),
    ):
        found = detect(template_renderer(text), vocabulary=vocabulary)
        assert found.format == format_name


class Tokenizer:
    """What an engine hands over."""

    chat_template = AKIN

    def __init__(self, vocabulary: frozenset[str]) -> None:
        self._vocabulary = vocabulary

    def get_vocab(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(sorted(self._vocabulary))}

    def apply_chat_template(self, messages: Any, **variables: Any) -> str:
        assert variables.pop("tokenize") is False
        return template_renderer(self.chat_template)(messages, **variables)


@pytest.mark.slow
def test_any_fits_a_template_of_every_format_that_it_reads(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spec = get_format("any")
    check_special_tokens(spec, Tokenizer(frozenset({"a"})))  # none of them is needed
    tokenizer = Tokenizer(frozenset({"a"}))
    for name in ("chatml-hermes", "chatml-qwen3_coder", "chatml-labeled"):
        tokenizer.chat_template = get_template(name).path.read_text(encoding="utf-8")
        check_template(spec, tokenizer, "")
    assert not caplog.records
    tokenizer.chat_template = get_template("chatml-pythonic").path.read_text(encoding="utf-8")
    check_template(spec, tokenizer, "")
    assert "another way to write calls than any" in caplog.text


@pytest.mark.slow
def test_engines_go_by_hints_but_do_not_insist_on_them(caplog: pytest.LogCaptureFixture) -> None:
    tokenizer = Tokenizer(LFM2)
    assert choose_format(tokenizer)[0] == "lfm2"
    check_template(get_format("lfm2"), tokenizer, "")
    check_template(get_format("any"), tokenizer, "")  # which reads lfm2
    assert not caplog.records
    check_template(get_format("hermes"), tokenizer, "")
    assert "not calls as hermes writes them" in caplog.text
    with pytest.raises(ToolwireError, match="found no format"):
        choose_format(Tokenizer(frozenset({"a"})))


def test_instructions_with_a_marker_come_before_calls_without_one() -> None:
    """Some templates tell the model to write a marker, and show it its earlier calls without."""
    turn = "{{- m.content }}{%- for c in m.tool_calls or [] %}"
    turn += """{{- '{"name": "' ~ c.function.name ~ '", "arguments": ' ~ c.function.arguments }}}"""
    turn += "{%- endfor %}"
    said = '\\nWrite functools[{"name": [its name], "arguments": [its arguments]}, ...]'
    tools = "{{- '<|im_start|>system\\n' ~ tools | tojson ~ 'SAID<|im_end|>\\n' }}"
    silent = detect(template_renderer(frame(turn, tools.replace("SAID", ""))))
    found = detect(template_renderer(frame(turn, tools.replace("SAID", said))))
    assert silent.format is not None
    assert silent.format != "phi4"
    assert (found.format, found.hinted) == ("phi4", True)
    assert silent.format in found.formats
    assert any("tells the model to write phi4's" in sentence for sentence in found.why)


def test_a_family_is_known_by_the_words_before_its_tools() -> None:
    tools = "{{- '<|im_start|>system\\nList of tools: [' ~ tools[0] | tojson ~ ']<|im_end|>\\n' }}"
    found = detect(template_renderer(frame("{{- m.content }}", tools)))
    assert (found.format, found.hinted) == ("lfm2", True)


@pytest.mark.parametrize(
    ("turn", "result", "format_name"),
    [
        ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "", "command_r"),
        ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>", "", "cohere"),
        ("<|im_start|>assistant", "<|im_start|>user", "hermes"),
        ("<|im_start|>assistant", "<|im_start|>tool", None),  # anybody's turn would look like this
        ("<|im_start|>assistant", "", None),
        ("<|start_header_id|>assistant", "<|start_header_id|>user", None),
    ],
)
def test_tokens_around_turns_tell_where_neither_tools_nor_calls_are_shown(
    turn: str, result: str, format_name: str | None
) -> None:
    text = (
        "{%- for m in messages %}{%- if m.role == 'tool' %}{{- 'RESULT' and 'RESULT\\n' ~ m.content }}"
        "{%- elif m.role == 'assistant' %}{{- 'TURN\\n' ~ m.content }}"
        "{%- else %}{{- '<|user|>' ~ m.content }}{%- endif %}{{- '<|end|>' }}{%- endfor %}"
    )
    found = detect(template_renderer(text.replace("RESULT", result).replace("TURN", turn)))
    assert (found.format, found.hinted) == (format_name, format_name is not None)
    assert not found.shows_tools


def test_a_template_that_takes_anybody_for_the_model_knows_no_results() -> None:
    text = (
        "{%- for m in messages %}{%- set who = 'user' if m.role == 'user' else 'assistant' %}"
        "{{- '<|im_start|>' ~ who ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}{%- endfor %}"
    )
    found = detect(template_renderer(text))
    assert (found.format, found.hinted) == (None, False)


# -- where the turn begins and ends ---------------------------------------------------------------


def test_a_turn_goes_on_from_the_prompt() -> None:
    """In a channel format the prompt has begun a header, and the model writes the rest of it."""
    turns = next(shown_turns(template_renderer(CHANNELS)))
    one, two = ([name, json.dumps(arguments)] for name, arguments in CALLS)
    header = " to={}<|message|>{}"
    assert [turn.sample.text for turn in turns] == [
        header.format(*one),
        header.format(*two),
        f"{header.format(*one)}<|eom|><|start|>assistant{header.format(*two)}",
    ]


def test_a_turn_may_be_written_in_another_way_than_the_prompt_begins_it() -> None:
    text = CHANNELS.replace("{{- '<|start|>assistant' }}", "{{- '<|start|>assistant<|think|>' }}")
    turns = next(shown_turns(template_renderer(text)))
    assert turns[0].sample.text.startswith(f"{CALLS[0][0]}<|message|>")


# -- official templates, where they are at hand ---------------------------------------------------

OFFICIAL = Path(__file__).parents[3] / "shared" / "corpus" / "templates"
INDEX = OFFICIAL / "index.json"
RIGHT = json.loads(INDEX.read_text(encoding="utf-8")) if INDEX.exists() else {}


def known(name: str) -> bool:
    return RIGHT[name] is None or RIGHT[name] in list_formats(aliases=True)


@pytest.mark.parametrize("name", [name for name in RIGHT if known(name)])
def test_official_templates(name: str) -> None:
    found = detect(template_renderer((OFFICIAL / name).read_text(encoding="utf-8")))
    right = RIGHT[name]
    assert found.format == (right and get_format(right).name)
    assert found.proposal is None
