"""The benchmark of a running server measures what it says; how fast anything is, is not asked."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..gateway.conftest import Server, upstream_server
from ..gateway.scripted_answers import ONE
from ..ports import free_port
from ..support import heed_ctrl_c

# Each of them starts processes.
pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Server]:
    server = upstream_server().start()
    yield server
    server.kill()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("serve")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("serve_client")


def command(url: str, to: Path, *options: str) -> list[str]:
    script = str(BENCHMARKS / "serve.py")
    return [sys.executable, script, "--base-url", url, "--json", str(to), "--quick", *options]


def run(url: str, to: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(url, to, *options), capture_output=True, text=True, timeout=600)


def asked(model: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "?"}], "max_tokens": 100}


def test_every_level_is_in_the_report(upstream: Server, tmp_path: Path) -> None:
    to = tmp_path / "serve.json"
    options = ("--model", "chunked", "--streams", "3", "1", "--seconds", "0.2")
    done = run(f"{upstream.url}/v1", to, *options)
    assert done.returncode == 0, done.stderr
    report = json.loads(to.read_text())
    assert (report["part"], report["interrupted"]) == ("serve", False)
    table, *others = report["tables"]
    assert not others
    assert [row[0] for row in table["rows"]] == [1, 3]
    assert all(len(row) == len(table["columns"]) for row in table["rows"])
    for level in report["data"]["levels"]:
        assert level["requests"] >= level["streams"]
        assert not level["errors"]
        # The upstream says that every answer had two tokens.
        assert level["tokens_per_second"] > 0
        assert all(level["times"][what]["p99"] > 0 for what in ("first", "name", "all"))
    # The upstream calls `add`, and that is not the tool it was offered.
    assert [("no right call" in sentence) for sentence in report["wrong"]] == [True, True]


def test_the_server_may_name_its_model(upstream: Server, tmp_path: Path) -> None:
    to = tmp_path / "serve.json"
    assert run(f"{upstream.url}/v1", to, "--streams", "1", "--seconds", "0.1").returncode == 0
    (level,) = json.loads(to.read_text())["data"]["levels"]
    assert level["label"] == "weather>tell"


def test_right_calls_are_counted(serve: Any, upstream: Server) -> None:
    def right(answer: Any) -> bool:
        return bool(answer.calls == [["add", ONE]])

    target = serve.Target("toolwire x", "ours", asked("chunked"), right)
    results = serve.Results()
    serve.measure(serve.Site(f"{upstream.url}/v1"), [target], [2], 0.2, results)
    (level,) = results.levels
    assert level.right == level.requests >= 2
    assert serve.verdicts(results) == []


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("chunked+status500", "status 500: no"),
        ("chunked+error", "error in the stream: out of memory"),
        ("chunked+die", "RemoteProtocolError"),
    ],
)
def test_failed_requests_are_counted(serve: Any, upstream: Server, model: str, error: str) -> None:
    target = serve.Target("x", "ours", asked(model), lambda answer: True)
    site = serve.Site(f"{upstream.url}/v1")
    level = asyncio.run(serve.measure_level(site, target, 2, 0.1))
    ((said, count),) = level.errors.items()
    assert said.startswith(error)
    assert count == level.requests >= 2
    assert (level.right, level.tokens_per_second) == (0, None)
    assert any(error in sentence for sentence in serve.verdicts(serve.Results([level])))


def test_ours_and_theirs_are_compared_at_the_same_level(serve: Any) -> None:
    def level(label: str, kind: str, streams: int, us: float) -> Any:
        return serve.Level(label, kind, streams, 1, {}, 1, 0, 100.0, 1.0, us, {})

    results = serve.Results(
        [
            level("toolwire hermes", "ours", 1, 10.0),
            level("vLLM hermes", "theirs", 1, 5.0),
            level("toolwire hermes", "ours", 8, 10.0),
            level("vLLM hermes", "theirs", 8, 30.0),
        ]
    )
    assert serve.ratios(results)["serve_hermes"].value == 3.0
    (sentence,) = serve.in_short(results)
    assert "with vLLM's own parsers against toolwire's: `hermes` 3.0 times as much." in sentence
    (sentence,) = serve.verdicts(results)
    assert sentence.startswith("Under one stream toolwire hermes costs")


def test_what_arrives_together_is_one_piece(client: Any) -> None:
    answer = client.Answer(started=1.0)
    for moment in (2.0, 2.0002, 2.0004, 2.0006, 3.0):
        answer.take({"choices": [{"delta": {"content": "a"}}]}, moment)
    answer.take({"choices": [{"delta": {"role": "assistant"}}]}, 4.0)
    answer.take({"choices": [], "usage": {"completion_tokens": 5}}, 5.0)
    assert (answer.content, answer.arrivals, answer.gaps) == ("aaaaa", [2.0, 3.0], [1.0])
    assert answer.tokens == 5


def test_an_answer_that_takes_too_long_is_stopped(client: Any, upstream: Server) -> None:
    """The server sends half of it and then nothing more. What came until then is kept; where the
    machine was too busy for even that half, more time is given."""

    async def ask(within: float) -> Any:
        async with client.Client(f"{upstream.url}/v1") as asker:
            return await asker.ask(asked("chunked+stall"), within=within)

    for within in (1, 10, 100):
        answer = asyncio.run(ask(within))
        assert (answer.stopped, answer.error) == (True, None)
        if answer.calls:
            break
    assert answer.calls[0][0] == "add"
    assert ONE.startswith(answer.calls[0][1])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--model", "chunked+status404"], "does not serve this: status 404: no"),
        (["--model", "chunked+key", "--api-key", "wrong"], "Wrong key."),
    ],
)
def test_a_server_that_refuses(
    upstream: Server, tmp_path: Path, options: list[str], sentence: str
) -> None:
    done = run(f"{upstream.url}/v1", tmp_path / "serve.json", *options)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert sentence in line
    assert not (tmp_path / "serve.json").exists()


@pytest.mark.parametrize(
    "url", [f"http://127.0.0.1:{free_port()}/v1", "gpu-host:8000"], ids=["nothing there", "no URL"]
)
def test_no_server(tmp_path: Path, url: str) -> None:
    done = run(url, tmp_path / "serve.json")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"No server answers at {url}: ")


def test_a_server_without_a_list_of_models(upstream: Server, tmp_path: Path) -> None:
    done = run(f"{upstream.url}/elsewhere", tmp_path / "serve.json")
    assert done.returncode == 2
    assert "Name one with --model." in done.stderr


def test_the_key_is_sent_and_not_told(upstream: Server, tmp_path: Path) -> None:
    to = tmp_path / "serve.json"
    options = ("--model", "chunked+key", "--api-key", "right", "--streams", "1", "--seconds", "0.1")
    assert run(f"{upstream.url}/v1", to, *options).returncode == 0
    report = json.loads(to.read_text())
    assert not report["data"]["levels"][0]["errors"]
    assert "--api-key …" in report["command"]


def test_an_interrupted_run_leaves_what_is_finished(upstream: Server, tmp_path: Path) -> None:
    """After the first level, and long before the last of many."""
    to, levels = tmp_path / "serve.json", range(1, 61)
    options = ("--model", "chunked", "--streams", *map(str, levels), "--seconds", "2.5")
    asked = command(f"{upstream.url}/v1", to, *options)
    process = subprocess.Popen(asked, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
    assert process.stderr is not None
    for line in process.stderr:
        if (told := re.search(r"streams at once: (\d+)", line)) and int(told[1]) > 1:
            process.send_signal(signal.SIGINT)
            break
    process.communicate(timeout=600)
    assert process.returncode == 130
    report = json.loads(to.read_text())
    assert report["interrupted"] is True
    finished = [level["streams"] for level in report["data"]["levels"]]
    assert finished == list(levels[: len(finished)])
    assert 1 <= len(finished) < len(levels)
