"""What is counted of requests: those that are treated by their route, all others as one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from toolwire.gateway.metrics import has_reasoning

from ..ports import free_port
from .conftest import PATIENCE, Server
from .support_gateway import ask, metric


def requests(client: httpx2.Client, route: str, status: int) -> float:
    return metric(client, "manager_requests_total", route=route, status=str(status))


def test_what_passes_untouched_is_counted(start_gateway: Callable[..., Server]) -> None:
    with httpx2.Client(base_url=start_gateway().url, timeout=PATIENCE) as client:
        for path in ("/v1/models", "/v1/models/m", "/v1/made-up?by=a-client"):
            assert client.get(path).status_code == 200
        client.post("/v1/embeddings", json={})
        client.get("/v1/chat/other")
        client.post("/v1/chat/completions", json=ask("plain"))
        client.get("/healthz")
        assert requests(client, "/v1/*", 200) == 5
        assert requests(client, "/v1/chat/completions", 200) == 1
        for name in ("manager_request_seconds_count", "manager_first_byte_seconds_count"):
            assert metric(client, name, route="/v1/*") == 5
        shown = client.get("/metrics").text
    routes = set(re.findall(r'manager_requests_total\{route="([^"]*)"', shown))
    assert routes == {"/v1/*", "/v1/chat/completions"}, "a client can make up labels"


def test_what_fails_is_counted_too(start_gateway: Callable[..., Server]) -> None:
    nobody = Server([], free_port())
    gateway = start_gateway("--attempts", "1", to=nobody)
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as client:
        assert client.get("/v1/models").status_code == 502
        assert client.get("/v1/%2e%2e/models").status_code == 404
        assert requests(client, "/v1/*", 502) == 1
        assert requests(client, "/v1/*", 404) == 1


def test_answers_with_thoughts_are_counted(shared_gateway: Callable[..., Server]) -> None:
    name = "manager_answers_with_reasoning_total"
    with httpx2.Client(base_url=shared_gateway().url, timeout=PATIENCE) as client:
        before = [metric(client, name, stage=stage) for stage in ("whole", "stream")]
        for model in ("thoughtful", "pondering", "plain"):
            client.post("/v1/chat/completions", json=ask(model))
            client.post("/v1/chat/completions", json=ask(model, stream=True))
        after = [metric(client, name, stage=stage) for stage in ("whole", "stream")]
    assert [b - a for a, b in zip(before, after, strict=True)] == [2, 2]


@pytest.mark.parametrize(
    ("answer", "has"),
    [
        ({"type": "response.reasoning_text.delta", "delta": "Hm"}, True),
        ({"type": "response.reasoning_summary_text.delta", "delta": "Hm"}, True),
        ({"type": "response.output_text.delta", "delta": "Hm"}, False),
        ({"output": [{"type": "reasoning", "summary": []}]}, True),
        ({"output": [{"type": "message"}, 5]}, False),
        ({"choices": [{"delta": {"reasoning": "Hm"}}]}, True),
        ({"choices": [{"delta": {"reasoning_content": ""}}]}, False),
        ({"choices": [{"message": {"reasoning_content": None}}, 5, {"delta": 5}]}, False),
        ({"choices": 5, "output": None}, False),
    ],
)
def test_what_has_thoughts(answer: dict[str, Any], has: bool) -> None:
    assert has_reasoning(answer) is has
