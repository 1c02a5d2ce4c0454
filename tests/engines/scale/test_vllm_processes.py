"""vLLM with several API servers, by themselves and behind a router (smg), and with several engines:
`--api-server-count`, `--data-parallel-size`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from behind_smg import check_behind_smg
from conversation import ask_turns
from engine_server import EngineServer
from engine_workers import processes
from messages_client import ALL_WAYS
from scale_checks import check_every_process
from tokenizers import Tokenizer
from vllm_server import HERMES_TEMPLATE, SCRIPTED, Plan, parser

FLAGS = (*parser("toolwire_hermes"), *HERMES_TEMPLATE, *SCRIPTED)
COUNTERS = "counters"


@pytest.fixture(scope="class")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vllm")
    (made / COUNTERS).mkdir()
    return made


@pytest.fixture(scope="class")
def server(request: pytest.FixtureRequest, model: Path, folder: Path) -> Iterator[EngineServer]:
    """With the flags of the test's class. Its processes count in the folder."""
    counters = {"PROMETHEUS_MULTIPROC_DIR": str(folder / COUNTERS)}
    plan = Plan((*FLAGS, *request.cls.FLAGS), counters, command=True)
    started = plan.start(model, folder / "server")
    try:
        started.wait()
        yield started
    finally:
        started.stop()


def check_api_servers(server: EngineServer, folder: Path, tokenizer: Tokenizer) -> None:
    pids = processes(server.process.pid, "VLLM::APIServer")
    assert len(pids) == 2
    url = server.url
    check_every_process(url, pids, folder / COUNTERS, lambda: ask_turns(url, tokenizer, ALL_WAYS))


class TestApiServers:
    FLAGS = ("--api-server-count", "2")

    def test_each_answers(self, server: EngineServer, folder: Path, tokenizer: Tokenizer) -> None:
        check_api_servers(server, folder, tokenizer)

    def test_behind_smg(self, server: EngineServer, tmp_path: Path, tokenizer: Tokenizer) -> None:
        check_behind_smg(server.url, tokenizer, tmp_path)


class TestEngines:
    FLAGS = ("--api-server-count", "2", "--data-parallel-size", "2")

    @pytest.mark.short
    def test_each_answers(self, server: EngineServer, folder: Path, tokenizer: Tokenizer) -> None:
        """Behind two API servers. Both engines have written some of the answers."""
        check_api_servers(server, folder, tokenizer)
        engines = served_by_engines(server.url)
        assert len(engines) == 2
        assert all(engines.values()), engines


def served_by_engines(url: str) -> dict[str, int]:
    """How many requests each engine has ended, as vLLM itself counts them."""
    text = httpx.get(f"{url}/metrics", timeout=600).text
    ended = r'^vllm:request_success_total\{engine="(\d+)".*?finished_reason="stop".*?\} (\S+)$'
    return {engine: int(float(number)) for engine, number in re.findall(ended, text, re.MULTILINE)}
