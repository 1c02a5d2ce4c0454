"""Thoughts, and a format for each model: through real gateways, with every client that people use."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from .conftest import PATIENCE, Server
from .scripted_answers import CALL, ONE, PENSIVE, PRINTING
from .scripted_upstream import LLAMA
from .support_gateway import ASK, FLAT_TOOLS, TOOLS
from .support_messages import ASKED, claude, parts
from .test_no_tools import client_of

pytestmark = pytest.mark.slow
Share = Callable[..., Server]
Said = tuple[str, str, int]

HERE = Path(__file__).parent
#: The gateways, by what they do about thoughts.
GATEWAYS = {
    "split": ("--format", "qwen3*=hermes,kimi*=kimi_k2,smol*=call_text,*=any"),
    "keep": ("--format", "auto", "--reasoning", "keep"),
    "off": ("--format", "hermes", "--reasoning", "off"),
}
#: What a client must get of a model: thoughts, text, and how often the call of `add`.
WANTED: dict[tuple[str, str], Said] = {
    ("split", "qwen3:pensive>plain"): (f"I could write {CALL}.", "Look:", 1),
    ("split", "org/kimi-k2:kimi>plain"): ("", "", 1),
    ("split", "smol:line>plain"): ("", "", 1),
    ("split", "smol:printing"): ("", PRINTING, 0),
    ("split", "other:text>plain"): ("", "Let me look.", 1),
    ("keep", "qwen3:pensive>plain"): ("", PENSIVE.removesuffix(f" {CALL}"), 1),
    ("keep", LLAMA): ("", "", 1),
    ("off", "pensive>plain"): ("", "<think>I could write .</think>Look:", 2),
}
#: Thoughts of the server's own, which only Chat Completions has.
OWN: dict[tuple[str, str], Said] = {
    ("split", "qwen3:musing>plain"): ("I look it up.", "", 1),
    ("keep", "qwen3:musing>plain"): ("I look it up.", "", 1),
    ("off", "musing>plain"): (f"I look it up.\n{CALL}", "", 0),
}
CHAT = WANTED | OWN
EACH = pytest.mark.parametrize("way", GATEWAYS)


def of(table: dict[tuple[str, str], Said], way: str) -> dict[str, Said]:
    return {model: said for (its, model), said in table.items() if its == way}


def calls_of(found: list[Any]) -> int:
    """How many calls these names and arguments are; all must be the one."""
    assert all((name, json.loads(text)) == ("add", json.loads(ONE)) for name, text in found)
    return len(found)


@EACH
def test_openai(shared_gateway: Share, way: str) -> None:
    client = client_of(shared_gateway(*GATEWAYS[way]))
    for model, wanted in of(CHAT, way).items():
        asked: Any = {"model": model, "messages": ASK, "tools": TOOLS}
        whole = client.chat.completions.create(**asked).choices[0].message
        with client.chat.completions.stream(**asked) as stream:
            streamed = stream.get_final_completion().choices[0].message
        for message in (whole, streamed):
            calls = [(c.function.name, c.function.arguments) for c in message.tool_calls or ()]
            thoughts = (message.model_extra or {}).get("reasoning_content") or ""
            assert (thoughts, message.content or "", calls_of(calls)) == wanted, model


@EACH
def test_openai_responses(shared_gateway: Share, way: str) -> None:
    client = client_of(shared_gateway(*GATEWAYS[way]))
    for model, wanted in of(WANTED, way).items():
        asked: Any = {"model": model, "input": "1+1?", "tools": FLAT_TOOLS}
        with client.responses.stream(**asked) as stream:
            streamed = stream.get_final_response()
        for answer in (client.responses.create(**asked), streamed):
            items: list[Any] = list(answer.output)
            thoughts = [part.text for i in items if i.type == "reasoning" for part in i.content]
            calls = [(i.name, i.arguments) for i in items if i.type == "function_call"]
            assert ("".join(thoughts), answer.output_text, calls_of(calls)) == wanted, model


@EACH
def test_anthropic(shared_gateway: Share, way: str) -> None:
    client = claude(shared_gateway(*GATEWAYS[way])).messages
    for model, wanted in of(WANTED, way).items():
        with client.stream(model=model, **ASKED) as stream:
            streamed = stream.get_final_message()
        for answer in (client.create(model=model, **ASKED), streamed):
            thoughts, text, calls = parts(answer.content)
            found = [(name, json.dumps(given)) for name, given in calls]
            assert (thoughts, text, calls_of(found)) == wanted, model


@EACH
def test_langchain(shared_gateway: Share, way: str) -> None:
    """It does not show thoughts; what it shows has none of them."""
    url: Any = f"{shared_gateway(*GATEWAYS[way]).url}/v1"
    for model, (_, text, count) in of(CHAT, way).items():
        for streaming in (False, True):
            chat = ChatOpenAI(
                model=model,
                base_url=url,
                api_key="k",  # type: ignore[arg-type]
                streaming=streaming,
                max_retries=0,
                timeout=PATIENCE,
            )
            answer = chat.bind_tools(TOOLS).invoke([HumanMessage("1+1?")])
            calls = [(call["name"], json.dumps(call["args"])) for call in answer.tool_calls]
            assert (answer.content, calls_of(calls)) == (text, count), model


def run_node(folder: Path, script: str, url: str, *given: str) -> Any:
    """What a client in Node prints."""
    command = ["node", shutil.copy(HERE / script, folder), url, *given]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@EACH
def test_node(shared_gateway: Share, node_modules: Path, tmp_path: Path, way: str) -> None:
    """The same with the SDKs of OpenAI and Anthropic for Node, and with the AI SDK's own loop."""
    url = shared_gateway(*GATEWAYS[way]).url
    chat, others = of(CHAT, way), of(WANTED, way)
    request = tmp_path / "request.json"
    asked = {"names": list(chat), "outputs": list(others), "messages": ASK}
    request.write_text(json.dumps(asked | {"tools": TOOLS, "flatTools": FLAT_TOOLS}))
    got = run_node(node_modules, "sdk_client.mjs", f"{url}/v1", str(request))
    ways = [
        ("whole", chat),
        ("streamed", chat),
        ("responses", others),
        ("responsesStreamed", others),
    ]
    for how, table in ways:
        for model, wanted in table.items():
            found = got[how][model]
            said = (found["thoughts"], found["text"] or "", calls_of(found["calls"]))
            assert said == wanted, (how, model)
    request.write_text(json.dumps({"names": list(others), "asked": ASKED}))
    got = run_node(node_modules, "messages_client.mjs", url, str(request))
    for how in ("whole", "streamed"):
        for model, wanted in others.items():
            thoughts, text, calls = parts(got[how][model]["content"])
            found = [(name, json.dumps(given)) for name, given in calls]
            assert (thoughts, text, calls_of(found)) == wanted, (how, model)
    got = run_node(node_modules, "ai_client.mjs", f"{url}/v1", *chat)
    for model, (thoughts, text, count) in chat.items():
        assert got[model]["asked"] == [json.loads(ONE)] * count * 2, model
        answers = [got[model]["whole"], got[model]["streamed"]]
        assert answers == (["Grüße, 世界!"] if count else [text]) * 2, model
        assert got[model]["thoughts"] == [thoughts] * 2, model
