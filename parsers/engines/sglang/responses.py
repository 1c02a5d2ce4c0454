"""SGLang's Responses: a list of tools that may be called, and tools in namespaces.

SGLang takes a tool choice of `allowed_tools` for `auto`, and shows a namespace's tools to one family
of models only. Hooks of SGLang's plugin system stand behind the two places where it decides that. Tools
that may not be called are not shown to the model; those of a namespace are shown, and called, as
`namespace.tool`.

A call goes out under its namespace where SGLang has a table for such names, which it has since 0.5.23;
before that, namespaces are left out, as ever.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from ...openai.request import read_request
from ...schema.declarations import declarations, field

_OPENAI = "sglang.srt.entrypoints.openai"
_CHOICE = f"{_OPENAI}.protocol.ResponsesRequest.effective_tool_choice"
_TOOLS = f"{_OPENAI}.serving_responses.OpenAIServingResponses._response_tools_to_chat_tools"


@cache
def read_all_tools() -> None:
    """For processes that serve HTTP: no other has to load what is hooked into here."""
    hooks = import_module("sglang.srt.plugins.hook_registry")
    hooks.HookRegistry.register(_CHOICE, _choice, hooks.HookType.AFTER)
    hooks.HookRegistry.register(_TOOLS, _tools, hooks.HookType.AFTER)
    hooks.HookRegistry.apply_hooks()


def _lists_tools(request: Any) -> bool:
    return bool(field(request.tool_choice, "type") == "allowed_tools")


def _choice(_: Any, request: Any) -> str | None:
    """The choice that SGLang goes by; None leaves its own."""
    return read_request(request, "responses").choice.mode if _lists_tools(request) else None


def _tools(shown: list[Any], *asked: Any) -> list[Any]:
    """The tools that the model is shown, in the order of their declarations."""
    request = asked[-1]  # in some releases the server comes before it
    read = read_request(request, "responses")
    tools = [*shown, *_from_namespaces(request, {tool.function.name for tool in shown})]
    if _lists_tools(request):
        allowed = {function.name for function in read.allowed}
        tools = [tool for tool in tools if tool.function.name in allowed]
    places = {function.name: place for place, function in enumerate(read.functions)}
    return sorted(tools, key=lambda tool: places.get(tool.function.name, len(places)))


def _from_namespaces(request: Any, there: Container[str]) -> Iterator[Any]:
    """The functions of namespaces, as SGLang's tools, but for those that are there already."""
    protocol = import_module(f"{_OPENAI}.protocol")
    names = getattr(getattr(request, "_tool_state", None), "names", None)
    if names is None:
        return  # a call could not go out under its namespace
    for found in (one for tool in request.tools or () for one in declarations(tool)):
        if found.namespace is None or found.custom or found.name in there:
            continue
        names[found.name] = {"namespace": found.namespace, "name": field(found.definition, "name")}
        yield protocol.Tool(
            type="function",
            function=protocol.Function(
                name=found.name,
                description=field(found.definition, "description"),
                parameters=found.parameters,
                strict=field(found.definition, "strict") is True,
            ),
        )
