"""An upstream that takes tools and shows its model none, and says so at `/props`, as llama.cpp does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from toolwire.gateway.props import Props, hides_tools, props_url
from toolwire.gateway.transport import Broken, NotConnected, Request

from .conftest import PATIENCE, Server, upstream_server
from .scripted_answers import ONE
from .support_gateway import ASK, FLAT_TOOLS, TOOLS, ask, metric, seen
from .support_messages import ASKED, claude, parts
from .test_no_tools import ADD, asked_of, client_of

Start = Callable[..., Server]
CHAT = "/v1/chat/completions"
FORMAT = ("--format", "hermes")
HIDES = b'{"chat_template_caps": {"supports_tools": false}}'


@pytest.fixture
def start_upstream() -> Iterator[Start]:
    started: list[Server] = []

    def start(*options: str) -> Server:
        started.append(upstream_server(*options).start())
        return started[-1]

    yield start
    for server in started:
        server.kill()


def calls_of(server: Server, model: str) -> list[tuple[str, str]]:
    client = client_of(server)
    given: Any = {"model": model, "messages": ASK, "tools": TOOLS}
    message = client.chat.completions.create(**given).choices[0].message
    return [(c.function.name, c.function.arguments) for c in message.tool_calls or ()]


# -- the gateway in front of it -------------------------------------------------------------------


def test_the_tools_go_into_the_prompt_by_themselves(start_gateway: Start) -> None:
    """Also where the upstream comes up later than the gateway, and several clients ask at once."""
    upstream = upstream_server("hides-tools")
    server = start_gateway(*FORMAT, "--attempts", "1", "--breaker-failures", "1000", to=upstream)
    with pytest.raises(openai.InternalServerError):
        calls_of(server, "text")
    upstream.start()
    try:
        with ThreadPoolExecutor(8) as clients:
            answers = list(clients.map(lambda _: calls_of(server, "text"), range(8)))
        assert answers == [[("add", ONE)]] * 8
        assert calls_of(server, "text") == [("add", ONE)]
        asked = asked_of(upstream, "text")
        assert len(asked) == 9
        assert not [request for request in asked if "tools" in request]
        assert all("# Tools" in request["messages"][0]["content"] for request in asked)
        assert seen(upstream, "/props?model=text") == 1
        with httpx2.Client(base_url=server.url, timeout=PATIENCE) as http:
            assert metric(http, "manager_upstream_failures_total", reason="status") == 0
    finally:
        upstream.kill()


def test_every_api(start_gateway: Start, start_upstream: Start) -> None:
    upstream = start_upstream("hides-tools")
    server = start_gateway(*FORMAT, to=upstream)
    given: Any = {"model": "text+responses", "input": "1+1?", "tools": FLAT_TOOLS}
    with client_of(server).responses.stream(**given) as streamed:
        answer = streamed.get_final_response()
    calls = [item.name for item in answer.output if item.type == "function_call"]
    assert (calls, answer.output_text) == (["add"], "Let me look.")
    message = claude(server).messages.create(model="text+messages", **ASKED)
    assert parts(message.content) == ("", "Let me look.", [("add", ADD)])
    for model in ("text+responses", "text+messages"):
        (asked,) = asked_of(upstream, model)
        assert "tools" not in asked


@pytest.mark.parametrize("options", [("shows-tools",), ()])
def test_others_are_asked_once_and_go_on_as_before(
    start_gateway: Start, start_upstream: Start, options: tuple[str, ...]
) -> None:
    upstream = start_upstream(*options)
    server = start_gateway(*FORMAT, to=upstream)
    for _ in range(3):
        assert calls_of(server, "simple") == [("add", ONE)]
    assert [bool(request["tools"]) for request in asked_of(upstream, "simple")] == [True] * 3
    assert seen(upstream, "/props?model=simple") == 1


@pytest.mark.parametrize("way", ["native", "prompt", "none"])
def test_who_chose_a_way_is_not_asked(
    start_gateway: Start, start_upstream: Start, way: str
) -> None:
    upstream = start_upstream("hides-tools")
    server = start_gateway(*FORMAT, "--tools", way, to=upstream)
    calls_of(server, "text")
    (asked,) = asked_of(upstream, "text")
    assert ("tools" in asked) is (way != "prompt")
    assert seen(upstream, "/props?model=text") == 0
    assert seen(upstream, "/props") == 0


def test_nor_is_one_that_gets_no_tools_or_has_no_format(
    start_gateway: Start, start_upstream: Start
) -> None:
    upstream = start_upstream("hides-tools")
    server = start_gateway(*FORMAT, to=upstream)
    plain = {"model": "plain", "messages": ASK}
    assert httpx2.post(server.url + CHAT, json=plain, timeout=PATIENCE).status_code == 200
    without = start_gateway(to=upstream)
    assert httpx2.post(without.url + CHAT, json=ask("plain"), timeout=PATIENCE).status_code == 200
    assert seen(upstream, "/props?model=plain") == 0


def test_each_of_several_has_its_own_answer(start_gateway: Start, start_upstream: Start) -> None:
    hides, shows = start_upstream("hides-tools"), start_upstream("shows-tools")
    server = start_gateway(*FORMAT, "--upstream", f"{shows.url}/v1", to=hides)
    for _ in range(6):
        assert calls_of(server, "text") == [("add", ONE)]
    told = [httpx2.get(f"{one.url}/v1/asked").json().get("text", []) for one in (hides, shows)]
    assert len(told[0] + told[1]) == 6
    assert not [request for request in told[0] if "tools" in request]
    assert "tools" not in (told[0] + told[1])[-1]


def test_the_start_says_so(start_gateway: Start, start_upstream: Start, tmp_path: Path) -> None:
    from .test_operation import wait_until

    log = tmp_path / "log"
    start_gateway(*FORMAT, to=start_upstream("hides-tools"), log=log)
    wait_until(lambda: "they will be put into the prompt" in log.read_text())
    assert "WARNING" not in log.read_text()


# -- the question by itself -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("http://a/v1", "", "http://a/props"),
        ("http://a:1/v1/", "x", "http://a:1/props?model=x"),
        ("http://a/llama/v1", "a/b c&d", "http://a/llama/props?model=a%2Fb+c%26d"),
        ("http://a", "", "http://a/props"),
        ("http://a/llama", "", "http://a/llama/props"),
    ],
)
def test_where_it_is_asked(base: str, model: str, url: str) -> None:
    asked = props_url(httpx2.URL(base), model)
    assert (asked.path, asked.params) == (httpx2.URL(url).path, httpx2.URL(url).params)
    assert (asked.host, asked.port) == (httpx2.URL(url).host, httpx2.URL(url).port)


@pytest.mark.parametrize(
    "answer",
    [b"", b"no", b"[]", b"{}", b'{"chat_template_caps": 1}', b'{"chat_template_caps": {}}']
    + [HIDES.replace(b"false", other) for other in (b"true", b"null", b"0")],
)
def test_only_a_plain_no_is_one(answer: bytes) -> None:
    assert not hides_tools(answer)
    assert hides_tools(HIDES)


class Said:
    """An answer, in one piece."""

    def __init__(self, status: int, said: bytes) -> None:
        self.status = status
        self._said = said

    async def body(self) -> AsyncIterator[bytes]:
        yield self._said

    def close(self) -> None:
        """There is no connection."""


class Asked:
    """What sends a question: it gives these answers, one after the other, and the last one for ever."""

    def __init__(self, *answers: Any) -> None:
        self.heard: list[Request] = []
        self._answers = list(answers)

    async def __call__(self, request: Request) -> Any:
        self.heard.append(request)
        await asyncio.sleep(0)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer == "hangs":
            await asyncio.sleep(PATIENCE)
        if isinstance(answer, Exception):
            raise answer
        status, said = answer
        return Said(status, said)


def told(asked: Asked, times: int, seconds: float = PATIENCE) -> list[bool]:
    async def ask_often() -> list[bool]:
        props = Props(httpx2.URL("http://a/v1"), asked, seconds)
        return [
            await props.hide_tools("m", [(b"authorization", b"Bearer x")]) for _ in range(times)
        ]

    return asyncio.run(ask_often())


@pytest.mark.parametrize(
    ("answers", "said", "times"),
    [
        ([(200, HIDES)], [True, True], 1),
        ([(404, b"")], [False, False], 1),
        ([(500, HIDES[:9])], [False, False], 1),
        ([(401, b"")], [False, False], 1),  # for a while
        ([Broken("gone")], [False, False], 1),  # for a while
        ([(503, b"loading"), (200, HIDES)], [False, True], 2),
        ([NotConnected("not up"), (200, HIDES)], [False, True], 2),
        ([(200, HIDES + b" " * 5_000_000)], [False, False], 1),
    ],
)
def test_what_is_remembered(answers: list[Any], said: list[bool], times: int) -> None:
    asked = Asked(*answers)
    assert told(asked, 2) == said
    assert len(asked.heard) == times
    assert (b"authorization", b"Bearer x") in asked.heard[0].headers


def test_nobody_waits_for_ever() -> None:
    asked = Asked("hangs")
    assert told(asked, 2, seconds=0.05) == [False, False]
    assert len(asked.heard) == 1


def test_all_wait_for_one_answer_also_if_the_first_leaves() -> None:
    asked = Asked((200, HIDES))

    async def at_once() -> list[bool]:
        props = Props(httpx2.URL("http://a/v1"), asked, PATIENCE)
        first = asyncio.create_task(props.hide_tools("m", []))
        others = [asyncio.create_task(props.hide_tools("m", [])) for _ in range(3)]
        await asyncio.sleep(0)
        first.cancel()
        return await asyncio.gather(*others)

    assert asyncio.run(at_once()) == [True, True, True]
    assert len(asked.heard) == 1


def test_made_up_models_do_not_fill_the_memory() -> None:
    asked = Asked((404, b""))

    async def many() -> None:
        props = Props(httpx2.URL("http://a/v1"), asked, PATIENCE)
        for number in [*range(1001), 1000, 0]:
            await props.hide_tools(f"m{number}", [])

    asyncio.run(many())
    assert len(asked.heard) == 1002  # the oldest was forgotten


def test_one_clients_wrong_key_says_nothing_to_the_others() -> None:
    asked = Asked((401, b""), (200, HIDES))

    async def both() -> list[bool]:
        props = Props(httpx2.URL("http://a/v1"), asked, PATIENCE)
        keys = (b"wrong", b"right", b"wrong", b"right")
        return [await props.hide_tools("m", [(b"x-api-key", key)]) for key in keys]

    assert asyncio.run(both()) == [False, True, False, True]
    assert len(asked.heard) == 2
