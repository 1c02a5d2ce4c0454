"""A trace tells the truth: all characters are in it, and they add up to what the parser says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Parser, list_formats, parse, write
from toolwire.view.trace import MOST_STEPS, WHY, trace, trace_kinds

from ..core.generate import broken, soup
from ..support import TOOLS, coalesce

CALLS = [
    {"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}},
    {"name": "add", "arguments": {"a": 1, "b": 22}},
]


def parts(text: str, traced: dict) -> dict[str, str]:
    """The characters of each kind. Places count UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")
    found = {kind: "" for kind in traced["kinds"]}
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


@pytest.mark.parametrize("format", list_formats())
@given(st.data())
def test_characters_add_up_to_the_message(format: str, data: st.DataObject) -> None:
    text = data.draw(soup(format) | broken(format).map(lambda found: found[0]))
    ends = data.draw(st.none() | st.lists(st.integers(-1, len(text) + 1), max_size=20))
    one = check(format, text, data.draw(st.booleans()), ends)
    assert one["steps"][-1]["held"] == one["length"]
