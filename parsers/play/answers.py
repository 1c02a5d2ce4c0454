"""What the page asks about a text: its trace, what every format makes of it, and copies for others.

Each function takes a question and gives an answer, both as JSON. A question that makes no sense is a
`ToolwireError`, whose sentence the page shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..engines.capture import ROUTE, as_stream
from ..errors import ToolwireError
from ..formats import get_format, list_formats
from ..formats.reasoning import list_reasoning
from ..formats.toml_specs import dump_format
from ..openai import Message, parse
from ..openai.checks import check_tools
from ..openai.message import ToolCall, call_problem
from ..schema.tools import read_tools as by_name
from ..view.trace import token_ends, trace
from .given import Given, Tokenize

Json = dict[str, Any]

#: A longer text is not taken: a page is the wrong place for it.
LONGEST = 4_000_000
_UNUSED = {"place": "", "problem": "Until then the text is read as if there were no tools."}


class Question:
    """What was asked of a text, checked."""

    def __init__(self, asked: Json) -> None:
        self.format = str(asked.get("format") or "any")
        self.text = asked.get("text", "")
        if not isinstance(self.text, str):
            raise ToolwireError("The text must be a string")
        if len(self.text) > LONGEST:
            raise ToolwireError(f"The text has more than {LONGEST:,} characters")
        self.tools, self.problems = read_tools(asked.get("tools"))
        style = asked.get("reasoning")
        self.in_reasoning = bool(asked.get("in_reasoning"))
        self.reasoning: bool | str | None = None
        if style or self.in_reasoning:
            self.reasoning = style if style in list_reasoning() else True
        ends = asked.get("ends")
        self.ends = [e for e in ends if isinstance(e, int)] if isinstance(ends, list) else None

    def parse(self, format: str) -> Message:
        return parse(format, self.text, self.tools, self.reasoning, self.in_reasoning)


def read_tools(given: Any) -> tuple[list[Json] | None, list[Json]]:
    """Tools from the JSON that stands in the page, and what is wrong with them, each with its place.
    Tools that can't be used are none."""
    if not isinstance(given, str) or not given.strip():
        return None, []
    try:
        tools = json.loads(given)
    except (ValueError, RecursionError) as error:
        return None, [{"place": "", "problem": f"This is not JSON: {error}"}, _UNUSED]
    if isinstance(tools, dict):
        tools = tools.get("tools", [tools])
    problems = [{"place": p.param, "problem": p.message} for p in check_tools(tools)]
    try:
        by_name(tools)
    except ToolwireError as error:
        problems = problems or [{"place": "", "problem": str(error)}]
        return None, [*problems, _UNUSED]
    return tools or None, problems


def trace_answer(asked: Json, tokenize: Tokenize | None) -> Json:
    question = Question(asked)
    ends: Sequence[int] | None = question.ends
    if ends is None and tokenize is not None:
        ends = tokenize(question.text)
    traced = trace(
        question.format,
        question.text,
        question.tools,
        question.reasoning,
        question.in_reasoning,
        ends,
    )
    return traced | {"tools": question.problems}


def compare_answer(asked: Json) -> Json:
    """Every format that finds calls in the text, the one that leaves the least over first."""
    question = Question(asked)
    rows = []
    for name in list_formats():
        message = question.parse(name)
        if message.tool_calls:
            rows.append(_row(name, message.content, message.tool_calls))
    rows.sort(key=lambda row: (row["problems"], -len(row["calls"]), row["left"]))
    return {"rows": rows, "formats": len(list_formats())}


def _row(name: str, content: str | None, calls: Sequence[ToolCall]) -> Json:
    return {
        "format": name,
        "calls": [call.name for call in calls],
        "problems": sum(bool(call_problem(call)) for call in calls),
        "left": len(content or ""),
    }


# -- copies ---------------------------------------------------------------------------------------


def copy_answer(asked: Json, tokenize: Tokenize | None) -> Json:
    kind = asked.get("kind")
    if kind not in _COPIES:
        raise ToolwireError(f"There is no copy as {kind!r}: there are {', '.join(_COPIES)}")
    return {"text": _COPIES[kind](Question(asked), tokenize)}


def _as_test(question: Question, tokenize: Tokenize | None) -> str:
    """A test for pytest, which says what comes out now."""
    message = question.parse(question.format)
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    more = f", reasoning={question.reasoning!r}" if question.reasoning else ""
    more += ", in_reasoning=True" if question.in_reasoning else ""
    lines = [
        "import toolwire",
        "",
        f"TEXT = {question.text!r}",
        f"TOOLS = {question.tools!r}",
        "",
        "",
        f"def test_{get_format(question.format).name}() -> None:",
        f"    message = toolwire.parse({question.format!r}, TEXT, TOOLS{more})",
        f"    assert message.reasoning == {message.reasoning!r}",
        f"    assert message.content == {message.content!r}",
        "    calls = [(call.name, call.arguments) for call in message.tool_calls]",
        f"    assert calls == {calls!r}",
    ]
    return "\n".join([*lines, ""])


def _as_toml(question: Question, tokenize: Tokenize | None) -> str:
    """The format as a file to change: `toolwire new-format` says more."""
    return dump_format(get_format(question.format))


def _as_replay(question: Question, tokenize: Tokenize | None) -> str:
    """An exchange as the gateway captures it, for `toolwire replay` and `toolwire play`."""
    ends = question.ends or (tokenize(question.text) if tokenize is not None else None)
    pieces, start = [], 0
    for end in token_ends(question.text, ends):
        pieces.append(question.text[start:end])
        start = end
    exchange = {
        "toolwire": "exchange",
        "route": ROUTE,
        "stage": "stream",
        "format": question.format,
        "tools": question.tools or [],
        "raw": as_stream(pieces),
        "emitted": [],
    }
    return json.dumps(exchange, indent=1)


_COPIES: dict[str, Callable[[Question, Tokenize | None], str]] = {
    "test": _as_test,
    "toml": _as_toml,
    "replay": _as_replay,
}


def start_answer(given: Given, engines: Json, templates: Json) -> Json:
    """What the page needs to know before it asks anything."""
    formats = [{"name": name, "models": get_format(name).models} for name in list_formats()]
    return {
        "formats": [{"name": "any", "models": "whatever the text says"}, *formats],
        "reasoning": list_reasoning(),
        "exchange": given.exchange,
        "tokens_note": given.tokens_note,
        "engines": engines,
        **templates,
    }
