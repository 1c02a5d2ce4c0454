"""`toolwire formats` and `toolwire parse`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from toolwire import list_formats

from ..support import TOOLS

# Each of them starts processes.
pytestmark = pytest.mark.slow

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolwire.cli", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_formats() -> None:
    done = run("formats")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split()[:2] == ["FORMAT", "SHAPE"]
    entries = json.loads(run("formats", "--json").stdout)
    assert [entry["name"] for entry in entries] == [*list_formats(), "any"]
    hermes = next(entry for entry in entries if entry["name"] == "hermes")
    assert (hermes["template"], hermes["parser"]) == ("chatml-hermes", "toolwire_hermes")


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
