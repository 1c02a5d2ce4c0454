"""JSON in texts of any kind: all of it is found, and no text is read again and again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.shapes.find_json import json_values

from ..test_adversarial import steps

PIECES = [
    *'{}[],:"\\ x1',
    '"a"',
    '{"a": ',
    '{"',
    "[1,",
    '\\"',
    "\n",
    '{"name": "add", "arguments": {}}',
]


def by_trying(text: str) -> Iterator[tuple[int, int, Any]]:
    """What it must find, however long that takes: decoding from each bracket on."""
    place = 0
    while found := re.compile(r"[{\[]").search(text, place):
        try:
            value, end = json.JSONDecoder().raw_decode(text, found.start())
        except ValueError:
            place = found.end()
        else:
            yield found.start(), end, value
            place = end


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_all_that_is_there_is_found(text: str) -> None:
    assert list(json_values(text)) == list(by_trying(text))


@pytest.mark.parametrize("text", ['{"a} then {"b": 1}', '{"x": {"b": 1}, oops', '[1, {"b": 1}'])
def test_brackets_in_what_broke_off(text: str) -> None:
    assert [value for _, _, value in json_values(text)] == [{"b": 1}]


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_what_is_nested_too_deeply_does_not_hide_the_rest(opening: str) -> None:
    values = [value for _, _, value in json_values(opening * 20_000 + 'x {"b": 1}')]
    assert values == [{"b": 1}]


def test_numbers_that_are_too_long_do_not_hide_the_rest() -> None:
    values = [value for _, _, value in json_values(f'[{"1" * 5000}] {{"b": 1}}')]
    assert values == [{"b": 1}]


def search(text: str) -> None:
    for _ in json_values(text):
        pass


@pytest.mark.parametrize(
    "unit",
    [*PIECES, '{"a": [1, ', "[[1], ", '{"a": "', '["{', '{"{"', '{"a\\"": [', '"{\\"', '[{"a":1},'],
)
@pytest.mark.parametrize("end", ["", '"', "]", " x"])
def test_four_times_the_text_takes_four_times_the_steps(
    unit: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Python's own decoder in Python: what the one in C does in a call can't be counted."""
    monkeypatch.setattr(json.scanner, "make_scanner", json.scanner.py_make_scanner)  # type: ignore[attr-defined]
    few, many = (unit * count + end for count in (50, 200))
    assert steps(search, many) < 5 * steps(search, few) + 500


@pytest.mark.parametrize(
    "unit", ['{"name": "add", ', "{", "[1, x", '{"a": "' + "b" * 5000, "[" + "1, " * 3000]
)
def test_no_error_looks_at_all_of_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of Python's decoder counts the lines before it in the text that it was given."""
    given_texts: list[int] = []
    raw_decode = json.JSONDecoder.raw_decode

    def counted(self: json.JSONDecoder, text: str, place: int = 0) -> Any:
        given_texts.append(len(text))
        return raw_decode(self, text, place)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    text = unit * 400
    search(text)
    assert sum(given_texts) < 4000 * len(re.findall(r"[{\[]", text)) + 4 * len(text)


@pytest.mark.parametrize("length", [3980, 3999, 4000, 4001, 4010, 16_000, 100_000])
@pytest.mark.parametrize("before", ["", "[", '{"a": {"b": '])
def test_values_of_any_length(length: int, before: str) -> None:
    value = {"text": "\U0001f30d\\ " * (length // 30), "n": [True, None, -1.5e300] * (length // 60)}
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only)
        assert list(json_values(f"{before}{text} x")) == [(len(before), len(before + text), value)]
