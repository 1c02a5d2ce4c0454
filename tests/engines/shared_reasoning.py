"""Thoughts inside an engine's own classes: the client gets what the core reads, in every style, however
calls and thoughts stand to each other.

A base for the tests of both engines: each says how its classes are driven, as its server does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import pytest
import toolwire
from engine_cases import TOOLS, written
from toolwire.engines.thinking import find_style, text_format

#: For each style a format whose models mark their thoughts so.
FORMATS = {
    toolwire.get_format(name).reasoning.name: name
    for name in reversed(toolwire.list_formats())
    if toolwire.get_format(name).reasoning.name != "think"
}
STYLES = [(style, FORMATS.get(style, "hermes")) for style in toolwire.list_reasoning()]
#: More formats for the style that most have: calls in other shapes, and with special openers.
STYLES += [("think", name) for name in ("qwen3_coder", "kimi_k2", "glm45", "deepseek_v3", "json")]
#: Formats in which thoughts are a channel: it goes by the format's name.
CHANNELS = [name for name in toolwire.list_formats() if toolwire.get_format(name).channels]
STYLES += [(name, name) for name in CHANNELS]
#: How many tokens come in a step.
STEPS = (1, 3, 7, 100_000)


def texts(style_name: str, format: str) -> dict[str, tuple[str, bool]]:
    """What a model writes, and whether the prompt has opened its thoughts."""
    style = find_style(style_name)
    opener, closer, call = style.open[0], style.close[0], written(format)
    wrappers = toolwire.get_format(format).wrappers
    named = wrappers[0].open[0] if wrappers else "a call"
    line = "" if style_name in CHANNELS else "\n"  # in a header, all is said
    opened = {
        "closed": f"Let me see.{closer}{2 * line}Done.",
        "right behind": f"Let me see.{closer}{2 * line}{call}",
        "in closed thoughts": f"Try{line}{call}{line}so.{closer}Answer.",
        "in closed thoughts, and right behind": f"Try{line}{call}{closer}{2 * line}{call}",
        "unclosed": f"Let me see.{line}{call}",
        "unclosed, several": f"Let me see.{line}{call}{line}{call}",
        "unclosed, text": "Let me see. Well",
        "between": f"One.{closer}{line}{call}{line}{opener}Two.{closer}{line}{call}",
        "named": f"I could use {named} here. Fine.{closer}Answer.",
        "again": f"One.{closer}Ok. {opener}Two.{closer} Done.",
        "cut": f"Let me see.{closer}{2 * line}{call}"[:-4],
        "closed twice": f"Let me see.{closer}Answer.{closer}More.",
        "code": f"One.{closer}Write `{closer}` or `{opener}`.",
    }
    by_the_prompt = {f"{name}, by the prompt": (text, True) for name, text in opened.items()}
    by_the_prompt["spelled out all the same"] = (f"{opener}Hm.{closer}Yes.", True)
    return {
        **({} if style_name in CHANNELS else by_the_prompt),  # no prompt opens a channel
        **{name: (opener + text, False) for name, text in opened.items()},
        "skipped": (f"{closer}{2 * line}{call}", False),
        "none": (f"Well.{line}{call}", False),
        "no call either": ("Well. 1 < 2", False),
    }


Got = tuple[list[tuple[str, str]], str | None, str | None]


class Thoughts(ABC):
    @abstractmethod
    def answers(
        self, style: str, format: str | None, text: str, inside: bool, tools: Any
    ) -> Iterator[Got]:
        """The calls, the content and the thoughts that a client has in the end: streamed in each of
        `STEPS`, and not streamed. Without a format, there is no tool parser."""

    def check(
        self, style: str, format: str | None, text: str, inside: bool, tools: Any = TOOLS
    ) -> None:
        kind = format if format and tools else text_format(style)
        expected = toolwire.parse(kind, text, tools, reasoning=style, in_reasoning=inside)
        calls = [(call.name, call.arguments) for call in expected.tool_calls]
        for got in self.answers(style, format, text, inside, tools):
            assert got == (calls, expected.content, expected.reasoning), text

    @pytest.mark.parametrize(("style", "format"), STYLES)
    def test_every_way_of_calling(self, style: str, format: str) -> None:
        for text, inside in texts(style, format).values():
            self.check(style, format, text, inside)

    @pytest.mark.parametrize(("style", "format"), STYLES)
    def test_requests_without_tools(self, style: str, format: str) -> None:
        """Nothing is a call then, and thoughts are thoughts."""
        for text, inside in texts(style, format).values():
            self.check(style, format, text, inside, tools=[])

    @pytest.mark.parametrize(("style", "format"), STYLES)
    def test_without_a_tool_parser(self, style: str, format: str) -> None:
        every = texts(style, format)
        for name in ("closed", "unclosed, text", "skipped", "no call either"):
            for text, inside in (every[name], every.get(f"{name}, by the prompt", every[name])):
                self.check(style, None, text, inside, tools=[])

    def test_a_call_of_an_undeclared_tool_in_open_thoughts_is_a_thought(self) -> None:
        call = written("hermes", name="unknown")
        self.check("think", "hermes", f"<think>Let me see.\n{call}", False)
