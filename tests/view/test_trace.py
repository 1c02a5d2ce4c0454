"""A trace tells the truth: all characters are in it, and they add up to what the parser says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolwire import parse, write
from toolwire.openai import accumulate
from toolwire.view.trace import MOST_STEPS, WHY, trace, trace_kinds

from ..core.generate import broken, soup
from ..support import TOOLS
from ..writers import WRITERS

CALLS = [
    {"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}},
    {"name": "add", "arguments": {"a": 1, "b": 22}},
]


def parts(text: str, traced: dict) -> dict[str, str]:
    """The characters of each kind. Places count UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")
    found = dict.fromkeys(traced["kinds"], "")
    end = 0
    for start, stop, kind in trace_kinds(traced["runs"], traced["length"]):
        assert start == end < stop
        end = stop
        found[kind] += units[2 * start : 2 * stop].decode("utf-16-le", "surrogatepass")
    assert end == traced["length"] == len(units) // 2
    return found


def check(format: str, text: str, reasoning: bool = False, ends: list[int] | None = None) -> dict:
    traced = trace(format, text, TOOLS, reasoning or None, ends=ends)
    message = parse(format, text, TOOLS, reasoning or None)
    found = parts(text, traced)
    assert found["content"] == (message.content or "")
    assert found["reasoning"] == (message.reasoning or "")
    told = traced["calls"]
    assert [(c["name"], c["arguments"]) for c in told] == [
        (call.name, call.arguments) for call in message.tool_calls
    ]
    sent = [d for step in traced["steps"] for d in step["deltas"]]
    assert "".join(d.get("content", "") for d in sent) == (message.content or "")
    ends = [step["to"] for step in traced["steps"]]
    assert ends == sorted(ends)
    assert ends[-1] == traced["length"]
    assert all(0 <= step["held"] <= step["to"] for step in traced["steps"])
    assert {step["why"] for step in traced["steps"]} <= {"", *WHY}
    json.dumps(traced)
    return traced


@settings(max_examples=4 * settings.default.max_examples)
@given(st.data())
def test_characters_add_up_to_the_message(data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(sorted(WRITERS)))
    text = data.draw(soup(format) | broken(format).map(lambda found: found[0]))
    ends = data.draw(st.none() | st.lists(st.integers(-1, len(text) + 1), max_size=20))
    check(data.draw(st.sampled_from([format, "any"])), text, data.draw(st.booleans()), ends)


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_what_a_format_writes_is_coloured(format: str) -> None:
    text = f"See {write(format, CALLS[:1], TOOLS)}"
    found = parts(text, check(format, text))
    if parse(format, text, TOOLS).tool_calls:  # some formats read calls at the start of a line only
        assert found["name"] == "get_weather"
        assert "Oslo" in found["arguments"]
        assert "get_weather" not in found["markup"].replace("to=get_weather", "")
    assert found["content"].startswith("See")


def test_json_arguments_are_the_characters_themselves() -> None:
    text = write("hermes", CALLS, TOOLS)
    found = parts(text, check("hermes", text))
    assert found["arguments"] == "".join(c["arguments"] for c in trace("hermes", text)["calls"])
    assert found["name"] == "get_weatheradd"


def test_each_step_says_what_is_held_and_why() -> None:
    text = 'Hi <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call><|im_'
    steps = trace("hermes", text, TOOLS, ends=[*range(len(text))])["steps"]
    held = {text[step["held"] : step["to"]]: step["why"] for step in steps}
    assert held["<tool_"] == "marker"
    assert held['<tool_call>{"name": "add"'] == "call"
    assert held["<|im_"] == "end"
    assert steps[-1]["events"] == [{"event": "Content", "text": " <|im_"}]
    opened = "<think>See <tool_call>{"
    steps = trace("hermes", opened, TOOLS, True, ends=[*range(len(opened))])["steps"]
    assert steps[-2]["why"] == "trial"
    assert opened[steps[-2]["held"] :] == "<tool_call>{"


def test_what_is_out_by_a_step_is_what_a_stream_has_sent() -> None:
    """Characters that are known after a step are those that the deltas had by then."""
    text = f"<think>So.</think>Let me see. {write('hermes', CALLS, TOOLS)} Done."
    traced = trace("hermes", text, TOOLS, True)
    starts = [*traced["runs"][::3], traced["length"]]
    for number in range(len(traced["steps"])):
        known = dict.fromkeys(traced["kinds"], "")
        for i, (kind, step) in enumerate(
            zip(traced["runs"][1::3], traced["runs"][2::3], strict=True)
        ):
            if step <= number:
                known[traced["kinds"][kind]] += text[starts[i] : starts[i + 1]]
        sent = accumulate(d for step in traced["steps"][: number + 1] for d in step["deltas"])
        assert known["content"] == (sent.content or "")
        assert known["reasoning"] == (sent.reasoning or "")
        assert known["arguments"] == "".join(call.arguments for call in sent.tool_calls)


def test_places_count_as_javascript_does() -> None:
    text = "😀😀 <tool_call>"
    assert parts(text, check("hermes", text))["content"] == text
    assert trace("hermes", text)["length"] == len(text) + 2


def test_a_long_text_has_few_steps_and_runs() -> None:
    text = "a word, " * 4000
    traced = check("hermes", text, ends=[*range(len(text))])
    assert len(traced["steps"]) <= MOST_STEPS + 2
    assert traced["tokens_per_step"] == 8
    assert len(traced["runs"]) <= 3 * (MOST_STEPS + 2)


def test_nothing_is_a_text_too() -> None:
    assert check("hermes", "")["runs"] == []
