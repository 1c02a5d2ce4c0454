"""What a parser costs: time for each token at several lengths, memory, and the floor.

    python benchmarks/core.py            a table
    python benchmarks/core.py --json     the same for programs
    python benchmarks/core.py --quick    shorter texts
    python benchmarks/core.py --only-adversarial

For every shape a long call is fed in tokens of four characters. Reported for each:

* µs for each token at 1,024 tokens and at the longest length, and their ratio (linear cost is 1);
* bytes of memory at the peak beyond what the parser returns, at both lengths (flat is 1);
* the ratio to the floor, in the middle of a long string: a class whose `feed` only returns a list with
  one event built from its chunk. Both are measured in turns in the same run.

Then what thoughts cost, beside what the same text costs without them, in turns in the same run: a token
of prose where thoughts are looked for, a token of a thought, and calls at the end of thoughts that were
never closed, which are held until the message is over.

Then what it costs to read a message in `any`, where its format was not named, beside what it costs in
its own format, in turns in the same run: a long string in a call of each shape, short calls, and prose.

Then, for every format, text that is made to be slow: something that stands many times in a row, at
each place of a call where another kind of text begins. Reported is the place where four times as much
of it costs most, as a multiple of what once as much does: 4 is linear, 16 would be quadratic.

Times are of the processor, not of the clock, so that neighbours disturb less. Ratios are what counts.
Call text keeps its earlier calls, to know a repeat, so its memory grows with them.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass

from toolwire import Arguments, Event, Format, Parser, get_format, list_formats, write

TOKEN = 4
STRING = {"type": "string"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "parameters": {"type": "object", "properties": {"path": STRING, "content": STRING}},
        },
    }
]

SHORT = {"name": "write_file", "arguments": {"content": "b c"}}

#: For each shape, a format that has it, and how a call begins and ends around a long string.
SHAPES: dict[str, tuple[str, str, str]] = {
    "json object": (
        "hermes",
        '<tool_call>\n{"name": "write_file", "arguments": {"content": "',
        '"}}\n</tool_call>',
    ),
    "json array": (
        "jamba",
        '<tool_calls>[{"name": "write_file", "arguments": {"content": "',
        '"}}]</tool_calls>',
    ),
    "name is key": (
        "apertus",
        '<|tools_prefix|>[{"write_file": {"content": "',
        '"}}]<|tools_suffix|>',
    ),
    "bare json": ("json", '{"name": "write_file", "arguments": {"content": "', '"}}'),
    "quoted json": (
        "hermes",
        '<tool_call>\n{"name": "write_file", "arguments": "{\\"content\\": \\"',
        '\\"}"}\n</tool_call>',
    ),
    "name + json": (
        "special_token",
        '<|tool_call|>write_file\n{"content": "',
        '"}<|end_tool_call|>',
    ),
    "labelled lines": (
        "labeled",
        '<tool_call>\nname: write_file\narguments: {"content": "',
        '"}\n</tool_call>',
    ),
    "tags": (
        "qwen3_coder",
        "<tool_call>\n<function=write_file>\n<parameter=content>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "key/value tags": (
        "glm45",
        "<tool_call>write_file\n<arg_key>content</arg_key>\n<arg_value>",
        "</arg_value>\n</tool_call>",
    ),
    "elements": (
        "minimax_m3",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="write_file">]<]minimax[>[<content>',
        "]<]minimax[>[</content>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    ),
    "pythonic": ("pythonic", '[write_file(content="', '")]'),
    "bare keys": (
        "gemma4",
        '<|tool_call>call:write_file{content:<|"|>',
        '<|"|>}<tool_call|>',
    ),
    "call text": ("call_text", 'write_file(content="', '")'),
    "prose": ("hermes", "", ""),
}

#: What the string holds: words, line ends as each format writes them, and a few delimiters' beginnings.
TEXT = "the quick brown fox jumps over the lazy dog, 12 < 13 and so on; "


class Floor:
    """The least that a streaming parser can do: one event for each chunk."""

    def feed(self, chunk: str) -> list[Event]:
        return [Arguments(0, chunk)]


@dataclass
class Row:
    shape: str
    format: str
    us_short: float
    us_long: float
    growth: float
    peak_short: int
    peak_long: int
    floor_ratio: float


def tokens(before: str, after: str, count: int) -> list[str]:
    middle = (TEXT * (count * TOKEN // len(TEXT) + 1))[: count * TOKEN]
    text = before + middle + after
    return [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]


def feed_all(format: str, chunks: list[str]) -> float:
    """Seconds for a whole message."""
    parser = Parser(format, TOOLS)
    feed = parser.feed
    start = time.process_time()
    for chunk in chunks:
        feed(chunk)
    parser.finish()
    return time.process_time() - start


def us_per_token(format: str, sizes: list[list[str]], repeats: int) -> list[float]:
    """Medians for several lengths, measured in turns so that noise hits all of them."""
    times: list[list[float]] = [[] for _ in sizes]
    for _ in range(repeats):
        for taken, chunks in zip(times, sizes, strict=True):
            # Short texts many times, so that every sample is of the same length.
            rounds = max(1, len(sizes[-1]) // len(chunks))
            taken.append(
                sum(feed_all(format, chunks) for _ in range(rounds)) / rounds / len(chunks)
            )
    return [statistics.median(taken) * 1e6 for taken in times]


def peak_memory(format: str, chunks: list[str]) -> int:
    """The parser's own peak, what it returned being thrown away at once."""
    parser = Parser(format, TOOLS)
    gc.collect()
    tracemalloc.start()
    for chunk in chunks:
        parser.feed(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def ratio_to_floor(format: str, before: str, repeats: int) -> float:
    """In the middle of a long string: our `feed` against the floor's, in turns."""
    parser = Parser(format, TOOLS)
    parser.feed(before + "text")
    chunks = ["word"] * 20_000

    def seconds(feed: Callable[[str], list[Event]]) -> float:
        start = time.process_time()
        for chunk in chunks:
            feed(chunk)
        return time.process_time() - start

    floor = Floor()
    ratios = [seconds(parser.feed) / seconds(floor.feed) for _ in range(repeats)]
    return statistics.median(ratios)


def measure(shape: str, short: int, long: int, repeats: int) -> Row:
    format, before, after = SHAPES[shape]
    few, many = tokens(before, after, short), tokens(before, after, long)
    us_short, us_long = us_per_token(format, [few, many], repeats)
    return Row(
        shape=shape,
        format=format,
        us_short=round(us_short, 3),
        us_long=round(us_long, 3),
        growth=round(us_long / us_short, 2),
        peak_short=peak_memory(format, few),
        peak_long=peak_memory(format, many),
        floor_ratio=round(ratio_to_floor(format, before, repeats), 2),
    )


# -- thoughts -------------------------------------------------------------------------------------

CALL = '<tool_call>\n{"name": "write_file", "arguments": {"content": "b c"}}\n</tool_call>\n'
#: What is measured, what it is compared with, what stands before the text, and whether that is calls.
THOUGHTS: dict[str, tuple[str, str, bool]] = {
    "prose, thoughts looked for": ("prose", "", False),
    "a thought": ("prose", "<think>", False),
    "calls in unclosed thoughts": ("calls", "<think>", True),
}


@dataclass
class Thought:
    what: str
    beside: str
    us: float
    us_beside: float
    ratio: float


def measure_thought(what: str, count: int, repeats: int) -> Thought:
    beside, before, calls = THOUGHTS[what]
    unit = CALL if calls else TEXT
    text = unit * (count * TOKEN // len(unit) + 1)

    def seconds(before: str, reasoning: bool) -> float:
        parser = Parser("hermes", TOOLS, reasoning)
        parser.feed(before)
        chunks = [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]
        start = time.process_time()
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
        return (time.process_time() - start) / len(chunks) * 1e6

    taken = [(seconds(before, True), seconds("", False)) for _ in range(repeats)]
    us, us_beside = (statistics.median(each) for each in zip(*taken, strict=True))
    return Thought(what, beside, round(us, 3), round(us_beside, 3), round(us / us_beside, 2))


def thoughts_table(rows: list[Thought]) -> str:
    lines = [f"{'thoughts':<28}{'us':>8}{'beside':>8}{'us':>8}{'ratio':>8}"]
    lines += [
        f"{row.what:<28}{row.us:>8.2f}{row.beside:>8}{row.us_beside:>8.2f}{row.ratio:>8.2f}"
        for row in rows
    ]
    return "\n".join(lines)


# -- any ------------------------------------------------------------------------------------------

#: What is measured, the format that the text is in, and the text: what stands before and behind a long
#: string, or one call, many times. Formats that go without a marker are not read in `any`.
UNNAMED: dict[str, tuple[str, str, str]] = {
    **{
        what: row for what, row in SHAPES.items() if row[0] not in {"json", "pythonic", "call_text"}
    },
    **{
        f"{format} calls": (format, write(format, [SHORT], TOOLS) + "\n", "")
        for format in ("hermes", "qwen3_coder", "glm45", "labeled")
    },
}


@dataclass
class Unnamed:
    what: str
    format: str
    us: float
    us_own: float
    ratio: float


def measure_any(what: str, count: int, repeats: int) -> Unnamed:
    format, before, after = UNNAMED[what]
    chunks = tokens(before, after, count)
    if what not in SHAPES:
        text = before * (count * TOKEN // len(before) + 1)
        chunks = [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]
    feed_all("any", chunks[:100])  # what is made once
    taken = [(feed_all("any", chunks), feed_all(format, chunks)) for _ in range(repeats)]
    us, us_own = (statistics.median(each) / len(chunks) * 1e6 for each in zip(*taken, strict=True))
    return Unnamed(what, format, round(us, 3), round(us_own, 3), round(us / us_own, 2))


def any_table(rows: list[Unnamed]) -> str:
    lines = [f"{'any':<20}{'beside':<15}{'us':>8}{'own us':>8}{'ratio':>8}"]
    lines += [
        f"{row.what:<20}{row.format:<15}{row.us:>8.2f}{row.us_own:>8.2f}{row.ratio:>8.2f}"
        for row in rows
    ]
    return "\n".join(lines)


# -- text that is made to be slow -----------------------------------------------------------------

#: What may stand many times in a row, beside a format's own delimiters.
UNITS = (
    *" \n\"'\\<=a1({[,:`", "</", "\n<", 'a="', '"a" ', 'string="true" ', "0_", "a=1, ",
    '{"name": "add", ',
)  # fmt: skip
#: Below this, a time says nothing: seconds.
LEAST = 0.002


@dataclass
class Slowest:
    """The worst place of a format: what stood behind `before` many times, and how time grew."""

    format: str
    before: str
    unit: str
    ms: float
    growth: float


def places(text: str) -> list[int]:
    """Where another kind of text begins: a word, a sign, whitespace."""
    kinds = [(c.isalnum(), c.isspace()) for c in text]
    return [0, *(i for i in range(1, len(text)) if kinds[i] != kinds[i - 1]), len(text)]


def units(format: Format) -> list[str]:
    literals = [*format.delimiters.starts.spellings, *format.delimiters.closes.spellings]
    return [*UNITS, *literals, *(literal[:-1] for literal in literals if len(literal) > 1)]


def seconds(format: Format, text: str) -> float:
    return feed_all(format.name, [text])


def growth(format: Format, before: str, unit: str, after: str, count: int) -> tuple[float, float]:
    """Milliseconds for four times `count`, and how many times those for `count` that is."""
    few, many = (f"{before}{unit * n}{after}" for n in (count, 4 * count))
    taken = [(seconds(format, few), seconds(format, many)) for _ in range(2)]
    shortest, longest = min(f for f, _ in taken), min(m for _, m in taken)
    return longest * 1000, longest / max(shortest, LEAST / 4)


def slowest(name: str, count: int) -> Slowest:
    format = get_format(name)
    text = "Yes.\n" + format.example.replace("NAME", "write_file").replace("{…}", '{"path": "a b"}')
    worst = Slowest(name, "", "", 0.0, 0.0)
    for place in places(text):
        before, after = text[:place], text[place:]
        for unit in units(format):
            ms, grown = growth(format, before, unit, after, count)
            if grown > worst.growth:
                worst = Slowest(name, before[-20:], unit, round(ms, 2), round(grown, 1))
    return worst


def adversarial_table(rows: list[Slowest]) -> str:
    lines = [f"{'format':<17}{'ms':>8}{'growth':>8}  many times in a row, and where"]
    lines += [
        f"{row.format:<17}{row.ms:>8.2f}{row.growth:>8.1f}  {row.unit!r} behind {row.before!r}"
        for row in sorted(rows, key=lambda row: -row.growth)
    ]
    return "\n".join(lines)


def table(rows: list[Row], short: int, long: int) -> str:
    lines = [
        f"{'shape':<16}{'format':<15}{f'us @{short}':>10}{f'us @{long}':>10}{'growth':>8}"
        f"{'peak kB':>9}{'peak kB':>9}{'x floor':>9}"
    ]
    lines += [
        f"{row.shape:<16}{row.format:<15}{row.us_short:>10.2f}{row.us_long:>10.2f}{row.growth:>8.2f}"
        f"{row.peak_short / 1000:>9.1f}{row.peak_long / 1000:>9.1f}{row.floor_ratio:>9.2f}"
        for row in rows
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(
        description="What a parser costs: time for each token, memory, and the floor.",
        epilog="example: python benchmarks/core.py --json > core.json",
    )
    options.add_argument("--json", action="store_true", help="write JSON instead of a table")
    options.add_argument("--quick", action="store_true", help="shorter texts, fewer repeats")
    options.add_argument("--shape", choices=sorted(SHAPES), action="append", help="only these")
    options.add_argument("--format", action="append", help="slow texts: only of these formats")
    only = options.add_mutually_exclusive_group()
    only.add_argument("--only-cost", action="store_true", help="leave out the slow texts")
    only.add_argument("--only-adversarial", action="store_true", help="nothing but the slow texts")
    chosen = options.parse_args(arguments)
    short, long, repeats = (256, 4096, 3) if chosen.quick else (1024, 65_536, 5)
    rows = []
    for shape in () if chosen.only_adversarial else chosen.shape or SHAPES:
        print(f"measuring {shape} …", file=sys.stderr, flush=True)
        rows.append(measure(shape, short, long, repeats))
    thoughts = []
    for what in () if chosen.only_adversarial or chosen.shape else THOUGHTS:
        print(f"measuring {what} …", file=sys.stderr, flush=True)
        thoughts.append(measure_thought(what, long, repeats))
    unnamed = []
    for what in () if chosen.only_adversarial or chosen.shape else UNNAMED:
        print(f"measuring any, {what} …", file=sys.stderr, flush=True)
        unnamed.append(measure_any(what, long, repeats))
    worst = []
    for name in () if chosen.only_cost else chosen.format or list_formats():
        print(f"slow texts for {name} …", file=sys.stderr, flush=True)
        worst.append(slowest(name, 30 if chosen.quick else 250))
    if chosen.json:
        result = {
            "tokens": [short, long],
            "rows": [asdict(row) for row in rows],
            "thoughts": [asdict(row) for row in thoughts],
            "any": [asdict(row) for row in unnamed],
            "adversarial": [asdict(row) for row in worst],
        }
        print(json.dumps(result, indent=2))
        return
    tables = [table(rows, short, long)] if rows else []
    tables += [thoughts_table(thoughts)] if thoughts else []
    tables += [any_table(unnamed)] if unnamed else []
    print("\n\n".join(tables + ([adversarial_table(worst)] if worst else [])))


if __name__ == "__main__":
    main()
