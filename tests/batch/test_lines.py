"""JSON lines: one comes out for each that came in, and what was in it is in it, byte for byte."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st
from toolwire.batch import ParseCalls
from toolwire.batch.lines import parse_line, parse_lines
from toolwire.batch.outcome import COLUMNS

PARSE = ParseCalls("hermes")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ROWS = st.dictionaries(st.sampled_from(["text", "id", "content", "tool_calls", "ü"]), JSON)


@given(ROWS, st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " :")]), st.booleans())
@example({}, (",", ":"), True)
def test_a_row_goes_out_as_it_came(row: dict, separators: tuple[str, str], ascii: bool) -> None:
    line = json.dumps(row, separators=separators, ensure_ascii=ascii).encode(errors="surrogatepass")
    if b"\xed\xa0" in line or b"\xed\xb0" in line:  # half a character is no UTF-8
        line = json.dumps(row, separators=separators).encode()
    written, outcome = parse_line(PARSE, line)
    assert written.startswith(line[:-1].rstrip())
    assert written.endswith(b"}\n")
    found = json.loads(written)
    assert {name: found[name] for name in row} == row
    new = outcome.to_dict()
    assert {name: found[name] for name in COLUMNS if name not in row} == {
        name: new[name] for name in COLUMNS if name not in row
    }
    assert set(found) == {*row, *COLUMNS}


def test_numbers_stay_what_they_are() -> None:
    line = b'{"n": [1.0, 1e400, 9223372036854775808, 0.10], "text": "x", "text": "y"}'
    written, outcome = parse_line(PARSE, line)
    assert written.startswith(line[:-1])
    assert outcome.content == "y"


@given(st.lists(st.binary(max_size=20), max_size=6))
@example([b"\xff", b"[1]", b"", b"  ", b"nul", b'"x"', b"[" * 100_000])
def test_any_bytes_are_rows(lines: list[bytes]) -> None:
    rows = [part for line in lines for part in line.split(b"\n") if part.strip()]
    written, outcomes = parse_lines(PARSE, b"\n".join(lines))
    found = [json.loads(line) for line in written.splitlines()]
    assert len(found) == len(outcomes) == len(rows)
    for line, row, outcome in zip(rows, found, outcomes, strict=True):
        if "line" in row and outcome.is_bad:
            assert row["line"] == line.strip().decode(errors="backslashreplace")
            assert row["problems"][0].startswith("row: ")
