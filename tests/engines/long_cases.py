"""Very long outputs: the rows X15 and O11 of the failure list.

A model on a CPU would write at 10 MB for days, token by token. So the tests' model has a few more
tokens, each of which stands for a long text. The engine, its detokenizer, the parser and the server
handle what they write like anything else.
"""

from __future__ import annotations

import json

from engine_cases import Case, block, hermes, tagged, write_file

LINE = 'def area(width: float, height: float) -> float:  # in "square" metres\n'.rjust(100)
PAGE = "The quick brown fox jumps over the lazy dog.".ljust(50, ".") * 800
OPENING, CLOSING = "[" * 1_000, "]" * 1_000
OPENERS = "<tool_call>" * 1_000
LONG_TOKENS = (LINE, PAGE, OPENING, CLOSING, OPENERS)


def long_argument(name: str, value: str) -> Case:
    """A call in Hermes form; the value is JSON."""
    arguments = f'{{"path": "a", "content": {value}}}'
    text = block(f'{{"name": "write_file", "arguments": {arguments}}}')
    return hermes(name, text, ("write_file", arguments))


LINES = LINE * 320  # 32,000 characters
X15 = tagged("X15", write_file(LINES), ("write_file", json.dumps({"path": "a", "content": LINES})))
LONG = [
    X15,
    long_argument("O11-argument", f'"{PAGE * 250}"'),  # 10 MB
    long_argument("O11-nested", OPENING * 100 + CLOSING * 100),  # 100,000 deep
    # A tenth of the million: four times 11 seconds of parsing would be too much for a test.
    hermes("O11-openers", OPENERS * 100, content=OPENERS * 100),
]
