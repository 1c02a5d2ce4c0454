"""What a request's tools declare that a model can call by name, in whichever shape they came.

| type | in Chat Completions | in Responses | is called |
|---|---|---|---|
| `function` | `{"type", "function": {"name", …}}` | `{"type", "name", …}` | `name` |
| `custom` | `{"type", "custom": {"name", …}}` | `{"type", "name", …}` | `name` |
| `namespace` | | `{"type", "name", "tools": […]}` | `namespace.name` |

A custom tool takes one free text. A model is shown it as a function with one string, `input`, and calls
it so. Any other tool (a web search, say) is run by the server and never called in the model's text.

A tool is a mapping or, in an engine, an object with attributes. Nothing here judges what it finds: who
must be sure of a name or a schema looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

#: The one parameter of a custom tool.
INPUT: Final = "input"
#: What a model is asked for where it calls a custom tool.
FREE_TEXT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {INPUT: {"type": "string"}},
    "required": [INPUT],
    "additionalProperties": False,
}


class Declaration:
    """One thing to call. Its name and schema stand in `definition`, a part of the tool."""

    __slots__ = ("custom", "definition", "namespace")

    def __init__(self, definition: Any, custom: bool, namespace: str | None) -> None:
        self.definition = definition
        self.custom = custom
        self.namespace = namespace

    @property
    def name(self) -> Any:
        """By which the model calls it; a string that is not empty, where the tool is in order."""
        name = field(self.definition, "name")
        if self.namespace is None or not isinstance(name, str) or not name:
            return name
        return f"{self.namespace}.{name}"

    @property
    def parameters(self) -> Any:
        """The schema of its arguments, as it was given."""
        return FREE_TEXT if self.custom else field(self.definition, "parameters")


def field(thing: Any, name: str) -> Any:
    """A mapping's member or an object's attribute; None where there is none."""
    if isinstance(thing, Mapping):
        return thing.get(name)
    return getattr(thing, name, None)


def declarations(tool: Any) -> Iterator[Declaration]:
    """What one tool declares: one thing, several in a namespace, nothing where the server runs it."""
    if field(tool, "type") != "namespace":
        yield from _declared(tool, None)
        return
    namespace, members = field(tool, "name"), field(tool, "tools")
    if isinstance(namespace, str) and namespace and isinstance(members, (list, tuple)):
        for member in members:
            yield from _declared(member, namespace)


def _declared(tool: Any, namespace: str | None) -> Iterator[Declaration]:
    kind = field(tool, "type") or "function"
    if kind in ("function", "custom"):
        nested = field(tool, kind)
        yield Declaration(tool if nested is None else nested, kind == "custom", namespace)
