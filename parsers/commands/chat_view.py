"""What `toolwire chat` shows: rows of a label and a text, and in a terminal the answer as it grows.

Text from a server may hold anything; what would command a terminal is made visible instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .output import colours, visible, write

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

Json = dict[str, Any]

_LABEL = 9  # how wide the column of labels is

#: How rows look in a terminal: the styles of the label and of the text.
_STYLES = {
    "you": ("bold cyan", ""),
    "call": ("bold yellow", ""),
    "result": ("bold green", ""),
    "text": ("bold blue", ""),
    "thought": ("dim", "dim italic"),
    "note": ("magenta", "magenta"),
}
_QUIET = ("dim", "dim")


class PlainView:
    """For pipes, files, and terminals without colours."""

    prompt = f"{'you':>{_LABEL}}  "

    def __init__(self, raw: bool) -> None:
        self.raw = raw

    def row(self, label: str, text: str) -> None:
        indented = visible(text).replace("\n", "\n" + " " * (_LABEL + 2))
        write(f"{label:>{_LABEL}}  {indented}\n")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer comes in."""
        yield

    def event(self, seconds: float, data: str) -> None:
        """An event of a stream, as the server sent it, and when."""
        if self.raw:
            self.row(f"+{seconds:.2f}s", data)

    def grow(self, delta: Json) -> None:
        """The answer has grown by a delta."""


class TerminalView(PlainView):
    """For terminals: under the events that pass by, the answer grows until it is complete."""

    # Readline must know which characters of the prompt take no room.
    prompt = f"\x01\x1b[1;36m\x02{'you':>{_LABEL}}\x01\x1b[0m\x02  "

    def __init__(self, raw: bool) -> None:
        from rich.console import Console

        super().__init__(raw)
        self._console = Console(highlight=False)
        self._label = ""
        self._tail = ""

    def row(self, label: str, text: str) -> None:
        self._console.print(self._grid(label, text))

    @contextmanager
    def answering(self) -> Iterator[None]:
        from rich.live import Live

        self._label = self._tail = ""
        live = Live(
            get_renderable=self._growing,
            console=self._console,
            refresh_per_second=12,
            transient=True,  # the complete answer takes the place of the growing one
        )
        with live:
            yield

    def grow(self, delta: Json) -> None:
        if delta.get("reasoning_content"):
            self._add("thought", delta["reasoning_content"])
        if delta.get("content"):
            self._add("text", delta["content"])
        for call in delta.get("tool_calls") or ():
            function = call.get("function") or {}
            if function.get("name"):
                self._label, self._tail = "call", f"{function['name']} "
            self._add("call", function.get("arguments") or "")

    def _add(self, label: str, text: str) -> None:
        """Only what fits under the events is kept: a long answer must not cost more and more."""
        if label != self._label:
            self._label, self._tail = label, ""
        width, height = self._room()
        lines = (self._tail + text)[-width * height :].split("\n")
        self._tail = "\n".join(lines[-height:])

    def _room(self) -> tuple[int, int]:
        width, height = self._console.size
        return max(10, width - _LABEL - 2), max(1, height // 3)

    def _growing(self) -> RenderableType:
        from rich.spinner import Spinner

        if self._label:
            return self._grid(self._label, self._tail)
        return self._grid("", Spinner("dots", style="dim"))

    def _grid(self, label: str, content: str | RenderableType) -> Table:
        from rich.table import Table

        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=_LABEL, justify="right", no_wrap=True)
        grid.add_column(overflow="fold")
        style = _STYLES.get(label, _QUIET)[0]
        shown = self._styled(label, content) if isinstance(content, str) else content
        grid.add_row(f"[{style}]{label}[/]", shown)
        return grid

    def _styled(self, label: str, text: str) -> Text:
        from rich.highlighter import JSONHighlighter
        from rich.text import Text

        made = Text(visible(text), style=_STYLES.get(label, _QUIET)[1])
        if label == "call":
            JSONHighlighter().highlight(made)
        return made


def make_view(raw: bool) -> PlainView:
    """The view for where the output goes."""
    return TerminalView(raw) if colours() and os.environ.get("TERM") != "dumb" else PlainView(raw)
