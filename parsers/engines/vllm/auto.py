"""`--tool-call-parser toolwire_auto`: the parser of the format that the chat template shows the model,
or that the checkpoint itself describes (`response_template`).

vLLM asks for a parser's class before it has a tokenizer, and some releases make a parser before it is
known which template is used. When the server starts (`start`) all is known, and the format is chosen,
once for each process; the class is that format's from then on. Where no such server is started (in a
program that takes vLLM's parsers and no more) it is chosen when it is needed first, by the model's own
template.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..startup_checks import choose_format
from . import api as vllm_api
from .adapter import Adapter, make_class

NAME = "toolwire_auto"


class AutoAdapter(Adapter):
    """The adapter of a format that is not known until a tokenizer and a template are."""

    _chosen: tuple[Any, str] = (None, "")  # for which tokenizer, and the format

    @classmethod
    def _meet(cls, tokenizer: Any) -> None:
        """A tokenizer by itself does not tell the format."""

    @classmethod
    def toolwire_starts(cls, tokenizer: Any, template: str) -> None:
        name, why = choose_format(tokenizer, template)
        cls._chosen = (tokenizer, name)
        vllm_api.log.info("%s chose toolwire_%s. %s", NAME, name, why)

    @property
    def toolwire_format(self) -> str:  # type: ignore[override]
        kind, tokenizer = type(self), self.model_tokenizer  # type: ignore[attr-defined]
        if kind._chosen[0] is not tokenizer:
            kind.toolwire_starts(tokenizer, "")
        return kind._chosen[1]


@cache
def auto_class() -> Any:
    """The ToolParser class that chooses its format by itself."""
    doc = "Reads the tool calls of the format that the chat template shows."
    return make_class(NAME, AutoAdapter, __module__=__name__, __doc__=doc)
