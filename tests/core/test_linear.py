"""Rule 9: linear time, bounded state. The work for a delta does not grow with the text before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from toolwire import Parser, get_format

from ..support import TOOLS
from ..work import Work, most
from ..writers import WRITERS
from .thinking import MARKED, calls_end_thoughts, closers, openers, style_in

LINE = 'The "area" of a <b> & of an [a](b), in {m}: 1.\n'
#: `call_text` keeps the calls that it has seen, to know a repeat.
KEEPS_CALLS = {"call_text"}
#: A count beyond 256 is an object of its own in Python, and may get another digit.
A_NUMBER = 32


def cut(text: str) -> list[str]:
    """About as a tokenizer does."""
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def work(format: str, text: str, kind: type[Parser] = Parser, reasoning: Any = None) -> Work:
    def make() -> tuple[object, Callable[[str], object]]:
        parser = kind(format, TOOLS, reasoning)
        return parser, parser.feed

    return most(make, cut(text))


def call(format: str, lines: int) -> str:
    return WRITERS[format]([("write_file", {"path": "a", "content": LINE * lines})])


def prose(format: str, lines: int) -> str:
    return LINE * lines


@pytest.mark.slow
@pytest.mark.parametrize("write", [call, prose], ids=["call", "prose"])
@pytest.mark.parametrize("format", sorted(WRITERS))
def test_a_delta_costs_the_same_however_much_came_before(
    format: str, write: Callable[[str, int], str]
) -> None:
    # What is made once and kept for all, patterns and tables: of lines that are cut at every place.
    work(format, write(format, 4))
    short, long = work(format, write(format, 8)), work(format, write(format, 24))
    assert long.steps <= short.steps
    if not (write is call and format in KEEPS_CALLS):
        assert long.held <= short.held + A_NUMBER
    assert (short.waits, long.waits) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("format", MARKED)
def test_nor_do_thoughts(format: str) -> None:
    """Where calls are just mentioned in them, too: what is held is let go as soon as more follows."""
    style = style_in(format, True)

    def text(lines: int) -> str:
        mention = f"{call(format, 1)}\nso, yes.\n" if not calls_end_thoughts(spec, style) else LINE
        return openers(style)[0] + mention * lines + closers(style)[0] + LINE * lines

    spec = get_format(format)
    work(format, text(2), reasoning=True)
    # So many lines are cut at every place; a few are not, and may hold less.
    short, long = (work(format, text(lines), reasoning=True) for lines in (8, 20))
    assert long.steps <= short.steps
    assert long.held <= short.held + A_NUMBER
    assert (short.waits, long.waits) == (0, 0)


class Searches(Parser):
    """Joins what came and searches it, as many parsers do: few steps, each as long as the text."""

    text = ""

    def feed(self, chunk: str) -> Any:
        self.text += chunk
        return super().feed(chunk) if "<tool_call>" not in self.text else []


class Loops(Parser):
    """Goes through all that came, and holds none of it."""

    length = 0

    def feed(self, chunk: str) -> Any:
        self.length += len(chunk)
        for _ in range(self.length):
            pass
        return super().feed(chunk)


class Waits(Parser):
    """Sleeps at one delta of a text. More than once: a thread that is pushed off its processor just
    before it would have slept finds that its time is up, and has not waited."""

    deltas = 0

    def feed(self, chunk: str) -> Any:
        self.deltas += 1
        if self.deltas == 5:
            for _ in range(10):
                time.sleep(0.001)
        return super().feed(chunk)


@pytest.mark.parametrize(("kind", "seen"), [(Searches, "held"), (Loops, "steps"), (Waits, "waits")])
def test_other_work_would_be_seen(kind: type[Parser], seen: str) -> None:
    work("hermes", prose("hermes", 1), kind)
    short, long = (work("hermes", prose("hermes", lines), kind) for lines in (8, 24))
    grown = {"held": long.held > short.held + 16, "steps": long.steps > short.steps}
    grown["waits"] = bool(short.waits and long.waits)
    assert [name for name, found in grown.items() if found] == [seen]
