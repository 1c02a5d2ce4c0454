"""An engine's request, in the words of the core: OpenAI tool dicts and a simple tool choice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..openai.schemas import readable

#: What a model must be able to write where a tool declares no parameters: any object.
ANY_OBJECT: dict[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Choice:
    """`tool_choice` without its many spellings: a mode, and the one tool where one is named."""

    mode: str  # "none", "auto" or "required"
    name: str | None = None

    @property
    def forced(self) -> bool:
        return self.mode == "required"


def field(thing: Any, name: str) -> Any:
    """A dict's member or an object's attribute; None where there is none."""
    if isinstance(thing, dict):
        return thing.get(name)
    return getattr(thing, name, None)


def tool_dict(tool: Any) -> dict[str, Any] | None:
    """One tool in Chat Completions shape, or None for what is no function (a web search, say).

    Chat Completions nests (`tool.function.name`), Responses is flat (`tool.name`).
    """
    function = field(tool, "function") or tool
    name = field(function, "name")
    if not isinstance(name, str) or field(tool, "type") not in (None, "function"):
        return None
    parameters = field(function, "parameters")
    declared: dict[str, Any] = {"name": name}
    if isinstance(parameters, dict):
        declared["parameters"] = readable(name, parameters)
    if field(function, "strict") is True:
        declared["strict"] = True
    return {"type": "function", "function": declared}


def tool_dicts(tools: Iterable[Any] | None) -> list[dict[str, Any]]:
    return [found for tool in tools or () if (found := tool_dict(tool)) is not None]


def read_choice(choice: Any, tools: Any) -> Choice:
    """Chat Completions and Responses, as strings, dicts or objects. No tools is "none"."""
    if not tools or choice == "none":
        return Choice("none")
    if choice is None or choice == "auto":
        return Choice("auto")
    if choice == "required":
        return Choice("required")
    mode = field(choice, "mode")  # {"type": "allowed_tools", "mode": "auto"}
    if isinstance(mode, str):
        return Choice("required" if mode == "required" else "auto")
    name = field(field(choice, "function") or choice, "name")
    if isinstance(name, str):
        return Choice("required", name)
    return Choice("auto")
