"""The README shows only what works: every Python block is run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from toolwire import list_formats
from toolwire.templates import list_templates

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_blocks_run(block: str) -> None:
    subprocess.run([sys.executable, "-c", block], check=True, capture_output=True)


def test_every_format_is_named() -> None:
    assert [f for f in list_formats() if f"`{f}`" not in README] == []


def test_every_template_it_names_is_there() -> None:
    named = set(re.findall(r"`((?:\w+)-(?:\w+))` \| `toolwire_", README))
    assert named <= {template.name for template in list_templates()}
    assert named


def test_the_commands_it_names_are_there() -> None:
    for command in re.findall(r"\./(scripts/\w+)", README):
        assert (ROOT / command).stat().st_mode & 0o111, command
