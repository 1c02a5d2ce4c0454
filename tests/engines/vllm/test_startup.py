"""What does not fit is said when the server starts, in a sentence, and not at the first request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer
from vllm_driving import start
from vllm_server import template

pytestmark = pytest.mark.usefixtures("registered")


@pytest.fixture
def plain_tokenizer(plain_model: Path) -> Any:
    """A new one for each test: a parser checks a tokenizer only once."""
    return AutoTokenizer.from_pretrained(str(plain_model))


def test_what_fits_starts(monkeypatch: pytest.MonkeyPatch, plain_tokenizer: Any) -> None:
    for name in ("hermes", "call_text", "qwen3_coder", "json", "labeled", "pythonic"):
        flag = f"--chat-template={template(f'chatml-{name}')}"
        assert start(monkeypatch, f"toolwire_{name}", plain_tokenizer, flag)


def test_a_tokenizer_without_the_special_tokens(
    monkeypatch: pytest.MonkeyPatch, plain_tokenizer: Any
) -> None:
    flags = ("--chat-template", template("chatml-special_token"))
    with pytest.raises(TypeError, match=r"special_token needs the special token '<\|tool_call\|>'"):
        start(monkeypatch, "toolwire_special_token", plain_tokenizer, *flags)
    monkeypatch.setenv("TOOLWIRE_SKIP_CHECKS", "1")
    assert start(monkeypatch, "toolwire_special_token", plain_tokenizer, *flags)


def test_a_tokenizer_with_the_special_tokens(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    flags = ("--chat-template", template("chatml-special_token"))
    tokenizer = AutoTokenizer.from_pretrained(str(model))
    assert start(monkeypatch, "toolwire_special_token", tokenizer, *flags)


def test_a_template_without_tools(monkeypatch: pytest.MonkeyPatch, plain_tokenizer: Any) -> None:
    with pytest.raises(TypeError, match="does not show tools to the model"):
        start(monkeypatch, "toolwire_hermes", plain_tokenizer)


def test_a_template_of_another_format(
    monkeypatch: pytest.MonkeyPatch, plain_tokenizer: Any
) -> None:
    flags = ("--chat-template", template("chatml-qwen3_coder"))
    with pytest.raises(TypeError, match=r"use --tool-call-parser .*toolwire_qwen3_coder"):
        start(monkeypatch, "toolwire_pythonic", plain_tokenizer, *flags)


def test_a_template_that_cannot_be_rendered_is_left_to_the_engine(
    monkeypatch: pytest.MonkeyPatch, plain_tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    broken = "{{ raise_exception('only for special occasions') }}"
    assert start(monkeypatch, "toolwire_hermes", plain_tokenizer, "--chat-template", broken)
    assert "could not be checked" in caplog.text


def test_settings_in_a_file_are_not_second_guessed(
    monkeypatch: pytest.MonkeyPatch, plain_tokenizer: Any
) -> None:
    assert start(monkeypatch, "toolwire_hermes", plain_tokenizer, "--config", "serve.yaml")


def test_the_server_stops_at_an_unknown_format(misspelt_server: str) -> None:
    assert "invalid tool call parser: toolwire_hermse" in misspelt_server
    assert "toolwire_hermes" in misspelt_server


def test_the_server_stops_at_a_wrong_template(mismatched_server: str) -> None:
    wrong = "The chat template shows the model another way to write calls than pythonic"
    assert wrong in mismatched_server
    assert "toolwire_hermes" in mismatched_server
