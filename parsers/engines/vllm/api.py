"""Where vLLM keeps what the plugin needs, and which versions of vLLM that is known for.

Nothing here is imported until vLLM asks for a parser. Releases moved these classes about; the
places are tried newest first, here and nowhere else.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from ...errors import ToolwireError
from ...models.releases import VLLM
from .messages import Messages, messages

_PROTOCOL = (
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
    "vllm.entrypoints.openai.protocol",
)
_REASONING = ("vllm.reasoning",)
_PARSERS = ("vllm.tool_parsers", "vllm.entrypoints.openai.tool_parsers")

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
    get_function_tools: Any
    StructuralTag: Any
    envs: Any  # vLLM's settings, read from the environment as vLLM reads them


def versions_that_work() -> str:
    oldest, newest = (".".join(map(str, version)) for version in (VLLM.oldest, VLLM.newest))
    if oldest == newest:
        return f"vLLM {oldest}"
    return f"vLLM {oldest} to {newest}"


def check_version(version: str) -> None:
    """Stops where vLLM is too old; says so in the log where it is newer than what was tried."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None:  # a build from source may call itself "dev"
        log.warning("toolwire works with %s; this vLLM is %r.", versions_that_work(), version)
        return
    found = (int(numbers[1]), int(numbers[2]))
    if found < VLLM.oldest:
        raise ToolwireError(
            f"toolwire works with {versions_that_work()}, and this is vLLM {version}, which is "
            "too old: upgrade vLLM."
        )
    if found > VLLM.newest:
        log.warning(
            "toolwire was tested with %s, and this is vLLM %s, which is newer. If a parser fails, "
            "upgrade toolwire or install a vLLM it was tested with.",
            versions_that_work(),
            version,
        )


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
        f"toolwire did not find {name} in this vLLM; it works with {versions_that_work()}."
    )


def parser_manager() -> Any:
    """vLLM's register of tool parsers."""
    return _first(_PARSERS, "ToolParserManager")


def reasoning_manager() -> Any:
    """vLLM's register of reasoning parsers."""
    return _first(_REASONING, "ReasoningParserManager")


@lru_cache(maxsize=1)
def load() -> VllmApi:
    check_version(str(import_module("vllm").__version__))
    return VllmApi(
        ToolParser=_first(_PARSERS, "ToolParser"),
        ToolParserManager=parser_manager(),
        ReasoningParser=_first(_REASONING, "ReasoningParser"),
        messages=messages(
            *(_first(_PROTOCOL, f"Delta{kind}") for kind in ("Message", "ToolCall", "FunctionCall"))
        ),
        ExtractedToolCallInformation=_first(_PROTOCOL, "ExtractedToolCallInformation"),
        ToolCall=_first(_PROTOCOL, "ToolCall"),
        FunctionCall=_first(_PROTOCOL, "FunctionCall"),
        get_function_tools=_first(("vllm.tool_parsers.utils",), "get_function_tools"),
        StructuralTag=_first(("xgrammar",), "StructuralTag"),
        envs=import_module("vllm.envs"),
    )
