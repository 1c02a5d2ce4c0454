"""The benchmark of a long call's neighbours, at small sizes: on the loop, and at a real server."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from in_step import LEAD, Client, visit
from token_gate import Gate
from vllm.tool_parsers import ToolParserManager

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
MODULES = (
    *("engine_vllm", "neighbours", "neighbours_loop", "neighbours_server"),
    *("serve", "serve_local", "workloads", "work"),
)
SECONDS_OF_WORK = 0.005


class Clock:
    """Processor time that passes when a parser says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    """The benchmark's modules by their names. They set the environment and the log of the process that
    they are meant to have to themselves; the tests after these get both back."""
    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    logging.disable(logging.NOTSET)
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def scene(bench: Any) -> Any:
    bench.engine_vllm.prepare()
    work = bench.workloads
    tokenizer = work.load_tokenizer()
    written = work.cut(tokenizer, work.WRITERS["hermes"](work.file(4)))
    return bench.neighbours_loop.Scene(tokenizer, written, work.cut(tokenizer, work.prose(2)))


@pytest.fixture(scope="module")
def running(bench: Any, scene: Any) -> Iterator[Any]:
    with bench.serve_local.server(scene.tokenizer) as started:
        yield started


@pytest.fixture
def clock(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the loop takes for its processor time."""
    clock = Clock()
    monkeypatch.setattr(bench.neighbours_loop, "time", clock)
    return clock


@pytest.fixture
def slow(bench: Any, clock: Clock) -> str:
    """The name of a parser that works for five milliseconds on every delta."""

    class Slow(bench.engine_vllm.ContentFloor):  # type: ignore[misc,name-defined]
        def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
            clock.now += SECONDS_OF_WORK
            return super().extract_tool_calls_streaming(*arguments)

    ToolParserManager.register_module("slow", module=Slow)
    return "slow"


def test_the_loops_clock_jumps_where_it_would_sleep(bench: Any, clock: Clock) -> None:
    async def sleep() -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.sleep(86_400)
        assert loop.time() - started == pytest.approx(86_400)
        clock.now += 5
        assert loop.time() - started == pytest.approx(86_405)

    bench.neighbours_loop.run(sleep())


def test_a_loop_that_would_wait_forever_says_so(bench: Any) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="no timer"):
        bench.neighbours_loop.run(wait())


@pytest.mark.parametrize("parser", ["floor_content", "toolwire_hermes", "hermes"])
@pytest.mark.usefixtures("clock")
def test_a_slow_engine_gives_one_token_at_a_time(scene: Any, parser: str) -> None:
    gaps = scene.measure(parser, 1, start=5, tokens=20)
    # Of twenty tokens there are nineteen gaps, for each of the seven.
    assert len(gaps.seconds) == gaps.tokens == 7 * 19
    assert gaps.seconds == pytest.approx([1] * len(gaps.seconds))


def test_where_the_loop_is_late_tokens_come_together(scene: Any, slow: str) -> None:
    gaps = scene.measure(slow, 1000, start=0, tokens=60)
    assert len(gaps.seconds) < gaps.tokens <= 7 * 60
    # All eight work on the same loop before a neighbour's turn comes again.
    assert min(gaps.seconds) == pytest.approx(8 * SECONDS_OF_WORK)


@pytest.mark.usefixtures("clock")
def test_windows_are_spread_over_the_file(scene: Any) -> None:
    starts = scene.starts(4, 32)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert starts[-1] + 32 == len(scene.file)
    # A file shorter than a window is one window.
    assert set(scene.starts(2, 100_000)) == {0}
    assert scene.measure("toolwire_hermes", 50, 0, 100_000).tokens > 0


def test_the_quick_report(bench: Any, tmp_path: Path) -> None:
    neighbours, to = bench.neighbours, tmp_path / "neighbours.json"
    assert neighbours.main(["--quick", "--kilobytes", "1", "--json", str(to)]) == 0
    report = json.loads(to.read_text())
    assert (report["part"], report["interrupted"]) == ("neighbours", False)
    (table,) = report["tables"]
    found = {(row[0], row[1]) for row in table["rows"]}
    labels = [subject.label for subject in neighbours.SUBJECTS]
    assert found == {(rate, label) for rate in neighbours.RATES for label in labels}
    assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert set(report["ratios"]) == {"neighbours_hermes", "neighbours_qwen3_coder"}
    assert "left out of the quick run" in report["about"]
    for plot in report["plots"]:
        assert all(len(series["x"]) == len(series["y"]) for series in plot["series"])


def test_what_is_finished_is_left_when_it_is_interrupted(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes, done = bench.neighbours_loop.Scene, []
    measure = scenes.measure

    def interrupted(*arguments: Any) -> Any:
        done.append(arguments)
        if len(done) > 2 * bench.neighbours.QUICK.windows:  # in the third parser's first window
            raise KeyboardInterrupt
        return measure(*arguments)

    monkeypatch.setattr(scenes, "measure", interrupted)
    neighbours, to = bench.neighbours, tmp_path / "neighbours.json"
    assert neighbours.main(["--quick", "--kilobytes", "1", "--json", str(to)]) == 130
    report = json.loads(to.read_text())
    assert report["interrupted"] is True
    assert len(report["tables"][0]["rows"]) == 2


@pytest.mark.parametrize("parser", ["toolwire_qwen3_coder", "qwen3_coder"])
def test_the_visit_of_a_real_server(bench: Any, scene: Any, running: Any, parser: str) -> None:
    (call,) = bench.workloads.file(4)
    text = bench.workloads.WRITERS["qwen3_coder"]([call])
    steps = bench.workloads.cut(scene.tokenizer, text)
    visit = bench.neighbours_server.Visit(
        running.base_url, parser, steps, scene.chat, call[1]["content"], pace=50, longest=600
    )
    seen = visit.run()
    assert (seen.errors, seen.whole, seen.stopped) == ([], True, False)
    assert seen.seconds > 0
    assert all(gap > 0 for gap in seen.gaps)


def test_gaps_count_for_as_long_as_the_file_is_written(bench: Any) -> None:
    server = bench.neighbours_server
    written = server.Answer(1.0, ended=10.0, calls=[["write_file", '{"content": "a"}']])
    chats = [server.Answer(1.0, arrivals=arrivals) for arrivals in ([2, 3, 5], [8.5, 9, 11], [4])]
    seen = server.Visit("", "", [], [], "a", 50, 60).seen(written, chats)
    assert (seen.gaps, seen.seconds, seen.whole) == ([1, 2, 0.5], 9, True)


@pytest.mark.parametrize("parser", ["toolwire_hermes", "toolwire_qwen3_coder"])
def test_eight_clients_at_a_real_server(
    bench: Any, scene: Any, running: Any, parser: str, tmp_path: Path
) -> None:
    """In every step of the model each of eight clients gets its token, the seven as well as the one that
    has a file written: nobody's answer waits for another's. How much work a step is: see below."""
    work, request = bench.workloads, bench.serve_local.request
    (call,) = work.file(4)
    text = work.WRITERS[parser.removeprefix("toolwire_")]([call])
    chat = list(scene.chat) * 100  # longer than the file, however late that begins
    writer, *others = (
        Client(request(parser, steps), Gate(tmp_path / str(number)))
        for number, steps in enumerate([work.cut(scene.tokenizer, text), *[chat] * 7])
    )
    log = asyncio.run(visit(running.base_url, writer, others))
    ((name, arguments),) = writer.answer.calls
    assert (name, json.loads(arguments)) == call
    for client, tokens, answer in log:
        if client is not writer:
            said, content = "".join(text for text, _ in chat[:tokens]), answer.content or ""
            assert said.startswith(content)
            # At a call's edge whitespace is markup, so it waits; nothing else does.
            assert not said[len(content) :].strip()
    moves = [(client, tokens) for client, tokens, _ in log]
    first = next(at for at, (client, _) in enumerate(moves) if client is writer)
    for other in others:
        check_in_step(moves[first:], writer, other)


def check_in_step(moves: list[tuple[Client, int]], one: Client, other: Client) -> None:
    """Neither is ever further on than tokens can be under way, counted from where both write."""
    started = dict(reversed(moves))
    now = dict(started)
    for client, tokens in moves:
        now[client] = tokens
        ahead = (now[one] - started[one]) - (now[other] - started[other])
        assert abs(ahead) <= 2 * LEAD


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder"])
@pytest.mark.parametrize("what", ["file", "chat"])
def test_a_delta_is_no_more_work_when_much_came_before(
    bench: Any, scene: Any, format: str, what: str
) -> None:
    """As vLLM's server has it read, and with the core that is installed, compiled or not."""

    def written(lines: int) -> str:
        work = bench.workloads
        return work.WRITERS[format](work.file(lines)) if what == "file" else work.prose(lines)

    short, long = short_and_long(bench, scene, f"toolwire_{format}", written)
    assert long.steps <= short.steps
    assert long.held <= short.held + 16  # a number may have got another digit
    assert (short.waits, long.waits) == (0, 0)


def short_and_long(bench: Any, scene: Any, parser: str, written: Callable[[int], str]) -> Any:
    """The most work that a delta is, in a text and in one that is four times as long."""

    def make() -> tuple[object, Callable[[Any], object]]:
        stream = bench.engine_vllm.Stream(scene.tokenizer, parser, bench.workloads.TOOLS)
        return stream.parser, lambda delta: stream.feed([delta])

    def most(lines: int) -> Any:
        deltas = bench.workloads.cut(scene.tokenizer, written(lines))
        return bench.work.most(make, deltas, [bench.engine_vllm.as_served(scene.tokenizer)])

    most(1)  # what is made once and kept for all: patterns, tables
    return most(4), most(16)


def test_more_work_would_be_seen(bench: Any, scene: Any) -> None:
    class Rereads(bench.engine_vllm.ContentFloor):  # type: ignore[misc,name-defined]
        """Searches all that came, at every delta."""

        text = ""

        def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
            self.text += arguments[2]
            found = "<tool_call>" in self.text
            return None if found else super().extract_tool_calls_streaming(*arguments)

    ToolParserManager.register_module("rereads", module=Rereads)
    short, long = short_and_long(bench, scene, "rereads", bench.workloads.prose)
    assert long.held > short.held + 500


def test_a_file_that_takes_too_long_is_stopped(bench: Any, scene: Any, running: Any) -> None:
    visit = bench.neighbours_server.Visit(
        running.base_url, "toolwire_hermes", scene.file, scene.chat, "", pace=10, longest=2
    )
    seen = visit.run()
    assert (seen.stopped, seen.whole, seen.errors) == (True, False, [])


def test_ours_and_theirs_under_load(bench: Any, scene: Any, running: Any) -> None:
    serve = bench.serve
    site = serve.Site(running.base_url, running=running)
    results = serve.Results()
    serve.measure(site, serve.local_targets(scene.tokenizer, ["hermes"]), [2], 0.1, results)
    assert [level.label for level in results.levels] == ["toolwire hermes", "vLLM hermes"]
    for level in results.levels:
        assert level.right == level.requests >= 2  # one each, or more where they are quick
        assert not level.errors
        assert level.server_us is not None
