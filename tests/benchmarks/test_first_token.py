"""How long a client waits for the first token: what is asked, and what is said of it. The server is
written here, and so are its times."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest
import toolwire

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    found = importlib.import_module("serve_first")
    monkeypatch.setattr(found, "cut", lambda tokenizer, text: [(text, [text])])
    return found


def declare(count: int, number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    city = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [
        {"type": "function", "function": {"name": f"tool_{place}_{number}", "parameters": city}}
        for place in range(count)
    ]
    return tools, {"name": f"tool_0_{number}", "arguments": {"city": "Oslo"}}


class Server:
    """Compiles what holds a model to its tools, where these are new: that takes so many milliseconds for
    each, by the parser's name. A parser that is not named holds the model to nothing."""

    def __init__(self, client: Any, compiling: dict[str, float], begins: str = "<") -> None:
        self.client, self.compiling, self.begins = client, compiling, begins
        self.seen: set[tuple[str, str]] = set()
        self.order: list[str] = []

    async def ask(self, body: dict[str, Any]) -> Any:
        answer = self.client.Answer(started=10.0)
        first = body["tools"][0]["function"]
        parser = first["description"].removeprefix("parser: ")
        text = "".join(body["vllm_xargs"]["script"])
        forced = body["tool_choice"] == "required" or first.get("strict")
        held = forced and parser in self.compiling
        self.order.append(parser)
        if held and ("nobody" in text or not text.startswith(self.begins)):
            answer.error = "refused"
            return answer
        key = (parser, first["name"])
        took = self.compiling[parser] * len(body["tools"]) if held and key not in self.seen else 0
        self.seen.add(key)
        (call,) = toolwire.parse("hermes", text, body["tools"]).tool_calls
        for moment, delta in (
            (5, {"role": "assistant"}),
            (8, {"tool_calls": [{"index": 0, "function": {"name": call.name, "arguments": "{}"}}]}),
        ):
            answer.take({"choices": [{"delta": delta}]}, 10.0 + (took + moment) / 1000)
        return answer


def measured(
    first: Any, compiling: dict[str, float], begins: str = "<"
) -> tuple[list[Any], Server]:
    server = Server(importlib.import_module("serve_client"), compiling, begins)
    found: list[Any] = []
    plan = first.Plan(rounds=3, counts=(1, 10, 100))
    asyncio.run(first.measure(server, None, plan, found, declare))
    return found, server


def test_every_choice_and_number_of_tools(first: Any) -> None:
    found, _ = measured(first, {"toolwire_hermes": 1.0, "hermes": 2.0})
    assert [(w.choice, w.tools, w.who.kind) for w in found] == [
        (choice, count, kind)
        for choice in ("auto", "required", "strict")
        for count in (1, 10, 100)
        for kind in ("ours", "theirs")
    ]
    rows = {(row[0], row[1], row[2]): row[3:] for row in first.table(found).rows}
    assert rows["auto", 100, "vLLM hermes"] == ["no", 5.0, 8.0, 8.0, 3, ""]
    assert rows["required", 100, "toolwire hermes"] == ["yes", 105.0, 108.0, 8.0, 3, ""]
    assert rows["strict", 10, "vLLM hermes"] == ["yes", 25.0, 28.0, 8.0, 3, ""]
    assert first.verdicts(found) == []
    assert first.ratios(found)["first required, 100 tools"].value == round(205 / 105, 2)
    (sentence,) = first.in_short(found)
    assert sentence.endswith(": auto 1.0 times, required 2.0 times, strict 2.0 times as late.")


def test_they_take_turns(first: Any) -> None:
    """Who was first is last in the next round, and each is asked twice: with new tools, and the same."""
    _, server = measured(first, {"toolwire_hermes": 1.0, "hermes": 2.0})
    ours, theirs = "toolwire_hermes", "hermes"
    assert server.order[-12:] == [*[theirs] * 2, *[ours] * 4, *[theirs] * 4, *[ours] * 2]


def test_being_slower_is_said(first: Any) -> None:
    found, _ = measured(first, {"toolwire_hermes": 2.0, "hermes": 1.0})
    sentences = first.verdicts(found)
    assert (
        "required, 100 tools: the first token comes after 205 ms with toolwire, after 105 with vLLM's "
        "own parser." in sentences
    )
    assert {sentence.split(":")[0] for sentence in sentences} == {
        f"{choice}, {count} tools" for choice in ("required", "strict") for count in (10, 100)
    }


def test_with_many_tools_ours_is_ahead(first: Any) -> None:
    found, _ = measured(first, {"toolwire_hermes": 1.0, "hermes": 1.0})
    assert {sentence.split(":")[0] for sentence in first.verdicts(found)} == {
        "required, 100 tools",
        "strict, 100 tools",
    }


def test_a_model_that_is_held_to_nothing_waits_for_no_grammar(first: Any) -> None:
    found, _ = measured(first, {"toolwire_hermes": 1.0})
    assert {wait.held for wait in found if wait.who.kind == "theirs"} == {False}
    assert first.verdicts(found) == []
    assert "holds the model to nothing" in first.ratios(found)["first strict, 100 tools"].text


def test_the_way_to_write_that_a_grammar_takes_is_found(first: Any) -> None:
    found, _ = measured(first, {"toolwire_hermes": 1.0, "hermes": 2.0}, begins="\n\n")
    assert all(len(wait.first) == 3 and not wait.failed for wait in found)


def test_a_parser_that_takes_no_call_is_said(first: Any) -> None:
    found, _ = measured(first, {"toolwire_hermes": 1.0, "hermes": 2.0}, begins="no way")
    sentence = "toolwire hermes, strict, 1 tool: it takes no call, however that is written."
    assert sentence in first.verdicts(found)
    assert {wait.choice for wait in found if wait.first} == {"auto"}
