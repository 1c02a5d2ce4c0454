"""The part `cache`: real templates and turns; what an engine's parsers would say is written here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cache
import cache_turns
import pytest
import workers
from cache_turns import Case

ROOT = Path(__file__).parents[2]
OURS = ROOT / "chat_templates" / "chatml-hermes.jinja"

Reading = Callable[[Case], dict[str, Any] | None]


@pytest.fixture(scope="module")
def drawn() -> list[cache.Row]:
    cases = list(cache_turns.cases(OURS, quick=True))
    return [row_of(case) for case in cases]


def row_of(case: Case) -> cache.Row:
    message = cache_turns.read_by_toolwire(case)
    by = {
        cache.TOOLWIRE: cache_turns.judged(case, message),
        cache.BEST: cache_turns.judged_at_best(case),
    }
    return cache.Row(case, cache_turns.right(case, message), by)


def with_engine(rows: Sequence[cache.Row], read: Reading) -> list[cache.Row]:
    """The same rows, as another parser reads them."""
    found = [cache.Row(row.case, row.right, dict(row.by)) for row in rows]
    for row in found:
        message = read(row.case)
        if message is not None:
            row.by["vLLM"] = cache_turns.judged(row.case, message)
    return found


def greedy(case: Case) -> dict[str, Any]:
    """A parser that gives all text before a call to the content, white space and all."""
    message = cache_turns.read_by_toolwire(case)
    return {**message, "content": case.turn.said.text + case.turn.gap}


def part_of(rows: Sequence[cache.Row]) -> Any:
    return cache.as_part(rows, workers.Outcome(), "2025-01-02T03:04:05+00:00", 1.0)


def test_turns_are_drawn_in_all_ways(drawn: list[cache.Row]) -> None:
    ways = {
        (len(turn.said.calls), bool(turn.said.text), bool(turn.said.thought))
        for turn in (row.case.turn for row in drawn)
    }
    assert len(ways) == 8
    assert {row.case.format for row in drawn} == {"hermes"}
    assert all(row.right for row in drawn)


def test_toolwire_loses_only_other_white_space(drawn: list[cache.Row]) -> None:
    for row in drawn:
        found = row.by[cache.TOOLWIRE]
        assert found.kept == row.case.turn.usual
        assert found.place == ("" if row.case.turn.usual else "gap")
        assert row.by[cache.BEST].kept


def test_the_report(drawn: list[cache.Row]) -> None:
    found = part_of(with_engine(drawn, greedy))
    ways, places, unread, templates = found.tables
    assert ways.columns == [
        "turns", "toolwire", "at best", "vLLM's own", "toolwire, same turns",
    ]  # fmt: skip
    rows = {row[0]: row[1:] for row in ways.rows}
    assert "official templates" not in rows
    assert rows["all turns"][0] == rows["all turns"][1] == "100 %, 0 (8 of 8)"
    assert rows["text before calls"][2].startswith("0 %, ")
    assert rows["text before calls"][2].endswith(" (0 of 4)")
    assert rows["no text before calls"][2] == "100 %, 0 (4 of 4)"
    assert rows[cache.OTHERWISE][0].startswith("0 %, ")
    assert [row for row in places.rows if row[1] or row[2]] == [["white space before calls", 4, 0]]
    assert [row[:2] for row in unread.rows] == [["toolwire", 0], ["vLLM", 0]]
    assert templates.rows[0][:2] == ["chatml-hermes", "hermes"]
    assert found.wrong == []
    assert found.ratios["toolwire"].value == 1
    assert found.ratios["vllm"].value == 0.5
    (sentence,) = found.summary
    usual, otherwise = sentence.split(
        "; where they are apart by other white space, which is no text by rule 10 on purpose, "
    )
    assert usual.endswith(
        "toolwire 100 % (at best 100 %), vLLM's own 50 % (toolwire 100 % of the same turns)"
    )
    assert otherwise.startswith("toolwire 0 % (at best 100 %), vLLM's own 0 % (")


def test_turns_that_a_parser_does_not_read_are_left_out(drawn: list[cache.Row]) -> None:
    def reads_one(case: Case) -> dict[str, Any] | None:
        if case.turn.said.thought:
            return None  # no parser of its own
        found = greedy(case)
        return {**found, "tool_calls": found["tool_calls"][:1]}

    rows = with_engine(drawn, reads_one)
    theirs, ours = cache.compared(cache.usual(rows), "vLLM")
    assert theirs.turns == ours.turns == 2  # one call, with text and without
    unread = part_of(rows).tables[2].rows
    assert unread == [["toolwire", 0, ""], ["vLLM", 3, "hermes"]]


def test_what_is_not_as_promised_is_said(drawn: list[cache.Row]) -> None:
    rows = with_engine(drawn, cache_turns.read_by_toolwire)
    assert cache.verdicts(rows) == []
    for row in rows:
        row.right = False
        row.by[cache.TOOLWIRE] = cache_turns.Judged(True, 10, "call")
    assert cache.verdicts(rows) == [
        "chatml-hermes: a turn of its model is not read as it was meant.",
        "chatml-hermes: 8 turns with usual white space are lost that a parser could keep.",
        "vLLM's own parsers keep more turns than toolwire with usual white space: 100 %, and toolwire "
        "0 % of the same.",
    ]


def test_being_behind_with_other_white_space_is_said(drawn: list[cache.Row]) -> None:
    def exact(case: Case) -> dict[str, Any]:
        """The template writes a newline of its own: the text is all up to that."""
        found = greedy(case)
        return {**found, "content": found["content"].removesuffix("\n")}

    (sentence,) = cache.verdicts(with_engine(drawn, exact))
    assert sentence == (
        "vLLM's own parsers keep more turns than toolwire with other white space: 100 %, and "
        "toolwire 0 % of the same."
    )


def test_ids_that_were_made_up_are_always_the_same() -> None:
    def call(id: str | None) -> dict[str, Any]:
        return {"id": id, "type": "function", "function": {"name": "a", "arguments": "{}"}}

    calls = [call("call_f00"), call("functions.a:1"), call(None)]
    found = cache_turns.with_settled_ids({"tool_calls": calls}, "… functions.a:1 …")
    assert [call["id"] for call in found["tool_calls"]] == [
        "toolcall0", "functions.a:1", "toolcall2",
    ]  # fmt: skip


def test_official_templates_are_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_turns, "OFFICIAL", tmp_path / "nowhere")
    ours = cache_turns.template_files(quick=True)
    assert {file.parent for file in ours} == {ROOT / "chat_templates"}
    assert all(file.name.startswith("chatml-") for file in ours)
    assert len(cache_turns.template_files(quick=False)) > 50
    (tmp_path / "one.jinja").write_text("{{ messages }}")
    monkeypatch.setattr(cache_turns, "OFFICIAL", tmp_path)
    assert cache_turns.template_files(quick=True)[-1] == tmp_path / "one.jinja"
    assert list(cache_turns.cases(tmp_path / "one.jinja", quick=True)) == []


def test_without_engines_there_are_still_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cache, "template_files", lambda quick: [OURS])
    for engine in ("vllm", "sglang"):
        monkeypatch.setitem(workers.ENVIRONMENTS, engine, str(tmp_path / "nowhere"))
    parts = []
    for name in ("one.json", "other.json"):
        assert cache.main(["--quick", "--json", str(tmp_path / name)]) == 0
        parts.append(json.loads((tmp_path / name).read_text()))
    one, other = parts
    assert one["data"] == other["data"]
    assert [sentence.partition(":")[0] for sentence in one["wrong"]] == [
        "vllm was left out", "sglang was left out",
    ]  # fmt: skip
    assert one["tables"][0]["columns"] == ["turns", "toolwire", "at best"]
    assert "100 %, 0 (8 of 8)" in capsys.readouterr().out
