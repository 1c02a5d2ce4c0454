"""What the parsers are given to read: five kinds of answer, in any format, of about so many tokens.

A workload is a list of calls (or prose) that grows with a number. The tests' writers put it into the
words of a format, so each parser reads what models of its format write, and everyone who reads it
right gets the same calls. Tokens are those of a real vocabulary; the markers of all formats are added
to it as single tokens, as they are in the vocabulary of the models that write them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
sys.path += [str(ROOT), str(TESTS), str(TESTS / "engines")]  # the writers and the cases

from writers import WRITERS, Call  # noqa: E402

#: A step of the engine: the text of one token (or several at once), and their numbers.
Step = tuple[str, list[int]]

STRING = {"type": "string"}


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


#: What `nest` makes. Formats that write values as text need to be told what they are.
NODE = {
    "type": "object",
    "properties": {
        "level": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        "name": STRING,
        "size": {"type": "number"},
        "open": {"type": "boolean"},
        "next": {"type": "null"},
    },
}

TOOLS = [
    tool("write_file", path=STRING, content=STRING),
    tool("save", data={"type": "array", "items": {"$ref": "#/$defs/Node"}}),
]
TOOLS[1]["function"]["parameters"]["$defs"] = {"Node": NODE}

SENTENCE = "The quick brown fox jumps over the lazy dog, and writes it down (line by line).\n"
CODE = (
    'def area(width, height):\n    """The area, in square metres."""\n    return width * height\n\n'
)
UNICODE = "Zażółć gęślą jaźń — 敏捷的棕色狐狸 🦊 прыгает через ленивую собаку; ok?\n"
DEPTH = 16


def nest(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"name": "leaf", "size": 12.5, "open": True, "next": None}
    for level in range(depth):
        found = {"level": level, "children": [found]}
    return found


def file(n: int) -> list[Call]:
    return [("write_file", {"path": "area.py", "content": (CODE * n).strip()})]


def nested(n: int) -> list[Call]:
    return [("save", {"data": [nest(DEPTH)] * n})]


def parallel(n: int) -> list[Call]:
    words = " ".join((SENTENCE.split() * n)[:n])
    return [("write_file", {"path": f"note-{i}.txt", "content": words}) for i in range(64)]


def unicode(n: int) -> list[Call]:
    return [("write_file", {"path": "żółw.txt", "content": (UNICODE * n).strip()})]


def prose(n: int) -> str:
    return (SENTENCE * n).strip()


WORKLOADS: dict[str, Callable[[int], list[Call] | str]] = {
    "prose": prose,
    "file": file,
    "nested": nested,
    "parallel": parallel,
    "unicode": unicode,
}

#: … in a reader's words.
TITLES = {
    "prose": "plain prose, no call",
    "file": "one big string argument (a file)",
    "nested": "deeply nested JSON",
    "parallel": "64 parallel calls",
    "unicode": "unicode-heavy text in an argument",
}


@dataclass(frozen=True)
class Answer:
    """What a model wrote, token by token, and what a client must get from it."""

    steps: list[Step]
    content: str | None
    calls: list[Call]

    def grouped(self, count: int) -> list[Step]:
        """`count` tokens in a step, as speculative decoding gives them."""
        groups = [self.steps[at : at + count] for at in range(0, len(self.steps), count)]
        return [
            ("".join(text for text, _ in group), [number for _, ids in group for number in ids])
            for group in groups
        ]


def answer(tokenizer: Any, workload: str, format_name: str, size: int) -> Answer:
    """About `size` tokens: as many repetitions as come nearest."""

    def write(n: int) -> str:
        wanted = WORKLOADS[workload](n)
        return wanted if isinstance(wanted, str) else WRITERS[format_name](wanted)

    few, more = (len(cut(tokenizer, write(n))) for n in (2, 6))
    repetitions = max(1, 2 + round((size - few) / (more - few) * 4))
    wanted = WORKLOADS[workload](repetitions)
    steps = cut(tokenizer, write(repetitions))
    if isinstance(wanted, str):
        return Answer(steps, wanted, [])
    return Answer(steps, None, wanted)


# -- tokens ---------------------------------------------------------------------------------------

#: Single tokens in the vocabulary of the models that write them; some parsers rely on it.
_MARKER = re.compile(
    r"""｜DSML｜ | <[|｜](?!DSML)[^<>\s]+> | <[^<>\s]+\|> | \[[A-Z_]+\]
      | </?(?:minimax:|seed:|longcat_)?tool_calls?> | </?arg_(?:key|value)> | <tool_sep>
      | </?(?:start|end)_function_call> | <escape> | </?TOOLCALL>""",
    re.VERBOSE,
)


@cache
def markers() -> tuple[str, ...]:
    calls: list[Call] = [("write_file", {"path": "a", "content": "b"})]
    found = {marker for write in WRITERS.values() for marker in _MARKER.findall(write(calls))}
    return ("<|python_tag|>", *sorted(found))  # vLLM's parser for Llama asks for the first


def load_tokenizer() -> Any:
    """SmolLM2's vocabulary and everybody's markers."""
    from transformers import AutoTokenizer

    script = ROOT / "scripts" / "lib" / "make_model.py"
    made = subprocess.run([sys.executable, str(script)], check=True, stdout=subprocess.PIPE)
    tokenizer = AutoTokenizer.from_pretrained(made.stdout.decode().strip())
    tokenizer.add_special_tokens({"additional_special_tokens": list(markers())})
    return tokenizer


def cut(tokenizer: Any, text: str) -> list[Step]:
    """The text's tokens; one that ends inside a character has no text, the next one has it."""
    from tokenizers.decoders import DecodeStream

    backend = tokenizer.backend_tokenizer
    stream = DecodeStream(skip_special_tokens=False)
    ids = backend.encode(text, add_special_tokens=False).ids
    steps = [(stream.step(backend, number) or "", [number]) for number in ids]
    assert "".join(piece for piece, _ in steps) == text, "the tokens do not give the text"
    return steps
