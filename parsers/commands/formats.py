"""`toolwire formats`: the wire formats, what goes with each, one in detail, and each as a file."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import templates
from ..core.format import Format
from ..core.layout import TEXTS, IdStyle, Layout
from ..engines.names import names_of
from ..errors import ToolwireError
from ..formats import ANY, get_format, list_formats
from ..formats.reasoning import style_of
from ..openai.answers import make_id
from ..openai.constrain import uses_own_format
from .output import as_json, styled, table
from .reading import complete_format

#: What formats are listed under that any model can be told to write.
_ANY = "any model"
#: The calls of the examples.
_CALLS: list[dict[str, Any]] = [
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}},
    {"name": "get_time", "arguments": {"zone": "Europe/Paris"}},
]


def formats(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Show one format: layout, examples, thoughts, ids, and what engines call it.",
            autocompletion=complete_format,
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each format as a TOML file into a folder."),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of these files, for editors.")
    ] = False,
) -> int:
    """List the wire formats by family and year: what each looks like, who writes it, and what goes with
    it."""
    if schema:
        from ..formats.toml_schema import toml_schema

        typer.echo(as_json(toml_schema()))
        return 0
    if export is not None:
        return _export(export)
    if name is not None:
        return _show(get_format(name), json_)
    entries = [_describe(name) for name in (*list_formats(), ANY)]
    typer.echo(as_json(entries) if json_ else _families(entries))
    return 0


def _families(entries: list[dict[str, Any]]) -> str:
    """All formats as a table: the newest of a family first, those of any model last."""
    entries = sorted(entries, key=lambda e: (not e["family"], e["family"].casefold(), -e["year"]))
    rows = [("FAMILY", "YEAR", "FORMAT", "SHAPE", "REQUIRED, STRICT", "TEMPLATE", "MODELS")]
    for family, group in groupby(entries, key=lambda e: e["family"] or _ANY):
        for place, e in enumerate(group):
            year, template = str(e["year"] or ""), e["template"] or "the model's own"
            first = family if not place else ""
            rows.append(
                (first, year, e["name"], e["shape"], e["constrained"], template, e["models"])
            )
    return table(rows)


def _show(spec: Format, json_: bool) -> int:
    entry = all_of(spec)
    if json_:
        typer.echo(as_json(entry))
        return 0
    since = f", since {entry['year']}" if entry["year"] else ""
    typer.echo(f"{styled(spec.name, bold=True)}: {entry['family'] or _ANY}{since}")
    for label, value in (
        ("models", spec.models),
        ("other names", ", ".join(spec.aliases)),
        ("vLLM", ", ".join([entry["parser"], *entry["engines"]["vllm"]])),
        ("SGLang", ", ".join([entry["parser"], *entry["engines"]["sglang"]])),
        ("template", entry["template"] or "the model's own"),
        ("shape", f"{entry['shape']}, {spec.shape.looks}"),
        ("required, strict", entry["constrained"]),
        ("thoughts", _thoughts(entry["reasoning"])),
        ("ids", f"{entry['ids']['template']}, as in {entry['ids']['example']}"),
    ):
        if value:
            typer.echo(f"  {label + ':':<18}{value}")
    for title, text in (
        ("layout", "\n".join(f"{key} = {value!r}" for key, value in entry["layout"].items())),
        ("one call", entry["examples"]["one"]),
        ("two calls", entry["examples"]["two"]),
    ):
        if text:
            typer.echo(f"\n{styled(title, bold=True)}\n{text}")
    return 0


def all_of(spec: Format) -> dict[str, Any]:
    """All that there is to say of a format: `toolwire formats NAME --json`, and the docs' pages."""
    return _describe(spec.name) | _details(spec)


def _thoughts(reasoning: dict[str, Any]) -> str:
    where = reasoning["style"] or "a part of their own"
    if not reasoning["open"] and not reasoning["close"]:
        return str(where)
    return f"{where}, {reasoning['open']!r} to {reasoning['close']!r}"


def _details(spec: Format) -> dict[str, Any]:
    """What only one format's own page has."""
    from ..formats.tools_for import tools_for
    from ..formats.write import write

    layout = spec.layout
    return {
        "layout": _layout(layout) if layout else {},
        "examples": {
            "one": write(spec, _CALLS[:1]) if layout else "",
            "two": write(spec, _CALLS) if layout else "",
        },
        "tools": tools_for((call["name"], call["arguments"]) for call in _CALLS),
        "reasoning": _reasoning(spec),
        "ids": _ids(spec.ids),
    }


def _layout(layout: Layout) -> dict[str, Any]:
    """What stands around calls and their parts, under the names of a TOML file's keys."""
    found: dict[str, Any] = {text: getattr(layout, text) for text in TEXTS if getattr(layout, text)}
    return found | ({"id": asdict(layout.id)} if layout.id else {})


def _reasoning(spec: Format) -> dict[str, Any]:
    style = style_of(spec, True)
    if style is not None:
        first = [texts[0] if texts else "" for texts in (style.open, style.close)]
        return {"style": style.name, "open": first[0], "close": first[1]}
    assert spec.channels is not None
    return {
        "style": None,
        "open": spec.channels.thought_begin,
        "close": spec.channels.thought_end,
    }


def _ids(style: IdStyle) -> dict[str, Any]:
    """What made ids look like; a model's own is kept."""
    return {
        "template": style.template,
        "alphabet": style.alphabet,
        "length": style.length,
        "example": make_id(style, "get_weather", 0),
    }


def _export(folder: Path) -> int:
    """Files that are there already are kept: they may be somebody's own."""
    from ..formats.toml_specs import dump_format

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
        "family": spec.family,
        "year": spec.year,
        "engines": names_of(name),
    }
