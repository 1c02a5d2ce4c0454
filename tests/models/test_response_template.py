"""A checkpoint that says by itself how it writes messages is believed, by `detect` and by engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import toolwire
from toolwire import ToolwireError
from toolwire.engines.startup_checks import choose_format
from toolwire.formats.toml_specs import load_formats
from toolwire.models.detect import SAYS_SO, detect_model
from toolwire.models.files import read_model
from toolwire.models.rendering import template_renderer
from toolwire.templates import get_template

from ..commands.running import run
from ..formats.response_templates import GPT_OSS, LINES, QWEN35, WHOLE, each, template
from ..support import TOOLS

#: It describes what no format of toolwire reads.
OWN = template(
    tool_calls=each("json", WHOLE, "§end", open="§call"), content={"close": "<|im_end|>"}
)
CALL = '§call{"name": "add", "arguments": {"a": 1, "b": 2}}§end'
BROKEN = template(tool_calls=each("json", WHOLE, open_pattern="(?=x)"), content={})
HERMES = get_template("chatml-hermes").path


def folder(path: Path, response_template: Any) -> Path:
    text = HERMES.read_text(encoding="utf-8")
    config = {"chat_template": text, "response_template": response_template}
    (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return path


def test_it_counts_more_than_the_chat_template(tmp_path: Path) -> None:
    for place in (folder(tmp_path, OWN), tmp_path / "tokenizer_config.json"):
        found = detect_model(read_model(place), "mine")
        assert found.format == "mine"
        assert found.proposal == toolwire.load_response_template(OWN, "mine")
        assert found.why[0].startswith(f"{SAYS_SO}:")
        assert found.formats[0] == "hermes"
        assert found.shows_tools


def test_one_that_can_not_be_translated_is_named(tmp_path: Path) -> None:
    found = detect_model(read_model(folder(tmp_path, BROKEN)), "mine")
    assert found.format == "hermes"
    assert found.proposal is None
    assert found.why[0].startswith(f"{SAYS_SO}, but")
    assert "field 'tool_calls'" in found.why[0]
    assert detect_model(read_model(folder(tmp_path, 5))).format == "hermes"


@pytest.mark.slow
@pytest.mark.parametrize("given_template", [OWN, QWEN35, GPT_OSS, LINES])
def test_the_command_writes_it_down(tmp_path: Path, given_template: Any) -> None:
    spec = tmp_path / "mine.toml"
    shown = run("detect", str(folder(tmp_path, given_template)), "--write-spec", str(spec))
    assert SAYS_SO in shown.stdout
    assert "toolwire_mine" in shown.stdout
    (loaded,) = load_formats(spec.read_text(encoding="utf-8"), "mine.toml")
    assert loaded == toolwire.load_response_template(given_template, "mine")


class Tokenizer:
    """What an engine hands over."""

    chat_template = HERMES.read_text(encoding="utf-8")

    def __init__(self, response_template: Any) -> None:
        self.response_template = response_template

    def get_vocab(self) -> dict[str, int]:
        return {"<tool_call>": 0, "</tool_call>": 1}

    def apply_chat_template(self, messages: Any, **variables: Any) -> str:
        assert variables.pop("tokenize") is False
        return template_renderer(self.chat_template)(messages, **variables)


def test_engines_choose_it() -> None:
    names = [choose_format(Tokenizer(OWN)) for _ in range(2)]
    assert [why for _, why in names] == [f"{SAYS_SO}."] * 2
    assert names[0][0] != names[1][0]  # one for each tokenizer
    for name, _ in names:
        (call,) = toolwire.parse(name, CALL, TOOLS).tool_calls
        assert (call.name, call.load()) == ("add", {"a": 1, "b": 2})


@pytest.mark.slow
def test_an_operators_chat_template_counts_more() -> None:
    assert choose_format(Tokenizer(OWN), HERMES.read_text(encoding="utf-8"))[0] == "hermes"


@pytest.mark.slow
def test_engines_say_where_they_can_not(caplog: pytest.LogCaptureFixture) -> None:
    assert choose_format(Tokenizer(BROKEN))[0] == "hermes"
    (record,) = caplog.records
    assert "goes by the chat template" in record.getMessage()
    assert "field 'tool_calls'" in record.getMessage()


def test_a_format_whose_tokens_are_missing_is_refused() -> None:
    with pytest.raises(ToolwireError, match="special token"):
        choose_format(Tokenizer(template(tool_calls=each("json", WHOLE, "x", open="<|call|>"))))
