"""A user's own format in SGLang: from a TOML file that the environment names, with no line of Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SPEC = """
name = "my_model"
like = "hermes"
wrappers = {open = "<mine>", close = "</mine>"}
"""

#: What SGLang does in each of its processes, and then what its server does with a request's answer.
CODE = """
import json, sys
from sglang.srt.plugins import load_plugins
load_plugins()
from sglang.srt.server_args import _tool_call_parser_choices as choices
print(json.dumps([name for name in choices() if name.startswith("toolwire_my")]))
sys.path[:0] = sys.argv[1:]
from sglang_driving import make_parser, stream, whole
tools = [{"type": "function", "function": {"name": "add"}}]
text = 'Yes. <mine>{"name": "add", "arguments": {"a": 1}}</mine>'
answers = [
    stream(make_parser("toolwire_my_model", tools), text),
    whole(make_parser("toolwire_my_model", tools), text),
]
print(json.dumps([[answer.content, answer.calls] for answer in answers]))
"""


def run(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own, away from the checkout, beside the user's file."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "TOOLWIRE_FORMATS": "mine.toml"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_sglang_reads_it(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SPEC, encoding="utf-8")
    done = run(CODE, tmp_path, str(Path(__file__).parent))
    assert done.returncode == 0, done.stderr[-3000:]
    names, answers = map(json.loads, done.stdout.splitlines()[-2:])
    assert names == ["toolwire_my_model"]
    assert answers == [["Yes.", [["add", '{"a": 1}']]]] * 2


def test_a_mistake_in_it_is_told_and_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f"{SPEC}\nshapes = 3", encoding="utf-8")
    code = (
        "from sglang.srt.plugins import load_plugins; load_plugins();"
        "from sglang.srt.server_args import _tool_call_parser_choices as choices;"
        "names = choices(); print('toolwire_my_model' in names, 'toolwire_hermes' in names)"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "False True"
    log = done.stdout + done.stderr
    assert "mine.toml, line 6: there is no key shapes. Did you mean shape?" in log
    assert "Traceback" not in log
