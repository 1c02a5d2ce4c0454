"""How an engine finds the parsers, as far as both engines ask for it: a base for their tests.

An engine's `test_registration` has a class with the names and releases of its own; what only that
engine does is tested there.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from pathlib import Path

import pytest
import toolwire
from engine_process import run


class Registration(ABC):
    engine: str
    """The engine's package, and the name of the plugin's folder."""
    log: logging.Logger
    """Where the plugin says something."""
    too_old: str
    too_new: str
    """Releases before and after those that were tested."""
    refused: str
    """A pattern of what is said to an old one."""
    tested: str
    """How the newest tested release is named."""

    @abstractmethod
    def check(self, version: str) -> None:
        """The plugin's look at a release."""

    @abstractmethod
    def installed(self) -> str:
        """The engine's release here."""

    @pytest.fixture
    def said(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> pytest.LogCaptureFixture:
        """What the plugin says; an engine may have its loggers keep that to themselves."""
        monkeypatch.setattr(self.log, "propagate", True)
        caplog.set_level(logging.WARNING)
        return caplog

    def test_importing_the_plugin_loads_no_engine(self, tmp_path: Path) -> None:
        code = (
            f"import sys; import toolwire.engines.{self.engine}.plugin;"
            f"heavy = ('torch', '{self.engine}', 'transformers', 'xgrammar');"
            "print([module for module in heavy if module in sys.modules])"
        )
        assert run(code, tmp_path).stdout.strip() == "[]"

    def test_an_old_release_is_refused_in_a_sentence(self) -> None:
        with pytest.raises(toolwire.ToolwireError, match=rf"{self.refused}.*too old"):
            self.check(self.too_old)

    def test_a_new_release_is_told_about(self, said: pytest.LogCaptureFixture) -> None:
        self.check(self.too_new)
        self.check("dev")
        assert len(said.messages) == 2
        assert all(self.tested in message for message in said.messages)

    def test_the_installed_release_was_tested(self, said: pytest.LogCaptureFixture) -> None:
        self.check(self.installed())
        assert not said.messages
