"""vLLM 0.32 and later: it says which tools the model is shown, makes one parser when it starts, asks for
a grammar only where one is wanted, and limits a model to one call by itself."""

from __future__ import annotations

from typing import Any

from .contract import Contract, as_asked, nothing_more


def contract(tool_parser: Any, utils: Any) -> Contract | None:
    """None where the installed vLLM is an earlier one."""
    if not hasattr(utils, "get_function_tools"):
        return None
    return Contract("0.32", utils.get_function_tools, as_asked, nothing_more)
