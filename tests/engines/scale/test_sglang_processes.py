"""SGLang with several HTTP workers, and with several engines: `--tokenizer-worker-num`, `--dp-size`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversation import GO, TURNS
from engine_cases import TOOLS
from engine_client import Answer, Asker
from engine_server import BOOT_SECONDS, EngineServer
from scale_checks import check_every_process
from sglang_asking import job, scripted
from sglang_server import start, template, worker_pids

WAYS = ("chat", "chat-stream")
FLAGS = (
    *("--tool-call-parser", "toolwire_hermes", "--chat-template", template("chatml-hermes")),
    *("--json-model-override-args", json.dumps({"num_hidden_layers": 1}), "--enable-metrics"),
    *("--tokenizer-worker-num", "2"),
)


@pytest.fixture
def counters(tmp_path: Path) -> Path:
    """Where the server's processes count."""
    folder = tmp_path / "counters"
    folder.mkdir()
    return folder


@pytest.fixture
def server(model: Path, tmp_path: Path, counters: Path) -> Iterator[EngineServer]:
    started = start(
        model,
        tmp_path / "sglang.log",
        *FLAGS,
        PROMETHEUS_MULTIPROC_DIR=str(counters),
        SGLANG_UVICORN_WORKER_HEALTHCHECK_TIMEOUT=str(BOOT_SECONDS),
    )
    started.wait()
    yield started
    started.stop()


def ask(server: EngineServer) -> dict[tuple[str, str], Answer]:
    """Every turn, whole and streamed."""
    keys = [(turn, way) for turn in TURNS for way in WAYS]
    jobs = [job(way, GO, TOOLS, extra_body=scripted(TURNS[turn][0])) for turn, way in keys]
    return {key: one for key, (one,) in zip(keys, Asker(server.url).all(jobs), strict=True)}


def test_every_worker(server: EngineServer, counters: Path) -> None:
    workers = worker_pids(server)
    assert len(workers) == 2
    check_every_process(server.url, workers, counters, lambda: ask(server))
