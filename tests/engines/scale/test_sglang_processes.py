"""SGLang with several HTTP workers, and with several engines: `--tokenizer-worker-num`, `--dp-size`."""

from __future__ import annotations

import json
import os
import re
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
#: Those of the first engine, and those of the second: by itself SGLang asks for a NUMA node for each.
CORES = "|".join(map(str, (sorted(os.sched_getaffinity(0)) * 2)[:2]))
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
def server(
    request: pytest.FixtureRequest, model: Path, tmp_path: Path, counters: Path
) -> Iterator[EngineServer]:
    started = start(
        model,
        tmp_path / "sglang.log",
        *FLAGS,
        *request.param,
        PROMETHEUS_MULTIPROC_DIR=str(counters),
        SGLANG_UVICORN_WORKER_HEALTHCHECK_TIMEOUT=str(BOOT_SECONDS),
        SGLANG_CPU_OMP_THREADS_BIND=CORES,
    )
    started.wait()
    yield started
    started.stop()


def ask(server: EngineServer) -> dict[tuple[str, str], Answer]:
    """Every turn, whole and streamed."""
    keys = [(turn, way) for turn in TURNS for way in WAYS]
    jobs = [job(way, GO, TOOLS, extra_body=scripted(TURNS[turn][0])) for turn, way in keys]
    return {key: one for key, (one,) in zip(keys, Asker(server.url).all(jobs), strict=True)}


def check_workers(server: EngineServer, counters: Path) -> None:
    workers = worker_pids(server)
    assert len(workers) == 2
    check_every_process(server.url, workers, counters, lambda: ask(server))


@pytest.mark.parametrize("server", [()], indirect=True)
def test_every_worker(server: EngineServer, counters: Path) -> None:
    check_workers(server, counters)


@pytest.mark.short
@pytest.mark.parametrize("server", [("--dp-size", "2")], indirect=True)
def test_every_worker_before_two_engines(server: EngineServer, counters: Path) -> None:
    """Both engines have written some of the answers, as their log says."""
    check_workers(server, counters)
    log = server.log.read_text(errors="replace")
    assert set(re.findall(r" DP(\d)[^\]]*\] Prefill batch", log)) == {"0", "1"}
