"""What must not work."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from toolwire.gateway import Settings
from toolwire.gateway.debug import WRONG_KEYS, WrongKeys
from toolwire.gateway.exchange import Plan, answer_whole, plan

from .conftest import ADMIN_KEY, PATIENCE, Server
from .support_gateway import ask, metric

# Most of them send megabytes, or wait.
pytestmark = pytest.mark.slow

Start = Callable[..., Server]
QWEN = Settings(format="qwen3_coder")


def raw_request(server: Server, head: str, body: bytes = b"") -> bytes:
    """Bytes that no proper client would send."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n" + body)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def memory(server: Server) -> int:
    """How many bytes the process has in memory."""
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/proxy/responses", "/v1/embeddings"])
def test_bodies_over_the_limit(shared_gateway: Start, path: str) -> None:
    server = shared_gateway("--max-body-mib", "1")
    big = {"model": "plain", "messages": [{"role": "user", "content": "x" * 1_100_000}]}
    answer = httpx2.post(f"{server.url}{path}", json=big, timeout=PATIENCE)
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "request_too_large"

    def pieces() -> Any:
        yield from (json.dumps(big).encode(),)

    assert httpx2.post(f"{server.url}{path}", content=pieces(), timeout=PATIENCE).status_code == 413


def test_the_length_alone_is_enough_to_refuse(gateway: Server) -> None:
    for length in (32 * 1024 * 1024 + 1, 99999999999):
        head = f"POST /v1/chat/completions HTTP/1.1\nHost: x\nContent-Length: {length}\n"
        assert status(raw_request(gateway, head)) == 413


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"5", b"\xff\xfe", b"[" * 200_000, b'{"messages": ' + b"9" * 10_000 + b"}"],
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_bad_json(client: httpx2.Client, path: str, body: bytes) -> None:
    answer = client.post(path, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "validation_error"


@pytest.mark.parametrize(
    ("path", "part"), [("/v1/chat/completions", "messages"), ("/v1/responses", "input")]
)
def test_many_mistakes_are_a_short_answer(shared_gateway: Start, path: str, part: str) -> None:
    server = shared_gateway()
    body = b'{"model": "plain", "%s": [%s1]}' % (part.encode(), b"1," * 300_000)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        client.post(path, json={"model": "plain"})
        before = memory(server)
        answer = client.post(path, content=body)
        assert memory(server) - before < 30_000_000
    assert answer.status_code == 400
    details = answer.json()["error"]["problems"]
    assert [detail["param"] for detail in details] == [*(f"{part}[{i}]" for i in range(20)), ""]
    assert details[-1]["message"] == "There are 299981 more problems"
    assert len(answer.content) < 5000


@pytest.mark.parametrize(
    "target",
    [
        "/v1/../secret",
        "/v1/a/../../secret",
        "/v1/%2e%2e/secret",
        "/v1/%252e%252e/secret",
        "/v1/..%2fsecret",
        "/v1/..",
        "/v1//evil.test/x",
        "/v1/\\evil.test",
        "/v1/./x",
        "/proxy/../v1/models",
        "/proxy/models",
        "http://evil.test/v1/models",
        "//evil.test/v1/models",
        "/v1/..;/x",
        "/v1/..;a=b/x",
        "/v1/a;b/x",
        "/v1/%c0%ae%c0%ae/x",
        "/v1/%e0%80%ae/x",
        "/v1/%ff",
        "/v1/x#/../y",
        "/v1/x%23y",
        "/v1/a%2fb",
        "/v1/a%2Fb",
        "/v1/files/a%2Fb",
        "/v1/models/..%2fsecret",
        "/v1/models/a%2F..%2f..%2Fsecret",
        "/models/a%2F.",
        "/v1/models/%2Fb",
        "/v1/models/a%2f%2fb",
        "/v1/models/a%2F",
        "/v1/models/a%252Fb",
        "/v1/models/a%2Fb/c%2Fd",
        "/v1/models/..;%2fx",
        "/v1/a%5cb",
        "/v1/a%3bb",
        "/v1/a%3fb",
        "/v1/%u002e/x",
        "/v1/%",
        "/v1/%2",
        "/v1/%zz",
        "/v1/<x>",
        "/v1/x|y",
        "/models/../secret",
        "/models/..;/secret",
        "*",
        "v1/models",
        "/v1/a%00b",
        "/v1/a%0ab",
        "/v1/a%7fb",
    ],
)
def test_paths_that_play_tricks(gateway: Server, target: str) -> None:
    head = f"GET {target} HTTP/1.1\nHost: 127.0.0.1\nConnection: close\n"
    answer = raw_request(gateway, head)
    assert status(answer) == 404


@pytest.mark.parametrize(
    "target",
    [
        "/v1/files/a%20b",
        "/v1/models/gpt:1,x@y=(1)",
        "/v1/models/org/name",
        "/v1/models/org%2Fname",  # as OpenAI's SDKs ask for it
        "/v1/models/a%2fb%2Fc.d",
        "/v1/%C3%A9",
        "/v1/a/",
        "/v1/~a_b-c",
    ],
)
def test_paths_that_play_none_go_on_as_they_came(gateway: Server, target: str) -> None:
    answer = raw_request(gateway, f"GET {target} HTTP/1.1\nHost: x\nConnection: close\n")
    assert status(answer) == 200
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["target"] == target


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_do_not_tell_where_the_upstream_is(
    client: httpx2.Client, upstream: Server, code: int
) -> None:
    for path, model in (("/v1/chat/completions", f"plain+redirect{code}"), ("/v1/moved", "")):
        answer = client.post(path, json=ask(model)) if model else client.get(f"{path}/{code}")
        assert answer.status_code == 502
        assert "redirect" in answer.json()["error"]["message"]
        assert str(upstream.port) not in answer.text + str(answer.headers)


def test_no_other_header_tells_it(client: httpx2.Client, upstream: Server) -> None:
    answer = client.get("/v1/moved/201")
    assert answer.status_code == 201
    assert str(upstream.port) not in str(answer.headers)


def test_other_paths_pass_untouched(gateway: Server) -> None:
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as client:
        sent = {"x-client": "1", "authorization": "Bearer k", "connection": "keep-alive, x-hop"}
        hop = {"x-hop": "1", "te": "trailers", "proxy-authorization": "p", "x-admin-key": ADMIN_KEY}
        answer = client.put("/v1/files/a%20b?x=1&y=%2F", content=b"\x00\x01", headers=sent | hop)
        seen = answer.json()
        assert (seen["method"], seen["target"]) == ("PUT", "/v1/files/a%20b?x=1&y=%2F")
        assert seen["body"] == "\x00\x01"
        headers = {name.lower(): value for name, value in seen["headers"]}
        assert headers["authorization"] == "Bearer k"
        assert headers["x-client"] == "1"
        assert headers["host"].startswith("127.0.0.1")
        assert not set(hop) & set(headers)
        assert "keep-alive" not in answer.headers
        assert answer.headers["set-cookie"] == "a=b"


def test_one_clients_cookies_do_not_reach_another(gateway: Server) -> None:
    for _ in range(2):
        seen = httpx2.get(f"{gateway.url}/v1/models", timeout=PATIENCE).json()
        assert "cookie" not in {name.lower() for name, _ in seen["headers"]}


def test_header_injection(gateway: Server) -> None:
    head = "GET /v1/models HTTP/1.1\nHost: x\nConnection: close\nX-A: a\rX-Evil: 1\n"
    answer = raw_request(gateway, head)
    if status(answer) == 200:
        seen = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert "x-evil" not in {name.lower() for name, _ in seen["headers"]}
    else:
        assert status(answer) == 400
    answer = raw_request(
        gateway, "GET /v1/models?a=%0d%0aX-Evil:%201 HTTP/1.1\nHost: x\nConnection: close\n"
    )
    seen = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert seen["target"] == "/v1/models?a=%0d%0aX-Evil:%201"


def test_giant_lines_do_not_stay_in_memory(start_gateway: Start) -> None:
    server = start_gateway()
    url = f"{server.url}/v1/chat/completions"
    with httpx2.Client(timeout=PATIENCE) as client:
        client.post(url, json=ask("plain", stream=True))
        before = memory(server)
        for _ in range(5):
            answer = client.post(url, json=ask("plain+giant", stream=True))
            assert answer.content.count(b"x") >= 20_000_000
            assert answer.content.endswith(b"data: [DONE]\n\n")
    assert memory(server) - before < 60_000_000


def test_a_slow_client_does_not_fill_the_memory(start_gateway: Start) -> None:
    server = start_gateway()
    body = json.dumps(ask("plain+giant", stream=True)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    before = memory(server)
    waiting = []
    for _ in range(10):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(head.encode() + body)
        connection.recv(1000)  # the answer has begun; the rest (20 MB) is not read
        waiting.append(connection)
    httpx2.get(f"{server.url}/healthz", timeout=PATIENCE)
    grown = memory(server) - before
    for connection in waiting:
        connection.close()
    assert grown < 150_000_000  # 200 MB would have come


# The debug routes


def test_without_a_key_there_are_no_debug_routes(shared_gateway: Start) -> None:
    server = shared_gateway(key=None)
    for path in ("/proxy/debug", "/proxy/debug/tool-calls", "/proxy/debug/trace"):
        for headers in ({}, {"x-admin-key": ""}, {"x-admin-key": "x"}):
            answer = httpx2.get(f"{server.url}{path}", headers=headers, timeout=PATIENCE)
            assert answer.status_code == 404


def test_with_a_wrong_key_nothing_is_shown(client: httpx2.Client) -> None:
    path = "/proxy/debug/tool-calls"
    assert client.get(path).status_code == 401
    for key in ("", "x", ADMIN_KEY + "x", ADMIN_KEY[:-1], ADMIN_KEY.upper()):
        assert client.get(path, headers={"x-admin-key": key}).status_code == 401
    assert client.post(path, headers={"x-admin-key": ADMIN_KEY}).status_code == 404
    twice = [("x-admin-key", ADMIN_KEY), ("x-admin-key", "x")]
    assert client.get(path, headers=twice).status_code == 401


def test_who_guesses_keys_is_slowed_down_counted_and_logged(
    start_gateway: Start, upstream: Server, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = start_gateway(log=log)
    path, guess = "/proxy/debug/tool-calls", "guess-{}"
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        for _ in range(30):  # no key is no guess: the page asks before somebody has typed one
            assert client.get(path).status_code == 401
        said = [
            client.get(path, headers={"x-admin-key": guess.format(i)}).status_code
            for i in range(WRONG_KEYS + 5)
        ]
        assert said == [401] * WRONG_KEYS + [429] * 5
        refused = client.get(path, headers={"x-admin-key": ADMIN_KEY})
        assert refused.status_code == 429  # whoever guesses right in that time doesn't learn it
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert metric(client, "manager_admin_keys_refused_total", why="wrong") == WRONG_KEYS
        assert metric(client, "manager_admin_keys_refused_total", why="limited") == 6
        assert client.post("/v1/chat/completions", json=ask("plain")).status_code == 200
    told = log.read_text()
    assert told.count("a wrong admin key from 127.0.0.1") == WRONG_KEYS
    assert "guess" not in told
    assert ADMIN_KEY not in told


def test_the_time_that_an_address_waits() -> None:
    now = 0.0
    wrong = WrongKeys(lambda: now)
    for second in range(WRONG_KEYS):
        assert wrong.wait("a") == 0
        now = float(second)
        wrong.add("a")
    assert wrong.wait("a") == 60 - now
    assert wrong.wait("b") == 0
    now = 60.0
    assert wrong.wait("a") == 0
    for other in range(20_000):
        wrong.add(str(other))
    assert len(wrong) == 10_000


def test_a_schema_that_is_nested_too_deeply(start_gateway: Start) -> None:
    """It costs nobody the answer: the tool's values are strings."""
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(150):
        schema = {"anyOf": [schema]}
    parameters = {"type": "object", "properties": {"a": schema}}
    tools = [{"type": "function", "function": {"name": "add", "parameters": parameters}}]
    text = "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    request = ask("tell", stream=True) | {"tools": tools}
    request["messages"] = [{"role": "user", "content": text}]
    url = f"{start_gateway('--format', 'qwen3_coder').url}/v1/chat/completions"
    answer = httpx2.post(url, json=request, timeout=PATIENCE)
    assert answer.status_code == 200
    assert r"{\"a\": \"1\"}" in answer.text
    # The same for an answer that is not streamed.
    planned = plan("/v1/chat/completions", "chat", json.dumps(request).encode(), QWEN)
    assert isinstance(planned, Plan)
    whole = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert rb"{\"a\": \"1\"}" in answer_whole(planned, json.dumps(whole).encode(), None)
