"""What every command prints with: tables, JSON, colours, and text exactly as it is."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence

import typer

#: Exit codes beside 0: something was found; the command was used wrongly.
FINDINGS, USAGE = 1, 2

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def complain(sentence: str, code: int) -> int:
    """One sentence on stderr; gives the exit code back."""
    typer.echo(f"toolwire: {visible(sentence)}", err=True)
    return code


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns; the first row is the heading, bold in a terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([styled(lines[0], bold=True), *lines[1:]])


def colours() -> bool:
    """Whether stdout is a terminal that wants colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def styled(text: str, *, colour: str | None = None, bold: bool = False) -> str:
    """Text in a colour where there is a terminal, plain everywhere else."""
    return typer.style(text, fg=colour, bold=bold or None) if colours() else text


def faint(text: str) -> str:
    """Text that stands back where there is a terminal, plain everywhere else."""
    return typer.style(text, dim=True) if colours() else text


def visible(text: str) -> str:
    """Text in which control characters are written out: others' text must not command a terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def write(text: str) -> None:
    """Writes text as it is: `typer.echo` would take escape sequences out and add a newline."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()
