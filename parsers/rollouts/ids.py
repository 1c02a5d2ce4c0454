"""`parse_ids`: a message from the ids of its tokens.

Tokens are turned into text with the special ones kept, for they are what many formats mark calls with.
Padding and the token that ends the answer are taken away from the end, as a server does: they are no
part of the message. A token that ends a call stays, also where it ends the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import get_format
from ..formats.parser import Parser
from ..formats.reasoning import Reasoning
from ..openai.answers import CallIds
from ..openai.message import Message, collect
from ..schema.definitions import Tools

#: Models that write no end of their answer behind a call: they go on as if they were the tool. Sampling
#: has to stop at these.
_GO_ON = {"gemma4": "<tool_call|>", "harmony": "<|call|>"}


def parse_ids(
    format: str | Format,
    ids: Iterable[int],
    tokenizer: Any,
    tools: Tools | None = None,
    reasoning: Reasoning = None,
    in_reasoning: bool = False,
) -> Message:
    """The message that these tokens are. `tokenizer` is one of transformers', or any with their
    `decode`. The rest is as for `toolwire.parse`."""
    spec = format if isinstance(format, Format) else get_format(format)
    text = decode(spec, ids, tokenizer)
    return read(spec, text, tools, reasoning, in_reasoning, CallIds(spec.ids))


def read(
    spec: Format,
    text: str,
    tools: Tools | None,
    reasoning: Reasoning,
    in_reasoning: bool,
    whose: Callable[[str | None, str], str],
) -> Message:
    """The message in a text. `whose` gives a call its id."""
    parser = Parser(spec, tools, reasoning, in_reasoning)
    return collect([*parser.feed(text), *parser.finish()], whose)


def decode(spec: Format, ids: Iterable[int], tokenizer: Any) -> str:
    """The text of a message's tokens."""
    numbers = [int(number) for number in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    kept = _closers(spec)
    for number in _ends(tokenizer):
        if _text(tokenizer, [number]) in kept:
            continue
        while numbers and numbers[-1] == number:
            numbers.pop()
    return _text(tokenizer, numbers)


def stop_token_ids(format: str | Format, tokenizer: Any) -> list[int]:
    """What sampling has to stop at, beside the tokens that end an answer, so that a call can be run."""
    spec = format if isinstance(format, Format) else get_format(format)
    token = _GO_ON.get(spec.name)
    if token is None:
        return []
    number = tokenizer.convert_tokens_to_ids(token)
    known = isinstance(number, int) and number != getattr(tokenizer, "unk_token_id", None)
    return [number] if known else []


def _ends(tokenizer: Any) -> list[int]:
    """Padding first: it stands behind the end."""
    found: list[int] = []
    for name in ("pad_token_id", "eos_token_id"):
        number = getattr(tokenizer, name, None)
        found += number if isinstance(number, list) else [number] if number is not None else []
    return found


def _closers(spec: Format) -> set[str]:
    closers = {literal for wrapper in spec.wrappers for literal in wrapper.close}
    return closers | set(spec.shape.closers) | {_GO_ON.get(spec.name, "")}


def _text(tokenizer: Any, ids: list[int]) -> str:
    # Some tokenizers put spaces right by default, and would change what is in a string.
    text = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    if not isinstance(text, str):
        raise ToolwireError(f"The tokenizer's decode() gave a {type(text).__name__}, not a str.")
    return text
