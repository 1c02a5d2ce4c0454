"""`toolwire template` finds a chat template, `toolwire render` shows what one makes of a chat."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .. import templates
from ..errors import ToolwireError
from ..formats.reasoning import get_reasoning
from .output import FINDINGS, as_json, colours, complain, table, write
from .reading import complete_template, is_objects, read_json

#: What `render` has arguments of its own for.
_ARGUMENTS = frozenset({"messages", "tools", "add_generation_prompt", "continue_final_message"})


def template(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="The template's name.", autocompletion=complete_template
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all templates.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the text, not the path.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Print the path of a chat template, or its text, or the list of all of them."""
    if list_all == bool(name):
        raise ToolwireError("Give the name of a template, or --list to see all of them")
    if name is None:
        entries = templates.list_templates()
        typer.echo(as_json([_describe(t) for t in entries]) if json_ else _table(entries))
        return 0
    chosen = templates.get_template(name)
    if json_:
        typer.echo(as_json(_describe(chosen) | ({"text": chosen.text()} if show else {})))
    elif show:
        write(chosen.text())
    else:
        typer.echo(chosen.path)
    return 0


def _describe(chosen: templates.ChatTemplate) -> dict[str, Any]:
    return {
        "name": chosen.name,
        "frame": chosen.frame,
        "style": chosen.style,
        "models": list(chosen.models),
        "trained": chosen.trained,
        "format": chosen.format,
        "parser": chosen.parser,
        "reasoning": chosen.reasoning,
        "path": str(chosen.path),
    }


def _table(entries: Sequence[templates.ChatTemplate]) -> str:
    rows = [("TEMPLATE", "FRAME", "STYLE", "PARSER", "MODELS")]
    for entry in entries:
        models = ", ".join(entry.models) + (" (trained on it)" if entry.trained else "")
        rows.append((entry.name, entry.frame, entry.style, entry.parser, models))
    return table(rows)


def render(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The template's name.", autocompletion=complete_template
        ),
    ],
    chat: Annotated[
        str,
        typer.Argument(
            metavar="CHAT", help="A JSON file: a list of messages, or a request body; - is stdin."
        ),
    ],
    generation_prompt: Annotated[
        bool, typer.Option(help="End with the beginning of the model's turn, as servers do.")
    ] = True,
    continue_final: Annotated[
        bool,
        typer.Option("--continue-final-message", help="Leave the last message open to go on with."),
    ] = False,
) -> int:
    """Show what the model would see: a conversation, rendered with a chat template."""
    chosen = templates.get_template(name)
    request = _read_request(chat)
    continue_final = continue_final or bool(request.get("continue_final_message"))
    generation_prompt = generation_prompt and request.get("add_generation_prompt") is not False
    variables = _variables(request)
    try:
        prompt = templates.render(
            name,
            request["messages"],
            request.get("tools"),
            add_generation_prompt=generation_prompt and not continue_final,
            continue_final_message=continue_final,
            **variables,
        )
    except ToolwireError as error:
        return complain(f"{chat} can't be rendered: {error}", FINDINGS)
    style = get_reasoning(chosen.reasoning)
    markers = (*chosen.markers, *style.open, *style.close)
    write(_highlighted(prompt, markers) + "\n" if colours() else prompt)
    return 0


def _read_request(source: str) -> dict[str, Any]:
    """A request body from a JSON file, which may also be just its messages."""
    request = read_json(source)
    if isinstance(request, list):
        request = {"messages": request}
    if not isinstance(request, dict) or not is_objects(request.get("messages")):
        raise ToolwireError(
            f"{source} is not a conversation: "
            'it must be a list of messages, or an object with a list "messages"'
        )
    if request.get("tools") and not is_objects(request["tools"]):
        raise ToolwireError(f'{source} has wrong "tools": they must be a list of objects')
    return request


def _variables(request: dict[str, Any]) -> dict[str, Any]:
    """What a server hands to the template from a request's fields, besides the conversation."""
    given = request.get("chat_template_kwargs") or {}
    if not isinstance(given, dict):
        raise ToolwireError('The "chat_template_kwargs" of a request must be an object')
    if given.keys() & _ARGUMENTS:
        names = ", ".join(sorted(given.keys() & _ARGUMENTS))
        raise ToolwireError(f'{names} can\'t be in "chat_template_kwargs": say it in the request')
    effort = request.get("reasoning_effort")
    return given if effort is None else {"reasoning_effort": effort} | given


def _highlighted(prompt: str, markers: Sequence[str]) -> str:
    longest_first = sorted(markers, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    return re.sub(pattern, lambda match: typer.style(match[0], fg="cyan", bold=True), prompt)
