"""One scripted call, and what must come out of it: what the engines' self-tests have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..formats.write import write

FORMAT = "hermes"
TOOL = {
    "type": "function",
    "function": {
        "name": "toolwire_test",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}
_CALL = {"name": "toolwire_test", "arguments": {"text": 'one "two"\nthree'}}
_SAID = "Well."

#: The text, and each call's name and arguments.
Outcome: TypeAlias = tuple[str | None, list[tuple[str, str]]]
_EXPECTED: Outcome = (_SAID, [("toolwire_test", '{"text": "one \\"two\\"\\nthree"}')])


def find_fault(
    streamed: Callable[[str], Outcome], whole: Callable[[str], Outcome], held: Callable[[], bool]
) -> str | None:
    """What an engine's classes do wrong, given ways to use them; None where all is as it was.

    `held` is whether a required call is held to its tool.
    """
    text = f"{_SAID}\n{write(FORMAT, [_CALL], [TOOL])}"
    try:
        got = {"streamed": streamed(text), "whole": whole(text)}
        is_held = held()
    except Exception as error:  # noqa: BLE001 - whatever a changed contract leads to
        return f"{type(error).__name__}: {error}"
    wrong = [way for way, found in got.items() if found != _EXPECTED]
    if wrong:
        return f"{' and '.join(wrong)}, a call came out as {got[wrong[0]]}"
    return None if is_held else "a required call is not held to its tool"
