"""Chat templates of strangers, made ready to be asked: by their text, or by an engine's tokenizer.

Templates run in Jinja's sandbox, set up as transformers does it: no attribute of Python's own is in
reach, and whatever goes wrong in one is a sentence; so is a text without end. What nothing here stops
is a template that computes for a long time, or makes one huge value: Jinja has no bound for these.
"""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Template, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..errors import ToolwireError
from ..templates import chat_environment
from .probes import Message, Render

#: What templates write where nobody knows the model's own tokens.
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

#: A prompt may have so many characters.
_LONGEST = 5_000_000
#: The same day for everyone: a template that shows the date renders the same twice.
_TODAY = datetime.datetime(2025, 1, 1)


class _Generation(Extension):
    """`{% generation %}` marks the assistant's words for training. Here it means nothing."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _OwnLists(ImmutableSandboxedEnvironment):
    """The same sandbox, but a template may change lists that it made itself, and write as JSON what
    `map` and its like give, as llama.cpp lets it."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if type(obj) is list and attr in _LIST_CHANGES:
            return True
        return super().is_safe_attribute(obj, attr, value)


_LIST_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "reverse", "clear"})


class _Given(list[Any]):
    """A list of the caller's: no template may change it."""


class TemplateRenderer:
    """A template by its text."""

    def __init__(self, text: str, special: Mapping[str, str] | None) -> None:
        self._text = text
        self._variables = {"add_generation_prompt": False, **TOKENS, **(special or {})}
        self._template = _compiled(text, own_lists=False)
        #: whether it was seen to do with lists what vLLM and SGLang refuse
        self.changes_lists = False

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None = None,
        **variables: Any,
    ) -> str:
        values = {**self._variables, "messages": messages, "tools": tools, **variables}
        try:
            if not self.changes_lists:
                try:
                    return _bounded(self._template.generate(values))
                except SecurityError:
                    self._template = _compiled(self._text, own_lists=True)
                    self.changes_lists = True
            given = {"messages": _Given(messages), "tools": tools and _Given(tools)}
            return _bounded(self._template.generate(copy.deepcopy({**values, **given})))
        except Exception as error:  # a stranger's template may do anything
            raise ToolwireError(f"The chat template can't be rendered: {_reason(error)}") from error


def template_renderer(text: str, special: Mapping[str, str] | None = None) -> TemplateRenderer:
    """A template by its text. One that Jinja can't read is a `ToolwireError`."""
    return TemplateRenderer(text, special)


@lru_cache(maxsize=32)  # as tokenizers do: it takes long, and many ask for the same template
def _compiled(text: str, own_lists: bool) -> Template:
    sandbox = _OwnLists if own_lists else ImmutableSandboxedEnvironment
    environment = chat_environment(sandbox).overlay(extensions=[_Generation])
    environment.globals = {**environment.globals, "strftime_now": _TODAY.strftime}
    tojson = _lists_to_json(environment.filters["tojson"], own_lists)
    environment.filters = {**environment.filters, "tojson": tojson}
    try:
        return environment.from_string(text)
    except Exception as error:  # a stranger's text may break Jinja in any way
        raise ToolwireError(f"The chat template can't be read: {_reason(error)}") from error


def _lists_to_json(tojson: Callable[..., str], allowed: bool) -> Callable[..., str]:
    """The filter for values that may be lists which are still being made."""

    def listed(value: Any, *args: Any, **options: Any) -> str:
        if isinstance(value, Iterator):
            if not allowed:
                raise SecurityError("What `map` gives is no list that JSON can say")
            value = list(value)
        return tojson(value, *args, **options)

    return listed


def tokenizer_renderer(tokenizer: Any, template: str | None) -> Render:
    """An engine's tokenizer; `template` is used instead of the one it has, if there is one."""
    more = {} if template is None else {"chat_template": template}

    def render(
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] | None = None,
        **variables: Any,
    ) -> str:
        values = {"add_generation_prompt": False, **more, **variables}
        try:
            return str(
                tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, **values)
            )
        except Exception as error:  # see above; tokenizers have errors of their own
            raise ToolwireError(f"The chat template can't be rendered: {_reason(error)}") from error

    return render


def _bounded(pieces: Iterable[str]) -> str:
    """The text, as far as it is one that could be a prompt."""
    taken: list[str] = []
    length = 0
    for piece in pieces:
        taken.append(piece)
        length += len(piece)
        if length > _LONGEST:
            raise ToolwireError("it writes more than any prompt has")
    return "".join(taken)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
