"""What each character of a captured exchange is: the answer that the debug page draws."""

from __future__ import annotations

import json
from typing import Any

import pytest
from toolwire import ToolwireError
from toolwire.engines.capture import as_stream
from toolwire.gateway import Settings
from toolwire.gateway.traced import MOST, trace_exchange
from toolwire.view.trace import trace, trace_kinds

from .scripted_answers import CALL, ONE, TEXT_CALL
from .scripted_upstream import stream_bytes, whole_answer
from .support_gateway import TOOLS
from .test_middleware import KEY, call

ROUTES = ["/v1/chat/completions", "/v1/responses", "/v1/messages"]
PATH = "/proxy/debug/trace"


def exchange(name: str, stage: str, route: str = ROUTES[0], **more: Any) -> dict[str, Any]:
    if stage == "whole":
        raw = [json.dumps(whole_answer(name, route))]
    else:
        raw = [event.decode() for event in stream_bytes(name, route)]
    asked = {"stage": stage, "format": "hermes", "tools": TOOLS, "raw": raw, "emitted": True}
    return asked | more


def traced(asked: dict[str, Any], reasoning: str = "off") -> dict[str, Any]:
    return trace_exchange(json.dumps(asked).encode(), reasoning)


def parts(told: dict[str, Any]) -> dict[str, str]:
    """The characters of each kind."""
    found = dict.fromkeys(told["trace"]["kinds"], "")
    for start, end, kind in trace_kinds(told["trace"]["runs"], told["trace"]["length"]):
        found[kind] += told["text"][start:end]
    return found


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("stage", ["whole", "stream"])
def test_text_of_every_api(route: str, stage: str) -> None:
    told = traced(exchange("text", stage, route))
    assert told["text"] == TEXT_CALL
    assert told["note"] == ""
    found = parts(told)
    assert (found["content"], found["name"], found["arguments"]) == ("Let me look.", "add", ONE)
    assert told["trace"]["own_tokens"] == (stage == "stream")


def test_it_is_the_trace_of_the_other_page() -> None:
    ends = [*range(1, len(TEXT_CALL) + 1)]
    told = traced(exchange("text", "stream"))["trace"]
    expected = trace("hermes", TEXT_CALL, TOOLS, ends=ends)
    assert (told["runs"], told["why"]) == (expected["runs"], expected["why"])
    assert [step["held"] for step in told["steps"]] == [s["held"] for s in expected["steps"]]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("stage", ["whole", "stream"])
def test_native_calls_leave_nothing_to_colour(route: str, stage: str) -> None:
    told = traced(exchange("simple", stage, route))
    assert told["trace"] is None
    assert told["text"] == ""
    assert "native calls" in told["note"]


def test_text_beside_native_calls() -> None:
    told = traced(exchange("think", "stream"))
    assert parts(told)["content"] == told["text"] == "So."
    assert "native calls" in told["note"]


def test_without_a_format_the_text_is_there_but_not_read() -> None:
    told = traced(exchange("text", "stream", format=None))
    assert told["trace"] is None
    assert told["text"] == TEXT_CALL
    assert "--format" in told["note"]


def test_thoughts_are_looked_for_where_the_gateway_does() -> None:
    asked = exchange("pensive", "stream")
    found = parts(traced(asked, "split"))
    assert found["reasoning"] == f"I could write {CALL}."
    assert found["content"] == "Look:"
    assert parts(traced(asked, "off"))["reasoning"] == ""


def test_without_tools_nothing_is_a_call() -> None:
    told = traced(exchange("pensive", "stream", tools=[]), "split")
    assert parts(told)["content"] == f"Look: {CALL}"
    assert told["trace"]["format"] == "hermes"
    assert "no tools" in told["note"]


def test_what_an_engine_kept_was_read_without_tools() -> None:
    asked = {"stage": "stream", "format": "hermes", "tools": [], "raw": as_stream([CALL])}
    told = traced(asked | {"emitted": False})
    assert parts(told)["name"] == "add"
    assert told["note"] == ""


def test_a_long_text_is_read_in_part() -> None:
    told = traced(exchange("lengthy", "stream"))
    assert len(told["text"]) == told["trace"]["length"] == MOST
    assert f"{MOST:,}" in told["note"]
    assert told["shortened"]
    assert not traced(exchange("pensive", "stream"))["shortened"]


def test_an_answer_that_was_cut_has_no_text() -> None:
    raw = [json.dumps(whole_answer("text", ROUTES[0]))[:-5]]
    assert traced(exchange("text", "whole", raw=raw))["note"] == "There is no text in this answer."


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"stage": "whole", "raw": [1]}'])
def test_what_is_no_exchange(body: str) -> None:
    with pytest.raises(ToolwireError, match="not a captured exchange"):
        trace_exchange(body.encode(), "off")


def test_the_route() -> None:
    settings, key = Settings(format="hermes", admin_key=KEY), {"x-admin-key": KEY}
    asked = exchange("text", "whole")
    answer = call("POST", PATH, settings, json=asked, headers=key)
    assert parts(answer.json())["name"] == "add"
    assert call("POST", PATH, settings, json=asked).status_code == 401
    assert call("GET", PATH, settings, headers=key).status_code == 404
    assert call("POST", PATH, json=asked, headers=key).status_code == 404  # without a key
    refused = call("POST", PATH, settings, json={}, headers=key)
    assert refused.status_code == 400
    assert "exchange" in refused.json()["error"]["message"]
    unknown = call("POST", PATH, settings, json=asked | {"format": "nope"}, headers=key)
    assert (unknown.status_code, "nope" in unknown.text) == (400, True)
    large = b" " * 8 * 1024 * 1024
    assert call("POST", PATH, settings, content=large, headers=key).status_code == 413
