"""`toolwire write`: calls as a format's model would write them."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ..errors import ToolwireError
from ..formats.write import write as write_calls
from .reading import complete_format, read_text, read_tools


def write(
    name: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="The format.", autocompletion=complete_format),
    ],
    source: Annotated[
        str,
        typer.Argument(metavar="[FILE]", help="JSON, or JSON lines: the calls; - is stdin."),
    ] = "-",
    tools: Annotated[
        str | None, typer.Option(metavar="FILE", help="JSON: the request's list of tools.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Write calls as the format's model does: for training data, tests and replay.

    The input is a list of calls ({"name": …, "arguments": {…}}, or OpenAI's tool_calls), one call, or a
    message that has tool_calls. Of JSON lines, each is a message of its own, and so is each line that is
    printed: {"text": …}.
    """
    declared = read_tools(tools) if tools else None
    messages = _messages(read_text(source), source)
    for place, message in enumerate(messages, 1):
        try:
            text = write_calls(name, _calls(message), declared)
        except ToolwireError as error:
            where = f"{source}, line {place}: " if len(messages) > 1 else ""
            raise ToolwireError(f"{where}{error}") from error
        as_json = json_ or len(messages) > 1
        typer.echo(json.dumps({"text": text}, ensure_ascii=False) if as_json else text)
    return 0


def _messages(text: str, source: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise ToolwireError(f"{source} is not JSON: {error}") from error
    return [_line(line, place, source) for place, line in enumerate(lines, 1)]


def _line(line: str, place: int, source: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"{source}, line {place}: this is not JSON: {error}") from error


def _calls(message: Any) -> Any:
    if isinstance(message, dict):
        calls = message.get("tool_calls")
        return [message] if calls is None else calls
    return message
