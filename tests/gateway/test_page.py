"""The debug page, in headless Chromium, and the replay file that it copies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from toolwire import ToolwireError
from toolwire.replay.exchanges import read_exchange, replay_exchange

from ..browser.browsing import see
from .conftest import ADMIN_KEY, PATIENCE, Server
from .scripted_answers import CALL, HOSTILE, ONE, PENSIVE, THOUGHT
from .support_gateway import ask

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("page_check.mjs")
VIEW_SCRIPT = Path(__file__).with_name("view_check.mjs")
REPLAY = "import typer; from toolwire.commands.gateway import replay; typer.run(replay)"


def test_the_page(start_gateway: Callable[..., Server], node_modules: Path, tmp_path: Path) -> None:
    server = start_gateway("--format", "hermes")
    chat = f"{server.url}/v1/chat/completions"
    httpx2.post(chat, json=ask("thoughtful", stream=True), timeout=PATIENCE)
    httpx2.post(chat, json=ask("pondering"), timeout=PATIENCE)
    httpx2.post(chat, json=ask("malformed", stream=True), timeout=PATIENCE)
    httpx2.post(chat, json=ask("missing"), timeout=PATIENCE)
    saw = see(SCRIPT, node_modules, server.url, ADMIN_KEY)
    assert saw["errors"] == []
    assert set(saw["hosts"]) == {f"127.0.0.1:{server.port}"}
    assert saw["before"] == saw["storage"] == 0
    assert ADMIN_KEY not in saw["address"]
    assert saw["state"].startswith(f"4 exchanges of process {server.pid} on ")
    assert [row.split("\n")[0] for row in saw["rows"]] == [
        "missing_arguments · dropped",
        "invalid_json · wrapped",
        "ok · passed",
        "ok · passed",
    ]
    assert saw["thoughtless"] == 0
    route = "/v1/chat/completions"
    assert saw["thoughts"] == [[f"{route} (whole)", THOUGHT], [f"{route} (stream)", THOUGHT]]
    assert len(saw["filtered"]) == 1
    assert saw["message"]["calls"] == ["add"]
    assert saw["message"]["graph"] > 2
    assert saw["models"] == ["all", "m"]
    assert saw["tools"] == ["all", "add", "get_weather"]
    assert (saw["byModel"], saw["byTool"]) == (4, 3)
    assert len(saw["onlyRaw"]) > 5
    assert any("input" in line for line in saw["onlyEmitted"])
    assert saw["same"] > 2

    file = tmp_path / "exchange.json"
    file.write_text(saw["copied"], encoding="utf-8")
    exchange = read_exchange(file)
    assert ADMIN_KEY not in saw["copied"]
    assert "".join(replay_exchange(exchange)) == "".join(exchange["emitted"])
    command = [sys.executable, "-c", REPLAY, str(file), "--mode", "live"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert '"arguments":"o"' in shown.replace(" ", "")


def test_what_the_model_wrote(start_gateway: Callable[..., Server], node_modules: Path) -> None:
    """Each character in its colour, as on the page of `toolwire play`."""
    server = start_gateway("--format", "hermes", "--reasoning", "split")
    chat = f"{server.url}/v1/chat/completions"
    for name in ("simple", "pensive", "hostile", "lengthy"):
        httpx2.post(chat, json=ask(name, stream=name != "lengthy"), timeout=PATIENCE)
    saw = see(VIEW_SCRIPT, node_modules, server.url, ADMIN_KEY)
    assert (saw["errors"], saw["dialogs"]) == ([], 0)
    assert "native calls" in saw["native"]["note"]
    assert (saw["native"]["players"], saw["native"]["calls"]) == (0, 1)
    assert saw["legend"] == ["reasoning", "content", "name", "arguments", "markup", "held"]
    assert saw["pensive"] == {
        "note": "",
        "text": [PENSIVE],
        "reasoning": [f"I could write {CALL}."],
        "content": ["Look:"],
        "name": ["add"],
        "arguments": [ONE],
        "made": 0,
    }
    assert (saw["first"], saw["second"]) == (f"1 of {len(PENSIVE)}", f"2 of {len(PENSIVE)}")
    assert saw["back"] == saw["first"]
    assert saw["held"]["spans"][-1].startswith("<tool_call>")
    assert saw["held"]["why"].startswith("It may be a call")
    assert saw["hostile"]["text"] == [HOSTILE]
    assert saw["hostile"]["made"] == 0
    assert saw["hostile"]["name"] == ["add"]
    assert "200,000" in saw["lengthy"]["note"]
    assert "are drawn" in saw["lengthy"]["drawn"]
    assert saw["lengthy"]["nodes"] < 5000
    assert saw["byKeys"] == saw["pensive"]["reasoning"]
    assert (saw["stops"], saw["keptFocus"]) == (1, True)
    assert saw["widths"] == [390, 820, 1400]


def test_a_replay_may_use_another_format(tmp_path: Path) -> None:
    text = '<|tool_call|>add\n{"a": 1}<|end_tool_call|>'
    body = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
    exchange = {
        "route": "/v1/chat/completions",
        "stage": "whole",
        "format": "hermes",
        "tools": [{"type": "function", "function": {"name": "add"}}],
        "raw": [json.dumps(body)],
    }
    file = tmp_path / "items.json"
    file.write_text(json.dumps({"items": [exchange], "count": 1}), encoding="utf-8")
    (sent,) = replay_exchange(read_exchange(file))
    assert json.loads(sent) == body
    (sent,) = replay_exchange(read_exchange(file), "special_token")
    assert json.loads(sent)["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "add"


@pytest.mark.parametrize("text", ["{", "[]", '{"raw": 5}', '{"items": []}'])
def test_what_is_no_exchange(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    with pytest.raises(ToolwireError, match="can't be read"):
        read_exchange(file)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ToolwireError, match="is not"):
        read_exchange(file)
