"""`toolwire gateway` runs the standalone gateway, `toolwire replay` a captured exchange."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ToolwireError
from ..gateway.budget import MIB
from ..gateway.settings import (
    DEFAULT_KEEP_ALIVE,
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_EXCHANGE,
    DEFAULT_MAX_HELD,
    Limits,
    Settings,
)
from ..replay.splits import Difference, find_differences
from .output import FINDINGS, as_json, visible
from .reading import complete_format

_LIMITS = Limits()

# -- the options of `toolwire gateway`, as its help has them ---------------------------------------

_Upstream = Annotated[
    str, typer.Option(help="The server behind it, with its /v1: http://127.0.0.1:11434/v1.")
]
_Format = Annotated[
    str | None,
    typer.Option(
        help="Read calls from the text in this format, where the server finds none: a format, any, auto "
        "(by the model's name), or by model: 'qwen3*=hermes,*=any'.",
        autocompletion=complete_format,
    ),
]
_Tools = Annotated[
    str,
    typer.Option(
        help="auto: as they are, and in the prompt where the server refuses them; prompt; native; "
        "none: with tool_choice none."
    ),
]
_RetryRequired = Annotated[
    int,
    typer.Option(min=0, help="How often is asked again where a call is required, and none came."),
]
_Reasoning = Annotated[
    str,
    typer.Option(
        help="Thoughts in the text go to reasoning_content (split), or stay (keep); or off."
    ),
]
_Host = Annotated[str, typer.Option(help="The address to listen on.")]
_Port = Annotated[int, typer.Option(help="The port to listen on.")]
_Mode = Annotated[
    str, typer.Option(help="verified: calls go out whole and checked; live: as they come.")
]
_Emit = Annotated[
    str,
    typer.Option(help="verified calls go out with the finish reason (finish), or once complete."),
]
_Requests = Annotated[
    str,
    typer.Option(
        help="What the specification forbids is refused (strict), put right (repair), or passed on."
    ),
]
_Names = Annotated[
    str,
    typer.Option(
        help="mangle: names of tools that some servers refuse are written otherwise for them."
    ),
]
_KeepAlive = Annotated[
    float,
    typer.Option(min=0, help="Seconds after which a silent stream gets a comment; 0: never."),
]
_Ids = Annotated[str, typer.Option(help="Ids of calls found in the text: random or sequential.")]
_Messages = Annotated[
    str,
    typer.Option(help="/v1/messages: translate it to Chat Completions, native (never), or auto."),
]
_Repair = Annotated[
    str,
    typer.Option(
        metavar="KINDS",
        help="coerce: strings become the numbers, lists … that tools declare; names: a tool's name is "
        "found but for case, - and _, and prefixes; or coerce,names.",
    ),
]
_Attempts = Annotated[int, typer.Option(min=1, help="How often a request is tried.")]
_BreakerFailures = Annotated[
    int, typer.Option(min=1, help="Failures in a row until the upstream is left alone.")
]
_BreakerSeconds = Annotated[float, typer.Option(min=0, help="How long it is left alone.")]
_ConnectTimeout = Annotated[float, typer.Option(min=0.1, help="Seconds.")]
_ReadTimeout = Annotated[
    float, typer.Option(min=0.1, help="Seconds without a byte from the upstream.")
]
_HeaderTimeout = Annotated[
    float, typer.Option(min=0.1, help="Seconds for the head of a client's request to come.")
]
_BodyTimeout = Annotated[
    float, typer.Option(min=0.1, help="Seconds for the body of a client's request to come.")
]
_MaxConnections = Annotated[
    int, typer.Option(min=1, help="Connections of clients; one more is answered 503.")
]
_MaxBody = Annotated[int, typer.Option(min=1, help="The largest request, in MiB.")]
_MaxExchange = Annotated[
    int, typer.Option(min=1, help="The most that is held of one answer, in MiB.")
]
_MaxHeld = Annotated[
    int, typer.Option(min=1, help="… and of all requests and answers together, in MiB.")
]


@contextmanager
def extra(what: str = "The gateway") -> Iterator[None]:
    """The packages of the gateway are an extra: without them, one clear sentence."""
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        raise ToolwireError(f'{what} needs {package}: pip install "toolwire[gateway]"') from error


def gateway(
    upstream: _Upstream,
    format: _Format = None,
    host: _Host = "127.0.0.1",
    port: _Port = 8080,
    mode: _Mode = "verified",
    emit: _Emit = "finish",
    ids: _Ids = "random",
    tools: _Tools = "auto",
    retry_required: _RetryRequired = 0,
    reasoning: _Reasoning = "split",
    messages: _Messages = "auto",
    requests: _Requests = "strict",
    names: _Names = "keep",
    keep_alive: _KeepAlive = DEFAULT_KEEP_ALIVE,
    repair: _Repair = "",
    attempts: _Attempts = 3,
    breaker_failures: _BreakerFailures = 5,
    breaker_seconds: _BreakerSeconds = 10.0,
    connect_timeout: _ConnectTimeout = 5.0,
    read_timeout: _ReadTimeout = 300.0,
    header_timeout: _HeaderTimeout = _LIMITS.header_timeout,
    body_timeout: _BodyTimeout = _LIMITS.body_timeout,
    max_connections: _MaxConnections = _LIMITS.connections,
    max_body_mib: _MaxBody = DEFAULT_MAX_BODY // MIB,
    max_exchange_mib: _MaxExchange = DEFAULT_MAX_EXCHANGE // MIB,
    max_held_mib: _MaxHeld = DEFAULT_MAX_HELD // MIB,
) -> int:
    """Stand in front of an OpenAI-compatible server: normalise and check tool calls, count, watch.

    The debug routes need a key in the environment's APISIX_ADMIN_KEY.
    """
    with extra():
        import uvicorn

        from ..gateway.app import create_app
        from ..gateway.guard import guarded
        from ..gateway.upstream import UpstreamSettings
    server = UpstreamSettings(
        upstream,
        attempts=attempts,
        breaker_failures=breaker_failures,
        breaker_seconds=breaker_seconds,
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
    )
    said: dict[str, str | float | None] = {"FORMAT": format, "MODE": mode, "EMIT": emit, "IDS": ids}
    said |= {"MESSAGES": messages, "REQUESTS": requests, "NAMES": names, "KEEP_ALIVE": keep_alive}
    said |= {"REPAIR": repair or None, "TOOLS": tools, "RETRY_REQUIRED": retry_required}
    said |= {"REASONING": reasoning}
    sizes = {"BODY": max_body_mib, "EXCHANGE": max_exchange_mib, "HELD": max_held_mib}
    said |= {f"MAX_{name}": size * MIB for name, size in sizes.items()}
    app = create_app(server, _settings(said))
    http = guarded(Limits(header_timeout, body_timeout, max_connections))
    uvicorn.run(
        app, host=host, port=port, log_level="warning", server_header=False, http=http, ws="none"
    )
    return 0


def _settings(said: Mapping[str, str | float | None]) -> Settings:
    """The environment's settings, with what the command line says in their place."""
    own = {f"TOOLWIRE_{name}": str(value) for name, value in said.items() if value is not None}
    return Settings.from_environment({**os.environ, **own})


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
