"""`toolwire formats` and `toolwire parse`, as a user runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from toolwire import get_format, list_formats, parse
from toolwire.cli import main
from toolwire.engines.names import SGLANG_NAMES, VLLM_NAMES, names_of

from ..support import TOOLS
from .running import in_a_terminal, run

# Each of them starts processes.
pytestmark = pytest.mark.slow

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def test_formats() -> None:
    done = run("formats")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split()[:3] == ["FAMILY", "YEAR", "FORMAT"]
    entries = json.loads(run("formats", "--json").stdout)
    assert [entry["name"] for entry in entries] == [*list_formats(), "any"]
    hermes = next(entry for entry in entries if entry["name"] == "hermes")
    assert (hermes["template"], hermes["parser"]) == ("chatml-hermes", "toolwire_hermes")
    assert (hermes["family"], hermes["year"]) == ("Qwen", 2024)


def test_formats_stand_with_their_family_the_newest_first() -> None:
    rows = run("formats").stdout.splitlines()[1:]
    start = next(i for i, row in enumerate(rows) if row.startswith("Kimi"))
    assert rows[start].split()[:3] == ["Kimi", "2026", "kimi_k3"]
    assert rows[start + 1].split()[:2] == ["2025", "kimi_k2"]
    assert [row.split()[0] for row in rows if not row.startswith(" ")][-1] == "any"


def test_one_format() -> None:
    shown = run("formats", "mistral").stdout
    assert shown.startswith("mistral: Mistral, since 2024\n")
    one = '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris", "days": 2}'
    assert f"one call\n{one}\n\ntwo calls\n{one}[TOOL_CALLS]get_time" in shown
    assert "vLLM:             toolwire_mistral, mistral\n" in shown
    assert re.search(r"ids: +{random}, as in [A-Za-z0-9]{9}\n", shown)
    assert "thoughts:         mistral, '[THINK]' to '[/THINK]'\n" in shown
    assert "call_begin = '[TOOL_CALLS]'\n" in shown


def test_one_format_by_another_name_and_as_json() -> None:
    entry = json.loads(run("formats", "gpt_oss", "--json").stdout)
    assert entry["name"] == "harmony"
    assert entry["engines"] == {"vllm": ["openai"], "sglang": ["gpt-oss"]}
    assert entry["reasoning"]["open"] == "<|channel|>analysis<|message|>"
    assert run("formats", "hermess").stderr.startswith("toolwire: There is no format named")


@pytest.mark.parametrize("format", list_formats())
def test_every_format_can_be_shown(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", format]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{format}: ")
    assert main(["formats", format, "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)
    for text, count in zip(entry["examples"].values(), (1, 2), strict=True):
        calls = parse(format, text, entry["tools"]).tool_calls
        assert [call.name for call in calls] == ["get_weather", "get_time"][:count]


def test_every_format_has_its_family() -> None:
    """But those that any model can be told to write. Dates are of this century's models."""
    without = {name for name in list_formats() if not get_format(name).family}
    assert without == {"call_text", "json", "labeled", "special_token"}
    years = [get_format(name).year for name in list_formats() if name not in without]
    assert all(2023 < year < 2100 for year in years)


def test_every_name_of_the_engines_is_one_format_s() -> None:
    """But those that read what a checkpoint says, which is another one for each."""
    for engine, names in (("vllm", VLLM_NAMES), ("sglang", SGLANG_NAMES)):
        found = [name for format in list_formats() for name in names_of(format)[engine]]
        assert sorted(found) == sorted(set(names) - {"hf", "response_template"})


def test_parse_shows_text_and_calls() -> None:
    done = run("parse", "hermes", text=f"Yes. {CALL}")
    assert done.returncode == 0
    assert done.stdout == 'Yes.\n\nCALL  ARGUMENTS  PROBLEM\nadd   {"a": 1}\n'


def test_parse_where_the_format_is_not_known() -> None:
    call = "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"
    done = run("parse", "any", "--json", text=f"{CALL}\n{call}")
    calls = json.loads(done.stdout)["tool_calls"]
    assert [call["arguments"] for call in calls] == ['{"a": 1}', '{"a": "1"}']


def test_parse_as_json() -> None:
    done = run("parse", "hermes", "--json", text=CALL)
    call = {"name": "add", "arguments": '{"a": 1}', "problem": None}
    assert json.loads(done.stdout) == {"content": None, "tool_calls": [call]}


@pytest.mark.parametrize("chunk", ["0", "1", "7"])
def test_parse_as_deltas(chunk: str, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    (tmp_path / "output.txt").write_text("add(1, 2)\nDone.", encoding="utf-8")
    tools, output = str(tmp_path / "tools.json"), str(tmp_path / "output.txt")
    done = run("parse", "call_text", output, "--tools", tools, "--deltas", "--chunk", chunk)
    deltas = [json.loads(line) for line in done.stdout.splitlines()]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert "".join(call["function"]["arguments"] for call in calls) == '{"a": 1, "b": 2}'
    assert "".join(delta.get("content", "") for delta in deltas) == "Done."


def test_exit_codes() -> None:
    assert run("parse", "hermes", text=CALL[:-20]).returncode == 1
    wrong = run("parse", "hermess", text=CALL)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("toolwire: There is no format named 'hermess'. Did you mean")
    missing = run("parse", "hermes", "no-such-file")
    assert missing.returncode == 2
    assert missing.stderr == "toolwire: no-such-file can't be read: No such file or directory\n"
    assert "Traceback" not in wrong.stderr + missing.stderr
    assert "Example: toolwire parse" in run("parse", "--help").stdout


THOUGHTFUL = f"<think>Hm. {CALL} or so.</think>Yes. {CALL}"


@pytest.mark.parametrize("asked", [["--reasoning"], ["--reasoning", "think"], ["--reasoning=own"]])
def test_parse_tells_thoughts_from_text(asked: list[str], tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text(THOUGHTFUL, encoding="utf-8")
    thought = f"Hm. {CALL} or so."
    for arguments in (["hermes", *asked, str(output)], ["hermes", str(output), *asked]):
        done = run("parse", *arguments)
        assert done.returncode == 0
        assert done.stdout == (
            f'REASONING\n{thought}\n\nYes.\n\nCALL  ARGUMENTS  PROBLEM\nadd   {{"a": 1}}\n'
        )
        answer = json.loads(run("parse", *arguments, "--json").stdout)
        assert (answer["reasoning"], answer["content"]) == (thought, "Yes.")
        assert [call["name"] for call in answer["tool_calls"]] == ["add"]
        deltas = run("parse", *arguments, "--deltas", "--chunk", "3").stdout.splitlines()
        said = [json.loads(line).get("reasoning_content", "") for line in deltas]
        assert "".join(said) == thought


def test_parse_of_a_text_that_begins_inside_of_thoughts() -> None:
    for asked in (["--in-reasoning"], ["--in-reasoning", "--reasoning", "think"]):
        answer = json.loads(run("parse", "hermes", "--json", *asked, text="Hm.</think>Yes.").stdout)
        assert answer == {"reasoning": "Hm.", "content": "Yes.", "tool_calls": []}
    style = ["--in-reasoning", "--reasoning", "mistral"]
    done = run("parse", "hermes", *style, text="Hm.[/THINK]Yes.")
    assert done.stdout == "REASONING\nHm.\n\nYes.\n"


def test_parse_without_thoughts_in_sight() -> None:
    answer = json.loads(run("parse", "hermes", "--json", "--reasoning", text="Yes.").stdout)
    assert answer == {"reasoning": None, "content": "Yes.", "tool_calls": []}
    wrong = run("parse", "hermes", "--reasoning=thnk", text="Yes.")
    assert wrong.returncode == 2
    assert "There is no style of reasoning named 'thnk'. Did you mean 'think'" in wrong.stderr


def test_thoughts_stand_back_in_a_terminal(tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text("<think>Hm.</think>Yes.", encoding="utf-8")
    shown = in_a_terminal("parse", "hermes", str(output), "--reasoning")
    assert shown == "\x1b[2mREASONING\nHm.\x1b[0m\n\nYes.\n"
