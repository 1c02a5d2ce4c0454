"""The engines' releases that toolwire was made for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Releases:
    """From the oldest that works to the newest that the test suite was really run on."""

    oldest: tuple[int, ...]
    newest: tuple[int, ...]


VLLM = Releases(oldest=(0, 32), newest=(0, 32))
SGLANG = Releases(oldest=(0, 5, 18), newest=(0, 5, 23))
