"""`toolwire detect`: which parser and which chat template suit a model."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import list_formats
from ..formats.toml_specs import dump_format
from ..formats.user_files import VARIABLE
from ..models.detect import Detection, detect_model
from ..models.files import ModelFiles, read_model
from ..templates import OURS, get_template
from .output import FINDINGS, as_json, styled, visible


@dataclass(frozen=True, slots=True)
class _Advice:
    """What to start an engine with."""

    parser: str
    template: str  # what to put behind --chat-template, ready for a shell; "" for the model's own
    reasoning_parser: str = ""
    spec_file: str = ""


def detect(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model's folder, its tokenizer_config.json, a GGUF file, or a chat template.",
        ),
    ],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    write_spec: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where no format fits and a new one can be made: write it to this TOML file.",
        ),
    ] = None,
) -> int:
    """Say which parser and which chat template suit a model, and why.

    Nothing is loaded or run: the model's chat template is rendered and what it writes is read back.
    The exit code is 1 where no parser fits.
    """
    files = read_model(model)
    found = detect_model(files, _free_name(Path(write_spec or model)))
    spec_file = write_spec or (f"{found.proposal.name}.toml" if found.proposal else "")
    if write_spec and found.proposal:
        _write(found.proposal, Path(write_spec))
    advice = _advice(files, found, spec_file)
    typer.echo(_as_json(files, found, advice) if json_ else _as_text(files, found, advice))
    if write_spec and not found.proposal:
        typer.echo(f"toolwire: {_nothing_written(found)}", err=True)
    return 0 if found.format else FINDINGS


def _free_name(path: Path) -> str:
    """A name for a new format, after a file or folder."""
    words = re.sub(r"[^a-z0-9]+", "_", path.resolve().stem.lower()).strip("_")
    name = words if words[:1].isalpha() else f"model_{words}".strip("_")
    return f"{name}_calls" if name in list_formats(aliases=True) else name


def _write(spec: Format, path: Path) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(dump_format(spec))
    except FileExistsError:
        raise ToolwireError(f"{path} exists already: give another name, or remove it") from None
    except OSError as error:
        raise ToolwireError(f"{path} can't be written: {error.strerror}") from error


def _nothing_written(found: Detection) -> str:
    if found.formats:
        return f"nothing was written: toolwire has the format already, it is {found.formats[0]}"
    return "nothing was written: no format could be made"


# -- what to start an engine with -----------------------------------------------------------------


def _advice(files: ModelFiles, found: Detection, spec_file: str) -> _Advice | None:
    """The parser that was found, or else a template of ours and its parser."""
    if found.format:
        template = shlex.quote(str(files.path)) if _by_itself(files) else ""
        file = spec_file if found.proposal else ""
        reasoning = _reasoning_parser(files, found) or ""
        return _Advice(f"toolwire_{found.format}", template, reasoning, file)
    return _ours(found)


def _by_itself(files: ModelFiles) -> bool:
    """Whether a template was given, and no model."""
    return files.path.is_file() and files.path.suffix not in (".json", ".gguf")


def _ours(found: Detection) -> _Advice | None:
    if found.template is None:
        return None
    ours = get_template(found.template)
    # Another template does not change how a model marks its thoughts.
    reasoning = f"toolwire_{ours.reasoning}" if found.reasoning_style == ours.reasoning else ""
    return _Advice(ours.parser, f'"$(toolwire template {ours.name})"', reasoning)


def _reasoning_parser(files: ModelFiles, found: Detection) -> str | None:
    """Where the template tells that the model thinks. One of ours shows thoughts of any model: there a
    reasoning parser would wait for thoughts that may never come."""
    if found.reasoning_style is None or (files.template or "").startswith(OURS):
        return None
    return f"toolwire_{found.reasoning_style}"


def _commands(files: ModelFiles, advice: _Advice) -> dict[str, str]:
    setting = f"{VARIABLE}={shlex.quote(advice.spec_file)} " if advice.spec_file else ""
    commands = start_commands(
        _model(files), advice.parser, advice.reasoning_parser, advice.template
    )
    return {engine: f"{setting}{command}" for engine, command in commands.items()}


def start_commands(
    model: str, parser: str, reasoning_parser: str = "", template: str = ""
) -> dict[str, str]:
    """How each engine is started; `model` and `template` are ready for a shell."""
    flags = f"--tool-call-parser {parser}"
    flags += f" --reasoning-parser {reasoning_parser}" if reasoning_parser else ""
    flags += f" --chat-template {template}" if template else ""
    return {
        "vllm": f"vllm serve {model} --enable-auto-tool-choice {flags}",
        "sglang": f"sglang serve --model-path {model} {flags}",
    }


def _model(files: ModelFiles) -> str:
    """The model on a command line; a template by itself does not say which one it is for."""
    if files.path.is_dir() or files.path.suffix == ".gguf":
        return shlex.quote(str(files.path))
    return shlex.quote(str(files.path.parent)) if files.path.suffix == ".json" else "MODEL"


# -- printing -------------------------------------------------------------------------------------


def _as_text(files: ModelFiles, found: Detection, advice: _Advice | None) -> str:
    parser = f"toolwire_{found.format}" if found.format else "none"
    own = "the model's own, in " if not _by_itself(files) else ""
    source = f"{own}{files.template_source}" if files.templates else "none"
    lines = [f"parser    {styled(parser, bold=True)}", f"template  {source}"]
    lines += [f"reasoning {_reasoning(found)}"] if found.reasoning.markers else []
    lines += ["", *found.why]
    if found.proposal and advice:
        lines += ["", dump_format(found.proposal).rstrip(), ""]
        lines += [f"This is the new format; the commands expect it in {advice.spec_file}."]
    if advice:
        if not found.format:
            lines += ["", f"toolwire's template {found.template} suits how the model marks turns:"]
        lines += ["", *_commands(files, advice).values()]
    other = _ours(found) if found.format else None
    if other:
        lines += ["", "Or with a template of toolwire's, which does show tools:"]
        lines += ["", *_commands(files, other).values()]
    return "\n".join(line if line.startswith("parser ") else visible(line) for line in lines)


def _reasoning(found: Detection) -> str:
    reasoning = found.reasoning
    style = found.reasoning_style
    text = f"{style}: " if style else ""
    text += " … ".join(map(repr, reasoning.markers or ()))
    if reasoning.opened:
        text += ", opened by the prompt"
    if reasoning.switch:
        default = " (as it is if nothing is said)" if reasoning.off_by_default else ""
        text += f", off with {reasoning.switch}={json.dumps(reasoning.off)}{default}"
    return text


def _as_json(files: ModelFiles, found: Detection, advice: _Advice | None) -> str:
    commands = _commands(files, advice) if advice else {"vllm": None, "sglang": None}
    return as_json(
        {
            "model": str(files.path),
            "parser": f"toolwire_{found.format}" if found.format else None,
            "formats": list(found.formats),
            "proposal": dump_format(found.proposal) if found.proposal else None,
            "hinted": found.hinted,
            "shows_tools": found.shows_tools,
            "reasoning": asdict(found.reasoning) | {"style": found.reasoning_style},
            "reasoning_parser": _reasoning_parser(files, found),
            "template_source": files.template_source or None,
            "frame": found.frame,
            "template": found.template,
            "why": list(found.why),
            **commands,
        }
    )
