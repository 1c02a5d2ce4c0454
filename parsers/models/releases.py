"""The engines' releases that toolwire was made for, and what differs between them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Generation:
    """Releases that ask the same of a parser. Each engine's plugin finds out by what the release has
    which generation it is; this table is for those who load no engine."""

    since: Version
    """Its first release."""
    notes: tuple[str, ...] = ()
    """What is otherwise than on the newest; all else is the same."""

    @property
    def since_text(self) -> str:
        return text(self.since)


@dataclass(frozen=True, slots=True)
class Releases:
    """From the oldest that works to the newest that the test suite was really run on."""

    engine: str
    oldest: Version
    newest: Version
    generations: tuple[Generation, ...]
    """Oldest first."""
    rust: str
    """The environment variable that puts a frontend in Rust in the place of the one in Python."""

    @property
    def span(self) -> str:
        return f"{text(self.oldest)} to {text(self.newest)}"

    def has(self, version: str) -> bool:
        numbers = self.numbers(version)
        return numbers is not None and self.oldest <= numbers <= self.newest

    def numbers(self, version: str) -> Version | None:
        """As many as count here; None for a build from source that has none."""
        found = re.match(r"\d+(?:\.\d+)+", version)
        numbers = tuple(map(int, found[0].split("."))) if found else ()
        length = len(self.oldest)
        return numbers[:length] if len(numbers) >= length else None

    def generation(self, version: str) -> Generation | None:
        """None for a release that is too old, or has no number."""
        numbers = self.numbers(version)
        if numbers is None or numbers < self.oldest:
            return None
        return [one for one in self.generations if one.since <= numbers][-1]

    def rust_problem(self) -> str | None:
        """What is wrong where that frontend is switched on; None where it is not."""
        if os.environ.get(self.rust, "").lower() in ("", "0", "false"):
            return None
        return (
            f"{self.rust} is set: {self.engine}'s Rust frontend asks no parser in Python, so none of "
            "toolwire's, not even under a name that it knows. Unset it, or put `toolwire gateway` in "
            "front."
        )


def text(version: Version) -> str:
    return ".".join(map(str, version))


VLLM = Releases(
    engine="vLLM",
    rust="VLLM_USE_RUST_FRONTEND",
    oldest=(0, 24),
    newest=(0, 32),
    generations=(
        Generation(
            (0, 24),
            (
                "there is no --tool-strict-level (TOOLWIRE_TOOL_STRICT_LEVEL takes its words)",
                "custom tools of the Responses API are not shown to the model, nor are its namespaces "
                "before 0.26",
                "--tool-parser-plugin takes a file, not a module, before 0.30",
            ),
        ),
        Generation((0, 31), ("custom tools of the Responses API are not shown to the model",)),
        Generation((0, 32)),
    ),
)
SGLANG = Releases(
    engine="SGLang",
    rust="SGLANG_RUST_SERVER",
    oldest=(0, 5, 18),
    newest=(0, 5, 23),
    generations=(
        Generation(
            (0, 5, 18),
            (
                "namespaces of the Responses API are not shown to the model, nor are its custom tools "
                "before 0.5.20",
                "an answer that begins like toolwire's own JSON for forced calls is taken for one",
                "with --enable-http2 there is only one HTTP worker that knows toolwire's parsers",
            ),
        ),
        Generation(
            (0, 5, 21),
            (
                "namespaces of the Responses API are not shown to the model",
                "with --enable-http2 there is only one HTTP worker that knows toolwire's parsers",
            ),
        ),
        Generation((0, 5, 23)),
    ),
)
