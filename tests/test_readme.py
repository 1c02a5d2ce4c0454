"""The README shows only what works: every block is run, here or where its engine is.

`vllm serve` and `sglang serve` start the servers of tests/engines with the README's own blocks.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from toolwire import list_formats
from toolwire.templates import get_template, list_templates

from .engines.readme_blocks import block_with, blocks
from .gateway.conftest import PATIENCE, Server, free_port, upstream_server

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = blocks("python")
COMMANDS = [line for line in block_with("toolwire formats").splitlines() if line]
#: What runs each of the bash blocks.
RUNNERS = ("toolwire formats", "toolwire gateway", "vllm serve", "sglang serve")
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
}
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


@pytest.mark.parametrize("block", PYTHON, ids=range(len(PYTHON)))
def test_python_blocks_run(block: str) -> None:
    subprocess.run([sys.executable, "-c", block], check=True, capture_output=True)


def test_every_other_block_has_a_test_that_runs_it() -> None:
    assert len(re.findall(r"^```\w", README, re.MULTILINE)) == len(PYTHON) + len(blocks("bash"))
    assert sorted(map(block_with, RUNNERS)) == sorted(blocks("bash"))


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS, ids=[line.split("#")[0].strip() for line in COMMANDS])
def test_commands_run(line: str, tmp_path: Path) -> None:
    model = tmp_path / "my-model"
    model.mkdir()
    template = get_template("chatml-hermes").text()
    (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    (tmp_path / "output.txt").write_text(CALL)
    (tmp_path / "completions.jsonl").write_text(json.dumps({"text": CALL}))
    (tmp_path / "calls.json").write_text('[{"name": "add", "arguments": {"a": 1}}]')
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "Hello."}]')
    run = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert run.stdout
    # A folder with nothing but a template has something for the doctor to find.
    assert run.returncode == ("doctor" in line), run.stderr


def test_the_gateway_runs(tmp_path: Path) -> None:
    upstream = upstream_server().start()
    port = free_port()
    block = block_with("toolwire gateway").replace("pip install", "true pip install")
    assert "http://127.0.0.1:11434/v1" in block
    script = block.replace("http://127.0.0.1:11434", upstream.url).replace("8080", str(port))
    command = ["bash", "-c", script.replace("toolwire gateway", "exec toolwire gateway")]
    gateway = Server(command, port, dict(ENVIRONMENT)).start()
    try:
        with urllib.request.urlopen(f"{gateway.url}/healthz", timeout=PATIENCE) as answer:
            assert json.load(answer) == {"status": "ok"}
    finally:
        gateway.kill()
        upstream.kill()


def test_the_picture_is_drawn_from_what_happens() -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "build_picture", "--check"], check=True)


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_format_it_names_is_there() -> None:
    table = README.partition("| calls are written as |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", table)
    assert named
    assert set(named) <= set(list_formats())


def test_every_template_it_names_is_there() -> None:
    named = set(re.findall(r"`((?:\w+)-(?:\w+))` \| `toolwire_", README))
    assert named <= {template.name for template in list_templates()}
    assert named


def test_the_commands_it_names_are_there() -> None:
    for command in re.findall(r"\./(scripts/\w+)", README):
        assert (ROOT / command).stat().st_mode & 0o111, command
