"""docs/gateway.md leads with what people come for: each block is run as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from ..ports import free_port
from .conftest import CHECKOUT, PATIENCE, Server
from .scripted_answers import ONE
from .support_gateway import ASK, TOOLS
from .support_messages import ASKED, claude, parts

LEAD = (CHECKOUT / "docs/gateway.md").read_text(encoding="utf-8").partition("\n## ")[0]
UPSTREAM = "http://127.0.0.1:11434"
PORT = "8080"
#: Where the machine is busy, all of this may take longer than it is given by default.
PATIENT = ("CONNECT_TIMEOUT", "HEADER_TIMEOUT", "BODY_TIMEOUT", "READ_TIMEOUT")
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    **{f"TOOLWIRE_{name}": str(PATIENCE) for name in PATIENT},
}
#: The three blocks, by the words before each.
BLOCKS = {
    heading: block.split("\n")
    for heading, block in re.findall(r"\*\*(.+?)\*\*(?s:.*?)\n```bash.*\n((?:[^`]+\n)+)```", LEAD)
}
NO_TOOLS, BROKEN, DIALECT = BLOCKS


def test_the_folders_readme_begins_alike() -> None:
    readme = (CHECKOUT / "parsers/gateway/README.md").read_text(encoding="utf-8")
    assert readme.startswith(LEAD)


@pytest.fixture
def pasted(upstream: Server) -> Iterator[Callable[[str], Server]]:
    """Runs a block's gateway as it stands; only the upstream and the port are the test's own."""
    started: list[Server] = []

    def run(heading: str) -> Server:
        line = next(line for line in BLOCKS[heading] if line.strip().startswith("toolwire gateway"))
        port = free_port()
        command = line.replace(UPSTREAM, upstream.url).replace(PORT, str(port))
        started.append(Server(["bash", "-c", f"exec {command.strip()}"], port, ENVIRONMENT).start())
        return started[-1]

    yield run
    for server in started:
        server.kill()


def client_of(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE)


def test_there_are_three() -> None:
    assert [NO_TOOLS, BROKEN, DIALECT] == [
        "A model that knows nothing of tools.",
        "A server whose calls are broken",
        "An agent that speaks another dialect.",
    ]
    assert "pip install '.[gateway]'" in LEAD


def test_a_model_that_knows_nothing_of_tools(pasted: Callable[[str], Server]) -> None:
    request: Any = {"model": "line>plain+ollama", "tools": TOOLS}
    client = client_of(pasted(NO_TOOLS))
    first = client.chat.completions.create(messages=ASK, **request).choices[0]
    (call,) = first.message.tool_calls or ()
    assert (call.function.name, call.function.arguments) == ("add", ONE)
    result = {"role": "tool", "tool_call_id": call.id, "content": "2"}
    messages: Any = [*ASK, first.message.model_dump(exclude_none=True), result]
    last = client.chat.completions.create(messages=messages, **request).choices[0]
    assert last.message.content == "Grüße, 世界!"


def test_a_server_whose_calls_are_broken(pasted: Callable[[str], Server]) -> None:
    """And an agent whose own request would be refused: a call that was never answered."""
    asked = {"id": "c9", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    history: Any = [*ASK, {"role": "assistant", "tool_calls": [asked]}, *ASK]
    request: Any = {"model": "kilo", "tools": TOOLS}
    client = client_of(pasted(BROKEN))
    answer = client.chat.completions.create(messages=history, **request).choices[0]
    calls = answer.message.tool_calls or ()
    assert [call.function.name for call in calls] == ["add", "noargs", "add"]
    assert len({call.id for call in calls}) == 3
    assert answer.finish_reason == "tool_calls"


def test_an_agent_that_speaks_another_dialect(pasted: Callable[[str], Server]) -> None:
    gateway = pasted(DIALECT)
    (line,) = (line for line in BLOCKS[DIALECT] if "ANTHROPIC_BASE_URL" in line)
    told = dict(word.split("=", 1) for word in shlex.split(line)[:-1])
    assert told["ANTHROPIC_BASE_URL"] == f"http://127.0.0.1:{PORT}"
    client = claude(gateway, api_key=None, auth_token=told["ANTHROPIC_AUTH_TOKEN"])
    answer = client.messages.create(model="text", **ASKED)
    assert parts(answer.content)[1:] == ("Let me look.", [("add", json.loads(ONE))])
    assert httpx2.get(f"{gateway.url}/healthz", timeout=PATIENCE).json() == {"status": "ok"}
