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

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("sdk_client.mjs")


@pytest.fixture(scope="module")
def got(gateway: Server, node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Everything that one run of the Node client got. The SDK is installed where it runs."""
    script = shutil.copy(SCRIPT, node_modules)
    request = tmp_path_factory.mktemp("request") / "request.json"
    asked = {"names": list(EXPECTED), "outputs": list(EXPECTED_OUTPUT), "messages": ASK}
    request.write_text(json.dumps(asked | {"tools": TOOLS, "flatTools": FLAT_TOOLS}))
    run = subprocess.run(
        ["node", script, f"{gateway.url}/v1", request], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("how", ["whole", "streamed"])
@pytest.mark.parametrize("name", EXPECTED)
def test_chat(got: Any, name: str, how: str) -> None:
    text, calls, reason = EXPECTED[name]
    found = got[how][name]
    assert found["text"] == text
    assert [tuple(call) for call in found["calls"]] == calls
    assert len(set(found["ids"])) == len(calls)
    assert found["reason"] == reason


@pytest.mark.parametrize("how", ["responses", "responsesStreamed"])
@pytest.mark.parametrize("name", EXPECTED_OUTPUT)
def test_responses(got: Any, name: str, how: str) -> None:
    text, calls = EXPECTED_OUTPUT[name]
    found = got[how][name]
    assert found["text"] == text
    assert [tuple(call) for call in found["calls"]] == calls
    assert len(set(found["ids"])) == len(calls)


def test_legacy_functions(got: Any) -> None:
    assert got["legacy"]["whole"] == {"name": "add", "arguments": ONE}
    assert (got["legacy"]["name"], got["legacy"]["arguments"]) == ("add", ONE)


def test_an_upstream_that_dies(got: Any) -> None:
    assert "broke off" in got["death"]


def test_a_call_that_was_cut_off(got: Any) -> None:
    assert "without a finish reason" in got["cut"]
    assert not got["cutCalls"]
