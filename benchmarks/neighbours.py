"""What one client's long tool call does to the other clients of the same server.

    .venvs/vllm/bin/python benchmarks/neighbours.py --json FILE [--quick]

One client has a file of 32 KB written through a tool call, seven others chat. A server's parsers all
run on one event loop, so time that the writer's parser takes is time in which nobody gets a token.
Measured is the gap between one piece of a chat and the next: in process, with a scripted engine
(`neighbours_loop`), and at vLLM's real server (`neighbours_server`; left out with --quick).
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import engine_vllm
import part
import serve_local
from neighbours_loop import NEIGHBOURS, Gaps, Scene, heap_as_in_a_server
from neighbours_server import Seen, Visit
from part import Kind, Plot, Ratio, Series, Table
from serve_client import percentile
from toolwire.errors import ToolwireError
from vllm.tokenizers.hf import get_cached_tokenizer
from workloads import CODE, WRITERS, cut, file, load_tokenizer, prose

KILOBYTES = 32
FORMATS = ("hermes", "qwen3_coder")
#: The server has time for one of them; this is what models that write code are served with.
SERVER_FORMAT = "qwen3_coder"
SERVER_RATE = 200.0
LONGEST = 40.0  # seconds: a file that takes longer is stopped
RATES = (50, 200, 1000)  # tokens a second and stream
RATIO_RATE = 200  # … that is spoken of
#: Ours may be this much behind before it is called wrong: two runs differ by less.
TOLERANCE = 1.25


@dataclass(frozen=True)
class Plan:
    rounds: int
    windows: int
    tokens: int  # in a window
    server: bool


FULL = Plan(rounds=3, windows=6, tokens=128, server=True)
QUICK = Plan(rounds=1, windows=4, tokens=96, server=False)


@dataclass(frozen=True)
class Subject:
    label: str
    parser: str
    format: str
    kind: Kind


FLOOR = Subject("no parser", "floor_content", FORMATS[-1], "floor")
SUBJECTS = [FLOOR]
SUBJECTS += [Subject(f"toolwire {name}", f"toolwire_{name}", name, "ours") for name in FORMATS]
SUBJECTS += [Subject(f"vLLM {name}", name, name, "theirs") for name in FORMATS]


@dataclass
class Cell:
    """One parser at one rate: for every round, what was seen in each window."""

    subject: Subject
    rate: int
    starts: list[int]  # of the windows: what was written then, in KB
    rounds: list[list[Gaps]] = field(default_factory=list)

    def gap(self, share: float) -> float:
        """Of a round the percentile (in ms), of the rounds the median."""
        return statistics.median(
            _ms(percentile([gap for window in done for gap in window.seconds], share))
            for done in self.rounds
        )

    def gap_in(self, window: int, share: float) -> float:
        return statistics.median(
            _ms(percentile(done[window].seconds, share)) for done in self.rounds
        )

    @property
    def at_the_end(self) -> float:
        """The median gap in the last window, when the call is longest."""
        return self.gap_in(-1, 0.5)

    @property
    def tokens_a_piece(self) -> float:
        windows = [window for done in self.rounds for window in done]
        return sum(w.tokens for w in windows) / max(1, sum(len(w.seconds) for w in windows))


@dataclass
class Results:
    kilobytes: int = KILOBYTES  # of the file
    cells: list[Cell] = field(default_factory=list)
    server: dict[Kind, Seen] = field(default_factory=dict)  # by whose parser it was

    def find(self, subject: Subject, rate: int) -> Cell | None:
        for cell in self.cells:
            if (cell.subject, cell.rate) == (subject, rate):
                return cell
        return None

    def add(self, subject: Subject, rate: int, starts: list[int], windows: list[Gaps]) -> None:
        cell = self.find(subject, rate)
        if cell is None:
            cell = Cell(subject, rate, starts)
            self.cells.append(cell)
        cell.rounds.append(windows)

    def pairs(self) -> list[tuple[Cell, Cell]]:
        """Ours and theirs: the same format, the same rate."""
        return [
            (ours, theirs)
            for ours in self.cells
            for theirs in self.cells
            if (ours.subject.kind, theirs.subject.kind) == ("ours", "theirs")
            and (ours.subject.format, ours.rate) == (theirs.subject.format, theirs.rate)
        ]


def _ms(seconds: float | None) -> float:
    return 1000 * (seconds or 0.0)


# Measuring


def measure_loop(plan: Plan, tokenizer: Any, results: Results) -> None:
    """All parsers take turns, so that a busy machine is busy for all of them."""
    repeats = max(1, results.kilobytes * 1024 // len(CODE))
    chat = cut(tokenizer, prose(10))
    cached = get_cached_tokenizer(tokenizer)  # as the server has it
    scenes = {
        name: Scene(cached, cut(tokenizer, WRITERS[name](file(repeats))), chat) for name in FORMATS
    }
    cells = [(rate, subject) for rate in RATES for subject in SUBJECTS] * plan.rounds
    with heap_as_in_a_server():
        for number, (rate, subject) in enumerate(cells, 1):
            told = f"{subject.label} at {rate} tokens/s"
            part.progress(f"in process: {told} ({number} of {len(cells)})")
            scene = scenes[subject.format]
            starts = scene.starts(plan.windows, plan.tokens)
            windows = [scene.measure(subject.parser, rate, s, plan.tokens) for s in starts]
            written = [round(results.kilobytes * start / len(scene.file)) for start in starts]
            results.add(subject, rate, written, windows)


def measure_server(tokenizer: Any, results: Results) -> None:
    (call,) = file(max(1, results.kilobytes * 1024 // len(CODE)))
    steps = cut(tokenizer, WRITERS[SERVER_FORMAT]([call]))
    chat = cut(tokenizer, prose(10))
    content = call[1]["content"]
    with serve_local.server(tokenizer) as running:
        parsers: dict[Kind, str] = {"ours": f"toolwire_{SERVER_FORMAT}", "theirs": SERVER_FORMAT}
        for kind, name in parsers.items():
            visit = Visit(running.base_url, name, steps, chat, content, SERVER_RATE, LONGEST)
            results.server[kind] = visit.run()


# The report

NAMES = {"ours": f"toolwire {SERVER_FORMAT}", "theirs": f"vLLM {SERVER_FORMAT}"}


def loop_table(results: Results) -> Table:
    return Table(
        title="In process: the gap between two pieces of a neighbour's chat",
        columns=["tokens/s", "parser", "p50 ms", "p99 ms", "max ms", "tokens a piece"],
        rows=[
            [
                cell.rate,
                cell.subject.label,
                round(cell.gap(0.5), 2),
                round(cell.gap(0.99), 2),
                round(cell.gap(1), 1),
                round(cell.tokens_a_piece, 2),
            ]
            for cell in results.cells
        ],
        note="tokens/s are those of each stream. Tokens a piece: 1 where the loop keeps up with the "
        "engine; where it does not, tokens wait and come together.",
    )


def server_table(results: Results) -> Table:
    return Table(
        title=f"The real server: {NEIGHBOURS} chats beside one file",
        columns=["parser", "p50 ms", "p99 ms", "max ms", "the file took s", "the call"],
        rows=[
            [
                NAMES[kind],
                round(_ms(percentile(seen.gaps, 0.5)), 1),
                round(_ms(percentile(seen.gaps, 0.99)), 1),
                round(_ms(max(seen.gaps, default=0)), 1),
                round(seen.seconds, 1),
                "whole" if seen.whole else _how_far(seen),
            ]
            for kind, seen in results.server.items()
        ],
        note=f"The engine makes at most {SERVER_RATE:.0f} tokens a second and stream.",
    )


def _how_far(seen: Seen) -> str:
    reached = f"{seen.characters:,} characters"
    return f"stopped after {reached}" if seen.stopped else f"not as written ({reached})"


def plots(results: Results) -> list[Plot]:
    return [
        *(loop_plots(results) if results.cells else []),
        *([server_plot(results)] if results.server else []),
    ]


def server_plot(results: Results) -> Plot:
    shares = {"p50": 0.5, "p99": 0.99}
    return Plot(
        name="neighbours_server",
        title="The same at vLLM's real server",
        kind="bars",
        x_label="",
        y_label="gap between two pieces of a chat (ms)",
        series=[
            Series(
                NAMES[kind],
                kind,
                list(shares),
                [round(_ms(percentile(seen.gaps, share)), 1) for share in shares.values()],
            )
            for kind, seen in results.server.items()
        ],
    )


def loop_plots(results: Results) -> list[Plot]:
    by_subject = {s.label: [c for c in results.cells if c.subject == s] for s in SUBJECTS}
    found = [
        Plot(
            name="neighbours",
            title=f"One client writes a {results.kilobytes} KB file: the gap that the others see",
            kind="lines",
            x_label="tokens a second and stream",
            y_label="p99 gap between two pieces of a chat (ms)",
            x_log=True,
            y_log=True,
            series=[
                Series(
                    s.label,
                    s.kind,
                    [cell.rate for cell in by_subject[s.label]],
                    [cell.gap(0.99) for cell in by_subject[s.label]],
                )
                for s in SUBJECTS
            ],
        )
    ]
    growing = [cell for cell in results.cells if cell.rate == RATIO_RATE]
    if growing:
        found.append(
            Plot(
                name="neighbours_growth",
                title=f"… and how it grows with what is already written ({RATIO_RATE} tokens/s)",
                kind="lines",
                x_label="KB of the file written so far",
                y_label="median gap between two pieces of a chat (ms)",
                series=[
                    Series(
                        cell.subject.label,
                        cell.subject.kind,
                        cell.starts,
                        [cell.gap_in(number, 0.5) for number in range(len(cell.starts))],
                    )
                    for cell in growing
                ],
            )
        )
    return found


def verdicts(results: Results) -> list[str]:
    """What is not as promised: neighbours of ours never wait longer than those of vLLM's own."""
    wrong = []
    for ours, theirs in results.pairs():
        for share in (0.5, 0.99):
            if ours.gap(share) > TOLERANCE * theirs.gap(share):
                wrong.append(
                    f"{ours.subject.label} makes neighbours wait {ours.gap(share):.1f} ms (p"
                    f"{100 * share:.0f}) at {ours.rate} tokens/s, {theirs.subject.label} "
                    f"{theirs.gap(share):.1f} ms."
                )
    for kind, seen in results.server.items():
        if seen.errors:
            wrong.append(f"{NAMES[kind]}: {len(seen.errors)} requests failed: {seen.errors[0]}")
        if kind == "ours" and not (seen.whole or seen.stopped):
            wrong.append(f"{NAMES[kind]}: the call on the server was {_how_far(seen)}.")
    return wrong


def ratios(results: Results) -> dict[str, Ratio]:
    """Of the loop only: what the real server shows on a busy machine, two runs do not agree on. Nor
    do they on the p99 of a loop that can't keep up: near that point, a little noise is a long wait."""
    found = {}
    for cells in results.pairs():
        if cells[0].rate == RATIO_RATE:
            name = cells[0].subject.format
            ours, theirs = (cell.at_the_end for cell in cells)
            found[f"neighbours_{name}"] = Ratio(
                round(theirs / ours, 2),
                f"At {RATIO_RATE} tokens a second, when one client's file of {results.kilobytes} KB is "
                f"nearly written, its neighbours' median wait for the next token is {ours:.1f} ms with "
                f"toolwire's {name} parser, {theirs:.1f} ms with vLLM's own: "
                f"{theirs / ours:.2f} times as long.",
            )
    return found


def in_short(results: Results) -> list[str]:
    pairs = [cells for cells in results.pairs() if cells[0].rate == RATIO_RATE]
    times = [
        f"`{ours.subject.format}` {theirs.at_the_end / ours.at_the_end:.1f} times"
        for ours, theirs in pairs
    ]
    if not times:
        return []
    return [
        f"**When one client's file of {results.kilobytes} KB is nearly written**, at {RATIO_RATE} "
        "tokens a second, the others' median wait for their next token, with vLLM's own parsers "
        f"against toolwire's: {', '.join(times)} as long."
    ]


ABOUT = (
    "One client has a file of {} KB written through a tool call while seven others chat; all have "
    "the tools declared, so every answer goes through the server's tool parser, on the one event "
    "loop that serves everybody. Measured is how long each of the seven waits between one piece of "
    "its answer and the next. In process, eight streams share an event loop with nothing on it but "
    "vLLM's own parse_delta, and a scripted engine gives each stream its next token at the rates of "
    "a GPU; tokens that the loop is late for go in together, as vLLM merges them. That loop's clock "
    "counts processor time and jumps where the loop would sleep, so other programs do not disturb "
    "it. The file's writing is sampled in windows spread over it from beginning to end. No "
    "parser is the floor: the same loop, where each token only becomes a message. "
)
ABOUT_SERVER = (
    f"On vLLM's real server the whole file is written, in the {SERVER_FORMAT} format, over HTTP. Its "
    "model is a tiny one whose answers are scripted, so that a CPU keeps a GPU's pace. With toolwire a "
    "token that is nothing but whitespace goes out with the next one, since at a call's edge it is "
    "markup. The chats have one in each line, and there a gap is two steps long: that is its p99."
)
ABOUT_QUICK = "The real server is left out of the quick run."


def report(
    results: Results, plan: Plan, started: str, seconds: float, interrupted: bool
) -> part.Part:
    tables = [server_table(results)] if results.server else []
    return part.Part(
        part="neighbours",
        title="What a long tool call does to its neighbours",
        about=ABOUT.format(results.kilobytes) + (ABOUT_SERVER if plan.server else ABOUT_QUICK),
        command=part.command(),
        started=started,
        seconds=round(seconds, 1),
        versions=part.versions(*engine_vllm.PACKAGES),
        machine=part.machine(),
        tables=[*tables, loop_table(results)],
        plots=plots(results),
        wrong=verdicts(results),
        ratios=ratios(results),
        summary=in_short(results),
        data=raw(results),
        interrupted=interrupted,
    )


def raw(results: Results) -> dict[str, Any]:
    """Percentiles instead of the hundred thousand gaps themselves."""
    shares = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1)

    def spread(gaps: Sequence[float]) -> dict[str, Any]:
        found = {f"p{100 * share:g}": round(_ms(percentile(gaps, share)), 3) for share in shares}
        return {"gaps": len(gaps), **found}

    return {
        "unit": "milliseconds",
        "loop": [
            {
                "subject": asdict(cell.subject),
                "rate": cell.rate,
                "starts": cell.starts,
                "rounds": [[spread(window.seconds) for window in done] for done in cell.rounds],
            }
            for cell in results.cells
        ],
        "server": {
            kind: {**asdict(seen), "gaps": spread(seen.gaps)}
            for kind, seen in results.server.items()
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--json", type=Path, metavar="FILE", required=True)
    options.add_argument("--quick", action="store_true", help="shorter, and without the server")
    options.add_argument("--kilobytes", type=int, default=KILOBYTES, help="of the file")
    chosen = options.parse_args(arguments)
    plan = QUICK if chosen.quick else FULL
    started, clock = part.now(), time.perf_counter()
    results, interrupted = Results(chosen.kilobytes), False
    try:
        engine_vllm.prepare()
        tokenizer = load_tokenizer()
        if plan.server:
            measure_server(tokenizer, results)
        measure_loop(plan, tokenizer, results)
    except KeyboardInterrupt:
        interrupted = True
    except ToolwireError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        part.progress_done()
    seconds = time.perf_counter() - clock
    part.write(chosen.json, report(results, plan, started, seconds, interrupted))
    return 130 if interrupted else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the same as Ctrl-C
    sys.exit(main())
