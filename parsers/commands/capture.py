"""`toolwire capture`: what an engine has kept of messages in which something was off."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ..engines.capture import open_ring
from ..errors import ToolwireError
from .output import as_json, table, visible

_SHOWN = 60  # characters of a message


def capture(
    place: Annotated[
        str,
        typer.Argument(metavar="FOLDER", help="What TOOLWIRE_CAPTURE names; redis://HOST/0, too."),
    ],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """List the messages that an engine has kept, the newest first, and count what was off.

    A server that is started with TOOLWIRE_CAPTURE=FOLDER keeps messages whose calls were not finished,
    of unknown tools, or repaired, and those with a call's marker and no call. `toolwire replay` runs one
    again.
    """
    kept = _in_redis(place) if "://" in place else _in_folder(Path(place))
    found = [_told(name, exchange) for name, exchange in kept]
    counts = Counter((one["format"], one["reason"]) for one in found)
    if json_:
        sums = [{"format": f, "reason": r, "messages": n} for (f, r), n in counts.most_common()]
        typer.echo(as_json({"messages": found, "counts": sums}))
        return 0
    if not found:
        typer.echo("Nothing was kept.")
        return 0
    rows = [("FILE", "TIME", "FORMAT", "WHAT WAS OFF", "MESSAGE")]
    rows += [(one["file"], _clock(one["time"]), one["format"], ", ".join(one["off"]),
              visible(_short(one["text"]))) for one in found]  # fmt: skip
    typer.echo(table(rows))
    sums_rows = [("MESSAGES", "FORMAT", "FIRST THING OFF")]
    sums_rows += [(str(n), format, reason) for (format, reason), n in counts.most_common()]
    typer.echo("\n" + table(sums_rows))
    return 0


def _in_folder(folder: Path) -> Iterator[tuple[str, Any]]:
    """The names and contents of what is kept, the newest first."""
    if not folder.is_dir():
        raise ToolwireError(f"{folder} is no folder.")
    for path in sorted(folder.glob("*.json"), reverse=True):
        try:
            yield path.name, json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:  # it has just made room for a newer one
            continue
        except (ValueError, OSError) as error:
            raise ToolwireError(f"{path} is not a captured message: {error}") from error


def _in_redis(url: str) -> Iterator[tuple[str, Any]]:
    """The same, of all engines that keep theirs there."""
    try:
        kept = open_ring(url).newest()
    except OSError as error:
        raise ToolwireError(f"{url} does not answer: {error}") from error
    return ((exchange["id"], exchange) for exchange in kept)


def _told(name: str, exchange: Any) -> dict[str, Any]:
    try:
        return {
            "file": name,
            "time": float(exchange["time"]),
            "format": str(exchange["format"]),
            "reason": str(exchange["reason"]),
            "off": [str(finding["reason"]) for finding in exchange["findings"]],
            "text": "".join(_texts(exchange["raw"])),
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ToolwireError(f"{name} is not a captured message: {error}") from error


def _texts(raw: list[str]) -> Iterator[str]:
    for event in raw:
        data = event.removeprefix("data: ").strip()
        if data != "[DONE]":
            yield json.loads(data)["choices"][0]["delta"].get("content") or ""


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN else f"{one_line[:_SHOWN]}…"
