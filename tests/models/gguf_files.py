"""Writes small real GGUF files, byte by byte: the tests need no other library for them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 4, 5, 6, 7, 8, 9, 10
_STRUCT = {UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?", UINT64: "Q"}

Entry = tuple[str, int, Any]


class Writer:
    def __init__(self, order: str = "<") -> None:
        self.order = order

    def number(self, kind: str, value: Any) -> bytes:
        return struct.pack(self.order + kind, value)

    def string(self, text: str) -> bytes:
        data = text.encode()
        return self.number("Q", len(data)) + data

    def value(self, kind: int, value: Any) -> bytes:
        if kind == STRING:
            return self.string(value)
        if kind == ARRAY:
            inner, items = value
            head = self.number("I", inner) + self.number("Q", len(items))
            return head + b"".join(self.value(inner, item) for item in items)
        return self.number(_STRUCT[kind], value)

    def file(self, entries: list[Entry], version: int = 3, count: int | None = None) -> bytes:
        head = b"GGUF" + self.number("I", version) + self.number("Q", 0)
        head += self.number("Q", len(entries) if count is None else count)
        return head + b"".join(
            self.string(key) + self.number("I", kind) + self.value(kind, value)
            for key, kind, value in entries
        )


def model(template: str, tokens: list[str], tool_use: str | None = None) -> list[Entry]:
    """The metadata of a small model, with much that is of no interest here."""
    entries: list[Entry] = [
        ("general.architecture", STRING, "llama"),
        ("llama.context_length", UINT32, 2048),
        ("llama.rope.freq_base", FLOAT32, 10000.0),
        ("tokenizer.ggml.scores", ARRAY, (FLOAT32, [0.0] * len(tokens))),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, tokens)),
        ("tokenizer.ggml.merges", ARRAY, (STRING, ["a b", "ab c"])),
        ("tokenizer.ggml.bos_token_id", UINT32, 0),
        ("tokenizer.ggml.eos_token_id", UINT32, 1),
        ("tokenizer.ggml.add_bos_token", BOOL, False),
        ("odd.nested", ARRAY, (ARRAY, [(UINT32, [1, 2]), (STRING, ["x"])])),
        ("tokenizer.chat_template", STRING, template),
    ]
    if tool_use is not None:
        entries.append(("tokenizer.chat_template.tool_use", STRING, tool_use))
    return entries


def write(path: Path, entries: list[Entry], order: str = "<") -> Path:
    path.write_bytes(Writer(order).file(entries) + b"\0" * 64)
    return path
