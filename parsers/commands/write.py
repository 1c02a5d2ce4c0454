"""`toolwire write`: calls as a format's model would write them, and whole conversations for training."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ..errors import ToolwireError
from ..formats.write import write as write_calls
from ..models.files import read_model
from ..models.probes import Render
from ..models.rendering import template_renderer
from ..models.training import training_text
from ..templates import get_template, list_templates
from .reading import complete_format, is_objects, read_text, read_tools


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
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|MODEL",
            help="Whole conversations, by this chat template: one of ours, or a model's folder.",
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Write calls as the format's model does: for training data, tests and replay.

    The input is a list of calls ({"name": …, "arguments": {…}}, or OpenAI's tool_calls), one call, or a
    message that has tool_calls. Of JSON lines, each is a message of its own, and so is each line that is
    printed: {"text": …}.

    With --template, the input are conversations: {"messages": […], "tools": […]}. For each, one line of
    JSON has its text, and in assistant_masks which characters of it the model wrote.
    """
    declared = read_tools(tools) if tools else None
    messages = _messages(read_text(source), source)
    if template is not None:
        return _conversations(name, template, messages, declared, source)
    for place, message in enumerate(messages, 1):
        try:
            text = write_calls(name, _calls(message), declared)
        except ToolwireError as error:
            where = f"{source}, line {place}: " if len(messages) > 1 else ""
            raise ToolwireError(f"{where}{error}") from error
        as_json = json_ or len(messages) > 1
        typer.echo(json.dumps({"text": text}, ensure_ascii=False) if as_json else text)
    return 0


def _conversations(
    name: str, template: str, conversations: list[Any], declared: Any, source: str
) -> int:
    render, ends = _renderer(template)
    for place, conversation in enumerate(conversations, 1):
        given = {"messages": conversation} if isinstance(conversation, list) else conversation
        if not isinstance(given, dict) or not is_objects(given.get("messages")):
            raise ToolwireError(
                f'{source}, line {place}: this is no conversation: an object with a list "messages"'
            )
        try:
            tools = given.get("tools") or declared
            written = training_text(render, name, given["messages"], tools, ends)
        except ToolwireError as error:
            raise ToolwireError(f"{source}, line {place}: {error}") from error
        typer.echo(json.dumps(written.to_dict(), ensure_ascii=False))
    return 0


def _renderer(template: str) -> tuple[Render, list[str]]:
    """One of our templates, or a model's own; and the tokens that end its turns."""
    if template in {known.name for known in list_templates()}:
        return template_renderer(get_template(template).text()), []
    model = read_model(template)
    if model.template is None:
        raise ToolwireError(f"{template} has no chat template.")
    ends = [model.special["eos_token"]] if "eos_token" in model.special else []
    return template_renderer(model.template, model.special), ends


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
