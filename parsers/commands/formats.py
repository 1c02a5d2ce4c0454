"""`toolwire formats`: the wire formats, what goes with each, and each as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import templates
from ..errors import ToolwireError
from ..formats import ANY, get_format, list_formats
from ..formats.toml_schema import toml_schema
from ..formats.toml_specs import dump_format
from ..openai.constrain import uses_own_format
from .output import as_json, table


def formats(
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each format as a TOML file into a folder."),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of these files, for editors.")
    ] = False,
) -> int:
    """List the wire formats: what each looks like, who writes it, and what goes with it."""
    if schema:
        typer.echo(as_json(toml_schema()))
        return 0
    if export is not None:
        return _export(export)
    entries = [_describe(name) for name in (*list_formats(), ANY)]
    if json_:
        typer.echo(as_json(entries))
        return 0
    rows = [("FORMAT", "SHAPE", "REQUIRED, STRICT", "TEMPLATE", "MODELS")]
    rows += [
        (e["name"], e["shape"], e["constrained"], e["template"] or "the model's own", e["models"])
        for e in entries
    ]
    typer.echo(table(rows))
    return 0


def _export(folder: Path) -> int:
    """Files that are there already are kept: they may be somebody's own."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in list_formats():
            path = folder / f"{name}.toml"
            if path.exists():
                raise ToolwireError(f"{path} is there already: choose another folder.")
            path.write_text(dump_format(get_format(name)), encoding="utf-8")
    except OSError as error:
        raise ToolwireError(f"{folder} can't be written to: {error.strerror}") from error
    typer.echo(f"{len(list_formats())} formats are in {folder}.")
    return 0


def _describe(name: str) -> dict[str, Any]:
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
