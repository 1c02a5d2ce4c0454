"""vLLM 0.24 to 0.30: it asks for a grammar with every request that has tools, and puts what it gets in
the place of the answer's own (`response_format`). So here is decided what later releases decide by
themselves: in `auto` a model is free unless a tool is strict, only one call is wanted, or the operator
asks for more.

These releases have no `--tool-strict-level`; the environment variable `TOOLWIRE_TOOL_STRICT_LEVEL` takes
the same words.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import ToolwireError
from .contract import Contract, Grammar, asked_form, asks_for_an_answer, nothing_more, shown

if TYPE_CHECKING:
    from ...openai.request import Request

LEVEL = "TOOLWIRE_TOOL_STRICT_LEVEL"
_LEVELS = ("auto", "function", "parameter")


def contract(tool_parser: Any, utils: Any) -> Contract | None:
    """None where the installed vLLM is an earlier one."""
    needed = ("engine_based_streaming", "structural_tag_model", "supports_required_and_named")
    if not all(hasattr(tool_parser, name) for name in needed):
        return None
    _operators_level()  # a word that it does not know is said now
    flatten = getattr(utils, "iter_response_function_tool_dicts", None)
    return Contract("0.24", partial(shown, flatten=flatten), _grammar, nothing_more)


def _operators_level() -> int:
    asked = os.environ.get(LEVEL) or "auto"
    if asked not in _LEVELS:
        raise ToolwireError(f"{LEVEL} is {asked!r}; it can be {', '.join(_LEVELS)}.")
    return _LEVELS.index(asked)


def _grammar(request: Any, read: Request, _: int) -> Grammar | None:
    level = _operators_level()
    if read.choice.forced:
        return Grammar(every_schema=level >= 2)
    asks = asks_for_an_answer(request)
    if not read.parallel and not asks:
        level = max(level, 1)  # to stop after one call, a grammar has to know what a call is
    if level == 0 and not any(function.strict for function in read.functions):
        return None
    answer = _answer(request)
    if asks and answer is None:
        return None  # what the answer has to be can't be put beside calls, and comes first
    return Grammar(every_schema=level >= 2, answer=answer)


def _answer(request: Any) -> dict[str, Any] | None:
    """What the answer has to be, in xgrammar's words."""
    if getattr(request, "structured_outputs", None) is not None:
        return None
    asked = asked_form(request)
    kind = getattr(asked, "type", "text")
    if kind == "json_object":
        return {"type": "json_schema", "json_schema": {"type": "object"}}
    if kind != "json_schema":
        return None
    schema = getattr(asked, "schema_", None)
    if schema is None:
        schema = getattr(getattr(asked, "json_schema", None), "json_schema", None)
    return None if schema is None else {"type": "json_schema", "json_schema": schema}
