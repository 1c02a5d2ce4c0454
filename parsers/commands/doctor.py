"""`toolwire doctor`: do a model, a format and this installation fit together?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import get_format
from ..models.detect import detect_model
from ..models.doctor import Check, check_installation, check_model
from ..models.files import DEFAULT, ModelFiles, read_model
from .output import FINDINGS, as_json, styled, visible
from .reading import complete_format, complete_reasoning_parser, read_text


def doctor(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL", help="A model's folder, or a GGUF file; without it, only the rest."
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="The format; else the one found.", autocompletion=complete_format
        ),
    ] = None,
    reasoning_parser: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The engine's --reasoning-parser; else the one found.",
            autocompletion=complete_reasoning_parser,
        ),
    ] = None,
    chat_template: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Check with this chat template, not the model's own."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Check that a model, a format and this installation fit together, one line for each check.

    Nothing is loaded or run. The exit code is 1 where something is to be done.
    """
    if model is None:
        if format_ or chat_template:
            raise ToolwireError("Say which model to check: toolwire doctor MODEL")
        return _tell(None, list(check_installation()), json_)
    files = read_model(model)
    if chat_template:
        text = read_text(chat_template)
        files = replace(files, templates={DEFAULT: text}, template_source=Path(chat_template).name)
    spec = get_format(format_) if format_ else _found_format(files)
    return _tell(spec, [*check_model(files, spec, reasoning_parser), *check_installation()], json_)


def _tell(spec: Format | None, checks: list[Check], json_: bool) -> int:
    typer.echo(_as_json(spec, checks) if json_ else _as_text(checks))
    return FINDINGS if any(not check.ok for check in checks) else 0


def _found_format(files: ModelFiles) -> Format:
    found = detect_model(files)
    if found.proposal:
        return found.proposal
    if not found.formats:
        raise ToolwireError(f"{' '.join(found.why)} Say which one to check: --format NAME")
    return get_format(found.formats[0])


def _as_text(checks: list[Check]) -> str:
    width = max(len(check.name) for check in checks)
    return "\n".join(
        f"{_mark(check.ok)} {check.name.ljust(width)}  {visible(check.says)}" for check in checks
    )


def _mark(ok: bool) -> str:
    return styled("ok ", colour="green") if ok else styled("fix", colour="red", bold=True)


def _as_json(spec: Format | None, checks: list[Check]) -> str:
    return as_json(
        {
            "format": spec and spec.name,
            "ok": all(check.ok for check in checks),
            "checks": [{"name": c.name, "ok": c.ok, "says": c.says} for c in checks],
        }
    )
