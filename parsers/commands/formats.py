"""`toolwire formats`: the wire formats, and what goes with each."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .. import templates
from ..engines.structural_tags import uses_own_format
from ..formats import get_format, list_formats
from .output import as_json, table


def formats(
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """List the wire formats: what each looks like, who writes it, and what goes with it."""
    entries = [_describe(name) for name in list_formats()]
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
