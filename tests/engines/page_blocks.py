"""The code blocks of the README and of docs/, as tests run them: what a reader pastes.

What stands behind the opening fence says how a block is proven:

| fence | |
|---|---|
| ```` ```python ````, ```` ```bash ```` | tests/test_readme.py runs it as it stands |
| … `covered-by=tests/file.py::test_name` | it needs a server: that test runs it, or the same |
| ```` ```text ```` | a picture, or what a program prints |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = "README.md"
PAGES = [README, *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
_FENCED = re.compile(r"^```(\w+)(?: covered-by=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    covered_by: str
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    text = text_of(page)
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2] or "", found[3])
        for found in _FENCED.finditer(text)
    ]


def block_with(page: str, command: str) -> str:
    """The first bash block that runs `command`."""
    found = (
        block.code
        for block in blocks(page)
        if block.language == "bash" and re.search(rf"^{command}\b", block.code, re.MULTILINE)
    )
    return next(found)


def pasted(page: str, command: str, model: Path) -> list[str]:
    """The block with a MODEL that runs `command`, as a command of its own that takes more arguments.

    toolwire is installed already, and the model is one that is here.
    """
    (code,) = (
        block.code
        for block in blocks(page)
        if re.search(rf"^MODEL=(?s:.*)^{command}\b", block.code, re.MULTILINE)
    )
    lines = [line for line in code.rstrip("\n").split("\n") if not line.startswith("pip install ")]
    replaced = [re.sub(r"^MODEL=.*", f"MODEL='{model}'", line) for line in lines]
    assert replaced != lines
    script = "\n".join(replaced) + ' "$@"'
    return ["bash", "-c", re.sub(rf"^{command}", f"exec {command}", script, flags=re.M), "bash"]
