"""Rows in JSON lines: each line is an object.

A row goes out as the bytes that came, with the new columns behind them: its numbers, its spaces and the
order of its keys stay what they are. One line comes out for each that is not blank. A line that is no
object comes out as one that has it as text, in the column `line`.
"""

from __future__ import annotations

import json
from typing import Any

from .outcome import Outcome
from .parse_calls import ParseCalls

#: One for all rows: each would make its own. Nothing in a row can be inside of itself.
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)


def parse_lines(parse: ParseCalls, text: bytes) -> tuple[bytes, list[Outcome]]:
    """What to write for some whole lines."""
    written, outcomes = [], []
    for line in text.split(b"\n"):
        if line := line.strip():
            new, outcome = parse_line(parse, line)
            written.append(new)
            outcomes.append(outcome)
    return b"".join(written), outcomes


def parse_line(parse: ParseCalls, line: bytes) -> tuple[bytes, Outcome]:
    row, wrong = read_row(line)
    if row is None:
        outcome = Outcome.bad(wrong)
        kept = _encode({"line": line.decode(errors="backslashreplace")})
    else:
        outcome, kept = parse.outcome(row), line
    return _joined(kept, _new_columns(parse.prefix, row or {}, outcome)), outcome


def read_row(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """The row; or none, and why."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # bytes that are no UTF-8 are a ValueError, too
        return None, f"this is not JSON: {error}"
    if not isinstance(row, dict):
        return None, f"a row must be a JSON object, not {type(row).__name__}"
    return row, ""


def _new_columns(prefix: str, row: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    found = {prefix + name: value for name, value in outcome.to_dict().items()}
    # What is there is never lost.
    return found if found.keys().isdisjoint(row) else {k: found[k] for k in found if k not in row}


def _joined(line: bytes, new: dict[str, Any]) -> bytes:
    if not new:
        return line + b"\n"
    body = line[:-1].rstrip()
    comma = b"" if body == b"{" else b", "
    return body + comma + _encode(new)[1:] + b"\n"


def _encode(value: dict[str, Any]) -> bytes:
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError:  # half a character: it was written as an escape, and is again
        return json.dumps(value).encode()
