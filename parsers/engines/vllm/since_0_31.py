"""vLLM 0.31: it asks for a grammar where a tool is strict or the operator wants it
(`--tool-strict-level`), but not where only one call is wanted. So that one is put into the request."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from .contract import Contract, Grammar, as_asked, shown

if TYPE_CHECKING:
    from ...openai.request import Request


def contract(tool_parser: Any, utils: Any) -> Contract | None:
    """None where the installed vLLM is an earlier one."""
    if "strict_level" not in inspect.signature(tool_parser.get_structural_tag).parameters:
        return None
    flatten = getattr(utils, "iter_response_function_tool_dicts", None)
    return Contract("0.31", partial(shown, flatten=flatten), as_asked, one_call)


def one_call(request: Any, read: Request) -> Grammar | None:
    """In `auto`, where nothing else is asked of the answer."""
    if read.parallel or read.choice.mode != "auto" or request.extract_structured_outputs():
        return None
    return Grammar()
