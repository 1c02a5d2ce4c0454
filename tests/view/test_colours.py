"""The colours of the pages can be told from what they stand on, in light and in dark."""

from __future__ import annotations

import re
from importlib import resources

import pytest

CSS = resources.files("toolwire.view").joinpath("view.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#\w+);", block))
    for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
)
ON_ITS_OWN = ("reasoning", "content", "markup", "name", "arguments", "tools")
ON_ANY = ("ink", "faint", "held", "future", "good", "bad", "warn", "accent")
#: What WCAG 2 asks for of text.
ENOUGH = 4.5


def brightness(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    dark, bright = sorted((brightness(one), brightness(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, LIGHT | DARK], ids=["light", "dark"])
def test_text_can_be_read(scheme: dict[str, str]) -> None:
    pairs = [(name, f"{name}-back") for name in ON_ITS_OWN]
    pairs += [(name, back) for name in ON_ANY for back in ("field", "card")]
    pairs += [("accent-ink", "accent"), ("faint", "page"), ("ink", "page")]
    poor = {pair: contrast(scheme[pair[0]], scheme[pair[1]]) for pair in pairs}
    assert {pair: found for pair, found in poor.items() if found < ENOUGH} == {}
