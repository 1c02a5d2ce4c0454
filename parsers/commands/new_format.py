"""`toolwire new-format`: from a model's output to a format's TOML file and its tests."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core.format import Format
from ..core.samples import Sample
from ..errors import ToolwireError
from ..formats import get_format, list_formats
from ..formats.registry import BUILT_IN, check_free
from ..formats.toml_specs import load_formats
from ..formats.tools_for import tools_for
from ..models.guess_calls import guess_calls
from ..models.propose import propose, proven
from ..openai import DeltaStream, Message, accumulate
from ..schema.tools import read_tools as tools_by_name
from ..shapes.find_json import same_json
from .new_format_files import SKELETON_SAMPLE, calls_of, skeleton, spec_text, test_text
from .output import FINDINGS, complain, visible
from .reading import is_objects, read_json, read_text, read_tools

#: Longer texts are not split at every character to check a format.
_MOST_SPLITS = 2000


def new_format(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new format's name: my_model.")],
    example: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="What the model wrote, with calls in it; repeat it for more. An out.json beside "
            "out.txt says which calls these are.",
        ),
    ] = None,
    tools: Annotated[
        str | None, typer.Option(metavar="FILE", help="JSON: the request's list of tools.")
    ] = None,
    into: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder to write into.")
    ] = Path(),
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Write one even if another format reads all examples.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files.")] = False,
) -> int:
    """Make a format for a model that no other fits, from examples of what it writes.

    Writes NAME.toml and test_NAME.py; without examples, both are there to be filled in. The exit code
    is 1 where an example is not read as it should be.
    """
    files = into / f"{name}.toml", into / f"test_{name}.py"
    _check_free(name, files, force)
    definitions = read_tools(tools) if tools else None
    samples = {source: _read_sample(source, definitions) for source in example or ()}
    for source, sample in samples.items():
        typer.echo(f"{source}: {_listed(sample.calls)}")
    fitting = [known for known in list_formats() if known != name and _fits(known, samples)]
    if fitting and not anyway:
        typer.echo(_nothing_to_do(fitting))
        return 0
    spec = propose(list(samples.values()), name) if samples else None
    text = spec_text(spec) if spec else skeleton(name)
    (written,) = load_formats(text, files[0].name)
    calls = [call for sample in samples.values() for call in sample.calls]
    used = definitions or tools_for(calls or SKELETON_SAMPLE.calls)
    _write(files, text, test_text(written, samples or {"made up": SKELETON_SAMPLE}, used))
    problems = [
        f"{source}: {problem}"
        for source, sample in samples.items()
        for problem in _problems(written, sample, used)
    ]
    for problem in problems:
        complain(problem, FINDINGS)
    typer.echo(_what_next(written, files, bool(samples), bool(problems)))
    return FINDINGS if problems else 0


def _check_free(name: str, files: Iterable[Path], force: bool) -> None:
    there = [path for path in files if path.exists()]
    if name in BUILT_IN or not there:
        check_free(name)
    elif not force:  # with it, the name may be known, from the very file that is replaced
        raise ToolwireError(f"{there[0]} is there already: --force overwrites it")


# -- examples -------------------------------------------------------------------------------------


def _read_sample(source: str, definitions: list[dict[str, Any]] | None) -> Sample:
    text = read_text(source)
    stated = Path(source).with_suffix(".json")
    if source != "-" and stated.exists():
        return Sample(text, _read_calls(stated))
    calls = guess_calls(text, tools_by_name(definitions))
    if not calls:
        raise ToolwireError(
            f"{source}: there is no call to be seen; say which there are in {stated}: "
            '[{"name": "…", "arguments": {…}}]'
        )
    return Sample(text, calls)


def _read_calls(path: Path) -> tuple[tuple[str, dict[str, Any]], ...]:
    items = read_json(str(path))
    if not is_objects(items) or not all(
        isinstance(item.get("name"), str) and isinstance(item.get("arguments"), dict)
        for item in items
    ):
        raise ToolwireError(
            f'{path} must be a list of calls: [{{"name": "…", "arguments": {{…}}}}]'
        )
    return tuple((item["name"], item["arguments"]) for item in items)


def _listed(calls: Iterable[tuple[str, Any]]) -> str:
    written = [f"{name}({json.dumps(args, ensure_ascii=False)})" for name, args in calls]
    return visible(", ".join(written)) or "no call"


def _fits(name: str, samples: Mapping[str, Sample]) -> bool:
    return any(s.calls for s in samples.values()) and proven(get_format(name), samples.values())


def _nothing_to_do(fitting: list[str]) -> str:
    reads = "reads" if len(fitting) == 1 else "read"
    return (
        f"Nothing needs writing: {', '.join(fitting)} {reads} this already. In vLLM and SGLang: "
        f"--tool-call-parser toolwire_{fitting[0]} (--anyway makes a format all the same)"
    )


# -- files ----------------------------------------------------------------------------------------


def _write(files: tuple[Path, Path], spec: str, tests: str) -> None:
    for path, text in zip(files, (spec, tests), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        typer.echo(f"Written: {path}")


def _problems(spec: Format, sample: Sample, tools: Any) -> Iterable[str]:
    """What is wrong with how the format reads a sample."""
    whole = _read(spec, [sample.text], tools)
    found = [(call.name, call.arguments) for call in whole.tool_calls]
    if not same_json(calls_of(whole), sample.calls):
        said = ", ".join(f"{name}({arguments})" for name, arguments in found)
        yield f"the format reads {visible(said) or 'no call'}, not {_listed(sample.calls)}"
        return
    text = sample.text
    step = max(1, len(text) // _MOST_SPLITS)
    splits = [[text[:i], text[i:]] for i in range(1, len(text), step)]
    for chunks in [list(text), *splits]:
        read = _read(spec, chunks, tools)
        calls = [(call.name, call.arguments) for call in read.tool_calls]
        if (read.content, calls) != (whole.content, found):
            yield f"it is read otherwise when it comes in pieces: {chunks}"
            return


def _read(spec: Format, chunks: Iterable[str], tools: Any) -> Message:
    stream = DeltaStream(spec, tools)
    deltas = [delta for chunk in chunks for delta in stream.feed(chunk)]
    return accumulate(deltas + stream.finish())


def _what_next(spec: Format, files: tuple[Path, Path], checked: bool, wrong: bool) -> str:
    spec_file, test_file = (shlex.quote(str(path)) for path in files)
    if wrong:
        return f"Change {spec_file} until this passes: pytest {test_file}"
    said = "Every example is read as it should be, however it is split."
    if not checked:
        said = "Both work as they are: put in how your model writes calls, and examples of it."
    return "\n".join(
        [
            said,
            f"To test it:  pytest {test_file}",
            f"To use it:   export TOOLWIRE_FORMATS={shlex.quote(str(files[0].resolve()))}",
            f"             toolwire parse {spec.name} output.txt",
            f"             vllm serve MODEL --tool-call-parser toolwire_{spec.name} …",
        ]
    )
