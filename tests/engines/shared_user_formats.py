"""A user's own format in an engine: from a TOML file that the environment names, with no line of Python.

A base for the tests of both engines, which say how a process of theirs is asked.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import pytest
from engine_process import run

SPEC = """
name = "my_model"
like = "hermes"
wrappers = {open = "<mine>", close = "</mine>"}
"""
SAY_NAMES = """
import json
print(json.dumps([name for name in names if name in ("toolwire_my_model", "toolwire_hermes")]))
"""
BEFORE_READING = """
import sys
sys.path[:0] = sys.argv[1:]
tools = [{"type": "function", "function": {"name": "add"}}]
text = 'Yes. <mine>{"name": "add", "arguments": {"a": 1}}</mine>'
"""
SAY_ANSWERS = """
print(json.dumps([[answer.content, answer.calls] for answer in answers]))
"""
#: The shared modules of these tests.
HERE = Path(__file__).resolve().parent


class UserFormats(ABC):
    engine: str
    """The name of its tests' folder."""
    names: str
    """Code that does what the engine does in each of its processes, and leaves `names`: the parsers that
    it knows then."""
    environment: ClassVar[dict[str, str]] = {}
    """What its processes need besides the file's name."""

    @abstractmethod
    def answers(self, request: pytest.FixtureRequest) -> str:
        """Code that does what the engine's server does with the answer to a request: from `text` and
        `tools` it makes `answers`, streamed and whole."""

    def run(self, code: str, folder: Path, spec: str) -> tuple[list[str], str]:
        """The lines that a process beside the user's file printed, and all that it said."""
        (folder / "mine.toml").write_text(spec, encoding="utf-8")
        environment = {**self.environment, "TOOLWIRE_FORMATS": "mine.toml"}
        modules = (HERE / self.engine, HERE, HERE / "plugins")
        done = run(code, folder, *map(str, modules), **environment)
        return done.stdout.splitlines(), done.stdout + done.stderr

    def test_the_engine_reads_it(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        code = self.names + SAY_NAMES + BEFORE_READING + self.answers(request) + SAY_ANSWERS
        lines, _ = self.run(code, tmp_path, SPEC)
        names, answers = map(json.loads, lines[-2:])
        assert sorted(names) == ["toolwire_hermes", "toolwire_my_model"]
        assert answers == [["Yes.", [["add", '{"a": 1}']]]] * 2

    def test_a_mistake_in_it_is_told_and_leaves_the_others(self, tmp_path: Path) -> None:
        lines, log = self.run(self.names + SAY_NAMES, tmp_path, f"{SPEC}\nshapes = 3")
        assert json.loads(lines[-1]) == ["toolwire_hermes"]
        assert "mine.toml, line 6: there is no key shapes. Did you mean shape?" in log
        assert "Traceback" not in log
