"""`toolwire parse`: what a format's parser makes of a model's output."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from ..formats.reasoning import list_reasoning
from ..openai import DeltaStream, Message, accumulate
from ..openai.message import call_problem
from .output import FINDINGS, as_json, faint, table
from .reading import complete_format, complete_reasoning, read_text, read_tools

REASONING = "--reasoning"
#: What stands for the format's own style.
OWN = "own"
ReasoningOption = Annotated[
    str | None,
    typer.Option(
        REASONING,
        metavar="[STYLE]",
        help="Tell thoughts from text: in the format's own style, or in this one.",
        autocompletion=complete_reasoning,
    ),
]


def name_own_style(arguments: Sequence[str]) -> Iterator[str]:
    """The same arguments, where `--reasoning` has a style behind it: what reads them knows no option
    whose value may be left out. A word that is no style's name is something else, such as the file."""
    for place, argument in enumerate(arguments):
        follows = arguments[place + 1 : place + 2]
        own = argument == REASONING and not {*follows} & {OWN, *list_reasoning()}
        yield f"{REASONING}={OWN}" if own else argument


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
    reasoning: ReasoningOption = None,
    in_reasoning: Annotated[
        bool, typer.Option("--in-reasoning", help="The text begins inside of thoughts.")
    ] = False,
    deltas: Annotated[bool, typer.Option("--deltas", help="Print OpenAI's deltas.")] = False,
    chunk: Annotated[int, typer.Option(min=0, help="Characters at a time; 0 is all.")] = 0,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Show what toolwire makes of a model's output: its thoughts, its text and its calls.

    The exit code is 1 where a call is not finished or its arguments are not a JSON object.
    """
    style = True if reasoning == OWN or (in_reasoning and reasoning is None) else reasoning
    stream = DeltaStream(
        name, read_tools(tools) if tools else None, reasoning=style, in_reasoning=in_reasoning
    )
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
        typer.echo(_as_json(message, style is not None) if json_ else _as_table(message))
    return FINDINGS if any(call_problem(call) for call in message.tool_calls) else 0


def _as_json(message: Message, reasoning: bool) -> str:
    calls = [
        {"name": c.name, "arguments": c.arguments, "problem": call_problem(c) or None}
        for c in message.tool_calls
    ]
    shown = {"content": message.content, "tool_calls": calls}
    if reasoning or message.reasoning is not None:
        shown = {"reasoning": message.reasoning, **shown}
    return as_json(shown)


def _as_table(message: Message) -> str:
    parts = [faint(f"REASONING\n{message.reasoning}")] if message.reasoning else []
    parts += [message.content] if message.content else []
    if message.tool_calls:
        rows = [("CALL", "ARGUMENTS", "PROBLEM")]
        rows += [(c.name, c.arguments, call_problem(c)) for c in message.tool_calls]
        parts.append(table(rows))
    return "\n\n".join(parts) or "(nothing)"
