"""The `toolwire` command: a thin layer that reads arguments, asks the library, and prints.

Exit codes: 0 fine, 1 something was found, 2 wrong use. Errors are one sentence on stderr. What
other programs read (paths, JSON, pipes) is plain; a terminal gets colours.
"""

import json
import os
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from . import templates
from .engines.structural_tags import uses_own_format
from .errors import ToolwireError
from .formats import get_format, list_formats
from .gateway.cli import gateway, replay
from .openai import DeltaStream, Message, ToolCall, accumulate

FINDINGS, USAGE = 1, 2

# Releases of Typer use click or a copy of it: this is what the errors of both derive from.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="toolwire",
    help="Tool calls: chat templates that ask a model for them, parsers that read them.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


app.command(
    epilog="Example: toolwire gateway --upstream http://127.0.0.1:11434/v1 --format call_text"
)(gateway)
app.command(epilog="Example: toolwire replay capture.json --format hermes")(replay)


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point: runs a command and gives its exit code."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="toolwire", standalone_mode=False)
    except _CommandLineError as error:
        return _complain(getattr(error, "format_message", error.__str__)(), USAGE)
    except ToolwireError as error:
        return _complain(str(error), USAGE)
    return code if isinstance(code, int) else 0


@app.callback(invoke_without_command=True, epilog="Example: toolwire template --list")
def toolwire(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"toolwire {_version()}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _complete_template(incomplete: str) -> list[str]:
    return [t.name for t in templates.list_templates() if t.name.startswith(incomplete)]


@app.command(
    epilog='Example: vllm serve MODEL --chat-template "$(toolwire template chatml-hermes)"'
)
def template(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="The template's name.", autocompletion=_complete_template
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all templates.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the text, not the path.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Print the path of a chat template, or its text, or the list of all of them."""
    if list_all == bool(name):
        raise ToolwireError("Give the name of a template, or --list to see all of them")
    if name is None:
        entries = templates.list_templates()
        typer.echo(_json([_describe(t) for t in entries]) if as_json else _template_table(entries))
        return 0
    chosen = templates.get_template(name)
    if as_json:
        typer.echo(_json(_describe(chosen) | ({"text": chosen.text()} if show else {})))
    elif show:
        _write(chosen.text())
    else:
        typer.echo(chosen.path)
    return 0


@app.command(epilog="Example: toolwire render chatml-hermes chat.json")
def render(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The template's name.", autocompletion=_complete_template
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
    try:
        prompt = templates.render(
            name,
            request["messages"],
            request.get("tools"),
            add_generation_prompt=generation_prompt and not continue_final,
            continue_final_message=continue_final,
        )
    except ToolwireError as error:
        return _complain(f"{chat} can't be rendered: {error}", FINDINGS)
    _write(_coloured(prompt, chosen.markers) + "\n" if _colours() else prompt)
    return 0


@app.command(epilog="Example: toolwire formats --json")
def formats(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """List the wire formats: what each looks like, who writes it, and what goes with it."""
    entries = [_describe_format(name) for name in list_formats()]
    if as_json:
        typer.echo(_json(entries))
        return 0
    rows = [("FORMAT", "SHAPE", "REQUIRED, STRICT", "TEMPLATE", "MODELS")]
    rows += [
        (e["name"], e["shape"], e["constrained"], e["template"] or "the model's own", e["models"])
        for e in entries
    ]
    typer.echo(_table(rows))
    return 0


def _describe_format(name: str) -> dict[str, Any]:
    spec = get_format(name)
    ours = [t.name for t in templates.list_templates() if t.format == name]
    return {
        "name": name,
        "aliases": list(spec.aliases),
        "shape": type(spec.shape).__name__,
        "models": spec.models,
        "example": spec.example,
        "constrained": "in its own format" if uses_own_format(spec) else "as JSON",
        "template": ours[0] if ours else None,
        "parser": f"toolwire_{name}",
    }


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in list_formats(aliases=True) if name.startswith(incomplete)]


@app.command(epilog="Example: toolwire parse hermes --deltas --chunk 3 < output.txt")
def parse(
    name: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="The format.", autocompletion=_complete_format),
    ],
    source: Annotated[
        str, typer.Argument(metavar="[FILE]", help="What the model wrote; - is stdin.")
    ] = "-",
    tools: Annotated[
        str | None, typer.Option(metavar="FILE", help="JSON: the request's list of tools.")
    ] = None,
    deltas: Annotated[bool, typer.Option("--deltas", help="Print OpenAI's deltas.")] = False,
    chunk: Annotated[int, typer.Option(min=0, help="Characters at a time; 0 is all.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Show what toolwire makes of a model's output: its text and its calls.

    The exit code is 1 where a call is not finished or its arguments are not a JSON object.
    """
    stream = DeltaStream(name, _read_json(tools) if tools else None)
    text = _read_text(source)
    size = chunk or max(1, len(text))
    sent = []
    for piece in [*(text[i : i + size] for i in range(0, len(text), size)), None]:
        new = stream.finish() if piece is None else stream.feed(piece)
        sent += new
        for delta in new if deltas else ():
            typer.echo(json.dumps(delta, ensure_ascii=False))
    message = accumulate(sent)
    if not deltas:
        typer.echo(_message_json(message) if as_json else _message_table(message))
    return FINDINGS if any(_problem(call) for call in message.tool_calls) else 0


def _problem(call: ToolCall) -> str:
    """What is wrong with a call's arguments, or nothing."""
    try:
        call.load()
    except ToolwireError as error:
        return str(error)
    return ""


def _message_json(message: Message) -> str:
    calls = [
        {"name": c.name, "arguments": c.arguments, "problem": _problem(c) or None}
        for c in message.tool_calls
    ]
    return _json({"content": message.content, "tool_calls": calls})


def _message_table(message: Message) -> str:
    parts = [message.content] if message.content else []
    if message.tool_calls:
        rows = [("CALL", "ARGUMENTS", "PROBLEM")]
        rows += [(c.name, c.arguments, _problem(c)) for c in message.tool_calls]
        parts.append(_table(rows))
    return "\n\n".join(parts) or "(nothing)"


def _complain(sentence: str, code: int) -> int:
    typer.echo(f"toolwire: {sentence}", err=True)
    return code


def _version() -> str:
    try:
        return metadata.version("toolwire")
    except metadata.PackageNotFoundError:
        return "(a checkout that is not installed)"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _describe(chosen: templates.ChatTemplate) -> dict[str, Any]:
    return {
        "name": chosen.name,
        "frame": chosen.frame,
        "style": chosen.style,
        "models": list(chosen.models),
        "trained": chosen.trained,
        "format": chosen.format,
        "parser": chosen.parser,
        "path": str(chosen.path),
    }


def _template_table(entries: Sequence[templates.ChatTemplate]) -> str:
    rows = [("TEMPLATE", "FRAME", "STYLE", "PARSER", "MODELS")]
    for entry in entries:
        models = ", ".join(entry.models) + (" (trained on it)" if entry.trained else "")
        rows.append((entry.name, entry.frame, entry.style, entry.parser, models))
    return _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _read_text(source: str) -> str:
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolwireError(f"{source} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ToolwireError(f"{source} can't be read: it is not UTF-8 text") from error


def _read_json(source: str) -> Any:
    try:
        return json.loads(_read_text(source))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ToolwireError):
            raise
        raise ToolwireError(f"{source} is not JSON: {error}") from error


def _read_request(source: str) -> dict[str, Any]:
    """A request body from a JSON file, which may also be just its messages."""
    request = _read_json(source)
    if isinstance(request, list):
        request = {"messages": request}
    if not isinstance(request, dict) or not _objects(request.get("messages")):
        raise ToolwireError(
            f"{source} is not a conversation: "
            'it must be a list of messages, or an object with a list "messages"'
        )
    if request.get("tools") and not _objects(request["tools"]):
        raise ToolwireError(f'{source} has wrong "tools": they must be a list of objects')
    return request


def _objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _coloured(prompt: str, markers: Sequence[str]) -> str:
    longest_first = sorted(markers, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    return re.sub(pattern, lambda match: typer.style(match[0], fg="cyan", bold=True), prompt)


def _write(text: str) -> None:
    """Writes text as it is: `typer.echo` would take escape sequences out and add a newline."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
