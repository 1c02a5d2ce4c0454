"""The debug capture: what came in beside what went out."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any

import httpx2
import pytest
from toolwire.gateway.capture import MAX_EXCHANGE, Capture, Recorder, known_tools
from toolwire.openai import Finding
from toolwire.openai.request import read_parts

from .conftest import ADMIN_KEY
from .support_gateway import TOOLS, ask

KEY = {"x-admin-key": ADMIN_KEY}


def captured(client: httpx2.Client, **query: Any) -> list[Any]:
    answer = client.get("/proxy/debug/tool-calls", params=query, headers=KEY)
    assert answer.status_code == 200
    body = answer.json()
    assert body["count"] == len(body["items"])
    return list(body["items"])


def test_exchanges_newest_first(client: httpx2.Client) -> None:
    captured(client, clear="true")
    secret = {"authorization": "Bearer very-secret", "x-api-key": "very-secret"}
    client.post("/v1/chat/completions", json=ask("missing"), headers=secret)
    client.post("/proxy/chat/completions", json=ask("malformed", stream=True), headers=secret)
    client.post("/v1/chat/completions", json=ask("plain"))
    newest, oldest = captured(client)
    assert (oldest["route"], oldest["stage"]) == ("/v1/chat/completions", "whole")
    assert (oldest["reason"], oldest["action"]) == ("missing_arguments", "dropped")
    assert (newest["route"], newest["stage"]) == ("/proxy/chat/completions", "stream")
    assert (newest["reason"], newest["action"]) == ("invalid_json", "wrapped")
    assert len(newest["raw"]) > len(newest["emitted"]) > 1
    assert any('\\"input\\"' in chunk for chunk in newest["emitted"])
    assert newest["time"] >= oldest["time"]
    assert newest["id"] != oldest["id"]
    assert "very-secret" not in json.dumps([newest, oldest])
    assert ADMIN_KEY not in json.dumps([newest, oldest])
    assert captured(client, limit=1) == [newest]
    assert captured(client, limit="many", clear="true") == [newest, oldest]
    assert captured(client) == []


def test_good_calls_are_captured_too(client: httpx2.Client) -> None:
    captured(client, clear="true")
    client.post("/v1/chat/completions", json=ask("simple"))
    (item,) = captured(client, clear="true")
    assert (item["reason"], item["action"], item["format"]) == ("ok", "passed", "hermes")
    assert item["raw"] == item["emitted"]
    assert item["tools"] == TOOLS


def newest(capture: Capture) -> list[Any]:
    return asyncio.run(capture.newest(10))


def recorder(text: bytes) -> Recorder:
    made = Recorder("/v1/x", "whole", None, [])
    made.came(text)
    return made


def test_count_and_bytes_are_bounded() -> None:
    capture = Capture(max_items=3, max_bytes=4000)
    for i in range(5):
        capture.keep(recorder(b"%d" % i), [Finding(None, None, "")])
    assert [item["raw"] for item in newest(capture)] == [["4"], ["3"], ["2"]]
    capture.keep(recorder(b"x" * 2000), [])
    assert len(newest(capture)) == 3
    capture.keep(recorder(b"y" * 3500), [])
    assert [item["raw"][0][0] for item in newest(capture)] == ["y"]
    capture.keep(recorder(b"z" * 5000), [])
    assert newest(capture) == []


@pytest.mark.parametrize("chunk", [b"\n\n", b"x", "x😀".encode(), b"x" * 1000])
def test_what_is_kept_takes_about_what_it_counts(chunk: bytes) -> None:
    tracemalloc.start()
    made = recorder(b"")
    for _ in range(200_000):
        made.came(bytes(bytearray(chunk)))
    really = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert made.size <= MAX_EXCHANGE + 100
    assert really < 1.2 * made.size


def test_one_exchange_is_bounded() -> None:
    made = recorder(b"x" * (MAX_EXCHANGE - 1000))
    made.came(b"y" * 2000)
    made.went(b"z" * 20)
    capture = Capture(1, 2 * MAX_EXCHANGE)
    capture.keep(made, [])
    ((_, cut),) = [item["raw"] for item in newest(capture)]
    kept, _, why = cut.partition("…")
    assert kept == "y" * len(kept)
    assert 500 < len(kept) < 1000
    assert "too long to keep" in why
    assert made.emitted == []
    assert made.size <= MAX_EXCHANGE + 100
    assert Recorder("/", "whole", None, [{"x": "y" * MAX_EXCHANGE}]).tools == []


def test_of_tools_only_names_and_schemas_are_kept() -> None:
    mcp = {"type": "mcp", "name": "x", "authorization": "secret"}
    flat = {"type": "function", "name": "f", "parameters": {}, "strict": True}
    kept = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert known_tools(read_parts([mcp, flat, 5, {"function": 5}])) == kept
    assert known_tools(read_parts(None)) == []
