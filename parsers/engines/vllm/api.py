"""Where vLLM keeps what the plugin needs, and which versions of vLLM that is known for.

Nothing here is imported until vLLM asks for a parser. Releases moved these classes about; the
places are tried newest first, here and nowhere else. What releases ask of a parser is in `contract`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from ...errors import ToolwireError
from ...models.releases import VLLM
from ..versions import check_version
from . import since_0_24, since_0_31, since_0_32
from .contract import Contract
from .messages import Messages, messages

_PROTOCOL = (
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
)
_REASONING = ("vllm.reasoning",)
_PARSERS = ("vllm.tool_parsers",)
#: What the generations of vLLM ask of a parser, newest first: see `contract`.
_GENERATIONS = (since_0_32, since_0_31, since_0_24)

log = logging.getLogger("vllm.toolwire")


@dataclass(frozen=True, slots=True)
class VllmApi:
    """The classes of the installed vLLM, wherever it keeps them."""

    ToolParser: Any
    ToolParserManager: Any
    ReasoningParser: Any
    messages: Messages
    ExtractedToolCallInformation: Any
    ToolCall: Any
    FunctionCall: Any
    StructuredOutputsParams: Any
    contract: Contract
    envs: Any  # vLLM's settings, read from the environment as vLLM reads them


def version() -> str:
    return str(import_module("vllm").__version__)


def _first(modules: tuple[str, ...], name: str) -> Any:
    for module in modules:
        try:
            found = getattr(import_module(module), name, None)
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("vllm"):
                raise  # something vLLM itself needs is missing: that is the better message
            continue
        if found is not None:
            return found
    raise ToolwireError(
        f"toolwire did not find {name} in this vLLM; it works with vLLM {VLLM.span}."
    )


def parser_manager() -> Any:
    """vLLM's register of tool parsers."""
    return _first(_PARSERS, "ToolParserManager")


def reasoning_manager() -> Any:
    """vLLM's register of reasoning parsers."""
    return _first(_REASONING, "ReasoningParserManager")


def find_contract(tool_parser: Any, utils: Any) -> Contract:
    """By what this vLLM has, whatever its number is."""
    for generation in _GENERATIONS:
        found: Contract | None = generation.contract(tool_parser, utils)
        if found is not None:
            return found
    raise ToolwireError(
        f"This vLLM, {version()}, does not tell a tool parser where an answer ends: toolwire works with "
        f"vLLM {VLLM.span}."
    )


@lru_cache(maxsize=1)
def load() -> VllmApi:
    check_version(VLLM, version(), log)
    tool_parser = _first(_PARSERS, "ToolParser")
    return VllmApi(
        ToolParser=tool_parser,
        ToolParserManager=parser_manager(),
        ReasoningParser=_first(_REASONING, "ReasoningParser"),
        messages=messages(
            *(_first(_PROTOCOL, f"Delta{kind}") for kind in ("Message", "ToolCall", "FunctionCall"))
        ),
        ExtractedToolCallInformation=_first(_PROTOCOL, "ExtractedToolCallInformation"),
        ToolCall=_first(_PROTOCOL, "ToolCall"),
        FunctionCall=_first(_PROTOCOL, "FunctionCall"),
        StructuredOutputsParams=_first(("vllm.sampling_params",), "StructuredOutputsParams"),
        contract=find_contract(tool_parser, import_module("vllm.tool_parsers.utils")),
        envs=import_module("vllm.envs"),
    )
