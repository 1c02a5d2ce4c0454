"""What engines count and keep of messages, without an engine."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from toolwire import Content, ToolwireError, get_format
from toolwire.cli import main
from toolwire.core.parser import EventParser
from toolwire.engines.capture import Folder, Record, capture_store, open_store
from toolwire.engines.sglang.handover import HandedOver, hand_over, hand_over_drift
from toolwire.openai.repair import Repair
from toolwire.openai.request import read_parts
from toolwire.replay.exchanges import read_exchange, replay_exchange

from .support import TOOLS

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
UNKNOWN = CALL.replace("add", "no_such_tool")


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"toolwire_{name}_total", {"format": "hermes", **labels}) or 0


def read(text: str, pieces: int = 5, repair: Repair | None = None) -> Record:
    """A message that is streamed through a record, as an engine does it."""
    parser = EventParser(get_format("hermes"), TOOLS)
    record = Record("hermes", read_parts(TOOLS, None), repair or Repair((), TOOLS), parser)
    for start in range(0, len(text), pieces):
        record.came(text[start : start + pieces])
        record.see(parser.feed(text[start : start + pieces]))
    record.see(parser.finish())
    record.done()
    return record


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLWIRE_CAPTURE", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.mark.parametrize(
    ("text", "outcome", "kind", "off"),
    [
        (CALL, "complete", "calls", None),
        (CALL[:-14], "incomplete", "calls", "incomplete"),
        (UNKNOWN, "unknown_tool", "calls", "unknown_tool"),
        ("Hello.", None, "text", None),
        ("<tool_call> is how I would write it.", None, "text", "marker_without_call"),
        (CALL.replace("arguments", "parameters"), "complete", "calls", "opening"),
        (f"{CALL}</tool_call>", "complete", "calls", "closing"),
    ],
)
def test_a_message_is_counted_once_and_kept_if_something_was_off(
    text: str, outcome: str | None, kind: str, off: str | None, folder: Path
) -> None:
    def counted() -> list[float]:
        calls = value("calls", outcome=outcome) if outcome else 0
        return [value("messages", kind=kind), calls, value("drift", what=off or "")]

    before = counted()
    read(text)
    drifts = off not in (None, "incomplete", "unknown_tool")
    added = [1, 1 if outcome else 0, 1 if drifts else 0]
    assert counted() == [b + a for b, a in zip(before, added, strict=True)]
    kept = [json.loads(path.read_text()) for path in folder.glob("*")]
    assert [one["reason"] for one in kept] == ([off] if off else [])


def test_a_repaired_call() -> None:
    repair = Repair("names", TOOLS)
    before = value("calls", outcome="repaired")
    repair.counts["names"] = 2
    read(CALL, repair=repair)
    assert value("calls", outcome="repaired") == before + 2


def test_what_is_kept_can_be_run_again(folder: Path) -> None:
    read(f"So: {UNKNOWN}{CALL[:-14]}")
    (path,) = folder.glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    exchange = read_exchange(path)
    assert exchange["tools"][0]["function"]["name"] == "add"
    sent = "".join(replay_exchange(exchange))
    assert '"name": "add"' in sent.replace('"name":"add"', '"name": "add"')
    assert [one["reason"] for one in exchange["findings"]] == ["incomplete", "unknown_tool"]


def test_the_command_lists_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in (UNKNOWN, UNKNOWN, "\x1b<tool_call>"):
        read(text)
    assert main(["capture", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == [
        "FILE",
        "TIME",
        "FORMAT",
        "WHAT",
        "WAS",
        "OFF",
        "MESSAGE",
    ]
    assert "\x1b" not in shown
    assert main(["capture", str(folder), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["counts"][0] == {"format": "hermes", "reason": "unknown_tool", "messages": 2}
    assert [one["text"] for one in found["messages"]] == ["\x1b<tool_call>", UNKNOWN, UNKNOWN]


def test_the_folder_is_bounded(tmp_path: Path) -> None:
    store = Folder(tmp_path, files=3, size=1000)
    for number in range(5):
        store.keep({"number": number})
    numbers = [json.loads(path.read_text())["number"] for path in sorted(tmp_path.iterdir())]
    assert numbers == [2, 3, 4]
    store.keep({"number": 5, "text": "x" * 600})
    store.keep({"number": 6, "text": "x" * 600})
    assert [json.loads(path.read_text())["number"] for path in tmp_path.iterdir()] == [6]


def test_off_by_default_and_a_place_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("TOOLWIRE_CAPTURE", raising=False)
    assert capture_store() is None
    stream = object()
    parser = EventParser(get_format("hermes"))
    record = Record("hermes", read_parts(None, None), Repair((), None), parser)
    assert record.around(stream) is stream, "nothing stands in a token's way"
    (tmp_path / "file").write_text("")
    for place in (str(tmp_path / "file" / "folder"), "s3://bucket"):
        with pytest.raises(ToolwireError, match="TOOLWIRE_CAPTURE"):
            open_store(place)
        monkeypatch.setenv("TOOLWIRE_CAPTURE", place)
        assert capture_store() is None
        read(UNKNOWN)
    assert len([r for r in caplog.records if "TOOLWIRE_CAPTURE" in r.message]) == 2


def test_a_long_message_is_kept_as_far_as_it_goes(folder: Path) -> None:
    read("<tool_call>" + "x" * 3_000_000, pieces=100_000)
    (path,) = folder.glob("*.json")
    assert path.stat().st_size < 2_000_000


def test_a_folder_that_holds_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capture", str(tmp_path)]) == 0
    (tmp_path / "x.json").write_text("[]")
    assert main(["capture", str(tmp_path)]) == 2
    assert "is not a captured message" in capsys.readouterr().err
    assert main(["capture", str(tmp_path / "none")]) == 2


def test_drift_goes_over_where_another_detector_counts() -> None:
    """In SGLang the reasoning detector reads, and the tool call detector counts."""
    parser = HandedOver()
    said = [Content("x")]
    assert parser.feed(hand_over(said)) == said
    assert parser.drift == []
    assert parser.feed(hand_over(said) + hand_over_drift(["closing", "opening"])) == said
    assert parser.drift == ["closing", "opening"]
    assert hand_over_drift([]) == ""
