"""The scripts that prove more than a test run has time for: a short run of each, and what they find."""

from __future__ import annotations

import json
import queue
import random
import sys
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from toolwire import Content, Event, list_formats

SCRIPTS = Path(__file__).parents[1] / "scripts"


def load(name: str) -> Any:
    spec = spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


fuzz = load("fuzz")
bfcl = load("bfcl_roundtrip")


# -- fuzz -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_short_run_over_all_formats_and_styles_finds_nothing() -> None:
    source = fuzz.Source(7, list_formats())
    assert {format for format, _ in source.pairs} == set(list_formats())
    state = fuzz.State(7)
    findings = fuzz.run(source, state, cases=2 * len(source.pairs))
    assert findings == []
    cases = 2 * len(source.pairs)
    assert (state.cases, state.cuttings) == (cases, fuzz.CUTTINGS * cases)


def test_a_case_is_the_same_by_its_number() -> None:
    first, second = (fuzz.Source(3, ["hermes", "glm45"]) for _ in range(2))
    assert [first.case(n) for n in range(50)] == [second.case(n) for n in range(50)]
    assert len({first.case(n).text for n in range(50)}) > 25


def forgetful(case: Any, chunks: list[str]) -> list[Event]:
    """A reader that loses the `b` of an `ab` that was cut in two."""
    text = "".join(
        piece[1:] if i and chunks[i - 1].endswith("a") and piece.startswith("b") else piece
        for i, piece in enumerate(chunks)
    )
    return [Content(text)]


def test_a_difference_is_found_and_made_small() -> None:
    case = fuzz.Case("hermes", None, False, "some words, then ab, and more words")
    found = fuzz.check(case, [list(case.text)], forgetful)
    assert found is not None
    small = fuzz.smallest(found, forgetful)
    assert small.chunks == ["a", "b"]
    assert "chunks = ['a', 'b']" in small.reproducer()


@pytest.mark.parametrize(
    ("text", "what"), [("raise", "raises RuntimeError: no"), ("grow", "4 characters became 1000")]
)
def test_exceptions_and_growth_are_found(text: str, what: str) -> None:
    def wrong(case: Any, chunks: list[str]) -> list[Event]:
        if case.text == "raise":
            raise RuntimeError("no")
        return [Content("x" * 1000)]

    found = fuzz.check(fuzz.Case("hermes", None, False, text), [], wrong)
    assert found is not None
    assert found.what == what


@pytest.mark.parametrize("processes", ["1", "3"])
def test_a_run_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], processes: str
) -> None:
    state = tmp_path / "state.json"
    for done in (5, 10):
        options = ["--cases", "5", "--formats", "hermes", "--state", str(state)]
        assert fuzz.main([*options, "--processes", processes]) == 0
        assert json.loads(state.read_text(encoding="utf-8"))["cases"] == done
    assert f"10 cases, {10 * fuzz.CUTTINGS} cuttings" in capsys.readouterr().out


def test_processes_share_the_cases_of_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(fuzz, "check", lambda case, cuttings: seen.append(case.text))
    source = fuzz.Source(3, ["hermes", "glm45"])
    for k in range(3):
        fuzz.search(source, fuzz.Share(k, 3, 20), lambda number: None)
    assert sorted(seen) == sorted(source.case(number).text for number in range(20))


def told(*lines: tuple[int, Any], processes: int = 2, stop: bool = True) -> tuple[list[str], Any]:
    """What comes of a run whose processes say this; and how far it is."""
    state = fuzz.State(1)
    said: queue.Queue[Any] = queue.Queue()
    for line in lines:
        said.put(line)
    progress = fuzz.Progress(state, None, processes)
    return fuzz.collect(said, progress, processes, None, stop), state


def test_a_finding_in_any_process_ends_the_run() -> None:
    assert told((1, {"found": "a text"}))[0] == ["a text"]


def test_a_process_that_dies_is_told() -> None:
    lines = [(0, {"over": True}), (0, None), (1, {"next": 3, "memory": 1}), (1, None)]
    assert told(*lines)[0] == ["process 2 of 2 died: it has not said why"]


def test_what_is_counted_has_no_gap() -> None:
    ends = [(k, line) for k in (0, 1) for line in ({"over": True}, None)]
    findings, state = told((0, {"next": 8, "memory": 1}), (1, {"next": 5, "memory": 1}), *ends)
    assert (findings, state.cases, state.cuttings) == ([], 5, 5 * fuzz.CUTTINGS)


# -- BFCL -----------------------------------------------------------------------------------------

WEATHER = {
    "name": "weather.get",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "exact": {"type": "boolean"},
            "where": {"type": "dict", "properties": {"lat": {"type": "float"}}},
        },
    },
}
MOVE = {"name": "mv", "parameters": {"type": "dict", "properties": {
    "source": {"type": "string"}, "target": {"type": "string"}}}}  # fmt: skip
WHERE = [{"lat": [48.5]}]
TRUTH = [
    {
        "weather.get": {
            "city": ["Paris", "París"],
            "days": [2],
            "exact": ["", True],
            "where": WHERE,
        }
    },
    {"weather.get": {"city": ["Rome"], "days": [""]}},
]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel as that of bfcl-eval, with a few rows of our own in it."""
    path = tmp_path / "bfcl.whl"
    files = {
        "BFCL_v4_x.json": [{"id": "x_0", "function": [WEATHER]}],
        "BFCL_v4_turns.json": [{"id": "turns_0"}],
        "BFCL_v4_words.json": [{"id": "words_0"}],
        "multi_turn_func_doc/files.json": [MOVE],
        "possible_answer/BFCL_v4_x.json": [{"id": "x_0", "ground_truth": TRUTH}],
        "possible_answer/BFCL_v4_turns.json": [
            {"id": "turns_0", "ground_truth": [["mv('a b', target='c')"], [], ["mv(source='d')"]]}
        ],
        "possible_answer/BFCL_v4_words.json": [{"id": "words_0", "ground_truth": ["Paris"]}],
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, lines in files.items():
            archive.writestr(bfcl.FOLDER + name, "\n".join(map(json.dumps, lines)))
    return path


def test_rows_are_read(wheel: Path) -> None:
    rows = {row.id: row for row in bfcl.read_wheel(wheel)}
    assert list(rows) == ["turns_0_turn_0", "turns_0_turn_2", "x_0"]
    assert [call["arguments"] for call in rows["x_0"].calls] == [
        {"city": "Paris", "days": 2, "exact": True, "where": {"lat": 48.5}},
        {"city": "Rome"},
    ]
    (call,) = rows["turns_0_turn_0"].calls
    assert call == {"name": "mv", "arguments": {"source": "a b", "target": "c"}}
    assert rows["x_0"].tools == [{"type": "function", "function": WEATHER}]


def test_they_come_back_in_a_format(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bfcl.main(["--data", str(wheel), "--formats", "hermes,kimi_k2,qwen3_coder"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("16 messages with ")
    assert shown.count("100.00 %") == 3


def test_what_does_not_is_told() -> None:
    closer = {"name": "mv", "arguments": {"source": "</parameter>\n</function>\n</tool_call>"}}
    row = bfcl.Row("bad", [closer], [{"type": "function", "function": MOVE}])
    why = bfcl.trip("qwen3_coder", row, random.Random(0))
    assert "can't write the argument 'source' of 'mv'" in why
    assert bfcl.trip("hermes", row, random.Random(0)) is None
    results = bfcl.run([row], ["hermes", "qwen3_coder"])
    assert [len(result.failures) for result in results.values()] == [0, 1]
    assert "bad: The format qwen3_coder" in bfcl.report([row], results)


def test_a_truth_that_does_not_fit_its_schema_is_counted() -> None:
    """Without the type, `null` between tags is the text."""
    null = {"name": "mv", "arguments": {"source": None}}
    row = bfcl.Row("null", [null], [{"type": "function", "function": MOVE}])
    results = bfcl.run([row], ["hermes", "qwen3_coder"])
    assert [result.misfits for result in results.values()] == [[], ["null"]]
    assert not any(result.failures for result in results.values())
    fitting = {"name": "mv", "arguments": {"source": "a"}}
    assert bfcl.with_needed_schema(bfcl.Row("x", [fitting], row.tools)) is None


@pytest.mark.parametrize(
    ("value", "fit"),
    [
        ({"city": "Rome", "days": 2, "exact": True, "where": {"lat": 1}}, True),
        ({"days": 2.5}, False),
        ({"city": None}, False),
        ({"exact": 1}, False),
        ({"where": {"lat": "1"}}, False),
        ({"where": {"other": True}}, False),
        ({"where": [1]}, False),
        ({"other": "text"}, True),
        ({"other": 1}, False),
    ],
)
def test_what_fits(value: Any, fit: bool) -> None:
    call = {"name": "weather.get", "arguments": value}
    row = bfcl.Row("x", [call], [{"type": "function", "function": WEATHER}])
    assert (bfcl.with_needed_schema(row) is None) == fit
