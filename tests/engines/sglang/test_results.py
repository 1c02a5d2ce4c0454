"""SGLang's results, filled in without its constructors, are what the constructors make."""

from __future__ import annotations

import pytest
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from toolwire.engines.sglang.adapter import RESULTS
from toolwire.engines.sglang.results import QuickResults, results

ITEMS = [
    ToolCallItem(tool_index=0, name="f", parameters=""),
    ToolCallItem(tool_index=1, name=None, parameters="é"),
]


def test_items() -> None:
    for expected in ITEMS:
        made = RESULTS.item(expected.tool_index, expected.name, expected.parameters)
        assert made == expected
        assert made.model_dump_json() == expected.model_dump_json()


@pytest.mark.parametrize("text", ["", "a"])
@pytest.mark.parametrize("calls", [[], ITEMS], ids=len)
def test_results(text: str, calls: list[ToolCallItem]) -> None:
    made = RESULTS.result(text, calls)
    expected = StreamingParseResult(normal_text=text, calls=calls)
    assert made == expected
    assert made.model_dump_json() == expected.model_dump_json()


def test_with_this_sglang_they_are_the_quick_ones() -> None:
    assert isinstance(RESULTS, QuickResults)


def test_a_class_with_other_fields_is_made_by_its_constructor() -> None:
    class Later(ToolCallItem):  # type: ignore[misc]
        mood: str = "fine"

    make = results(StreamingParseResult, Later)
    assert make.item(1, None, "é").mood == "fine"
    assert make.result("a", []) == StreamingParseResult(normal_text="a", calls=[])
