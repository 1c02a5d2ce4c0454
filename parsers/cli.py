"""The `toolwire` command: puts together the commands of `commands/` and answers for their errors.

Exit codes: 0 fine, 1 something was found, 2 wrong use. Errors are one sentence on stderr, with a
traceback only after `--debug`. What other programs read (paths, JSON, pipes) is plain; a terminal
gets colours.
"""

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from .commands.output import FINDINGS, USAGE, complain
from .errors import ToolwireError

#: Each command, with the module of `commands/` that has its function, and the example at the end of its
#: help. A module is imported when its command is run, or shown.
COMMANDS = {
    "formats": ("formats", "toolwire formats kimi_k2"),
    "parse": ("parse", "toolwire parse hermes --deltas --chunk 3 < output.txt"),
    "play": ("play", "toolwire play capture.json"),
    "batch": ("batch", "toolwire batch hermes completions.jsonl calls.jsonl --tools tools.json"),
    "write": ("write", "toolwire write kimi_k2 calls.json"),
    "new-format": (
        "new_format",
        "toolwire new-format my_model --example output.txt --tools tools.json",
    ),
    "template": (
        "templates",
        'vllm serve MODEL --chat-template "$(toolwire template chatml-hermes)"',
    ),
    "render": ("templates", "toolwire render chatml-hermes chat.json"),
    "detect": ("detect", "toolwire detect ./my-model"),
    "doctor": ("doctor", "toolwire doctor ./my-model --format hermes"),
    "gateway": (
        "gateway",
        "toolwire gateway --upstream http://127.0.0.1:11434/v1 --format call_text",
    ),
    "chat": ("chat", "toolwire chat --base-url http://127.0.0.1:8000/v1"),
    "capture": ("capture", "toolwire capture ./captured"),
    "replay": ("gateway", "toolwire replay capture.json --format hermes"),
}

#: Of these, what says something without any argument, and then takes all its defaults: it is called as
#: it is. To read arguments, typer loads pydantic, and that takes longer than all the rest.
AT_ONCE = frozenset({"formats"})

#: Whose `--reasoning` may stand alone, and then means the format's own style.
STYLED = frozenset({"parse", "batch"})

#: The shell's code for a command that Ctrl-C ended.
STOPPED = 130

# Releases of Typer use click or a copy of it: this is what the errors of both derive from.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]


def toolwire(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from (a traceback).")
    ] = False,
) -> None:
    if version:
        from .core import COMPILED

        typer.echo(f"toolwire {_version()} (core: {'compiled' if COMPILED else 'Python'})")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        _load_user_formats()


def _load_user_formats() -> None:
    from .formats.user_files import load_user_formats

    load_user_formats()


def _function(command: str) -> Callable[..., int]:
    module = import_module(f".commands.{COMMANDS[command][0]}", __package__)
    found: Callable[..., int] = getattr(module, command.replace("-", "_"))
    return found


def make_app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """`toolwire` with these commands."""
    app = typer.Typer(
        name="toolwire",
        help="Tool calls: chat templates that ask a model for them, parsers that read them.",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    epilog = "Example: toolwire template --list"
    app.callback(invoke_without_command=True, epilog=epilog)(toolwire)
    for name in commands:
        app.command(name, epilog=f"Example: {COMMANDS[name][1]}")(_function(name))
    return app


def _command(arguments: Sequence[str]) -> str:
    """The command that is asked for, or what stands in its place."""
    return next((word for word in arguments if word[:1] != "-"), "")


def _needed(arguments: Sequence[str], asked: str) -> Iterable[str]:
    """The commands that have to be there to answer: all, where they are to be listed."""
    if arguments == ["--version"]:
        return ()
    return [asked] if asked in COMMANDS else COMMANDS


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point: runs a command and gives its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    asked = _command(given)
    if asked in STYLED and "--reasoning" in given:
        from .commands.parse import name_own_style

        given = list(name_own_style(given))
    try:
        if given == [asked] and asked in AT_ONCE:
            _load_user_formats()
            return int(_function(asked)())
        command = typer.main.get_command(make_app(_needed(given, asked)))
        code = command.main(args=given, prog_name="toolwire", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return STOPPED
    except BrokenPipeError:  # whoever read this has left, as in `toolwire formats | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere
        return FINDINGS
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
    from importlib import metadata

    try:
        return metadata.version("toolwire")
    except metadata.PackageNotFoundError:
        return "(a checkout that is not installed)"


if __name__ == "__main__":
    sys.exit(main())
