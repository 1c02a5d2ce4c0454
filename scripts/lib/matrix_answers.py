"""Is what a scripted conversation comes to the same on all releases of an engine?

The tests leave it in a folder for each release, a file for each kind of test: names of answers, and
the answers without their ids. The newest release that has such a file says how they should be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

DIFFERENT = "not as on"


def compare(folders: Mapping[str, Path]) -> dict[str, str]:
    """For each release, oldest first, what to say of it; nothing where it has left no answers."""
    found = {name: answers_of(folder) for name, folder in folders.items()}
    found = {name: answers for name, answers in found.items() if answers}
    newest: dict[str, str] = {}  # the release that says how a file's answers should be
    for name, answers in found.items():
        newest.update(dict.fromkeys(answers, name))
    return {
        name: sentence(
            answers, {kind: (newest[kind], found[newest[kind]][kind]) for kind in answers}
        )
        for name, answers in found.items()
    }


def answers_of(folder: Path) -> dict[str, dict[str, object]]:
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }


def sentence(
    answers: Mapping[str, Mapping[str, object]],
    expected: Mapping[str, tuple[str, Mapping[str, object]]],
) -> str:
    for kind, own in answers.items():
        newest, theirs = expected[kind]
        names = [name for name in {**theirs, **own} if own.get(name) != theirs.get(name)]
        if names:
            return f"{len(names)} {DIFFERENT} {newest}, e.g. {kind}: {names[0]}"
    return f"{sum(map(len, answers.values())):,}"
