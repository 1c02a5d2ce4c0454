"""Many tools cost no more than one once they were read: a parser, a token of prose, a request's choices.

Counted are the steps that Python takes, so that a busy machine changes nothing; how long they take is
for benchmarks/tools.py to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from toolwire import KnownTools, Parser, get_format, list_formats, parse
from toolwire.openai import constrain
from toolwire.openai.request import of_functions, read_functions, read_parts
from toolwire.schema.recent import Recent

from ..work import most

FEW, MANY = 1, 1_000


def tools(count: int) -> list[dict[str, Any]]:
    """Their names have a long beginning in common: the worst case for prose in `call_text`."""
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    names = [f"find_and_replace_{number}" for number in range(count)]
    return [{"type": "function", "function": {"name": n, "parameters": city}} for n in names]


def steps(work: Callable[[], object]) -> int:
    """The second time: what is made once for all of them is there."""
    work()
    return most(lambda: (None, lambda _: work()), [None]).steps


@pytest.mark.parametrize("format", [*list_formats(), "any"])
def test_making_a_parser(format: str) -> None:
    few, many = KnownTools(tools(FEW)), KnownTools(tools(MANY))
    assert steps(lambda: Parser(format, many)) <= steps(lambda: Parser(format, few))


@pytest.mark.parametrize("format", ["call_text", "hermes", "any"])
def test_a_token_of_prose(format: str) -> None:
    def read(known: KnownTools) -> None:
        parser = Parser(format, known)
        for chunk in (" find", " the", " find_and", "_replace", " best", "\nfind_and", " it"):
            parser.feed(chunk)

    few, many = KnownTools(tools(FEW)), KnownTools(tools(MANY))
    least = steps(lambda: read(few))
    # Names of other lengths are looked for, too.
    assert steps(lambda: read(many)) <= least + least // 20


def test_they_are_the_same_tools() -> None:
    text = 'find_and_replace_7(city="Oslo")'
    known = KnownTools(tools(10))
    for given in (known, tools(10)):
        (call,) = parse("call_text", text, given).tool_calls
        assert (call.name, json.loads(call.arguments)) == ("find_and_replace_7", {"city": "Oslo"})
    assert parse("call_text", text, KnownTools(tools(5))).content == text


def test_a_requests_tools_are_read_once_for_all_its_choices() -> None:
    functions = read_functions(tools(3))
    first, second = (of_functions(functions, "auto") for _ in range(2))
    assert first.known is second.known
    assert list(first.names) == [tool["function"]["name"] for tool in tools(3)]
    assert list(read_parts([]).names) == []


def test_the_grammar_of_forced_calls_is_made_once_for_all_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    forced = constrain.forced

    def counted(spec: Any, functions: Any, parallel: bool) -> Any:
        made.append((spec.name, parallel))
        return forced(spec, functions, parallel)

    monkeypatch.setattr(constrain, "forced", counted)
    functions = read_functions(tools(31))  # so many as no other test has
    for _ in range(3):
        request = of_functions(functions, "required")
        assert constrain.reading_format("hermes", request) is get_format("hermes")
        assert constrain.constrain_request("hermes", request).format == "hermes"
    assert made == [("hermes", True)]
    constrain.reading_format("hermes", of_functions(functions, "required", parallel=False))
    constrain.reading_format("qwen3_coder", of_functions(functions, "required"))
    constrain.reading_format("hermes", of_functions(read_functions(tools(32)), "required"))
    assert made[1:] == [("hermes", False), ("qwen3_coder", True), ("hermes", True)]
    constrain.reading_format("hermes", of_functions(read_functions(tools(32)), "required"))
    assert len(made) == 4, "the next turn has the same tools"


def test_what_was_made_of_the_last_few_objects_is_kept() -> None:
    made: list[int] = []

    def make(of: list[int]) -> int:
        made.append(of[0])
        return of[0]

    recent = Recent(make)
    objects = [[number] for number in range(80)]
    assert [(recent(one), recent(one)) for one in objects] == [(n, n) for n in range(80)]
    assert made == list(range(80))
    assert (recent(objects[79]), recent(objects[0])) == (79, 0)
    assert made[80:] == [0]  # the oldest have gone
