"""The README and the documents show only what works: every block is run, here or where its engine is.

How a block says which it is: tests/engines/page_blocks.py. `vllm serve` and `sglang serve` start the
servers of tests/engines with the pages' own blocks.
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
from toolwire.templates import get_template, list_templates

from .engines.page_blocks import PAGES, README, Block, block_with, blocks, text_of
from .gateway.conftest import PATIENCE, Server, upstream_server
from .gateway.scripted_answers import ONE
from .gateway.support_gateway import ASK, TOOLS, events
from .ports import free_port

ROOT = Path(__file__).parents[1]
BLOCKS = [block for page in PAGES for block in blocks(page)]
RUN = [block for block in BLOCKS if not block.covered_by]
PYTHON = [page for page in PAGES if any(b.language == "python" for b in RUN if b.page == page)]
BASH = [block for block in RUN if block.language == "bash"]
#: No program: what one prints, and pictures.
SHOWN = "text"
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
}
#: Runs the programs that come on stdin, each with names of its own.
EACH = """
import json, sys
for name, code in json.load(sys.stdin):
    exec(compile(code, name, "exec"), {})
"""
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


# -- every block is one or the other --------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_how_it_is_proven(page: str) -> None:
    fences = re.findall(r"^ *```.*", text_of(page), re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page)), "a fence without a language, or one in a list"
    fenced = re.sub(r"^```\w.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"\n\n    \S", fenced), "a block without a fence"
    for block in blocks(page):
        assert block.covered_by or block.language in ("python", "bash", SHOWN), str(block)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.covered_by], ids=str)
def test_what_covers_a_block_is_there(block: Block) -> None:
    path, _, name = block.covered_by.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert Path(path).name.startswith("test")
    assert not name or f"def {name}(" in text


# -- run ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PYTHON)
def test_python_blocks_run(page: str) -> None:
    """Each by itself, all in one process."""
    programs = [(str(b), b.code) for b in RUN if (b.page, b.language) == (page, "python")]
    run = subprocess.run(
        [sys.executable, "-c", EACH], input=json.dumps(programs), capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the pages' commands speak of."""
    model = tmp_path / "my-model"
    model.mkdir()
    template = get_template("chatml-hermes").text()
    (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    files = {
        "output.txt": CALL,
        "out1.txt": '<do>{"tool": "add", "with": {"a": 1}}</do>',
        "out2.txt": 'Sure. <do>{"tool": "add", "with": {"a": 22}}</do>',
        "completions.jsonl": json.dumps({"text": CALL}),
        "calls.json": '[{"name": "add", "arguments": {"a": 1}}]',
        "chat.json": '[{"role": "user", "content": "Hello."}]',
        "tools.json": json.dumps(tools),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    made = next(b.code for b in blocks("docs/adding-a-format.md") if b.language == "toml")
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "my_model.toml").write_text(made)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("block", BASH, ids=str)
def test_bash_blocks_run(block: Block, folder: Path) -> None:
    # Who reads about a format's file has written it by then.
    script = block.code.replace("TOOLWIRE_FORMATS=my_model.toml", "TOOLWIRE_FORMATS=formats")
    # A folder with nothing but a template has something for the doctor to find: it says 1.
    script = re.sub(r"^(toolwire doctor [^#\n]*)", r"{ \1 || [ $? -eq 1 ]; } ", script, flags=re.M)
    run = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout


def arguments_streamed(url: str) -> list[str]:
    """The pieces of a call's arguments, of a model on a server that refuses tools."""
    body = json.dumps({"model": "line+ollama", "stream": True, "messages": ASK, "tools": TOOLS})
    head = {"content-type": "application/json"}
    request = urllib.request.Request(f"{url}/v1/chat/completions", body.encode(), head)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        text = answer.read().decode()
    choices = [choice for event in events(text) for choice in event["choices"]]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls") or ()]
    pieces = [piece for call in calls if (piece := call["function"].get("arguments"))]
    assert "".join(pieces) == ONE
    return pieces


@pytest.mark.parametrize("page", [README, "docs/index.md"])
def test_the_gateway_runs(page: str) -> None:
    upstream = upstream_server().start()
    port = free_port()
    block = block_with(page, "toolwire gateway").replace("pip install", "true pip install")
    assert "http://127.0.0.1:11434/v1" in block
    script = block.replace("http://127.0.0.1:11434", upstream.url).replace("8080", str(port))
    command = ["bash", "-c", script.replace("toolwire gateway", "exec toolwire gateway")]
    gateway = Server(command, port, dict(ENVIRONMENT)).start()
    try:
        with urllib.request.urlopen(f"{gateway.url}/healthz", timeout=PATIENCE) as answer:
            assert json.load(answer) == {"status": "ok"}
        assert len(arguments_streamed(gateway.url)) > 1, "the call came in one piece"
    finally:
        gateway.kill()
        upstream.kill()


# -- what else they say ---------------------------------------------------------------------------


def test_the_picture_is_drawn_from_what_happens() -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "build_picture", "--check"], check=True)


@pytest.mark.parametrize("page", [README, "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    """Those of the documents: tests/test_docs_site.py."""
    for target in re.findall(r"\]\(([^):]+)\)", text_of(page)):
        path, _, place = target.partition("#")
        assert (ROOT / path).exists(), target
        headings = re.findall(r"^#+ (.*)", text_of(path), re.MULTILINE) if place else []
        assert not place or place in {heading.lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_template_it_names_is_there(page: str) -> None:
    named = set(
        re.findall(
            r"toolwire template ((?:\w+)-(?:\w+))|`((?:\w+)-(?:\w+))` \| `toolwire_", text_of(page)
        )
    )
    known = {template.name for template in list_templates()}
    assert {name for pair in named for name in pair if name} <= known


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_the_scripts_it_names_are_there(page: str) -> None:
    for command in re.findall(r"(?<!\w)(scripts/\w+)\b(?![./])", text_of(page)):
        path = ROOT / command
        assert path.is_dir() or path.stat().st_mode & 0o111, command
