"""What real servers are asked, and what a client must have in the end: one table for both engines.

A row is a text that a model writes, and how it was asked. What must come out is what `toolwire.parse`
makes of that text: each row goes through the real server, in three APIs, whole and streamed, to the
official clients (`shared_served`). Where an engine can't give that, `EXCEPT` says so, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import toolwire
from engine_cases import ADD, GET_WEATHER, NOARGS, TOOLS, WRITE_FILE
from shared_reasoning import CHANNELS, STYLES, texts
from toolwire.engines.thinking import find_style, text_format

EVERY_WAY = (
    *("chat", "chat-stream", "responses", "responses-stream", "messages", "messages-stream"),
)
CHAT = ("chat", "chat-stream")
OSLO = {"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}}
SUM = {"name": "add", "arguments": {"a": 1, "b": 2}}
#: Two strings for one tool, numbers for the other.
CALLS = [OSLO, SUM]
STRICT = [
    {"type": "function", "function": {**tool["function"], "strict": True}}
    for tool in (ADD, NOARGS, WRITE_FILE, GET_WEATHER)
]


@dataclass(frozen=True)
class Row:
    """`inside`: the prompt has opened the thoughts. `off`: thinking is switched off, and the prompt has
    closed them. `choice`: what the request says about calls. `ways`: in which ways it is asked for.
    `behind`: what the model writes behind `before`, from a new token on."""

    name: str
    format: str
    before: str
    style: str | None = None
    inside: bool = False
    off: bool = False
    choice: str = "auto"
    strict: bool = False
    ways: tuple[str, ...] = EVERY_WAY
    behind: str = ""

    @property
    def text(self) -> str:
        return self.before + self.behind

    def __str__(self) -> str:
        style = f"{self.style}-" if self.style else ""
        return f"{style}{self.format}: {self.name}"

    @property
    def tools(self) -> list[dict[str, Any]]:
        if self.choice == "none":
            return []
        return STRICT if self.strict else TOOLS

    @cached_property
    def expected(self) -> toolwire.Message:
        format = written_in(self.format, self.choice)
        if self.choice == "none":
            format = text_format(self.style or "think")
        return toolwire.parse(
            format, self.text, self.tools, reasoning=self.style, in_reasoning=self.inside
        )

    @property
    def prefill(self) -> str:
        """What the prompt has written of the answer."""
        if self.style is None or self.style in CHANNELS or not (self.inside or self.off):
            return ""
        style = find_style(self.style)
        return f"{style.open[0]}\n\n{style.close[0]}\n\n" if self.off else f"{style.open[0]}\n"


def written_in(format: str, choice: str) -> Any:
    """The format that calls are asked for in: forced ones may be in JSON."""
    return toolwire.constrain(format, TOOLS, choice).format if choice == "required" else format


def written(format: str, *calls: dict[str, Any], choice: str = "auto") -> str:
    return toolwire.write(written_in(format, choice), list(calls), TOOLS)


# -- thoughts -------------------------------------------------------------------------------------

#: Every way of calling, for one pair; for the others, those in which styles and formats differ.
FULL = ("think", "hermes")
KEY = (
    "right behind, by the prompt",
    "in closed thoughts, and right behind",
    "unclosed, by the prompt",
    "unclosed",
    "between, by the prompt",
)
#: … where no prompt opens them.
KEY_OF_CHANNELS = {name.removesuffix(", by the prompt") for name in KEY}


def thoughts(style: str, format: str) -> list[Row]:
    every = texts(style, format)
    names = every if (style, format) == FULL else KEY_OF_CHANNELS if style in CHANNELS else KEY
    rows = [
        Row(name, format, text, style, inside)
        for name, (text, inside) in every.items()
        if name in names
    ]
    off = f"Well. {written(format, OSLO)}"
    return [*rows, Row("thinking off", format, off, style, off=True)]


def required(style: str, format: str) -> Row:
    """The grammar begins where the thoughts end: it would not allow them."""
    markers, inside = find_style(style), style not in CHANNELS
    thought = f"{'' if inside else markers.open[0]}Let me see.{markers.close[0]}"
    call = written(format, OSLO, choice="required")
    return Row("required", format, thought, style, inside, choice="required", behind=call)


THOUGHTS = {f"{style}-{format}": thoughts(style, format) for style, format in STYLES}
REQUIRED = {f"{style}-{format}": required(style, format) for style, format in STYLES}
#: Requests without tools: markers that are special tokens are there all the same.
TOOLLESS = [
    Row(name, "hermes", text, "think", inside, choice="none")
    for name, (text, inside) in texts(*FULL).items()
    if name in ("closed", "closed, by the prompt", "again", "in closed thoughts", "no call either")
]


# -- formats --------------------------------------------------------------------------------------


def formats(format: str) -> list[Row]:
    """One format, without thoughts: free, cut off, held to the tools, and to the schemas of strict
    ones."""
    both = written(format, *CALLS)
    forced = written(format, *CALLS, choice="required")
    return [
        Row("two", format, f"Let me see.\n{both}", ways=CHAT),
        Row("cut", format, both[: len(both) * 2 // 3], ways=CHAT),
        Row("required", format, forced, choice="required", ways=CHAT),
        Row("strict", format, both, strict=True, ways=CHAT),
    ]


FORMATS = {name: formats(name) for name in toolwire.list_formats()}
