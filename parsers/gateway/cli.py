"""`toolwire gateway` runs the standalone gateway, `toolwire replay` a captured exchange."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ToolwireError
from .settings import DEFAULT_MAX_BODY, MIB, Settings


@contextmanager
def _extra() -> Iterator[None]:
    """The packages of the gateway are an extra: without them, one clear sentence."""
    try:
        yield
    except ImportError as error:
        raise ToolwireError(
            f'The gateway needs {error.name}: pip install "toolwire[gateway]"'
        ) from error


def gateway(
    upstream: Annotated[
        str, typer.Option(help="The server behind it, with its /v1: http://127.0.0.1:11434/v1.")
    ],
    format: Annotated[
        str | None,
        typer.Option(help="Read calls from the text in this format, where the server finds none."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8080,
    mode: Annotated[
        str, typer.Option(help="verified: calls go out whole and checked; live: as they come.")
    ] = "verified",
    ids: Annotated[
        str, typer.Option(help="Ids of calls found in the text: random or sequential.")
    ] = "random",
    attempts: Annotated[int, typer.Option(min=1, help="How often a request is tried.")] = 3,
    breaker_failures: Annotated[
        int, typer.Option(min=1, help="Failures in a row until the upstream is left alone.")
    ] = 5,
    breaker_seconds: Annotated[
        float, typer.Option(min=0, help="How long it is left alone.")
    ] = 10.0,
    connect_timeout: Annotated[float, typer.Option(min=0.1, help="Seconds.")] = 5.0,
    read_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds without a byte from the upstream.")
    ] = 300.0,
    max_body_mib: Annotated[
        int, typer.Option(min=1, help="The largest request, in MiB.")
    ] = DEFAULT_MAX_BODY // MIB,
) -> int:
    """Stand in front of an OpenAI-compatible server: normalise and check tool calls, count, watch.

    The debug routes need a key in the environment's APISIX_ADMIN_KEY.
    """
    with _extra():
        import uvicorn

        from .app import create_app
        from .upstream import UpstreamSettings
    environment = dict(os.environ) | {
        "TOOLWIRE_FORMAT": format or os.environ.get("TOOLWIRE_FORMAT", ""),
        "TOOLWIRE_MODE": mode,
        "TOOLWIRE_IDS": ids,
        "TOOLWIRE_MAX_BODY": str(max_body_mib * MIB),
    }
    server = UpstreamSettings(
        upstream,
        attempts=attempts,
        breaker_failures=breaker_failures,
        breaker_seconds=breaker_seconds,
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
    )
    app = create_app(server, Settings.from_environment(environment))
    uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)
    return 0


def replay(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An exchange, copied from the debug page.")
    ],
    format: Annotated[
        str | None,
        typer.Option(help="Read calls in the text in this format, not the captured one."),
    ] = None,
    mode: Annotated[str, typer.Option(help="verified or live.")] = "verified",
) -> int:
    """Run a captured exchange again, and print what would be sent now."""
    with _extra():
        from .replay import read_exchange, replay_exchange

    for chunk in replay_exchange(read_exchange(file), format, mode):
        typer.echo(chunk.rstrip("\n") + "\n")
    return 0
