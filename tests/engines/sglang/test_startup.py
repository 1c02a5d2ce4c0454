"""What does not fit is said when the server starts, in a sentence, and not at the first request."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sglang.srt.entrypoints import engine
from sglang.srt.plugins import load_plugins
from sglang.srt.server_args import ServerArgs, prepare_server_args
from sglang_server import template
from toolwire import get_format
from toolwire.engines.sglang import checks as sglang_checks
from transformers import AutoTokenizer


@pytest.fixture(scope="module", autouse=True)
def hooked() -> None:
    load_plugins()


def settle(
    model: Path, parser: str, chat_template: str | None = None, command: str | None = None
) -> None:
    """What SGLang's server does about parsers when it starts, before it starts anything else."""
    flags = ["--model-path", str(model), "--device", "cpu", "--tool-call-parser", parser]
    server_args = prepare_server_args(
        [*flags, "--chat-template", chat_template] if chat_template else flags
    )
    if command is not None:
        server_args._launch_command = command
    if hasattr(server_args, "resolve_once"):  # since 0.5.19
        server_args.resolve_once()
    server_args.check_server_args()
    if parser == "auto":
        engine.resolve_auto_parsers(server_args)


def refused(model: Path, parser: str, chat_template: str | None = None) -> str:
    with pytest.raises(SystemExit) as stopped:
        settle(model, parser, chat_template)
    said = str(stopped.value)
    assert said.startswith("toolwire: ")
    assert "\n" not in said
    return said


def with_tokens(model: Path, folder: Path, *tokens: str) -> Path:
    """What a server reads of a model first, with more special tokens."""
    shutil.copy(model / "config.json", folder)
    tokenizer = AutoTokenizer.from_pretrained(str(model))
    tokenizer.add_special_tokens({"additional_special_tokens": list(tokens)})
    tokenizer.save_pretrained(str(folder))
    return folder


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What toolwire says. SGLang takes every handler away at its start, but not those of a logger."""
    loggers = [logging.getLogger(name) for name in ("toolwire", "sglang.srt.toolwire")]
    for logger in loggers:
        logger.addHandler(caplog.handler)
    yield caplog
    for logger in loggers:
        logger.removeHandler(caplog.handler)


@pytest.mark.parametrize("parser", ["toolwire_qwen3_coder", "toolwire_call_text", "auto"])
def test_what_fits_starts(parser: str, plain_model: Path, log: pytest.LogCaptureFixture) -> None:
    name = "hermes" if parser == "auto" else parser.removeprefix("toolwire_")
    settle(plain_model, parser, template(f"chatml-{name}"))
    assert not log.text


def test_thoughts_that_nobody_reads_are_a_warning(
    plain_model: Path, tmp_path: Path, log: pytest.LogCaptureFixture
) -> None:
    """In a format in which they are a channel."""
    folder = with_tokens(plain_model, tmp_path, *get_format("inkling").channels.body)
    settle(folder, "toolwire_inkling")
    assert "add --reasoning-parser toolwire_inkling" in log.text


def test_a_tokenizer_without_the_special_tokens(
    plain_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("toolwire_special_token", template("chatml-special_token"))
    assert "needs the special token '<|tool_call|>'" in refused(plain_model, *asked)
    settle(with_tokens(plain_model, tmp_path, "<|tool_call|>", "<|end_tool_call|>"), *asked)
    monkeypatch.setenv("TOOLWIRE_SKIP_CHECKS", "1")
    settle(plain_model, *asked)


def test_a_template_without_tools_is_a_warning(
    plain_model: Path, log: pytest.LogCaptureFixture
) -> None:
    settle(plain_model, "toolwire_hermes")
    assert log.text.count("does not show tools to the model") == 1


def test_a_template_of_another_format_is_a_warning(
    plain_model: Path, log: pytest.LogCaptureFixture
) -> None:
    settle(plain_model, "toolwire_pythonic", template("chatml-qwen3_coder"))
    assert "use --tool-call-parser toolwire_qwen3_coder" in log.text


def test_a_parser_of_sglangs_own_is_not_ours_to_check(plain_model: Path) -> None:
    settle(plain_model, "pythonic", template("chatml-qwen3_coder"))


def test_a_name_that_cannot_be_taken_over_is_said(
    plain_model: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    """SGLang reads Inkling's tokens by itself."""
    settle(plain_model, "inkling")
    assert not log.text
    monkeypatch.setenv("TOOLWIRE_OVERRIDE", "1")
    settle(plain_model, "inkling")
    assert "TOOLWIRE_OVERRIDE=1 does not reach inkling" in log.text


def test_a_template_of_sglangs_own_is_left_alone(
    plain_model: Path, log: pytest.LogCaptureFixture
) -> None:
    settle(plain_model, "toolwire_hermes", "chatml")
    assert "not checked against hermes" in log.text


def test_an_engine_without_endpoints_is_not_stopped(
    plain_model: Path, log: pytest.LogCaptureFixture
) -> None:
    settle(plain_model, "toolwire_hermes", command="Engine(model_path='model')")
    knows = hasattr(ServerArgs, "launch_command")  # 0.5.18 does not know what launched it
    assert ("does not show tools" in log.text) == (not knows)


def test_a_fault_of_the_check_stops_nothing(log: pytest.LogCaptureFixture) -> None:
    sglang_checks.check(None, None)
    assert "could not be checked" in log.text


# -- real processes -------------------------------------------------------------------------------


def test_the_server_stops_at_an_unknown_format(misspelt_server: str) -> None:
    *_, last = misspelt_server.strip().splitlines()
    assert "invalid choice: 'toolwire_hermse' (choose from" in last
    assert "'toolwire_hermes'" in last


def test_the_server_stops_at_missing_special_tokens(tokenless_server: str) -> None:
    *_, last = tokenless_server.strip().splitlines()
    assert last.startswith("toolwire: The format kimi_k2 needs the special token")
    assert "Traceback" not in tokenless_server
