"""Finds the chat templates that come with toolwire, and renders conversations with them.

A template belongs to a frame (how turns are marked) and a style (how tools are declared and calls
written), and asks for the wire format that one parser reads. `catalog.json`, built beside the
templates, says which.

`words_for` gives what a style says of tools, calls and results without the turns around it: whoever
writes tools into an ordinary system message (the gateway) says the same as the templates do.

Jinja is imported when something is rendered: finding a template needs none of it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.format import Format
from .errors import ToolwireError
from .formats import get_format
from .openai import exact_json
from .schema.definitions import Tools

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_CATALOG = "catalog.json"
_BY_EXAMPLE = "by_example.jinja"

#: What the text of every template begins with.
OURS = "{#- toolwire chat template "


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """One of toolwire's templates, as the catalog describes it."""

    name: str
    frame: str
    style: str
    models: tuple[str, ...]
    """Model families it suits. `trained` is true where they were trained on this very format."""
    trained: bool
    format: str
    """The format for `toolwire.parse` and `toolwire.Parser`."""
    parser: str
    """The engines' `--tool-call-parser`."""
    reasoning: str
    """The style in which it shows thoughts, for `reasoning=`; `toolwire_` and this name is the engines'
    `--reasoning-parser`, where the model thinks."""
    markers: tuple[str, ...]
    """Literals that structure the prompt, for highlighting."""
    path: Path

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


def list_templates() -> list[ChatTemplate]:
    """All templates, frame by frame."""
    return list(_catalog().values())


def get_template(name: str) -> ChatTemplate:
    """The template of that name; the error for a wrong one lists the right ones, nearest first."""
    templates = _catalog()
    if name not in templates:
        nearest = ", ".join(_nearest(name, templates))
        raise ToolwireError(f"There is no chat template {name!r}. There are: {nearest}.")
    return templates[name]


def render(
    name: str,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None = None,
    *,
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
    **variables: Any,
) -> str:
    """What the model would see. A conversation that can't be shown raises, with the reason.

    `variables` are what an engine passes besides: `bos_token` and `eos_token`, and what a request says
    of thinking, such as `enable_thinking=False`.
    """
    if add_generation_prompt and continue_final_message:
        raise ToolwireError(
            "add_generation_prompt starts a new message, continue_final_message goes on with the "
            "last one: choose one of them"
        )
    from jinja2 import TemplateError

    try:
        return _compiled(get_template(name).path).render(
            messages=messages,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            **variables,
        )
    except TemplateError as error:
        raise ToolwireError(error.message or "the conversation is malformed") from error
    except (TypeError, RecursionError) as error:
        # The template went through a structure that is not what a conversation is made of.
        raise ToolwireError(f"the conversation is malformed: {error}") from error


@dataclass(frozen=True, slots=True)
class Words:
    """What a style says of tools, to be written into any conversation."""

    format: Format
    macros: Any  # the style's own, as a template has them

    def declare(self, tools: Sequence[Mapping[str, Any]]) -> str:
        """The tools, and how they are called."""
        return str(self.macros.declare(tools))

    def calls(self, calls: Sequence[Mapping[str, Any]], tools: Tools | None = None) -> str:
        """Some calls as the model writes them; one that the format can't say, as the templates do."""
        from .formats.write import write

        try:
            return write(self.format, calls, tools)
        except ToolwireError:
            return str(self.macros.write_calls([_with_object(call) for call in calls]))

    def result(self, name: str, content: Any) -> str:
        """What a tool gave back."""
        return str(self.macros.write_result(name, self.macros.result_text(content)))


def _with_object(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call with the object that its arguments mean: templates write that in their own way."""
    text = call.get("arguments")
    try:
        arguments = exact_json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return call
    return {**call, "arguments": arguments} if isinstance(arguments, dict) else call


@functools.lru_cache(maxsize=100)
def words_for(format: str | Format) -> Words:
    """The words of the style that asks for a format; where there is none, calls are shown as they are
    written. A format that can't be written raises."""
    spec = format if isinstance(format, Format) else get_format(format)
    plain = f"plain-{_style_of(spec)}"
    if plain in _catalog():
        return Words(spec, _compiled(_catalog()[plain].path).make_module({"messages": []}))
    from .formats.write import write

    call = {"name": "tool_name", "arguments": {"argument": "value"}}
    other = {"name": "other_tool", "arguments": {"argument": "value"}}
    shown = {"one": write(spec, [call]), "several": write(spec, [call, other])}
    return Words(spec, _compiled(_folder() / _BY_EXAMPLE).make_module(shown))


def _style_of(spec: Format) -> str:
    """The style whose templates ask for this format, or "". A user's own may have one's name."""
    for template in _catalog().values():
        if template.format == spec.name and get_format(spec.name) == spec:
            return template.style
    return ""


def _folder() -> Path:
    """Installed, the templates lie inside the package; in a checkout, beside its source folder."""
    package = Path(__file__).resolve().parent
    for folder in (package / "chat_templates", package.parent / "chat_templates"):
        if (folder / _CATALOG).is_file():
            return folder
    raise ToolwireError(
        f"toolwire's chat templates are missing from {package}: install toolwire again"
    )


@functools.cache
def _catalog() -> dict[str, ChatTemplate]:
    folder = _folder()
    entries = json.loads((folder / _CATALOG).read_text(encoding="utf-8"))
    return {
        entry["name"]: ChatTemplate(
            name=entry["name"],
            frame=entry["frame"],
            style=entry["style"],
            models=tuple(entry["models"]),
            trained=entry["trained"],
            format=entry["format"],
            parser=entry["parser"],
            reasoning=entry["reasoning"],
            markers=tuple(entry["markers"]),
            path=folder / f"{entry['name']}.jinja",
        )
        for entry in entries
    }


def _nearest(name: str, names: Mapping[str, object]) -> list[str]:
    import difflib

    def likeness(candidate: str) -> float:
        return difflib.SequenceMatcher(None, candidate, name.lower()).ratio()

    return sorted(names, key=likeness, reverse=True)


@functools.cache
def _compiled(path: Path) -> Template:
    return chat_environment().from_string(path.read_text(encoding="utf-8"))


@functools.cache
def chat_environment(
    sandbox: type[ImmutableSandboxedEnvironment] | None = None,
) -> ImmutableSandboxedEnvironment:
    """Jinja2 set up as transformers, and with it vLLM and SGLang, sets it up for chat templates."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = (sandbox or ImmutableSandboxedEnvironment)(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    return environment


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Jinja2's own filter escapes for HTML and sorts keys: neither belongs in a prompt."""
    if indent is None and separators is None and not sort_keys:
        return exact_json.dumps(value, ascii=ensure_ascii)  # numbers as they were written
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)
