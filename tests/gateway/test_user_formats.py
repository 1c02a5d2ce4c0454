"""A user's own format in the gateway and in the middleware: real processes, which read its file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ..ports import free_port
from .conftest import PATIENCE, Server
from .scripted_answers import ONE
from .support_gateway import ask, events

SPEC = """
name = "my_model"
like = "hermes"
wrappers = {open = ["<mine>", "<tool_call>"], close = ["</mine>", "</tool_call>"]}
"""
CALL = '<mine>{"name": "noargs", "arguments": {}}</mine>'

#: A server that is only given the middleware's name, and repeats the last message.
SERVER = """
import json, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from toolwire.gateway import ToolCallMiddleware

async def chat(request):
    text = (await request.json())["messages"][-1]["content"]
    message = {"role": "assistant", "content": text}
    return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

app = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])
app.add_middleware(ToolCallMiddleware)
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


@pytest.fixture(autouse=True)
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The format's file, which the environment names to every process that a test starts."""
    path = tmp_path / "mine.toml"
    path.write_text(SPEC, encoding="utf-8")
    monkeypatch.setenv("TOOLWIRE_FORMATS", str(path))
    return path


def chat(server: Server, body: dict[str, Any]) -> httpx2.Response:
    return httpx2.post(f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE)


def test_the_gateway_reads_it(start_gateway: Callable[..., Server]) -> None:
    gateway = start_gateway("--format", "my_model")
    choice = chat(gateway, ask("text")).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": ONE}
    said = [{"role": "user", "content": f"Yes. {CALL}"}]
    streamed = chat(gateway, ask("tell", stream=True, messages=said)).text
    deltas = [event["choices"][0]["delta"] for event in events(streamed) if event["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls") or ()]
    assert [call["function"]["name"] for call in calls] == ["noargs"]
    assert "".join(delta.get("content") or "" for delta in deltas).strip() == "Yes."


@pytest.fixture
def server() -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-c", SERVER, str(port)]
    made = Server(command, port, {"TOOLWIRE_FORMAT": "my_model"}).start()
    yield made
    made.kill()


def test_the_middleware_reads_it(server: Server) -> None:
    body = ask("m", messages=[{"role": "user", "content": CALL}])
    choice = chat(server, body).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "noargs"


def test_a_mistake_in_it_is_one_sentence(user_file: Path) -> None:
    user_file.write_text(SPEC + "\nshapes = 3", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "toolwire.cli",
        "gateway",
        "--upstream",
        "http://127.0.0.1:9/v1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = f"toolwire: {user_file}, line 6: there is no key shapes. Did you mean shape?\n"
    assert (done.returncode, done.stderr) == (2, said)
