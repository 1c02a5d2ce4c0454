"""A user's own format in vLLM: from a TOML file that the environment names, with no line of Python."""

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

#: What vLLM does in each of its processes, and then what its server does with a request's answer.
CODE = """
import json, sys
from vllm.plugins import load_general_plugins
load_general_plugins()
from transformers import AutoTokenizer
from vllm.tool_parsers import ToolParserManager
print(json.dumps([n for n in ToolParserManager.list_registered() if n.startswith("toolwire_my")]))
sys.path[:0] = sys.argv[2:]
from vllm_driving import chat_request, make_parser, stream, whole
tool = {"type": "function", "function": {"name": "add"}}
request = chat_request([tool])
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
text = 'Yes. <mine>{"name": "add", "arguments": {"a": 1}}</mine>'
answers = [
    stream(make_parser(tokenizer, "toolwire_my_model", request), [(c, []) for c in text], request),
    whole(make_parser(tokenizer, "toolwire_my_model", request), text, request),
]
print(json.dumps([[answer.content, answer.calls] for answer in answers]))
"""


def run(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own, away from the checkout, beside the user's file."""
    settings = {"TOOLWIRE_FORMATS": "mine.toml", "TOOLWIRE_SKIP_CHECKS": "1"}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "VLLM_LOGGING_LEVEL": "ERROR", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_vllm_reads_it(tmp_path: Path, plain_model: Path) -> None:
    (tmp_path / "mine.toml").write_text(SPEC, encoding="utf-8")
    here = Path(__file__).parent
    modules = (here, here.parent, here.parent / "plugins")
    done = run(CODE, tmp_path, str(plain_model), *map(str, modules))
    assert done.returncode == 0, done.stderr[-3000:]
    names, answers = map(json.loads, done.stdout.splitlines()[-2:])
    assert names == ["toolwire_my_model"]
    assert answers == [["Yes.", [["add", '{"a": 1}']]]] * 2


def test_a_mistake_in_it_is_told_and_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f"{SPEC}\nshapes = 3", encoding="utf-8")
    code = (
        "from vllm.plugins import load_general_plugins; load_general_plugins();"
        "from vllm.tool_parsers import ToolParserManager as M; names = M.list_registered();"
        "print('toolwire_my_model' in names, 'toolwire_hermes' in names)"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "False True"
    log = done.stdout + done.stderr
    assert "mine.toml, line 6: there is no key shapes. Did you mean shape?" in log
    assert "Traceback" not in log
