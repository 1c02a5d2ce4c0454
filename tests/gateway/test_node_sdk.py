"""The official Node SDK as the client."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import Server
from .scripted_answers import ONE
from .support_gateway import ASK, EXPECTED, EXPECTED_OUTPUT, FLAT_TOOLS, TOOLS
from .support_messages import ASKED, EXPECTED_MESSAGE, agent_conversation, agent_tools, parts

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("sdk_client.mjs")
CLAUDE_SCRIPT = Path(__file__).with_name("messages_client.mjs")
AI_SCRIPT = Path(__file__).with_name("ai_client.mjs")
#: An upstream that takes no tools writes the call of `text` into its text.
NO_TOOLS = "text+ollama+node"


@pytest.fixture(scope="module")
def got(gateway: Server, node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Everything that one run of the Node client got. The SDK is installed where it runs."""
    script = shutil.copy(SCRIPT, node_modules)
    request = tmp_path_factory.mktemp("request") / "request.json"
    names, outputs = [*EXPECTED, NO_TOOLS], [*EXPECTED_OUTPUT, NO_TOOLS]
    asked = {"names": names, "outputs": outputs, "messages": ASK}
    request.write_text(json.dumps(asked | {"tools": TOOLS, "flatTools": FLAT_TOOLS}))
    run = subprocess.run(
        ["node", script, f"{gateway.url}/v1", request], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("how", ["whole", "streamed"])
@pytest.mark.parametrize("name", [*EXPECTED, NO_TOOLS])
def test_chat(got: Any, name: str, how: str) -> None:
    text, calls, reason = EXPECTED[name.partition("+")[0]]
    found = got[how][name]
    assert found["text"] == text
    assert [tuple(call) for call in found["calls"]] == calls
    assert len(set(found["ids"])) == len(calls)
    assert found["reason"] == reason


@pytest.mark.parametrize("how", ["responses", "responsesStreamed"])
@pytest.mark.parametrize("name", [*EXPECTED_OUTPUT, NO_TOOLS])
def test_responses(got: Any, name: str, how: str) -> None:
    text, calls = EXPECTED_OUTPUT[name.partition("+")[0]]
    found = got[how][name]
    assert found["text"] == text
    assert [tuple(call) for call in found["calls"]] == calls
    assert len(set(found["ids"])) == len(calls)


@pytest.fixture(scope="module")
def claude_got(
    gateway: Server,
    chat_gateway: Server,
    node_modules: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    """What the SDK of the Messages API got: an upstream that speaks it, and one that doesn't."""
    script = shutil.copy(CLAUDE_SCRIPT, node_modules)
    request = tmp_path_factory.mktemp("claude") / "request.json"
    agent = {"messages": agent_conversation(), "tools": agent_tools()}
    asked = {"names": [*EXPECTED_MESSAGE, NO_TOOLS], "asked": ASKED, "agent": agent}
    request.write_text(json.dumps(asked))
    got = {}
    for way, server in (("native", gateway), ("translated", chat_gateway)):
        run = subprocess.run(
            ["node", script, server.url, request], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        got[way] = json.loads(run.stdout)
    return got


@pytest.mark.parametrize("way", ["native", "translated"])
@pytest.mark.parametrize("how", ["whole", "streamed"])
@pytest.mark.parametrize("name", [*EXPECTED_MESSAGE, NO_TOOLS])
def test_messages(claude_got: Any, name: str, how: str, way: str) -> None:
    *wanted, stop = EXPECTED_MESSAGE[name.partition("+")[0]]
    found = claude_got[way][how][name]
    assert parts(found["content"]) == tuple(wanted)
    assert found["stop_reason"] == stop
    assert (found["usage"]["input_tokens"], found["usage"]["output_tokens"]) == (1, 2)


@pytest.mark.parametrize("way", ["native", "translated"])
def test_messages_of_an_agent(claude_got: Any, way: str) -> None:
    assert claude_got[way]["loop"] == ["tool_use", "tool_use", "end_turn"]
    assert claude_got[way]["agent"] == "end_turn"
    assert "broke off" in claude_got[way]["death"]
    assert claude_got[way]["status"] == [429, "rate_limit_error"]


def test_legacy_functions(got: Any) -> None:
    assert got["legacy"]["whole"] == {"name": "add", "arguments": ONE}
    assert (got["legacy"]["name"], got["legacy"]["arguments"]) == ("add", ONE)


def test_an_upstream_that_dies(got: Any) -> None:
    assert "broke off" in got["death"]


def test_a_model_whose_name_has_a_slash(got: Any) -> None:
    assert got["model"] == "/v1/models/Qwen%2FQwen3-8B"


def test_a_call_that_was_cut_off(got: Any) -> None:
    assert "without a finish reason" in got["cut"]
    assert not got["cutCalls"]


def test_the_ai_sdk(gateway: Server, node_modules: Path) -> None:
    """Its own loop runs the call, sends the result and gets the answer; whole and streamed."""
    models = ["text>plain", "text>plain+ollama+ai"]
    script = shutil.copy(AI_SCRIPT, node_modules)
    command = ["node", script, f"{gateway.url}/v1", *models]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    got = json.loads(run.stdout)
    for model in models:
        assert got[model]["asked"] == [json.loads(ONE)] * 2
        assert (got[model]["whole"], got[model]["streamed"]) == ("Grüße, 世界!", "Grüße, 世界!")
