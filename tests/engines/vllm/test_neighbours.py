"""The benchmark of a long call's neighbours, at small sizes: on the loop, and at a real server."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from vllm.tool_parsers import ToolParserManager

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
MODULES = (
    *("engine_vllm", "neighbours", "neighbours_loop", "neighbours_server"),
    *("serve", "serve_local", "workloads"),
)
SECONDS_OF_WORK = 0.005


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


@pytest.fixture(scope="module")
def slow(bench: Any) -> str:
    """The name of a parser that works for five milliseconds on every delta."""

    class Slow(bench.engine_vllm.ContentFloor):  # type: ignore[misc,name-defined]
        def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
            until = time.thread_time() + SECONDS_OF_WORK
            while time.thread_time() < until:
                pass
            return super().extract_tool_calls_streaming(*arguments)

    ToolParserManager.register_module("slow", module=Slow)
    return "slow"


def test_the_loops_clock_jumps_where_it_would_sleep(bench: Any) -> None:
    async def sleep() -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.sleep(86_400)
        assert 86_400 <= loop.time() - started < 86_401

    bench.neighbours_loop.run(sleep())


def test_a_loop_that_would_wait_forever_says_so(bench: Any) -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="no timer"):
        bench.neighbours_loop.run(wait())


@pytest.mark.parametrize("parser", ["floor_content", "toolwire_hermes", "hermes"])
def test_a_slow_engine_gives_one_token_at_a_time(scene: Any, parser: str) -> None:
    gaps = scene.measure(parser, 1, start=5, tokens=20)
    # Of twenty tokens there are nineteen gaps, for each of the seven.
    assert len(gaps.seconds) == gaps.tokens == 7 * 19
    assert all(0.9 < gap < 1.1 for gap in gaps.seconds)


def test_where_the_loop_is_late_tokens_come_together(scene: Any, slow: str) -> None:
    gaps = scene.measure(slow, 1000, start=0, tokens=60)
    assert len(gaps.seconds) < gaps.tokens <= 7 * 60
    # All eight work on the same loop before a neighbour's turn comes again.
    assert all(gap >= 8 * SECONDS_OF_WORK for gap in gaps.seconds)


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
def test_eight_clients_at_a_real_server(bench: Any, scene: Any, running: Any, parser: str) -> None:
    (call,) = bench.workloads.file(4)
    text = bench.workloads.WRITERS["qwen3_coder"]([call])
    steps = bench.workloads.cut(scene.tokenizer, text)
    visit = bench.neighbours_server.Visit(
        running.base_url, parser, steps, scene.chat, call[1]["content"], pace=50, longest=120
    )
    seen = visit.run()
    assert not seen.errors
    assert seen.whole
    assert not seen.stopped
    assert len(seen.gaps) > len(steps)  # seven chats, each about as long as the file


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
        assert level.right == level.requests == 2
        assert not level.errors
        assert level.server_us is not None
