"""From a model's name to the format that it writes.

A name only hints at the format; a chat template shows it (`models/detect.py`). It is what is known of a
model behind somebody else's server. What stands in the names is data of the formats (`model_names`).
"""

from __future__ import annotations

import re

from .registry import formats_in_order, get_format

_BETWEEN_WORDS = re.compile(r"[^a-z0-9.]+")


def format_of_model(name: str) -> str | None:
    """The format that a model of this name writes (`Qwen/Qwen3-8B`, `gpt-oss:20b`), as far as a name
    tells; None where it does not."""
    folder, _, last = name.lower().rstrip("/").rpartition("/")
    return _format_in(last) or _format_in(folder)


def _format_in(name: str) -> str | None:
    """What comes first says whose model it is: `Hermes-3-Llama-3.1` is one of Hermes. The most exact
    name of that family counts: `qwen3coder` and not `qwen`."""
    plain = _BETWEEN_WORDS.sub("", name)
    found = {known: format for known, format in _by_name().items() if known in plain}
    if not found:
        return None
    first = min(found, key=lambda known: (plain.index(known), -len(known)))
    family = get_format(found[first]).family
    same = [known for known, format in found.items() if get_format(format).family == family]
    return found[max(same, key=len)]


def _by_name() -> dict[str, str]:
    """Formats by what stands in their models' names; of two that claim one, the first."""
    found: dict[str, str] = {}
    for format in formats_in_order():
        for known in get_format(format).model_names:
            found.setdefault(known, format)
    return found
