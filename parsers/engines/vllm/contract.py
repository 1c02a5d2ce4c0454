"""What differs between the generations of vLLM's releases, as far as a tool parser has to know.

All since 0.24 hand text over and want messages back in the same way; what they ask of a parser
besides has changed. Each generation has a file of its own (`since_0_24`, `since_0_31`, `since_0_32`),
and each of these says by what the installed vLLM has whether it is that one. A request gives the same on
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...openai.request import Request


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a model is held to."""

    every_schema: bool = False
    """To the schemas of all tools, not just of those that are strict."""
    answer: dict[str, Any] | None = None
    """In `auto`: what it may write instead of a call, and nothing else; None for any text."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A generation."""

    since: str
    """Its first release."""
    function_tools: Callable[[Sequence[Any]], Sequence[Any]]
    """Of a request's tools, those that the model is shown, by the names it is shown."""
    grammar: Callable[[Any, Request, int], Grammar | None]
    """What to hold the model to where vLLM asks: for a request, what was read of it, and the operator's
    level (`--tool-strict-level`: 0, 1 or 2)."""
    unasked: Callable[[Any, Request], Grammar | None]
    """… and where vLLM does not ask, though the request wants it."""


def nothing_more(request: Any, read: Request) -> Grammar | None:
    """vLLM asks wherever a grammar is wanted."""
    return None


def as_asked(request: Any, read: Request, level: int) -> Grammar | None:
    """vLLM asks only where a grammar is wanted."""
    return Grammar(every_schema=level >= 2)


def asked_form(request: Any) -> Any:
    """The form of the answer: Chat Completions and Responses keep it in different places."""
    return getattr(getattr(request, "text", None), "format", None) or getattr(
        request, "response_format", None
    )


def asks_for_an_answer(request: Any) -> bool:
    """Whether it asks for a certain form of it."""
    form = getattr(asked_form(request), "type", "text")
    return form != "text" or getattr(request, "structured_outputs", None) is not None


def shown(tools: Sequence[Any], flatten: Callable[[Any], Sequence[Any]] | None) -> Sequence[Any]:
    """Before 0.32 a model is shown functions and nothing else. `flatten` is vLLM's own list of those in
    a request for Responses, where it has one: with those in a namespace, by the names it has there."""
    chat = [tool for tool in tools if hasattr(tool, "function")]
    if chat or flatten is None:
        return chat or [tool for tool in tools if getattr(tool, "type", "") == "function"]
    return flatten(tools)
