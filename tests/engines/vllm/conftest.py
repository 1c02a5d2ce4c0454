"""One real server for the whole run, and what it takes to script its output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import toolwire.templates
from engine_client import Asker
from tokenizers import Tokenizer
from vllm_server import PLUGINS, Server


def template(name: str) -> str:
    return str(toolwire.templates.get_template(name).path)


@pytest.fixture(scope="session")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """toolwire by its entry point; the format is chosen by each request."""
    started = Server(
        model,
        tmp_path_factory.mktemp("server") / "vllm.log",
        [
            *("--tool-parser-plugin", str(PLUGINS / "switching_parser.py")),
            *("--tool-call-parser", "switching"),
            *("--chat-template", template("chatml-hermes")),
            # For the tests of the other templates:
            *("--trust-request-chat-template", "--enable-scale-out"),
        ],
        # The template is for one format, and the tests use all.
        {"TOOLWIRE_SKIP_CHECKS": "1"},
    )
    try:
        started.wait()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def asker(server: Server) -> Asker:
    return Asker(server.url)


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Tokenizer:
    return Tokenizer.from_file(str(model / "tokenizer.json"))
