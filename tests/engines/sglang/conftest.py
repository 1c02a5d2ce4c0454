"""Two real servers for the whole run: one for everything, one started as a user would."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import toolwire.templates
from engine_client import MODEL, Asker
from engine_server import EngineServer

PLUGINS = Path(__file__).resolve().parent / "plugins"
COMMAND = [sys.executable, "-m", "sglang.launch_server"]
FLAGS = [
    *("--served-model-name", MODEL, "--device", "cpu", "--dtype", "float32"),
    *("--attention-backend", "torch_native", "--sampling-backend", "pytorch"),
    *("--disable-cuda-graph", "--disable-overlap-schedule", "--mem-fraction-static", "0.2"),
    *("--max-total-tokens", "24576", "--context-length", "2048", "--max-running-requests", "32"),
    # An idle server would keep a core busy, and there are two servers.
    *("--random-seed", "0", "--sleep-on-idle"),
]
ENVIRONMENT = {
    "SGLANG_USE_CPU_ENGINE": "1",
    "HF_HUB_OFFLINE": "1",
    # One thread: with more, they wait for one another wherever something else runs, too.
    "OMP_NUM_THREADS": "1",
}


def template(name: str) -> str:
    return str(toolwire.templates.get_template(name).path)


def start(model: Path, log: Path, *flags: str, **environment: str) -> EngineServer:
    command = [*COMMAND, "--model-path", str(model), *FLAGS, *flags]
    return EngineServer(command, log, {**ENVIRONMENT, **environment})


def running(server: EngineServer) -> Iterator[EngineServer]:
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def server(plain_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineServer]:
    """toolwire by its entry point; each request says its format and what the model writes."""
    path = os.pathsep.join(filter(None, [str(PLUGINS), os.environ.get("PYTHONPATH")]))
    yield from running(
        start(
            plain_model,
            tmp_path_factory.mktemp("server") / "sglang.log",
            *("--tool-call-parser", "switching", "--chat-template", template("chatml-hermes")),
            PYTHONPATH=path,
        )
    )


@pytest.fixture(scope="session")
def plain_server(
    plain_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EngineServer]:
    """As a user would start it: our template, `auto` to find its parser, two HTTP workers."""
    yield from running(
        start(
            plain_model,
            tmp_path_factory.mktemp("plain") / "sglang.log",
            *("--tool-call-parser", "auto", "--chat-template", template("chatml-hermes")),
            *("--tokenizer-worker-num", "2"),
        )
    )


@pytest.fixture(scope="session")
def asker(server: EngineServer) -> Asker:
    return Asker(server.url)
