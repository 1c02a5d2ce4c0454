"""`ParseCalls` in Hugging Face datasets, as they hand rows over: tables, lists, and one by one."""

from __future__ import annotations

from typing import Any

import datasets
import pytest
from toolwire.batch import ParseCalls

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
#: The first rows have no call: whoever guesses types from them is misled.
ROWS = [{"id": i, "text": CALL if i >= 4 else "words"} for i in range(8)]


def is_right(found: Any) -> None:
    names = [[call["function"]["name"] for call in row["tool_calls"]] for row in found]
    assert names == [["add"] if row["id"] >= 4 else [] for row in ROWS]
    assert [row["id"] for row in found] == [row["id"] for row in ROWS]


@pytest.fixture
def rows() -> Any:
    return datasets.Dataset.from_list(ROWS)


def test_tables_whatever_is_in_the_first(rows: Any) -> None:
    tables = rows.with_format("arrow")
    found = tables.map(ParseCalls("hermes"), batched=True, batch_size=2, writer_batch_size=2)
    is_right(found.with_format(None))


def test_lists_and_single_rows(rows: Any) -> None:
    is_right(rows.map(ParseCalls("hermes"), batched=True))
    is_right(rows.map(ParseCalls("hermes")))
