"""Rows in JSON lines: each line is an object.

A row goes out as the bytes that came, with the new columns behind them: its numbers, its spaces and the
order of its keys stay what they are. One line comes out for each that is not blank. A line that is no
object comes out as one that has it as text, in the column `line`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from ..openai.message import ToolCall
from .outcome import COLUMNS, Outcome
from .parse_calls import ParseCalls

# What takes time beside the parser is JSON. A row's line goes to the decoder itself, without what
# `json.loads` does to find out that it is UTF-8. And nearly all that is written are strings: of those an
# encoder makes text at once, of a dict it makes another encoder first.
_decode = json.JSONDecoder().raw_decode
_encode = json.JSONEncoder(ensure_ascii=False).encode
_LONE = re.compile("[\ud800-\udfff]")


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
        kept = json.dumps({"line": line.decode(errors="backslashreplace")}).encode()
    else:
        outcome, kept = parse.outcome(row), line
    return _joined(kept, _new_columns(parse.prefix, row or {}, outcome)), outcome


def read_row(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """The row; or none, and why."""
    try:
        row = _loaded(line)
    except (ValueError, RecursionError) as error:  # bytes that are no UTF-8 are a ValueError, too
        return None, f"this is not JSON: {error}"
    if not isinstance(row, dict):
        return None, f"a row must be a JSON object, not {type(row).__name__}"
    return row, ""


def _loaded(line: bytes) -> Any:
    try:
        text = line.decode("utf-8", "surrogatepass")
        row, end = _decode(text)
        if end == len(text):
            return row
    except ValueError:  # or it is not written as nearly all are
        pass
    return json.loads(line)


def _new_columns(prefix: str, row: dict[str, Any], outcome: Outcome) -> list[str]:
    """Each with its name, as JSON. What is there is never lost."""
    written = (
        _text_or_null(outcome.content),
        _text_or_null(outcome.reasoning),
        f"[{', '.join(map(_call, outcome.tool_calls))}]",
        "true" if outcome.complete else "false",
        f"[{', '.join([_encode(str(problem)) for problem in outcome.problems])}]",
    )
    return [
        begin + value
        for (name, begin), value in zip(_names(prefix), written, strict=True)
        if name not in row
    ]


@cache
def _names(prefix: str) -> list[tuple[str, str]]:
    """Of each new column the name, and that as JSON with its colon."""
    return [(prefix + name, f"{_encode(prefix + name)}: ") for name in COLUMNS]


def _text_or_null(text: str | None) -> str:
    return "null" if text is None else _encode(text)


def _call(call: ToolCall) -> str:
    """What `ToolCall.to_dict` gives, as JSON."""
    function = f'{{"name": {_encode(call.name)}, "arguments": {_encode(call.arguments)}}}'
    return f'{{"id": {_encode(call.id)}, "type": "function", "function": {function}}}'


def _joined(line: bytes, new: list[str]) -> bytes:
    if not new:
        return line + b"\n"
    body = line[:-1].rstrip()
    comma = b"" if body == b"{" else b", "
    return b"%b%b%b}\n" % (body, comma, _bytes(", ".join(new)))


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a character: it was written as an escape, and is again
        return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()
