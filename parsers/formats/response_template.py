"""`load_response_template`: a checkpoint says by itself how it writes messages.

Newer models come with a `response_template` in their tokenizer_config.json: which delimiters stand
around thoughts, text and calls, and how a call's parts are found in what stands between them. Other
servers interpret that. Here it is translated, once, into a format with its reasoning style, so what
holds for all formats holds for it: arguments stream, every cut gives the same, the cost is linear.

    thinking    ──▶ Format.reasoning
    content     ──▶ Format.text_wrapper, where it has delimiters
    tool_calls  ──▶ Format.shape, .wrappers and .layout (`template_calls`)

Two kinds of templates are no format by themselves. In one that drops all text outside of its fields, the
message is a row of parts with headers, of which the template shows only those it needs: this is one of
the formats with channels. And a template's patterns may say more than literals do. In both cases it is
proven which of toolwire's formats is meant: the one whose calls the template itself reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..core.format import Format, Wrapper
from ..core.literals import is_special
from ..core.reasoning import ReasoningStyle
from ..errors import ToolwireError
from ..shapes import JsonCalls
from .registry import formats_in_order, get_format
from .template_calls import calls_of, levels_of
from .template_fields import Field, Path, Template, looks_special, read_template, source_of
from .template_patterns import may_explode
from .write import reads_what_it_writes, write

NAME = "response_template"

_CALL: Mapping[str, Any] = {"name": "NAME", "arguments": {"K": "V"}}
_THOUGHT = "A thought."


def load_response_template(template: Mapping[str, Any], name: str = NAME) -> Format:
    """The format, called `name`, that a checkpoint's response template describes.

    A `ToolwireError` names the field that can't be translated.
    """
    read = read_template(template)
    if not read.keeps_all_text:
        for family in formats_in_order():
            spec = get_format(family)
            if spec.channels is not None and _describes(read, spec, thoughts=True):
                return replace(spec, name=name, aliases=(), models="")
    spec = _with_text(_with_calls(read, name), read)
    return spec if spec.layout and reads_what_it_writes(spec) else replace(spec, layout=None)


# -- calls -----------------------------------------------------------------------------------------


def _with_calls(read: Template, name: str) -> Format:
    if read.calls is None:
        return Format(name, JsonCalls())
    try:
        calls = calls_of(read.calls)
    except ToolwireError:
        for family in formats_in_order():
            spec = get_format(family)
            if spec.channels is None and _describes(read, spec, thoughts=False):
                return replace(spec, name=name, aliases=(), models="")
        raise
    openers = [spelling for wrapper in calls.wrappers for spelling in wrapper.open]
    return Format(
        name,
        calls.shape,
        calls.wrappers,
        calls.bare,
        layout=calls.layout,
        special=tuple(s for s in openers if looks_special(s) and not is_special(s)),
    )


# -- thoughts and text -----------------------------------------------------------------------------


def _with_text(spec: Format, read: Template) -> Format:
    content = read.content
    if content and (content.content != "text" or content.transform is not None):
        raise content.refuse("is not just text")
    opens = _literals(content, content.open) if content else ()
    closes = _literals(content, content.close) if content else ()
    words = opens if not any(map(looks_special, opens)) else ()
    if read.thinking is None:
        words = ()
    else:
        style = _style(read.thinking, words, closes if words else ())
        spec = replace(spec, reasoning=style, always_reasons=True)
    taken = {opener for wrapper in spec.wrappers for opener in wrapper.open}
    for field, spellings in ((read.thinking, spec.reasoning.open), (content, opens)):
        if field and taken & set(spellings):
            raise field.refuse("is opened by what opens calls")
    begins, ends = (*read.anchor, *(() if words else opens)), () if words else closes
    if not begins:  # what only ends text ends thoughts, too: it is the end of the message
        begins, ends = ends, ()
    return replace(spec, text_wrapper=Wrapper(begins, ends) if begins else None)


def _style(field: Field, answer: tuple[str, ...], answer_end: tuple[str, ...]) -> ReasoningStyle:
    """What stands around thoughts, and around the answer where this may stand in any text: there it
    counts only right behind the thoughts."""
    if field.content != "text" or field.transform is not None:
        raise field.refuse("is not just text")
    opens, closes = _literals(field, field.open), _literals(field, field.close)
    if not opens or not closes:
        raise field.refuse("needs an opener and a closer")
    special = any(map(looks_special, opens))
    try:
        return ReasoningStyle("", opens, closes, special, answer, answer_end)
    except ToolwireError as error:
        raise field.refuse(f"has delimiters that can't be told apart ({error})") from None


def _literals(field: Field, parts: Iterable[Any]) -> tuple[str, ...]:
    """The spellings of a delimiter that is one literal, whatever white space is around it."""
    levels = levels_of(field, parts)
    if len(levels) > 1:
        raise field.refuse("has a delimiter of several literals with something between them")
    return levels[0].spellings if levels else ()


# -- which of toolwire's formats a template describes ----------------------------------------------


def _describes(read: Template, spec: Format, thoughts: bool) -> bool:
    """Whether the template reads what the format writes: a call, and a thought."""
    if read.calls is None or spec.layout is None or (thoughts and read.thinking is None):
        return False
    try:
        text = write(spec, [_CALL], reasoning=_THOUGHT if thoughts else None)
        if thoughts and read.thinking and _region(read.thinking, text)[1].strip() != _THOUGHT:
            return False
        return _call_in(read.calls, text) == (_CALL["name"], _CALL["arguments"])
    except (_NotRead, ToolwireError, re.error):
        return False


class _NotRead(Exception):
    """The template does not read the text."""


def _region(field: Field, text: str) -> tuple[dict[str, str], str]:
    """What a field's opener captures, and what stands between its delimiters."""
    opener = next(_matches(field.opener.regex, text), None) if field.opener else None
    if opener is None:
        raise _NotRead
    rest = text[opener.end() :]
    closer = next(_matches(field.closer.regex, rest), None) if field.closer else None
    return opener.groupdict(), rest[: closer.start()] if closer else rest


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """As the template's own interpreters look for it."""
    if may_explode(pattern):
        raise _NotRead
    return re.finditer(pattern, text, re.DOTALL)


def _call_in(field: Field, text: str) -> tuple[Any, Any]:
    captured, body = _region(field, text)
    content: Any
    if field.content == "xml-inline":
        tags = _matches(str(field.arguments.get("tag_pattern")), body)
        content = {
            tag["key"]: tag["value"] for tag in tags if {"key", "value"} <= set(tag.groupdict())
        }
    else:
        try:
            content = json.loads(body)
        except ValueError:
            raise _NotRead from None
    if field.each:
        content = content[0] if isinstance(content, list) and content else None
    source, scope = source_of(field), {**captured, "content": content}
    return _at(source.name, scope), _at(source.arguments, scope)


def _at(path: Path, scope: Any) -> Any:
    for key in path:
        scope = scope.get(key) if isinstance(scope, Mapping) else None
    return scope
