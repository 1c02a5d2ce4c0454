"""vLLM's Responses: two things that a tool parser can't have by what it returns.

* In a stream, vLLM sends a step's text before its calls, and text ends the call that is open; a piece
  of that call that comes next is then a call without a name, and the stream breaks. A step that is not
  the last can keep its text for the next one. The last one can't, so the rest of an open call is sent
  first there.
* `tool_choice: {"type": "allowed_tools"}` is a choice for which vLLM holds a model to nothing, and
  without streaming asks no parser. So the parser holds the model itself, and vLLM is shown the choice's
  mode until it has asked.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from importlib import import_module
from typing import Any

from ...openai.request import Request, read_functions
from .api import log
from .contract import Grammar, asks_for_an_answer

_MODULE = "vllm.entrypoints.openai.responses.serving"
_OURS = "toolwire_keeps_order"  # what the function is marked with
_CHOICE = "toolwire_choice"  # where a request keeps its own choice, while it shows another


# -- text after a call, in the very last step ------------------------------------------------------


def keep_text_behind_calls() -> bool:
    """Has vLLM's Responses send the rest of an open call first, and says whether it does. May be called
    any number of times."""
    try:
        serving: Any = import_module(_MODULE)
        split = serving.split_delta
    except (ImportError, AttributeError):
        log.info("This vLLM has no %s as toolwire knows it: it is left as it is.", _MODULE)
        return False
    if hasattr(split, _OURS):
        return True

    @wraps(split)
    def in_order(delta: Any) -> list[Any]:
        calls = delta.tool_calls
        if not calls or calls[0].id is not None:
            parts: list[Any] = split(delta)
            return parts
        of_open = [call for call in calls if call.index == calls[0].index]
        others = [call for call in calls if call.index != calls[0].index]
        rest = {"content": delta.content, "reasoning": delta.reasoning, "tool_calls": others}
        kind = type(delta)
        given = {name: value for name, value in rest.items() if value}
        return [kind(tool_calls=of_open), *(split(kind(**given)) if given else ())]

    setattr(in_order, _OURS, True)
    serving.split_delta = in_order
    return True


# -- allowed tools ---------------------------------------------------------------------------------


def own_choice(request: Any) -> Any:
    """The tool choice that the client has sent."""
    return getattr(request, _CHOICE, None) or request.tool_choice


def shown_names(read: Request, request: Any) -> Request:
    """The request, with the names in its list of allowed tools as the model is shown them: vLLM flattens
    those of a namespace in a way of its own."""
    names = read.choice.names
    if names is None:
        return read
    listed = replace(read, functions=read_functions(request.tools)).allowed
    flat = {f"{one.namespace}__{one.own_name}" for one in listed if one.namespace is not None}
    return replace(read, choice=replace(read.choice, names=names | flat))


def show_mode(request: Any, read: Request) -> None:
    """A choice of allowed tools is `auto` or `required` for vLLM, which then asks the parser. A stream
    asks it anyway."""
    choice = request.tool_choice
    if getattr(choice, "type", None) == "allowed_tools" and not request.stream:
        setattr(request, _CHOICE, choice)
        request.tool_choice = read.choice.mode


def show_choice(request: Any) -> None:
    """vLLM has asked: the answer tells the client its own choice again."""
    request.tool_choice = own_choice(request)


def allowed_grammar(request: Any, read: Request) -> Grammar | None:
    """What to hold the model to where it may only call some tools, about which vLLM never asks."""
    if getattr(request.tool_choice, "type", None) != "allowed_tools":
        return None
    if read.choice.forced:
        return Grammar()
    wanted = not read.parallel or any(function.strict for function in read.allowed)
    return Grammar() if wanted and not asks_for_an_answer(request) else None
