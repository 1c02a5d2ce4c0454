"""What a request asks of its calls, read once, into one value that everything else goes by.

    request = read_request(body)         # the body of a request, or an engine's object for it
    request.functions                    # all that the model may know of
    request.allowed                      # what it may call, after the tool choice
    request.choice.mode                  # "none", "auto" or "required"

Chat Completions and Responses say the same things in different shapes, and the deprecated `functions`
and `function_call` say them once more; which shapes tools come in is in `schema.declarations`. Reading
is lenient and never raises: an engine has checked its request before, and what is wrong with a client's
is said by `checks`. What can't be understood is as if it were not there.

| `tool_choice` | mode | may be called |
|---|---|---|
| nothing, `"auto"`, or what is not understood | auto | all |
| `"none"`, or no tools at all | none | nothing |
| `"required"` | required | all |
| a function or a custom tool by name | required | that one, once |
| `allowed_tools` with a mode and a list | that mode | those of the list |
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..schema.declarations import Declaration, declarations, field
from ..schema.recent import Recent
from ..schema.tools import KnownTools
from .schemas import readable


@dataclass(frozen=True, slots=True)
class Function:
    """Something to call. A custom tool is a function with one string, `input`."""

    name: str
    """By which the model calls it, with its namespace in front where it has one."""
    parameters: Mapping[str, Any] | None = None
    """The schema of its arguments; None where none was given."""
    strict: bool = False
    custom: bool = False
    namespace: str | None = None

    @property
    def own_name(self) -> str:
        """Its name in its namespace, by which a request may mean it, too."""
        return self.name if self.namespace is None else self.name[len(self.namespace) + 1 :]

    def to_dict(self) -> dict[str, Any]:
        """As Chat Completions declares it, as far as parsers and grammars ask."""
        function: dict[str, Any] = {"name": self.name}
        if self.parameters is not None:
            function["parameters"] = self.parameters
        if self.strict:
            function["strict"] = True
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Choice:
    """`tool_choice` without its many spellings."""

    mode: str = "auto"  # "none", "auto" or "required"
    name: str | None = None  # the one to call, where one is named
    names: frozenset[str] | None = None  # what `allowed_tools` lists, where it has a list …
    namespaces: frozenset[str] = frozenset()  # … and of which namespaces it allows all

    @property
    def forced(self) -> bool:
        return self.mode == "required"


@dataclass(frozen=True, slots=True)
class Request:
    """What a request asks of the calls in its answer."""

    functions: tuple[Function, ...] = ()
    choice: Choice = Choice("none")
    parallel: bool = True  # whether more than one call is wanted
    legacy: bool = False  # the client speaks `functions` and wants `function_call`
    earlier_calls: int = 0  # how many there are in the conversation so far

    @property
    def allowed(self) -> tuple[Function, ...]:
        """What may be called, in the order of the declarations."""
        choice = self.choice
        if choice.mode == "none":
            return ()
        if choice.name is not None:
            exact = tuple(f for f in self.functions if f.name == choice.name)
            return exact or tuple(f for f in self.functions if f.own_name == choice.name)[:1]
        if choice.names is None:
            return self.functions
        return tuple(
            function
            for function in self.functions
            if not choice.names.isdisjoint((function.name, function.own_name))
            or function.namespace in choice.namespaces
        )

    @property
    def refuses_calls(self) -> bool:
        """Whether the client has tools, and said that it wants no call now."""
        return self.choice.mode == "none" and bool(self.functions)

    def may_call(self, name: str) -> bool:
        """Whether the tool choice allows this one. Without a list of its own, it allows any."""
        if self.choice.name is None and self.choice.names is None:
            return True
        return any(name in (function.name, function.own_name) for function in self.allowed)

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """All functions, as a request declares them; None where there are none."""
        return [function.to_dict() for function in self.functions] or None

    @property
    def known(self) -> KnownTools:
        """All functions, for a parser: read once for all choices of a request."""
        return _known(self.functions)

    @property
    def names(self) -> Collection[str]:
        """Those of all functions."""
        return self.known.by_name or ()


def _known_tools(functions: tuple[Function, ...]) -> KnownTools:
    return KnownTools([function.to_dict() for function in functions] or None)


_known = Recent(_known_tools)


#: A request without tools.
NO_TOOLS = Request()


def read_request(body: Any, api: str = "chat") -> Request:
    """The request that `body` is, a mapping or an engine's object. `api` is `chat` or `responses`."""
    if api == "chat" and field(body, "functions") is not None:
        functions = field(body, "functions")
        read = read_parts(functions, field(body, "function_call"), parallel=False, legacy=True)
    else:
        parallel = field(body, "parallel_tool_calls") is not False
        read = read_parts(field(body, "tools"), field(body, "tool_choice"), parallel=parallel)
    return replace(read, earlier_calls=earlier_calls(body))


def earlier_calls(body: Any) -> int:
    """How many calls there are in the conversation of a request, in either API's shape."""
    count = 0
    for entry in (*_several(body, "messages"), *_several(body, "input")):
        calls = len(_several(entry, "tool_calls"))
        count += calls or field(entry, "function_call") is not None
        count += field(entry, "type") in ("function_call", "custom_tool_call")
    return count


def _several(of: Any, name: str) -> Sequence[Any]:
    found = field(of, name)
    return found if isinstance(found, (list, tuple)) else ()


def read_parts(
    tools: Any, tool_choice: Any = None, *, parallel: bool = True, legacy: bool = False
) -> Request:
    """The request that has these tools and this tool choice."""
    return of_functions(read_functions(tools), tool_choice if tools else "none", parallel, legacy)


def of_functions(
    functions: tuple[Function, ...], tool_choice: Any, parallel: bool = True, legacy: bool = False
) -> Request:
    """The request with functions that were read already."""
    return Request(functions, read_choice(tool_choice), parallel, legacy)


def read_functions(tools: Any) -> tuple[Function, ...]:
    """All that tools declare, as far as it has a name."""
    if not isinstance(tools, (list, tuple)):
        return ()
    found = (_function(one) for tool in tools for one in declarations(tool))
    return tuple(function for function in found if function is not None)


def _function(found: Declaration) -> Function | None:
    name, parameters = found.name, found.parameters
    if not isinstance(name, str) or not name:
        return None
    return Function(
        name,
        readable(name, parameters) if isinstance(parameters, Mapping) else None,
        strict=field(found.definition, "strict") is True,
        custom=found.custom,
        namespace=found.namespace,
    )


def read_choice(choice: Any) -> Choice:
    """A tool choice by itself: a string, a mapping or an engine's object."""
    if choice is None:
        return _ANY_CHOICE
    if isinstance(choice, str):
        return Choice(choice if choice in ("none", "required") else "auto")
    if field(choice, "type") == "allowed_tools":
        return _read_allowed(choice)
    name = referred(choice)
    return Choice() if name is None else Choice("required", name)


_ANY_CHOICE = Choice()


def referred(reference: Any) -> str | None:
    """The name by which a choice, or an entry of its list, means a tool; None for a hosted one."""
    for found in declarations(reference):
        name, namespace = found.name, field(found.definition, "namespace")
        if isinstance(name, str) and name:
            return f"{namespace}.{name}" if isinstance(namespace, str) else name
    return None


def _read_allowed(choice: Any) -> Choice:
    """Chat Completions nests mode and list, Responses does not."""
    allowed = field(choice, "allowed_tools") or choice
    mode = "required" if field(allowed, "mode") == "required" else "auto"
    listed = field(allowed, "tools")
    if not isinstance(listed, (list, tuple)):
        return Choice(mode)
    whole = [field(r, "name") for r in listed if field(r, "type") == "namespace"]
    names = map(referred, listed)
    return Choice(
        mode,
        names=frozenset(name for name in names if name is not None),
        namespaces=frozenset(name for name in whole if isinstance(name, str)),
    )
