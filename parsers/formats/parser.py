"""`Parser`: a format by its name, the caller's tools, and the text as it comes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ..core.channels import Channels
from ..core.format import Format, Wrapper
from ..core.parser import EventParser
from ..core.reasoning import ReasoningStyle
from ..errors import ToolwireError
from ..events import Event
from ..schema.definitions import Tools
from ..shapes import JsonCalls
from . import get_format
from .reasoning import Reasoning, style_of


def text_only(format: str | Format) -> Format:
    """A format in which nothing is a call. Thoughts and text are marked as in the given one."""
    spec = format if isinstance(format, Format) else get_format(format)
    return _text_format(
        spec.reasoning, spec.text_wrapper, spec.annotations, spec.channels, spec.end_of_turn
    )


@cache
def _text_format(
    style: ReasoningStyle,
    text_wrapper: Wrapper | None,
    annotations: tuple[str, ...],
    channels: Channels | None,
    end_of_turn: tuple[str, ...],
) -> Format:
    return Format(
        name="text",
        shape=JsonCalls(),
        reasoning=style,
        text_wrapper=text_wrapper,
        annotations=annotations,
        channels=channels and replace(channels, calls=False),
        end_of_turn=end_of_turn,
    )


class Parser:
    """Reads one message of a model in one format.

    ```python
    parser = Parser("hermes", tools=tools)
    for chunk in stream:
        for event in parser.feed(chunk): ...
    for event in parser.finish(): ...
    ```
    """

    __slots__ = ("_parser", "format")

    def __init__(
        self,
        format: str | Format,
        tools: Tools | None = None,
        reasoning: Reasoning = None,
        in_reasoning: bool = False,
    ) -> None:
        """`reasoning`: look for thoughts, in the format's own style (True), in a named one, or
        between two markers. `in_reasoning`: the prompt has opened them, the text begins inside."""
        self.format = format if isinstance(format, Format) else get_format(format)
        style = style_of(self.format, reasoning)
        if in_reasoning and style is None and self.format.channels is None:
            raise ToolwireError(
                "in_reasoning=True needs a style of reasoning: give reasoning=True, or its name."
            )
        self._parser = EventParser(self.format, tools, style, in_reasoning)

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk of the model's text; returns what it decides."""
        if not isinstance(chunk, str):
            raise ToolwireError(
                f"feed() takes a str, not {type(chunk).__name__}: decode the model's output first."
            )
        return self._parser.feed(chunk)

    def finish(self) -> list[Event]:
        """The message is over; returns what was still undecided. A second call returns nothing."""
        return self._parser.finish()
