#!/usr/bin/env python3
"""Random messages, damaged and cut at random, in every format and style: every cut must give the same.

    scripts/fuzz.py --minutes 60 --state build/fuzz.json     # go on later with the same command
    scripts/fuzz.py --cases 1000 --formats hermes,glm45

Each case is a message of prose, thoughts and calls, with its delimiters cut, doubled, dropped, moved or
put in. It is read whole, character by character, and in random pieces, in eight ways. Looked for are:
a difference, an exception, more text coming out than can have gone in, and memory that grows. The first
finding stops the run, and is printed as the smallest text that still shows it.

Several processes share the cases of a seed: of N, each does every N-th. Ctrl-C ends a run as its time
does: it goes on later. What is counted, and noted in the state, are the cases that are done without a
gap; a few behind these are done once more. On the compiled core it is quicker: CONTRIBUTING.md says how
to make one; run this with its folder in PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import toolwire
from toolwire import Event, Format, Parser, ReasoningStyle, get_format, list_formats
from toolwire.events import Arguments, CallStart, Content, Reasoning
from toolwire.formats.reasoning import style_of

#: Text that one character of a message can become at most: `\\u0001`.
MOST_FOR_ONE = 6
#: … and what a call can add to that: quotes, braces, and the keys of values that had none.
MOST_FOR_CALL = 400
#: How much a process may grow once it has seen every pair a few times.
MOST_GROWTH = 100 * 1024 * 1024
#: In how many ways a message is cut: at random, and character by character. Making one costs more than
#: reading it once more.
RANDOM_CUTTINGS = 8
CUTTINGS = RANDOM_CUTTINGS + 1


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    _tool("add", a={"type": "integer"}, b={"type": "number"}),
    _tool("get_weather", city={"type": "string"}, unit={"enum": ["c", "f"]}),
    _tool("put", path={"type": "string"}, data={"type": "object"}, tags={"type": "array"}),
    _tool("noargs"),
]
CALLS: list[dict[str, Any]] = [
    {"name": "add", "arguments": {"a": 1, "b": -2.5}},
    {"name": "get_weather", "arguments": {"city": "Zürich 日本", "unit": "c"}},
    {"name": "put", "arguments": {"path": "a b\n", "data": {"x": [1, None]}, "tags": ["t"]}},
    {"name": "noargs", "arguments": {}},
    {"name": "unknown", "arguments": {"q": "a"}},
]
WORDS = [
    "Hello",
    "I add",
    "é",
    "日本",
    "x",
    "add(",
    "{",
    "}",
    "[1]",
    "[1, ",
    '{"x": [1, {}]}, ',
    '"',
    "'",
    "`",
    "```",
    "a: b",
    "<",
    "\\",
]
SPACES = ["", " ", "\n", "\n\n", "\r\n", "\t"]
STYLES: list[Any] = [None, True, "think", ("<musing>", "</musing>"), ("<|musing|>", "<|/musing|>")]


# -- cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A message, and how it is to be read."""

    format: str
    reasoning: Any
    in_reasoning: bool
    text: str


class Source:
    """Makes cases: the same ones for the same seed, each by its number alone."""

    def __init__(self, seed: int, formats: list[str]) -> None:
        self._seed = seed
        self.pairs = [(format, style) for format in formats for style in _styles(format)]
        self._parts = {pair: _Parts.of(*pair) for pair in self.pairs}

    def case(self, number: int) -> Case:
        chance = random.Random(f"{self._seed} {number}")
        format, reasoning = pair = self.pairs[number % len(self.pairs)]
        text = self._parts[pair].message(chance)
        for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
            text = _damaged(text, self._parts[pair].marks, chance)
        inside = reasoning is not None and chance.random() < 0.3
        return Case(format, reasoning, inside, text)


def _styles(format: str) -> list[Any]:
    """The styles that differ. In channel formats a part's header says what is a thought."""
    if get_format(format).channels:
        return [None]
    own = get_format(format).reasoning.name
    return [style for style in STYLES if style != own or style is None]


@dataclass(frozen=True)
class _Parts:
    """What messages of a format and a style are made of."""

    calls: list[str]
    thoughts: list[tuple[str, str]]
    marks: list[str]

    @classmethod
    def of(cls, format: str, reasoning: Any) -> _Parts:
        spec = get_format(format)
        style = style_of(spec, reasoning) if reasoning is not None else None
        thoughts = list(_thoughts(spec, style))
        marks = [*_marks(spec), *(mark for pair in thoughts for mark in pair if mark)]
        return cls(list(_written(spec)), thoughts, marks or ["{"])

    def message(self, chance: random.Random) -> str:
        pieces: list[str] = []
        for _ in range(chance.randint(1, 5)):
            kind = chance.random()
            if kind < 0.35:
                pieces.append(" ".join(chance.choices(WORDS, k=chance.randint(1, 3))))
            elif kind < 0.55 and self.thoughts:
                begin, end = chance.choice(self.thoughts)
                pieces.append(begin + chance.choice(WORDS) + chance.choice((end, end, "")))
            elif self.calls:
                pieces.append(chance.choice(self.calls))
            pieces.append(chance.choice(SPACES))
        return "".join(pieces)


def _thoughts(spec: Format, style: ReasoningStyle | None) -> Iterator[tuple[str, str]]:
    """What stands around thoughts, in every spelling."""
    if spec.channels:
        yield spec.channels.thought_begin, spec.channels.thought_end
    for begin in style.open if style is not None else ():
        for end in style.close if style is not None else ():
            yield begin.replace("…", "a1"), end.replace("…", "a1")


def _written(spec: Format) -> Iterator[str]:
    if spec.layout is None:
        return
    for calls in [[call] for call in CALLS] + [CALLS[:2], CALLS[2:]]:
        try:
            yield toolwire.write(spec, calls)
        except toolwire.ToolwireError:
            continue  # what a format can't say is no message of it


def _marks(spec: Format) -> list[str]:
    own = spec.delimiters
    marks = [*own.starts.spellings, *own.closes.spellings, *spec.shape.inner_delimiters]
    marks += [*spec.end_of_turn, *spec.annotations]
    if spec.channels:
        marks += [*spec.channels.tokens, *spec.channels.body, *spec.channels.end]
    return [mark.replace("{:SUFFIX}", ":a1").replace("…", "a1") for mark in dict.fromkeys(marks)]


def _damaged(text: str, marks: list[str], chance: random.Random) -> str:
    """The text with one thing wrong in it."""
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.choice((1, 1, 2, 5, 20)))
    mark = chance.choice(marks)
    part = mark[: chance.randint(1, len(mark))]
    kind = chance.randrange(8)
    if kind == 0:
        return text[:start] + text[end:]
    if kind == 1:
        return text[:start] + mark + text[start:]
    if kind == 2:
        return text[:start] + part + text[start:]
    if kind == 3:
        return text[:start] + chance.choice((*WORDS, *SPACES)) + text[start:]
    if kind == 4:
        return text[:end] + text[start:]
    if kind == 5:
        return text[:start]
    if kind == 6:
        place = chance.randint(0, len(text))
        return text[:place] + text[start:end] + text[place:]
    found = text.find(mark)
    return text if found < 0 else text[:found] + text[found + len(part) :]


# -- checking -------------------------------------------------------------------------------------

Read = Callable[[Case, list[str]], list[Event]]


def read(case: Case, chunks: list[str]) -> list[Event]:
    """The events of a message that comes in these pieces, neighbouring texts joined."""
    parser = Parser(case.format, TOOLS, case.reasoning, case.in_reasoning)
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return joined(events + parser.finish())


def joined(events: list[Event]) -> list[Event]:
    """The same, with neighbouring texts as one."""
    found: list[Event] = []
    texts: list[str] = []  # those of the last event, where it is one of text
    last: Event | None = None
    for event in events:
        kind = type(event)
        if kind is type(last) and kind in _TEXTS:
            texts.append(event.text)  # type: ignore[union-attr]  # it is one of text
            continue
        if len(texts) > 1:
            found[-1] = _with_text(found[-1], "".join(texts))
        texts = [event.text] if kind in _TEXTS else []  # type: ignore[union-attr]
        found.append(event)
        last = event
    if len(texts) > 1:
        found[-1] = _with_text(found[-1], "".join(texts))
    return found


_TEXTS = (Content, Reasoning, Arguments)


def _with_text(event: Event, text: str) -> Event:
    if isinstance(event, Arguments):
        return Arguments(event.index, text)
    return Content(text) if isinstance(event, Content) else Reasoning(text)


@dataclass(frozen=True)
class Finding:
    """What is wrong with a case, and how it has to be cut for that."""

    case: Case
    chunks: list[str]
    what: str

    def reproducer(self) -> str:
        case = self.case
        return (
            f"{self.what}\n\nfrom toolwire import Parser\n"
            f"tools = {TOOLS!r}\nchunks = {self.chunks!r}\n"
            "for pieces in ([''.join(chunks)], chunks):\n"
            f"    parser = Parser({case.format!r}, tools, {case.reasoning!r}, {case.in_reasoning!r})\n"
            "    print([e for piece in pieces for e in parser.feed(piece)] + parser.finish())\n"
        )


def check(case: Case, cuttings: list[list[str]], read: Read = read) -> Finding | None:
    """What is wrong with a case, read whole and cut in these ways."""
    whole: list[Event] | None = None
    for chunks in ([case.text], *cuttings):
        try:
            events = read(case, chunks)
        except Exception as error:  # noqa: BLE001 - that it raises is what is looked for
            return Finding(case, chunks, f"raises {type(error).__name__}: {error}")
        whole = events if whole is None else whole
        if events != whole:
            return Finding(case, chunks, f"a difference: {whole} whole, {events} in pieces")
    assert whole is not None
    size = sum(len(e.text) for e in whole if isinstance(e, (Arguments, Content, Reasoning)))
    calls = sum(isinstance(event, CallStart) for event in whole)
    if size > MOST_FOR_ONE * len(case.text) + MOST_FOR_CALL * calls:
        return Finding(case, [case.text], f"{len(case.text)} characters became {size}")
    return None


def cut(text: str, chance: random.Random) -> list[str]:
    among, draw = len(text) + 1, chance.random
    places = sorted([int(draw() * among) for _ in range(1 + int(draw() * 8))])
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def cuttings(text: str) -> list[list[str]]:
    """The ways in which a message is cut: the same ones for the same text."""
    chance = random.Random(text)
    return [list(text), *[cut(text, chance) for _ in range(RANDOM_CUTTINGS)]]


def smallest(found: Finding, read: Read = read) -> Finding:
    """The smallest text, with the fewest cuts, that still shows something: less of it, part by part."""
    size = max(1, len(found.case.text) // 2)
    while size:
        start = 0
        while start < len(found.case.text):
            text = found.case.text[:start] + found.case.text[start + size :]
            case = Case(found.case.format, found.case.reasoning, found.case.in_reasoning, text)
            less = check(case, _all_cuts(text), read)
            found, start = (less, start) if less is not None else (found, start + size)
        size //= 2
    return check(found.case, _all_cuts(found.case.text), read) or found


def _all_cuts(text: str) -> list[list[str]]:
    """Every single cut, then character by character."""
    single = [[text[:i], text[i:]] for i in range(1, len(text))] if len(text) < 400 else []
    return [*single, list(text)]


# -- the run --------------------------------------------------------------------------------------


@dataclass
class State:
    """How far a run is, so that it can go on later."""

    seed: int
    cases: int = 0
    cuttings: int = 0
    seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def load(cls, path: Path | None, seed: int) -> State:
        if path is None or not path.exists():
            return cls(seed)
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["seed"] != seed:
            raise SystemExit(f"{path} is of the seed {saved['seed']}: use that, or another file.")
        return cls(**saved)

    def count(self, cases: int) -> None:
        """So many cases were done."""
        self.cuttings += CUTTINGS * (cases - self.cases)
        self.cases = cases

    def save(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            fields = {"seed": self.seed, "cases": self.cases, "cuttings": self.cuttings}
            path.write_text(json.dumps(fields | {"seconds": self.spent}), encoding="utf-8")

    @property
    def spent(self) -> float:
        return self.seconds + time.monotonic() - self.started

    def line(self, memory: int) -> str:
        rate = 60 * self.cuttings / max(self.spent, 0.001)
        most = f", {memory >> 20} MiB" if memory else ""
        return f"{self.cases} cases, {self.cuttings} cuttings, {rate:.0f} a minute{most}"


def _memory() -> int:
    """The memory of this process; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Share:
    """The cases of one process: every `step`-th from `first` on, below `end`, for so many seconds."""

    first: int
    step: int = 1
    end: int | None = None
    seconds: float | None = None
    keep_going: bool = False


#: What a process says once in a while: the next case that it has not done.
Tell = Callable[[int], None]


def search(source: Source, share: Share, tell: Tell) -> list[Finding]:
    """The findings of one process. It ends with the first one, or with its share."""
    findings: list[Finding] = []
    number, warm = share.first, 0
    said = begun = time.monotonic()
    while share.end is None or number < share.end:
        now = time.monotonic()
        if share.seconds is not None and now - begun >= share.seconds:
            break
        case = source.case(number)
        found = check(case, cuttings(case.text))
        number += share.step
        if found is not None and all(f.case.format != case.format for f in findings):
            findings.append(smallest(found))
            if not share.keep_going:
                break
        if now - said > 1:
            said = now
            tell(number)
            if not warm and number - share.first > 20 * len(source.pairs):
                warm = _memory()
            if warm and _memory() - warm > MOST_GROWTH:
                findings.append(Finding(case, [], f"memory grew to {_memory() >> 20} MiB"))
                break
    tell(number)
    return findings


class Progress:
    """How far all processes are: noted in the state, and told every ten seconds."""

    def __init__(self, state: State, path: Path | None, processes: int) -> None:
        self._state, self._path = state, path
        self._begun = state.cases
        self._next = [state.cases + k for k in range(processes)]
        self._memory = [0] * processes
        self._said = time.monotonic()

    def tell(self, process: int, number: int, memory: int, end: int | None = None) -> None:
        """The next case of a process is this one. What is counted has no gap."""
        self._next[process], self._memory[process] = number, memory
        done = max(self._state.cases, min(self._next))
        self._state.count(done if end is None else min(done, end))
        if time.monotonic() - self._said > 10:
            self._said = time.monotonic()
            print(self.line(), file=sys.stderr)
            self._state.save(self._path)

    def line(self) -> str:
        return self._state.line(max(self._memory))


def run(
    source: Source,
    state: State,
    *,
    cases: int = 0,
    minutes: float = 0,
    path: Path | None = None,
    keep_going: bool = False,
) -> list[str]:
    """The findings of a run in this process, as reproducers."""
    end = state.cases + cases if cases else None
    share = Share(state.cases, 1, end, 60 * minutes if minutes else None, keep_going)
    progress = Progress(state, path, 1)
    try:
        findings = search(source, share, lambda n: progress.tell(0, n, _memory(), end))
    except KeyboardInterrupt:
        findings = []
    state.save(path)
    return [found.reproducer() for found in findings]


# -- several processes ----------------------------------------------------------------------------
#
# Each is this script once more, with its share of the cases. What it says are lines of JSON: how far it
# is (`next`, `memory`), what it found (`found`), and at last `over`.


def serve(source: Source, share: Share) -> int:
    """What one of several processes does."""

    def say(**fields: Any) -> None:
        print(json.dumps(fields), flush=True)

    try:
        findings = search(source, share, lambda n: say(next=n, memory=_memory()))
    except (KeyboardInterrupt, BrokenPipeError):  # who started it ends all
        return 0
    for found in findings:
        say(found=found.reproducer())
    say(over=True)
    return 0


def run_all(
    state: State, processes: int, options: list[str], *, cases: int, path: Path | None, stop: bool
) -> list[str]:
    """The findings of a run in several processes; with `stop`, the first ends it."""
    end = state.cases + cases if cases else None
    progress = Progress(state, path, processes)
    said: queue.Queue[tuple[int, dict[str, Any] | None]] = queue.Queue()
    children = []
    for k in range(processes):
        own = ["--share", f"{state.cases + k}:{processes}:{end or 0}"]
        command = [sys.executable, __file__, *options, *own]
        children.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        threading.Thread(target=_listen, args=(k, children[k], said), daemon=True).start()
    try:
        return collect(said, progress, processes, end, stop)
    except KeyboardInterrupt:
        return []
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait()
        state.save(path)


def _listen(k: int, child: subprocess.Popen[str], said: queue.Queue[Any]) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        said.put((k, json.loads(line)))
    said.put((k, None))


def collect(
    said: queue.Queue[Any], progress: Progress, processes: int, end: int | None, stop: bool
) -> list[str]:
    """What the processes find, until all of them are over."""
    findings: list[str] = []
    over: set[int] = set()
    gone = 0
    while gone < processes and not (stop and findings):
        k, line = said.get()
        if line is None:
            gone += 1
            if k not in over:
                findings.append(f"process {k + 1} of {processes} died: it has not said why")
        elif "found" in line:
            findings.append(line["found"])
        elif "next" in line:
            progress.tell(k, line["next"], line["memory"], end)
        else:
            over.add(k)
    return findings


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=0, help="how long to go on")
    parser.add_argument("--cases", type=int, default=0, help="how many messages to try")
    parser.add_argument("--seed", type=int, default=1, help="other seeds give other messages")
    parser.add_argument("--formats", default="", help="only these, with commas")
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="where it goes on from, and notes how far it is"
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="one finding for each format, not just one"
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="how many share the work (default: one for each core)",
    )
    parser.add_argument("--share", help=argparse.SUPPRESS)  # of one of several: first:step:end
    given = parser.parse_args(arguments)
    names = [get_format(name).name for name in given.formats.split(",") if name]
    source = Source(given.seed, names or list_formats())
    minutes = given.minutes or (0 if given.cases else 1)
    if given.share:
        first, step, end = map(int, given.share.split(":"))
        seconds = 60 * minutes if minutes else None
        return serve(source, Share(first, step, end or None, seconds, given.keep_going))
    state = State.load(given.state, given.seed)
    if given.processes > 1:
        options = ["--seed", str(given.seed), "--minutes", str(minutes)]
        options += ["--formats", given.formats] if given.formats else []
        options += ["--keep-going"] if given.keep_going else []
        options += ["--cases", str(given.cases)] if given.cases else []
        stop = not given.keep_going
        findings = run_all(
            state, given.processes, options, cases=given.cases, path=given.state, stop=stop
        )
    else:
        findings = run(
            source,
            state,
            cases=given.cases,
            minutes=minutes,
            path=given.state,
            keep_going=given.keep_going,
        )
    for found in findings:
        print(found)
    print(
        f"{len(source.pairs)} formats with styles; {state.line(_memory())}; {len(findings)} findings"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
