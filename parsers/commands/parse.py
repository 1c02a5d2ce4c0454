"""`toolwire parse`: what a format's parser makes of a model's output."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ..errors import ToolwireError
from ..openai import DeltaStream, Message, ToolCall, accumulate
from .output import FINDINGS, as_json, table
from .reading import complete_format, read_text, read_tools


def parse(
    name: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="The format.", autocompletion=complete_format),
    ],
    source: Annotated[
        str, typer.Argument(metavar="[FILE]", help="What the model wrote; - is stdin.")
    ] = "-",
    tools: Annotated[
        str | None, typer.Option(metavar="FILE", help="JSON: the request's list of tools.")
    ] = None,
    deltas: Annotated[bool, typer.Option("--deltas", help="Print OpenAI's deltas.")] = False,
    chunk: Annotated[int, typer.Option(min=0, help="Characters at a time; 0 is all.")] = 0,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Show what toolwire makes of a model's output: its text and its calls.

    The exit code is 1 where a call is not finished or its arguments are not a JSON object.
    """
    stream = DeltaStream(name, read_tools(tools) if tools else None)
    text = read_text(source)
    size = chunk or max(1, len(text))
    sent = []
    for piece in [*(text[i : i + size] for i in range(0, len(text), size)), None]:
        new = stream.finish() if piece is None else stream.feed(piece)
        sent += new
        for delta in new if deltas else ():
            typer.echo(json.dumps(delta, ensure_ascii=False))
    message = accumulate(sent)
    if not deltas:
        typer.echo(_as_json(message) if json_ else _as_table(message))
    return FINDINGS if any(problem(call) for call in message.tool_calls) else 0


def problem(call: ToolCall) -> str:
    """What is wrong with a call's arguments, or nothing."""
    try:
        call.load()
    except ToolwireError as error:
        return str(error)
    return ""


def _as_json(message: Message) -> str:
    calls = [
        {"name": c.name, "arguments": c.arguments, "problem": problem(c) or None}
        for c in message.tool_calls
    ]
    return as_json({"content": message.content, "tool_calls": calls})


def _as_table(message: Message) -> str:
    parts = [message.content] if message.content else []
    if message.tool_calls:
        rows = [("CALL", "ARGUMENTS", "PROBLEM")]
        rows += [(c.name, c.arguments, problem(c)) for c in message.tool_calls]
        parts.append(table(rows))
    return "\n\n".join(parts) or "(nothing)"
