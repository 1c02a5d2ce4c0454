"""What engines keep in Redis: all processes in one ring, which a gateway's debug page shows, too."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from toolwire import ToolwireError
from toolwire.cli import main
from toolwire.engines.capture import open_store
from toolwire.engines.redis_ring import Ring
from toolwire.gateway.shared_capture import SharedCapture
from toolwire.replay.exchanges import replay_exchange

from ..ports import free_port
from .conftest import Server
from .redis_process import running_redis

pytestmark = pytest.mark.slow
redis = pytest.fixture(scope="module")(running_redis)

#: A process of an engine, which reads one message, and ends.
ENGINE = """
import sys
from toolwire import get_format
from toolwire.core.parser import EventParser
from toolwire.engines.capture import Record
from toolwire.openai.repair import Repair
from toolwire.openai.request import read_parts

parser = EventParser(get_format("hermes"), None)
record = Record("hermes", read_parts(None, None), Repair((), None), parser)
record.came(sys.argv[1])
record.see([*parser.feed(sys.argv[1]), *parser.finish()])
record.done()
"""


@pytest.fixture
def url(redis: Server) -> Iterator[str]:
    where = f"redis://127.0.0.1:{redis.port}/0"
    yield where
    ring = SharedCapture(where, 10, 1 << 20)

    async def clear() -> None:
        await ring.clear()
        await ring.close()

    asyncio.run(clear())


def test_all_processes_keep_theirs_in_one_place(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLWIRE_CAPTURE", url)
    texts = ["<tool_call> one", "<tool_call> two", "nothing is off here"]
    for text in texts:
        subprocess.run([sys.executable, "-c", ENGINE, text], check=True)
    assert main(["capture", url, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [one["text"] for one in found["messages"]] == ["<tool_call> two", "<tool_call> one"]
    shown = asyncio.run(as_a_gateway_shows(url))
    assert [one["reason"] for one in shown] == ["marker_without_call"] * 2
    assert "two" in "".join(replay_exchange(shown[0]))


async def as_a_gateway_shows(url: str) -> list[dict[str, Any]]:
    ring = SharedCapture(url, 10, 1 << 20)
    try:
        return await ring.newest(10)
    finally:
        await ring.close()


def test_the_ring_is_bounded(url: str) -> None:
    ring = Ring(url, 3, 1000)
    for number in range(5):
        ring.keep({"number": number})
    ring.keep({"number": 5, "text": "x" * 700})
    ring.flush()
    assert [one["number"] for one in ring.newest()] == [5, 4, 3]
    ring.keep({"number": 6, "text": "x" * 700})
    ring.flush()
    assert [one["number"] for one in ring.newest()] == [6]


def test_a_redis_that_is_not_there_costs_no_answer(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"
    ring = Ring(nowhere, 3, 1000)
    with caplog.at_level(logging.WARNING, "toolwire"):
        for number in range(200):
            ring.keep({"number": number})
        ring.flush()
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith("TOOLWIRE_CAPTURE: messages can't be kept: ")
    assert main(["capture", nowhere]) == 2
    assert "does not answer" in capsys.readouterr().err


def test_what_is_no_address() -> None:
    for place, what in (
        ("s3://bucket", "name a folder, or redis://"),
        ("redis://h:p/0", "no address"),
    ):
        with pytest.raises(ToolwireError, match=what):
            open_store(place)
