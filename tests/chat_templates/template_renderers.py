"""The three renderers that a template meets in the wild, behind one function each.

Jinja2's sandbox is toolwire's own, transformers is what vLLM and SGLang use, and minijinja is what
servers in other languages use. All of them must write the same.
"""

import functools
import json
from collections.abc import Callable
from typing import Any

import jinja2
import minijinja
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from toolwire import templates
from toolwire.errors import ToolwireError
from transformers import PreTrainedTokenizerFast

NAMES = [template.name for template in templates.list_templates()]
FRAMES = list(dict.fromkeys(template.frame for template in templates.list_templates()))
STYLES = list(dict.fromkeys(template.style for template in templates.list_templates()))

Messages = list[dict[str, Any]]
Tools = list[dict[str, Any]] | None
Renderer = Callable[..., str]


def with_jinja2(name: str, messages: Messages, tools: Tools = None, **options: Any) -> str:
    return templates.render(name, messages, tools, **options)


@functools.cache
def _tokenizer() -> Any:
    """apply_chat_template is a tokenizer's method, though no token is made here."""
    make: Callable[..., Any] = PreTrainedTokenizerFast
    return make(tokenizer_object=Tokenizer(WordLevel({"?": 0}, unk_token="?")), unk_token="?")


def with_transformers(name: str, messages: Messages, tools: Tools = None, **options: Any) -> str:
    rendered = _tokenizer().apply_chat_template(
        messages,
        tools=tools,
        chat_template=templates.get_template(name).text(),
        tokenize=False,
        **options,
    )
    assert isinstance(rendered, str)
    return rendered


class _Float:
    """minijinja's Python binding hands 1.0 to a filter as 1, so floats travel in a box to `_tojson`.

    That is the binding's doing and not minijinja's: a server in Rust has no such step.
    """

    def __init__(self, value: float) -> None:
        self.value = value


def _boxed(value: Any) -> Any:
    if isinstance(value, float):
        return _Float(value)
    if isinstance(value, dict):
        return {key: _boxed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_boxed(item) for item in value]
    return value


def _tojson(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda box: box.value)


def _raise_exception(message: str) -> None:
    raise ToolwireError(message)


@functools.cache
def _minijinja_environment() -> minijinja.Environment:
    return minijinja.Environment(
        templates={name: templates.get_template(name).text() for name in NAMES},
        filters={"tojson": _tojson},
        globals={"raise_exception": _raise_exception},
    )


def with_minijinja(name: str, messages: Messages, tools: Tools = None, **options: Any) -> str:
    return _minijinja_environment().render_template(
        name, messages=_boxed(messages), tools=_boxed(tools), **options
    )


RENDERERS: list[Renderer] = [with_jinja2, with_transformers, with_minijinja]


def render_everywhere(name: str, messages: Messages, tools: Tools = None, **options: Any) -> str:
    """What all three renderers write; fails where they differ."""
    ours, *others = (renderer(name, messages, tools, **options) for renderer in RENDERERS)
    assert others == [ours, ours]
    return ours


def refusal_everywhere(name: str, messages: Messages, tools: Tools = None, **options: Any) -> str:
    """The sentence with which all three renderers refuse; fails where they differ."""
    sentences = []
    for renderer in RENDERERS:
        with pytest.raises((ToolwireError, jinja2.TemplateError)) as caught:
            renderer(name, messages, tools, **options)
        sentences.append(str(caught.value))
    assert sentences == sentences[:1] * len(RENDERERS)
    return sentences[0]
