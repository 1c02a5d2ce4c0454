"""smg, a router, in front of a vLLM: it forwards, and the server reads calls and counts them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from conversation import CHAT, ask_turns, check_turns
from engine_server import BOOT_SECONDS, EngineServer
from engine_workers import counts_of, scraped

from tests.ports import free_port


@contextmanager
def smg(url: str, folder: Path) -> Iterator[EngineServer]:
    """The router, once it knows the server."""
    command = [str(Path(sys.executable).with_name("smg")), "launch", "--worker-urls", url]
    command += ["--backend", "vllm", "--prometheus-host", "127.0.0.1"]
    command += ["--prometheus-port", str(free_port())]
    router = EngineServer(command, folder / "smg.log", {})
    try:
        router.wait()
        wait_for_workers(router)
        yield router
    finally:
        router.stop()


def wait_for_workers(router: EngineServer) -> None:
    deadline = time.monotonic() + BOOT_SECONDS
    while httpx.get(f"{router.url}/readiness", timeout=600).status_code != httpx.codes.OK:
        assert time.monotonic() < deadline, router.tail()
        time.sleep(0.5)


def check_behind_smg(url: str, tokenizer: Any, folder: Path) -> None:
    before = scraped(url)
    with smg(url, folder) as router:
        got = ask_turns(router.url, tokenizer, CHAT)
    check_turns(got)
    assert scraped(url) - before == counts_of(got.values())
