"""What `toolwire batch` shows while it works: a bar in a terminal, and the first bad rows anywhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..batch.job import Step
from ..batch.outcome import BAD_ROW
from .output import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: So many bad rows are told one by one.
_TOLD = 10


class Watcher:
    """Hears of every step of a job."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._file_rows = 0
        self._problems = 0
        self._bad = 0

    def __enter__(self) -> Watcher:
        if sys.stderr.isatty():
            self._progress = _progress()
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
        if self._bad > _TOLD:
            typer.echo(f"toolwire: … and {self._bad - _TOLD:,} more rows.", err=True)

    def step(self, step: Step) -> None:
        if step.result is None:
            self._begin(step)
            return
        counts = step.result.counts
        for bad in step.result.bad[: max(0, _TOLD - self._bad)]:
            place = f"{step.name}, row {self._file_rows + bad.place + 1:,}"
            typer.echo(f"toolwire: {visible(f'{place}: {bad.sentence}')}", err=True)
        self._bad += counts.problems[BAD_ROW]
        self._file_rows += counts.rows
        self._problems += sum(counts.problems.values())
        if self._progress is not None and self._task is not None:
            self._progress.update(
                self._task, completed=step.place, rows=self._file_rows, problems=self._problems
            )

    def _begin(self, step: Step) -> None:
        self._file_rows = step.earlier
        if self._progress is None:
            return
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(
            Path(step.name).name,
            total=step.size,
            completed=step.place,
            rows=step.earlier,
            earlier=step.earlier,
            problems=self._problems,
        )


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        """Rows a second, since the file was begun."""

        def render(self, task: Task) -> Text:
            new = task.fields["rows"] - task.fields["earlier"]
            return Text(f"{new / task.elapsed:,.0f} rows/s" if task.elapsed else "")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rows]:,} rows"),
        Speed(),
        TextColumn("{task.fields[problems]:,} problems"),
        console=Console(stderr=True),
        transient=True,
    )
