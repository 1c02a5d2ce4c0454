"""The code blocks of the README, as a test runs them: what a reader pastes, with a model of ours."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def block_with(command: str) -> str:
    """The one bash block that runs `command`."""
    found = [block for block in blocks("bash") if re.search(rf"^{command}\b", block, re.MULTILINE)]
    assert len(found) == 1, f"{len(found)} blocks run {command}"
    return found[0]


def pasted(command: str, model: Path) -> list[str]:
    """The block that runs `command`, as a command of its own that takes more arguments.

    toolwire is installed already, and the model is one that is here.
    """
    lines = block_with(command).rstrip("\n").splitlines()
    lines = [line for line in lines if not line.startswith("pip install ")]
    replaced = [re.sub(r"^MODEL=.*", f"MODEL='{model}'", line) for line in lines]
    assert replaced != lines
    script = "\n".join(replaced) + ' "$@"'
    return ["bash", "-c", re.sub(rf"^{command}", f"exec {command}", script, flags=re.M), "bash"]
