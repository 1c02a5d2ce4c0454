"""What the tests share: tools, ways to cut a text, and events put together."""

from __future__ import annotations

import itertools
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolwire import Arguments, CallEnd, CallStart, Content, Event, Format, Parser, Reasoning
from toolwire.openai.policy import Policy
from toolwire.openai.request import read_parts

CHECKOUT = Path(__file__).parents[1]


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


INTEGER = {"type": "integer"}
STRING = {"type": "string"}

ADD = tool("add", a=INTEGER, b=INTEGER)
NOARGS = tool("noargs")
WRITE_FILE = tool("write_file", path=STRING, content=STRING)
GET_WEATHER = tool("get_weather", city=STRING, unit=STRING)
TOOLS = [ADD, NOARGS, WRITE_FILE, GET_WEATHER]


def filled(spelling: str, gap: str) -> str:
    """A delimiter with this in its gaps. What may be missing is, where that is ""."""
    optional = re.sub(r"\{([^{}…]*)…\}", lambda found: found[1] + gap if gap else "", spelling)
    return optional.replace("…", gap or "x")


def policy_for(
    tools: Any = None,
    tool_choice: Any = None,
    *,
    one: bool = False,
    legacy: bool = False,
    **more: Any,
) -> Policy:
    """How an answer to a request with these tools is read. `one`: it asks for one call at a time."""
    read = read_parts(tools, tool_choice, parallel=not one and not legacy, legacy=legacy)
    return Policy(request=read, **more)


def coalesce(events: Iterable[Event]) -> list[Event]:
    """Join neighbouring texts: what must not depend on where the text was cut."""
    joined: list[Event] = []
    for event in events:
        last = joined[-1] if joined else None
        if isinstance(event, Content) and isinstance(last, Content):
            joined[-1] = Content(last.text + event.text)
        elif isinstance(event, Reasoning) and isinstance(last, Reasoning):
            joined[-1] = Reasoning(last.text + event.text)
        elif isinstance(event, Arguments) and isinstance(last, Arguments):
            assert event.index == last.index, "calls interleave"
            joined[-1] = Arguments(event.index, last.text + event.text)
        else:
            joined.append(event)
    return joined


def events_of(
    format: str | Format,
    chunks: Iterable[str],
    tools: Any = TOOLS,
    reasoning: Any = None,
    in_reasoning: bool = False,
) -> list[Event]:
    parser = Parser(format, tools, reasoning, in_reasoning)
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    events += parser.finish()
    return coalesce(events)


#: (name, arguments, complete)
CallRead = tuple[str, str, bool]


def summary(events: Iterable[Event]) -> tuple[str | None, list[CallRead]]:
    """Content, and each call, of a message without thoughts."""
    reasoning, content, calls = whole_summary(events)
    assert reasoning is None
    return content, calls


def whole_summary(events: Iterable[Event]) -> tuple[str | None, str | None, list[CallRead]]:
    """Thoughts, content, and each call."""
    thoughts: list[str] = []
    content: list[str] = []
    calls: list[CallRead] = []
    name, arguments = "", ""
    for event in events:
        if isinstance(event, Content):
            content.append(event.text)
        elif isinstance(event, Reasoning):
            thoughts.append(event.text)
        elif isinstance(event, CallStart):
            name, arguments = event.name, ""
        elif isinstance(event, Arguments):
            arguments += event.text
        elif isinstance(event, CallEnd):
            calls.append((name, arguments, event.complete))
    return "".join(thoughts) or None, "".join(content) or None, calls


def splits(text: str, *, pairs_under: int = 80) -> Iterator[list[str]]:
    """One character at a time, every single cut, some random ones, and for short texts every pair."""
    yield list(text)
    chance = random.Random(text)  # the same for the same text
    for _ in range(20):
        count = chance.randint(2, 9)
        yield cut_at(text, [chance.randint(0, len(text)) for _ in range(count)])
    for i in range(1, len(text)):
        yield [text[:i], text[i:]]
    if len(text) < pairs_under:
        for i, j in itertools.combinations(range(1, len(text)), 2):
            yield [text[:i], text[i:j], text[j:]]


def check_all_splits(
    format: str | Format,
    text: str,
    tools: Any = TOOLS,
    reasoning: Any = None,
    in_reasoning: bool = False,
    *,
    pairs_under: int = 80,
) -> list[Event]:
    """The events of the whole text, after every way to cut it gave the same."""
    whole = events_of(format, [text], tools, reasoning, in_reasoning)
    for chunks in splits(text, pairs_under=pairs_under):
        assert events_of(format, chunks, tools, reasoning, in_reasoning) == whole, chunks
    return whole


def heed_ctrl_c() -> None:
    """For `preexec_fn`: a process that was started in the background hears no Ctrl-C, nor do its own."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def cut_at(text: str, places: Iterable[int]) -> list[str]:
    edges = [0, *sorted(places), len(text)]
    return [text[i:j] for i, j in itertools.pairwise(edges)]


def printed_by(code: str) -> list[str]:
    """The lines that a program prints, in a process of its own: what it registers stays there."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()
