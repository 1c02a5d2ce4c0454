"""Ids as the format has them: SGLang makes all ids by itself, and asks no parser.

A hook of SGLang's plugin system stands behind the making of each. It counts a conversation's calls for
formats that number them, as SGLang does for its own `kimi_k2`. A result has no place for an id that the
model wrote, so that one does not get here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ...core.format import Format
from ...core.layout import IdStyle
from ...formats import get_format
from ...openai.answers import make_id

_MADE = "sglang.srt.entrypoints.openai.serving_chat.OpenAIServingChat._process_tool_call_id"


@cache
def make_ids_our_way() -> None:
    """For processes that serve HTTP: no other has to load what is hooked into here."""
    hooks = import_module("sglang.srt.plugins.hook_registry")
    hooks.HookRegistry.register(_MADE, _id, hooks.HookType.AFTER)
    hooks.HookRegistry.apply_hooks()


def has_ids(spec: Format | None) -> bool:
    """Whether a format's ids look otherwise than those that SGLang makes."""
    return spec is not None and spec.ids != IdStyle()


def _id(_: str, serving: Any, call_item: Any, history_tool_calls_cnt: int) -> str | None:
    """The id of a call; None leaves SGLang's own."""
    parsers = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    name = getattr(
        parsers.ToolCallParserEnum.get(serving.tool_call_parser), "toolwire_format", None
    )
    spec = None if name is None else get_format(name)
    if spec is None or not has_ids(spec):
        return None
    number = history_tool_calls_cnt + call_item.tool_index
    return make_id(spec.ids, str(call_item.name), number)
