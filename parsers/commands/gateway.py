"""`toolwire gateway` runs the standalone gateway, `toolwire replay` a captured exchange."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ToolwireError
from ..gateway.options import Setting, settings_of
from ..gateway.settings import DECLARED, SERVER, GatewaySettings
from ..replay.splits import Difference, find_differences
from .output import FINDINGS, as_json, visible
from .reading import complete_format


@contextmanager
def extra(what: str = "The gateway") -> Iterator[None]:
    """The packages of the gateway are an extra: without them, one clear sentence."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        raise ToolwireError(f'{what} needs {package}: pip install "toolwire[gateway]"') from error


def gateway(config: str | None = None, **said: Any) -> int:
    """Stand in front of an OpenAI-compatible server: normalise and check tool calls, count, watch.

    Every setting is a flag, a variable (--keep-alive: TOOLWIRE_KEEP_ALIVE) and a key of a TOML file
    (keep_alive). Flags win over the environment, and that over the file. The debug routes need a key,
    which has no flag: TOOLWIRE_ADMIN_KEY, or admin_key in the file.
    """
    with extra():
        from ..gateway.serve import serve
    serve(GatewaySettings.read(said, config=config))
    return 0


_CONFIG = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A TOML file with settings: keep_alive = 5.",
        rich_help_panel=SERVER,
    ),
]
_METAVARS = {int: "N", float: "NUMBER", str: "TEXT", tuple: "TEXT"}
#: What the shell completes beside choices.
_COMPLETE = {"format": complete_format}


def _parameter(declared: Setting) -> inspect.Parameter:
    """A setting as a parameter, as typer wants them. Its text is read by the setting itself."""
    option, default = declared.option, declared.shown_default
    offered = _COMPLETE.get(declared.name) or _one_of(option.choices)
    told = typer.Option(
        declared.flag,
        metavar="|".join(option.choices) or ("MIB" if option.mib else _METAVARS.get(declared.kind)),
        help=f"{option.help} Default: {default}." if default else option.help,
        show_default=False,
        rich_help_panel=option.group,
        autocompletion=offered,
    )
    kinds: dict[type, Any] = {bool: bool | None, tuple: list[str] | None}
    kind = kinds.get(declared.kind, str | None)
    return inspect.Parameter(
        declared.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind, told],
    )


def _one_of(choices: Sequence[str]) -> Callable[[str], list[str]]:
    def offered(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return offered


def _signature() -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    config = inspect.Parameter("config", keyword, default=None, annotation=_CONFIG)
    every = [one for declared in DECLARED for one in settings_of(declared) if one.flag]
    return inspect.Signature([config, *map(_parameter, every)])


# typer reads a function's signature: this one is made of what the settings say of themselves.
gateway.__signature__ = _signature()  # type: ignore[attr-defined]


def replay(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An exchange, copied from the debug page.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            help="Read calls in the text in this format, not the captured one.",
            autocompletion=complete_format,
        ),
    ] = None,
    mode: Annotated[str, typer.Option(help="verified or live.")] = "verified",
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Run a captured exchange again, print what would be sent now, and check its splits.

    A client must get the same however the answer was cut into pieces. The exchange is cut in many
    other ways; the exit code is 1 where one of them would change what a client gets in the end.
    """
    with extra():
        from ..replay.exchanges import read_exchange, replay_exchange, splittable_parts

    exchange = read_exchange(file)
    sent = replay_exchange(exchange, format, mode)
    if not json_:
        for chunk in sent:
            typer.echo(chunk.rstrip("\n") + "\n")
    parts = splittable_parts(exchange, format, mode)
    count = sum(part.count() for part in parts)
    differences = list(find_differences(parts, Progress()))
    if json_:
        differing = [difference.as_json() for difference in differences]
        typer.echo(as_json({"sent": sent, "splits": count, "differing": differing}))
    else:
        _report(differences, count)
    return FINDINGS if differences else 0


#: How many of the splits that differ are spelled out.
_SPELLED_OUT = 5


def _report(differences: Sequence[Difference], count: int) -> None:
    """The verdict, on stderr: what would be sent is on stdout."""
    for difference in differences[:_SPELLED_OUT]:
        typer.echo(visible(difference.sentence()), err=True)
    if len(differences) > _SPELLED_OUT:
        typer.echo(f"… and {len(differences) - _SPELLED_OUT} more; --json has them all", err=True)
    if not count:
        typer.echo("there is no text that could be split", err=True)
    else:
        typer.echo(f"{len(differences) or 'none'} of {count} splits differ", err=True)


class Progress:
    """Says how far a long check is: first after two seconds, then every two seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said = clock()

    def __call__(self, done: int, total: int) -> None:
        if self._clock() - self._said >= 2 and done < total:
            self._said = self._clock()
            typer.echo(f"{done} of {total} splits checked", err=True)
