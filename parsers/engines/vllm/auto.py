"""`--tool-call-parser toolwire_auto`: the parser of the format that the chat template shows the model,
or that the checkpoint itself describes (`response_template`).

vLLM asks for a parser's class before it has a tokenizer, and makes one parser with it when it starts.
That is when the format is chosen, once for each process; the class is that format's from then on.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..startup_checks import choose_format
from . import api as vllm_api
from .adapter import Adapter
from .anthropic import leave_out_unreadable_calls

NAME = "toolwire_auto"


class AutoAdapter(Adapter):
    """The adapter of a format that is not known until a tokenizer is."""

    @classmethod
    def _meet(cls, tokenizer: Any) -> None:
        cls.toolwire_format, why = choose_format(tokenizer)
        vllm_api.log.info("%s chose toolwire_%s. %s", NAME, cls.toolwire_format, why)


@cache
def auto_class() -> Any:
    """The ToolParser class that chooses its format by itself."""
    api = vllm_api.load()
    leave_out_unreadable_calls()
    members = {
        "__module__": __name__,
        "__doc__": "Reads the tool calls of the format that the chat template shows.",
        "_api": api,
        "structural_tag_model": NAME,  # as for every format, see `parser_class`
    }
    return type(NAME, (AutoAdapter, api.ToolParser), members)
