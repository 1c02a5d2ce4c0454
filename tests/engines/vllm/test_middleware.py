"""The gateway as middleware inside the real server, asked by the official clients.

One server has toolwire's parser too, so calls reach the middleware as vLLM makes them; what the
parser does not know (another format) is left to the middleware. The other has no parser at all.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import openai
import pytest
from engine_cases import ADD_ONE_TWO, CALL_NOARGS, ONE_TWO, TOOLS, block
from engine_client import MODEL, WAYS, Answer, Asker, body, chat_in_stages, flat
from engine_server import EngineServer
from token_gate import Gate
from tokenizers import Tokenizer
from vllm_server import ADMIN_KEY

QUESTION = [{"role": "user", "content": "Go."}]
ADD, NOARGS = ("add", ONE_TWO), ("noargs", "{}")
Got = dict[tuple[str, str], Answer]

#: What the model writes, and what a client must get: the calls and the text.
WITH_A_PARSER = {
    "one": (f"Sure.\n{ADD_ONE_TWO}", [ADD], "Sure."),
    "parallel": (f"{ADD_ONE_TWO}\n{CALL_NOARGS}", [ADD, NOARGS], None),
    "none": ("Nothing to do.", [], "Nothing to do."),
    # Not in the parser's format: this one is the middleware's.
    "text": ("Let me see.\nadd(a=1, b=2)", [ADD], "Let me see."),
}
WITHOUT = {
    "one": WITH_A_PARSER["one"],
    "parallel": WITH_A_PARSER["parallel"],
    "none": WITH_A_PARSER["none"],
    "malformed": (
        block('{"name": "add", "arguments": {"a": }}'),
        [("add", json.dumps({"input": '{"a": }'}))],
        None,
    ),
}


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def ask_all(server: EngineServer, tokenizer: Tokenizer, texts: dict[str, Any], **more: Any) -> Got:
    """Every text in every way. `more` goes into the Chat Completions requests."""

    def job(text: str, way: str) -> Any:
        request = body(TOOLS, ids(tokenizer, text), **(more if way.startswith("chat") else {}))
        return lambda client: WAYS[way](client, QUESTION, **request)

    jobs = {(name, way): job(texts[name][0], way) for name in texts for way in WAYS}
    answers = Asker(server.url).all(jobs.values())
    return {key: answer for key, (answer,) in zip(jobs, answers, strict=True)}


@pytest.fixture(scope="module")
def got(gateway_server: EngineServer, tokenizer: Tokenizer) -> Got:
    return ask_all(gateway_server, tokenizer, WITH_A_PARSER)


@pytest.fixture(scope="module")
def got_without(parserless_server: EngineServer, tokenizer: Tokenizer) -> Got:
    # vLLM refuses them without a parser, so they go into the prompt.
    return ask_all(parserless_server, tokenizer, WITHOUT)


def check(answer: Answer, calls: list[Any], content: str | None, way: str) -> None:
    assert (answer.calls, answer.content or None) == (calls, content)
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", found) for found in answer.ids)
    assert len(set(answer.ids)) == len(calls)
    if way.startswith("chat"):
        assert answer.finish == ("tool_calls" if calls else "stop")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WITH_A_PARSER)
def test_calls(name: str, way: str, got: Got) -> None:
    _, calls, content = WITH_A_PARSER[name]
    check(got[name, way], calls, content, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WITHOUT)
def test_calls_in_text_where_vllm_has_no_parser(name: str, way: str, got_without: Got) -> None:
    _, calls, content = WITHOUT[name]
    check(got_without[name, way], calls, content, way)


def test_text_still_streams(
    gateway_server: EngineServer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """The middleware holds a call until it is whole, but not the words before it: they are there
    before the call is written."""
    words = "Let me see what one and two are, and then tell you."
    script = ids(tokenizer, f"{words}\n{ADD_ONE_TWO}")
    half = len(ids(tokenizer, words)) // 2
    with Gate(tmp_path / "gate") as gate:
        request = body(TOOLS, script, gate=gate.path)
        ((answer, (look,)),) = Asker(gateway_server.url).all(
            [lambda client: chat_in_stages(client, QUESTION, gate, [half], **request)]
        )
    assert look.content
    assert words.startswith(look.content)
    assert (answer.calls, answer.content) == ([ADD], words)


def test_what_vllm_takes_is_not_in_the_prompt(
    parserless_server: EngineServer, tokenizer: Tokenizer
) -> None:
    """It takes tools without a parser where nothing is said about a choice."""
    one = {"one": WITHOUT["one"]}
    got = ask_all(parserless_server, tokenizer, one, tool_choice=None)
    for way in WAYS:
        check(got["one", way], *one["one"][1:], way)


# -- requests that can't work ----------------------------------------------------------------------

UNANSWERED = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
BAD = {
    "chat": (
        {"messages": [*QUESTION, {"role": "assistant", "tool_calls": [UNANSWERED]}]},
        "messages[1].tool_calls[0].id",
    ),
    "responses": (
        {"input": [{"type": "function_call_output", "call_id": "call_1", "output": "3"}]},
        "input[0].call_id",
    ),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", BAD)
def test_a_bad_request(api: str, stream: bool, gateway_server: EngineServer) -> None:
    request, place = BAD[api]

    async def ask(client: openai.AsyncOpenAI) -> None:
        create = client.chat.completions.create if api == "chat" else client.responses.create
        await create(model=MODEL, stream=stream, **request)  # type: ignore[operator]

    with pytest.raises(openai.BadRequestError) as refused:
        Asker(gateway_server.url).all([ask])
    error: Any = refused.value.body
    assert error["type"] == "validation_error"
    assert error["param"] == place
    assert place in [detail["param"] for detail in error["problems"]]


# -- what the operator sees ------------------------------------------------------------------------


def fetch(url: str, key: str | None = None) -> tuple[int, str]:
    asked = urllib.request.Request(url, headers={"X-Admin-Key": key} if key else {})
    try:
        with urllib.request.urlopen(asked, timeout=600) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def metric(text: str, name: str, **labels: str) -> float:
    """A metric's value, added up over the labels that are not given."""
    total = 0.0
    for line in text.splitlines():
        found = re.fullmatch(r"([\w:]+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name:
            pairs = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
            total += float(found[3]) if labels.items() <= pairs.items() else 0
    return total


def test_the_metrics_are_vllms_and_ours(
    gateway_server: EngineServer, parserless_server: EngineServer, got: Got, got_without: Got
) -> None:
    assert got
    assert got_without
    _, text = fetch(f"{gateway_server.url}/metrics")
    assert metric(text, "vllm:request_success_total") > 0
    assert metric(text, "vllm:tool_call_parser_invocations_total") > 0
    for stage in ("whole", "stream"):
        # One call, two calls, and one that was text: each in two APIs.
        assert metric(text, "manager_tool_calls_total", stage=stage) >= 8
        parsed = {"stage": stage, "action": "text_parsed"}
        assert metric(text, "manager_tool_calls_fallback_total", **parsed) >= 2
    for route in ("/v1/chat/completions", "/v1/responses"):
        assert metric(text, "manager_requests_total", route=route, status="200") >= 8
    _, text = fetch(f"{parserless_server.url}/metrics")
    assert metric(text, "vllm:request_success_total") > 0
    for stage in ("whole", "stream"):
        bad = {"stage": stage, "reason": "invalid_json"}
        assert metric(text, "manager_tool_calls_malformed_total", **bad) >= 2


def test_the_debug_routes_need_the_key(gateway_server: EngineServer, got: Got) -> None:
    assert got
    route = f"{gateway_server.url}/proxy/debug/tool-calls?limit=100"
    assert fetch(route)[0] == 401
    assert fetch(route, "another-key")[0] == 401
    status, text = fetch(route, ADMIN_KEY)
    assert status == 200
    assert ADMIN_KEY not in text
    exchanges = json.loads(text)["items"]
    assert {exchange["route"] for exchange in exchanges} == {
        "/v1/chat/completions",
        "/v1/responses",
    }
    assert {exchange["stage"] for exchange in exchanges} == {"whole", "stream"}
    (found, *_) = [exchange for exchange in exchanges if exchange["action"] == "text_parsed"]
    assert '"add(a=1, b=2)' not in "".join(found["emitted"])
    assert "add" in "".join(found["raw"])
    status, page = fetch(f"{gateway_server.url}/proxy/debug")
    assert status == 200
    assert page.startswith("<!doctype html>")


def test_the_debug_routes_are_off_without_a_key(parserless_server: EngineServer) -> None:
    for path in ("/proxy/debug", "/proxy/debug/tool-calls"):
        assert fetch(f"{parserless_server.url}{path}", ADMIN_KEY)[0] == 404
    assert fetch(f"{parserless_server.url}/health")[0] == 200


# -- another client --------------------------------------------------------------------------------


def test_the_node_sdk(gateway_server: EngineServer, tokenizer: Tokenizer, tmp_path: Path) -> None:
    text, calls, content = WITH_A_PARSER["parallel"]
    common = {"model": MODEL, "temperature": 0, "vllm_xargs": {"script": ids(tokenizer, text)}}
    chat = {**common, "messages": QUESTION, "tools": TOOLS}
    responses = {**common, "input": QUESTION, "tools": flat(TOOLS)}
    shutil.copy(Path(__file__).with_name("node_client.mjs"), tmp_path)
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "openai"]
    subprocess.run(npm, cwd=tmp_path, check=True)
    asked = json.dumps([f"{gateway_server.url}/v1", chat, responses])
    run = subprocess.run(
        ["node", "node_client.mjs", asked], cwd=tmp_path, check=True, stdout=subprocess.PIPE
    )
    whole, streamed, response, response_streamed = json.loads(run.stdout)
    expected = [list(call) for call in calls]
    for answer in (whole, streamed):
        assert answer == {"content": content, "calls": expected, "finish": "tool_calls"}
    for answer in (response, response_streamed):
        assert answer == {"content": content or "", "calls": expected}
