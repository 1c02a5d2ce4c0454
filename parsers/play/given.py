"""What the command line names: a captured exchange, a model's folder, a chat template.

No other file is read while the page runs: it picks from what is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ToolwireError
from ..gateway.model_text import pieces_of
from ..models.files import ModelFiles, read_model
from ..replay.exchanges import read_exchange

Json = dict[str, Any]
#: From a text to where its tokens end.
Tokenize = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Given:
    """All that the page has beside what is pasted into it."""

    exchange: Mapping[str, Any] | None = None
    templates: Mapping[str, ModelFiles] = field(default_factory=dict)
    """By the name that the page shows."""
    tokenize: Tokenize | None = None
    tokenizer_folder: Path | None = None
    tokens_note: str = "A token is taken to be 4 characters: --model FOLDER takes a model's own."


def read_given(capture: Path | None, model: Path | None, template: Path | None) -> Given:
    """Reads all that was named. A `ToolwireError` says what is wrong with one of them."""
    exchange = None if capture is None else _exchange(capture)
    templates = {
        f"{what}: {path.name or path}": read_model(path)
        for what, path in (("model", model), ("file", template))
        if path is not None
    }
    if model is None:
        return Given(exchange, templates)
    tokenize, note = _tokenizer(model)
    return Given(exchange, templates, tokenize, model if model.is_dir() else None, note)


def _exchange(path: Path) -> Json:
    exchange = read_exchange(path)
    pieces = pieces_of(exchange["stage"], exchange["raw"])
    if not any(pieces):
        raise ToolwireError(
            f"{path} has no text in it that calls could be read from: the server had found them already"
        )
    ends, end = [], 0
    for piece in pieces:
        end += len(piece)
        ends.append(end)
    return {
        "text": "".join(pieces),
        "ends": ends if exchange["stage"] == "stream" else None,
        "format": exchange.get("format"),
        "tools": exchange.get("tools") or [],
        "name": path.name,
    }


def _tokenizer(model: Path) -> tuple[Tokenize | None, str]:
    path = model / "tokenizer.json"
    if not path.is_file():
        return None, f"A token is taken to be 4 characters: {model} has no tokenizer.json."
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return (
            None,
            "A token is taken to be 4 characters: for the model's own, pip install tokenizers.",
        )
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no error of its own
        raise ToolwireError(f"{path} can't be read as a tokenizer: {error}") from error

    def tokenize(text: str) -> Sequence[int]:
        encoded = tokenizer.encode(text.encode(errors="replace").decode(), add_special_tokens=False)
        return [end for _, end in encoded.offsets]

    return tokenize, f"Tokens are those of {model.name or model}."
