"""`toolwire batch`: the calls in stored completions, on all cores, or on a Ray cluster."""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated

import typer

from ..batch import ParseCalls
from ..batch.job import Job, targets
from ..batch.outcome import BAD_ROW, KINDS, VIOLATION, Counts
from ..batch.places import is_address
from ..batch.sources import STDIN, find_sources
from ..batch.targets import STDOUT
from ..errors import ToolwireError
from .batch_view import Watcher
from .output import FINDINGS, as_json, table
from .parse import OWN, ReasoningOption
from .reading import complete_format, read_tools

_NAME = Annotated[
    str,
    typer.Argument(
        metavar="FORMAT",
        help="The format; any reads every format with a marker.",
        autocompletion=complete_format,
    ),
]
_PATHS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[INPUT ...] [OUTPUT]",
        help="JSON lines or Parquet, also .gz and .zst: files, folders or patterns, also s3://…; "
        "several are written into a folder. - is stdin, and stdout.",
    ),
]
_TEXT_COLUMN = Annotated[
    str, typer.Option(metavar="NAME", help="The column with what the model wrote.")
]
_TOOLS = Annotated[
    str | None, typer.Option(metavar="FILE", help="JSON: the list of tools of all rows.")
]
_TOOLS_COLUMN = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Rows have their tools here: a list, or its JSON text."),
]
_FORMAT_COLUMN = Annotated[
    str | None, typer.Option(metavar="NAME", help="Rows name their format here.")
]
_IN_REASONING = Annotated[
    bool, typer.Option("--in-reasoning", help="The texts begin inside of thoughts.")
]
_VALIDATE = Annotated[
    bool, typer.Option("--validate", help="Hold arguments against their tools' schemas.")
]
_PREFIX = Annotated[str, typer.Option(metavar="TEXT", help="Before the names of the new columns.")]
_WORKERS = Annotated[int, typer.Option(min=0, help="Processes; 0 is one for each core.")]
_RESUME = Annotated[bool, typer.Option("--resume", help="Go on where an earlier run was stopped.")]
_RAY = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Ray cluster does it; auto finds the one here."),
]
_JSON = Annotated[bool, typer.Option("--json", help="The summary as JSON.")]


def batch(
    name: _NAME,
    paths: _PATHS = None,
    text_column: _TEXT_COLUMN = "text",
    tools: _TOOLS = None,
    tools_column: _TOOLS_COLUMN = None,
    format_column: _FORMAT_COLUMN = None,
    reasoning: ReasoningOption = None,
    in_reasoning: _IN_REASONING = False,
    validate: _VALIDATE = False,
    prefix: _PREFIX = "",
    workers: _WORKERS = 0,
    resume: _RESUME = False,
    ray: _RAY = None,
    json_: _JSON = False,
) -> int:
    """Find the calls in stored completions.

    Every row comes out again, in its order, with the columns content, reasoning, tool_calls, complete
    and problems. Rows that can't be read are reported, and come out too; the exit code is 1 where there
    are any.
    """
    style = True if reasoning == OWN or (in_reasoning and reasoning is None) else reasoning
    parse = ParseCalls(
        name,
        read_tools(tools) if tools else None,
        text_column=text_column,
        tools_column=tools_column,
        format_column=format_column,
        reasoning=style,
        in_reasoning=in_reasoning,
        validate=validate,
        prefix=prefix,
    )
    *inputs, output = [*(paths or [STDIN]), STDOUT][: max(2, len(paths or ()))]
    began = time.monotonic()
    if ray is not None:
        counts = _on_ray(parse, inputs, output, ray, resume)
    else:
        counts = _here(parse, targets(find_sources(inputs), output), workers, resume)
    seconds = time.monotonic() - began
    shown = _as_json(counts, seconds) if json_ else _as_table(counts, seconds, validate)
    typer.echo(shown, err=output == STDOUT)
    return FINDINGS if counts.problems[BAD_ROW] else 0


def _here(parse: ParseCalls, files: list[tuple[str, str]], workers: int, resume: bool) -> Counts:
    if resume and any(STDOUT in pair for pair in files):
        raise ToolwireError("--resume needs files: what went through a pipe can't be gone on with.")
    with Watcher() as watcher:
        job = Job(parse, workers or cores(), resume, watcher.step)
        try:
            for source, target in files:
                job.run(source, target)
        except KeyboardInterrupt:
            kept = f"Stopped after {job.counts.rows:,} rows; --resume goes on there."
            typer.echo(kept, err=True)
            raise
    return job.counts


def _on_ray(
    parse: ParseCalls, inputs: list[str], output: str, address: str, resume: bool
) -> Counts:
    from ..batch.ray_data import run_on_ray

    if resume:
        raise ToolwireError("--resume is not for --ray: Ray goes on by itself where a worker dies.")
    if STDIN in (*inputs, output):
        raise ToolwireError(
            "--ray needs files that all machines can reach, and a folder to write to."
        )
    return run_on_ray(parse, [*map(_whole, find_sources(inputs))], _whole(output), address)


def _whole(name: str) -> str:
    """What means the same on another machine, or in another folder."""
    return name if is_address(name) else os.path.abspath(name)


def cores() -> int:
    """Those that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _as_json(counts: Counts, seconds: float) -> str:
    return as_json({**counts.to_dict(), "seconds": round(seconds, 3)})


def _as_table(counts: Counts, seconds: float, validate: bool) -> str:
    rows = [("", "")]
    rows += [("rows", f"{counts.rows:,}"), ("calls", f"{counts.calls:,}")]
    kinds = {kind: name for kind, name in KINDS.items() if validate or kind != VIOLATION}
    rows += [(name, f"{counts.problems[kind]:,}") for kind, name in kinds.items()]
    rows += [("seconds", f"{seconds:,.1f}"), ("rows a second", f"{counts.rows / seconds:,.0f}")]
    return table(rows).lstrip()
