"""The `toolwire` command: puts together the commands of `commands/` and answers for their errors.

Exit codes: 0 fine, 1 something was found, 2 wrong use. Errors are one sentence on stderr, with a
traceback only after `--debug`. What other programs read (paths, JSON, pipes) is plain; a terminal
gets colours.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Annotated

import typer

from .commands.batch import batch
from .commands.capture import capture
from .commands.chat import chat
from .commands.detect import detect
from .commands.doctor import doctor
from .commands.formats import formats
from .commands.gateway import gateway, replay
from .commands.new_format import new_format
from .commands.output import USAGE, complain
from .commands.parse import name_own_style, parse
from .commands.play import play
from .commands.templates import render, template
from .commands.write import write
from .core import COMPILED
from .errors import ToolwireError
from .formats.user_files import load_user_formats

#: Each command's function, and the example at the end of its help.
COMMANDS: dict[Callable[..., int], str] = {
    formats: "toolwire formats kimi_k2",
    parse: "toolwire parse hermes --deltas --chunk 3 < output.txt",
    play: "toolwire play capture.json",
    batch: "toolwire batch hermes completions.jsonl calls.jsonl --tools tools.json",
    write: "toolwire write kimi_k2 calls.json",
    new_format: "toolwire new-format my_model --example output.txt --tools tools.json",
    template: 'vllm serve MODEL --chat-template "$(toolwire template chatml-hermes)"',
    render: "toolwire render chatml-hermes chat.json",
    detect: "toolwire detect ./my-model",
    doctor: "toolwire doctor ./my-model --format hermes",
    gateway: "toolwire gateway --upstream http://127.0.0.1:11434/v1 --format call_text",
    chat: "toolwire chat --base-url http://127.0.0.1:8000/v1",
    capture: "toolwire capture ./captured",
    replay: "toolwire replay capture.json --format hermes",
}

#: The shell's code for a command that Ctrl-C ended.
STOPPED = 130

# Releases of Typer use click or a copy of it: this is what the errors of both derive from.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="toolwire",
    help="Tool calls: chat templates that ask a model for them, parsers that read them.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for _function, _example in COMMANDS.items():
    _name = _function.__name__.replace("_", "-")
    app.command(_name, epilog=f"Example: {_example}")(_function)


@app.callback(invoke_without_command=True, epilog="Example: toolwire template --list")
def toolwire(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from (a traceback).")
    ] = False,
) -> None:
    if version:
        typer.echo(f"toolwire {_version()} (core: {'compiled' if COMPILED else 'Python'})")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        load_user_formats()


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point: runs a command and gives its exit code."""
    given = list(name_own_style(sys.argv[1:] if arguments is None else arguments))
    command = typer.main.get_command(app)
    try:
        code = command.main(args=given, prog_name="toolwire", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return STOPPED
    except Exception as error:  # noqa: BLE001 - a user gets a sentence, and the rest with --debug
        if _wants_debug(given):
            traceback.print_exc()
        return complain(_sentence(error), USAGE)
    return code if isinstance(code, int) else 0


def _sentence(error: Exception) -> str:
    """What to tell a user of an error: its own words, where it was meant to be read."""
    if isinstance(error, _CommandLineError):
        return str(getattr(error, "format_message", error.__str__)())
    if isinstance(error, ToolwireError):
        return str(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    return f"{type(error).__name__}: {error} (this is a mistake in toolwire; --debug shows where)"


def _wants_debug(arguments: Sequence[str]) -> bool:
    """`--debug` stands before the command, where the options of `toolwire` itself are."""
    own = arguments[: next((i for i, a in enumerate(arguments) if a[:1] != "-"), len(arguments))]
    return "--debug" in own


def _version() -> str:
    try:
        return metadata.version("toolwire")
    except metadata.PackageNotFoundError:
        return "(a checkout that is not installed)"


if __name__ == "__main__":
    sys.exit(main())
