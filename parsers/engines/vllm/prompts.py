"""The prompt of an answer that is not streamed, for toolwire's reasoning parsers.

Whether an answer begins with thoughts is for its prompt to say. vLLM shows a stream's prompt to the
reasoning parser. That of a whole answer, since 0.32, it tells to what puts the two parsers together, and
no further. So here it is handed on. Earlier releases tell it to nobody: see `reasoning`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from importlib import import_module
from typing import Any

from .api import log

_MODULE = "vllm.parser.abstract_parser"
_OURS = "toolwire_hands_on"  # what the method is marked with


def hand_prompts_on() -> None:
    """Has vLLM's parsers tell the reasoning parser, if that wants to know (`hear_prompt`). May be called
    any number of times."""
    try:
        parsers = import_module(_MODULE).DelegatingParser
        told = parsers.set_prompt_token_ids
    except (ImportError, AttributeError):
        log.info(
            "This vLLM does not tell its parsers the prompt of an answer that is not streamed."
        )
        return
    if hasattr(told, _OURS):
        return

    @wraps(told)
    def hand_on(self: Any, prompt_token_ids: Sequence[int]) -> None:
        told(self, prompt_token_ids)
        hear = getattr(self.reasoning_parser, "hear_prompt", None)
        if hear is not None:
            hear(prompt_token_ids)

    setattr(hand_on, _OURS, True)
    parsers.set_prompt_token_ids = hand_on
