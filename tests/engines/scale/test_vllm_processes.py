"""vLLM with several API servers, by themselves and behind a router (smg), and with several engines:
`--api-server-count`, `--data-parallel-size`."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from conversation import GO, TURNS, check_turns
from engine_cases import TOOLS
from engine_client import Answer, Asker, body
from engine_server import BOOT_SECONDS, EngineServer, free_port
from engine_workers import processes, scraped
from messages_client import ALL_WAYS
from scale_checks import check_every_process, counts_of
from tokenizers import Tokenizer
from vllm_server import HERMES_TEMPLATE, SCRIPTED, Plan, parser

FLAGS = (*parser("toolwire_hermes"), *HERMES_TEMPLATE, *SCRIPTED)
COUNTERS = "counters"
#: What the router passes on as it is.
CHAT = ("chat", "chat-stream")


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


def ask(
    url: str, tokenizer: Tokenizer, ways: Sequence[str] = tuple(ALL_WAYS)
) -> dict[tuple[str, str], Answer]:
    """Every turn, in these ways."""
    requests = {
        turn: body(TOOLS, tokenizer.encode(text, add_special_tokens=False).ids)
        for turn, (text, _, _) in TURNS.items()
    }
    keys = [(turn, way) for turn in TURNS for way in ways]
    jobs = [
        (lambda client, turn=turn, way=way: ALL_WAYS[way](client, GO, **requests[turn]))
        for turn, way in keys
    ]
    return {key: one for key, (one,) in zip(keys, Asker(url).all(jobs), strict=True)}


def check_api_servers(server: EngineServer, folder: Path, tokenizer: Tokenizer) -> None:
    pids = processes(server.process.pid, "VLLM::APIServer")
    assert len(pids) == 2
    check_every_process(server.url, pids, folder / COUNTERS, lambda: ask(server.url, tokenizer))


class TestApiServers:
    FLAGS = ("--api-server-count", "2")

    def test_each_answers(self, server: EngineServer, folder: Path, tokenizer: Tokenizer) -> None:
        check_api_servers(server, folder, tokenizer)

    def test_behind_smg(self, server: EngineServer, tmp_path: Path, tokenizer: Tokenizer) -> None:
        """The router forwards; it is the server that reads calls, and counts them."""
        smg = [str(Path(sys.executable).with_name("smg")), "launch", "--worker-urls", server.url]
        smg += ["--backend", "vllm", "--prometheus-host", "127.0.0.1"]
        smg += ["--prometheus-port", str(free_port())]
        before = scraped(server.url)
        router = EngineServer(smg, tmp_path / "smg.log", {})
        try:
            wait_for_workers(router)
            got = ask(router.url, tokenizer, CHAT)
        finally:
            router.stop()
        check_turns(got)
        assert scraped(server.url) - before == counts_of(got)


def wait_for_workers(router: EngineServer) -> None:
    """Until the router knows a server."""
    router.wait()
    deadline = time.monotonic() + BOOT_SECONDS
    while httpx.get(f"{router.url}/readiness", timeout=600).status_code != httpx.codes.OK:
        assert time.monotonic() < deadline, router.tail()
        time.sleep(0.5)


class TestEngines:
    FLAGS = ("--data-parallel-size", "2")

    def test_each_answers(self, server: EngineServer, folder: Path, tokenizer: Tokenizer) -> None:
        """Behind as many API servers. Both engines have written some of the answers."""
        check_api_servers(server, folder, tokenizer)
        engines = served_by_engines(server.url)
        assert len(engines) == 2
        assert all(engines.values()), engines


def served_by_engines(url: str) -> dict[str, int]:
    """How many requests each engine has ended, as vLLM itself counts them."""
    text = httpx.get(f"{url}/metrics", timeout=600).text
    ended = r'^vllm:request_success_total\{engine="(\d+)".*?finished_reason="stop".*?\} (\S+)$'
    return {engine: int(float(number)) for engine, number in re.findall(ended, text, re.MULTILINE)}
