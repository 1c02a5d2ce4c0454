"""What can't work is said when the server starts, in a sentence, and stops it; what may not, is a
warning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toolwire
from engine_server import EngineServer
from toolwire.engines.vllm import api as vllm_api
from toolwire.engines.vllm.start import started
from toolwire.templates import get_template
from transformers import AutoTokenizer
from vllm_driving import start

pytestmark = pytest.mark.usefixtures("registered")


def template(name: str) -> str:
    return get_template(name).text()


@pytest.fixture
def plain_tokenizer(plain_model: Path) -> Any:
    """A new one for each test: a parser checks a tokenizer only once."""
    return AutoTokenizer.from_pretrained(str(plain_model))


@pytest.fixture
def log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.LogCaptureFixture]:
    """What toolwire says in vLLM's log, and nobody else."""
    monkeypatch.setattr(vllm_api.log, "propagate", False)
    vllm_api.log.addHandler(caplog.handler)
    caplog.clear()
    yield caplog
    vllm_api.log.removeHandler(caplog.handler)


def said(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in log.records if record.name == vllm_api.log.name]


def test_what_fits_starts(plain_tokenizer: Any, log: pytest.LogCaptureFixture) -> None:
    for name in ("hermes", "call_text", "qwen3_coder", "json", "labeled", "pythonic"):
        start(f"toolwire_{name}", plain_tokenizer, template(f"chatml-{name}"))
    assert not said(log)


def test_a_tokenizer_without_the_special_tokens(
    plain_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some releases make a parser at the start, and say it in words of their own."""
    asked = ("toolwire_special_token", plain_tokenizer, template("chatml-special_token"))
    for _ in range(2):
        with pytest.raises(
            (TypeError, toolwire.ToolwireError),
            match=r"special_token needs the special token '<\|tool_call\|>'",
        ):
            start(*asked)
    monkeypatch.setenv("TOOLWIRE_SKIP_CHECKS", "1")
    start(*asked)


def test_a_tokenizer_with_the_special_tokens(model: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(str(model))
    start("toolwire_special_token", tokenizer, template("chatml-special_token"))


def test_a_format_that_can_be_written_without_its_special_token(
    plain_tokenizer: Any, log: pytest.LogCaptureFixture
) -> None:
    """Granite's models have a token for their opener, or write it as text."""
    start("toolwire_granite", plain_tokenizer, "{{ messages[0].content }}")
    assert "does not show tools" in " ".join(said(log))


def test_a_template_without_tools_is_a_warning(
    plain_tokenizer: Any, log: pytest.LogCaptureFixture
) -> None:
    """Applications describe tools in their own words, and requests bring their own template."""
    start("toolwire_hermes", plain_tokenizer)
    assert "does not show tools to the model" in " ".join(said(log))
    assert "toolwire template chatml-hermes" in " ".join(said(log))


def test_a_template_of_another_format_is_a_warning(
    plain_tokenizer: Any, log: pytest.LogCaptureFixture
) -> None:
    start("toolwire_pythonic", plain_tokenizer, template("chatml-qwen3_coder"))
    assert "use --tool-call-parser toolwire_qwen3_coder" in " ".join(said(log))


def test_thoughts_that_nobody_reads_are_a_warning(
    plain_tokenizer: Any, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a format in which they are a channel."""
    monkeypatch.setenv("TOOLWIRE_SKIP_CHECKS", "1")  # the tokenizer has no such channel
    start("toolwire_inkling", plain_tokenizer)
    assert "add --reasoning-parser toolwire_inkling" in " ".join(said(log))
    log.clear()
    start("toolwire_beam", plain_tokenizer, reasoning="toolwire_beam")
    assert said(log) == []


def test_it_is_said_once_for_all_apis(plain_tokenizer: Any, log: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        start("toolwire_hermes", plain_tokenizer)
    assert len(said(log)) == 1


def test_a_template_that_cannot_be_rendered_is_left_to_the_engine(
    plain_tokenizer: Any, log: pytest.LogCaptureFixture
) -> None:
    start("toolwire_hermes", plain_tokenizer, "{{ raise_exception('only for special occasions') }}")
    assert "could not be checked" in " ".join(said(log))


def test_a_server_of_another_make_is_left_alone(log: pytest.LogCaptureFixture) -> None:
    """A later release may keep these things elsewhere."""
    started(object())
    assert "could not be checked" in " ".join(said(log))


def test_the_server_stops_at_an_unknown_format(misspelt_server: str) -> None:
    assert "invalid tool call parser: toolwire_hermse" in misspelt_server
    assert "toolwire_hermes" in misspelt_server


def test_the_server_stops_at_missing_special_tokens(tokenless_server: str) -> None:
    assert "The format kimi_k2 needs the special token" in tokenless_server


def test_the_server_warns_of_a_wrong_template(mismatched_server: EngineServer) -> None:
    """It was given in a configuration file, not on the command line."""
    log = mismatched_server.log.read_text(errors="replace")
    wrong = "The chat template shows the model another way to write calls than hermes"
    assert log.count(wrong) == 1
    assert "toolwire_pythonic" in log
