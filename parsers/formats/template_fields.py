"""A response template, read: its fields, what opens and closes each, and where a call's parts come from.

What is wrong with a template, or can't be said by a format, is one sentence that names the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..core.literals import is_special
from ..errors import ToolwireError
from .template_patterns import Hole, NotTaken, Part, Words, parts_of_literals, parts_of_pattern

#: What templates call a message's thoughts.
THINKING = ("thinking", "reasoning_content", "reasoning")
CONTENT = "content"
CALLS = "tool_calls"

_TOP = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_FIELD = {
    "open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join",
    "optional", "transform", "transform_each",
}  # fmt: skip
_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_INSTEAD = "choose a format by its name, or describe one in a TOML file"

#: Where something comes from: what is captured, or the content (`content`), and keys in that.
Path: TypeAlias = tuple[str, ...]


def refusal(field: str, why: str) -> ToolwireError:
    """`why` goes on after the field's name: "has no close"."""
    return ToolwireError(f"The response template's field {field!r} {why}: {_INSTEAD}.")


@dataclass(frozen=True, slots=True)
class Delimiter:
    """What opens or closes a field: literals, or a pattern."""

    key: str
    literals: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def regex(self) -> str:
        longest_first = sorted(self.literals, key=len, reverse=True)
        return self.pattern or "|".join(map(re.escape, longest_first))


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message."""

    name: str
    #: None, where the field is for all text outside of the others
    opener: Delimiter | None
    #: None, where it goes on to the end of the message
    closer: Delimiter | None
    content: str
    arguments: Mapping[str, Any]
    transform: Any
    each: bool
    #: what stands before every message, and may be a part of the opener
    anchor: tuple[str, ...] = ()

    def refuse(self, why: str) -> ToolwireError:
        return refusal(self.name, why)

    @property
    def open(self) -> tuple[Part, ...]:
        parts = self._parts(self.opener)
        return tuple(p for p in parts if not (isinstance(p, Words) and self._is_anchor(p)))

    @property
    def close(self) -> tuple[Part, ...]:
        return self._parts(self.closer)

    def _is_anchor(self, words: Words) -> bool:
        return words.optional and set(words.spellings) <= set(self.anchor)

    def _parts(self, given: Delimiter | None) -> tuple[Part, ...]:
        if given is None:
            return ()
        if given.pattern:
            return self.pattern_parts(f"{given.key}_pattern", given.pattern)
        return parts_of_literals(given.literals)

    def pattern_parts(self, key: str, pattern: Any) -> tuple[Part, ...]:
        """A pattern of this field, taken apart."""
        if not isinstance(pattern, str):
            raise self.refuse(f"has no {key} that is a text")
        try:
            return parts_of_pattern(pattern)
        except NotTaken as reason:
            raise self.refuse(f"can't be read by a format, as its {key} {reason}") from None

    @property
    def captured(self) -> tuple[str, ...]:
        """What the opener captures, by name."""
        return tuple(part.name for part in self.open if isinstance(part, Hole))


@dataclass(frozen=True, slots=True)
class Template:
    """The fields that a message may have; and what the prompt ends with, where text outside of the
    fields does not count: between them, it may come again."""

    thinking: Field | None
    content: Field | None
    calls: Field | None
    anchor: tuple[str, ...]

    @property
    def keeps_all_text(self) -> bool:
        """Whether text outside of all fields with an opener counts."""
        return self.content is None or self.content.opener is None


def read_template(template: Mapping[str, Any]) -> Template:
    if not isinstance(template, Mapping):
        raise ToolwireError(
            f"A response template is an object, not {type(template).__name__}: give what stands under "
            '"response_template" in tokenizer_config.json.'
        )
    for key in sorted(set(template) - _TOP, key=str):
        raise refusal(str(key), "is not one that is known")
    if template.get("version", 1) != 1:
        raise refusal("version", f"is {template['version']!r}, and only 1 is known")
    _check_defaults(template.get("defaults", {}))
    given = template.get("fields")
    if not isinstance(given, Mapping) or not given:
        raise refusal("fields", "has no fields in it")
    fields = [_field(str(name), spec) for name, spec in given.items()]
    outside = [field.name for field in fields if field.opener is None]
    if len(outside) > 1:
        raise refusal(outside[1], f"has no opener, and neither has {outside[0]!r}")
    thinking = [field for field in fields if field.name in THINKING]
    if len(thinking) > 1:
        raise refusal(thinking[1].name, f"is for thoughts, and so is {thinking[0].name!r}")
    by_name = {field.name: field for field in fields}
    content, calls = by_name.get(CONTENT), by_name.get(CALLS)
    anchor = _anchor(template.get("start_anchor")) if content and content.opener else ()
    return Template(
        thinking=replace(thinking[0], anchor=anchor) if thinking else None,
        content=replace(content, anchor=anchor) if content else None,
        calls=replace(calls, anchor=anchor) if calls else None,
        anchor=anchor,
    )


def _anchor(given: Any) -> tuple[str, ...]:
    """Those of them that nobody just mentions."""
    several = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    texts = [text.strip() for text in several if isinstance(text, str)]
    return tuple(dict.fromkeys(text for text in texts if looks_special(text)))


def looks_special(literal: str) -> bool:
    """Whether a delimiter is a special token by its looks: `<|call|>`, but also `<|call>`."""
    return is_special(literal) or "<|" in literal or "|>" in literal


def _check_defaults(defaults: Any) -> None:
    """What a message has beside the three kinds of fields can't be said by events."""
    if not isinstance(defaults, Mapping):
        raise refusal("defaults", "is no object")
    for name, value in defaults.items():
        if name != "role" and (name not in (CONTENT, CALLS, *THINKING) or value):
            raise refusal("defaults", f"gives every message a {name!r}, which toolwire does not")


def _field(name: str, spec: Any) -> Field:
    if name not in (CONTENT, CALLS, *THINKING):
        raise refusal(name, "is none of thinking, content and tool_calls")
    if not isinstance(spec, Mapping):
        raise refusal(name, "is no object")
    for key in sorted(set(spec) - _FIELD, key=str):
        raise refusal(name, f"has a {str(key)!r}, which is not known")
    content, arguments = spec.get("content", "text"), spec.get("content_args") or {}
    if not isinstance(content, str) or not isinstance(arguments, Mapping):
        raise refusal(name, "has a content that is no name, or content_args that are no object")
    return Field(
        name=name,
        opener=_delimiter(name, spec, "open"),
        closer=_delimiter(name, spec, "close"),
        content=content,
        arguments=arguments,
        transform=spec.get("transform"),
        each=spec.get("transform_each") is True,
    )


def _delimiter(name: str, spec: Mapping[str, Any], key: str) -> Delimiter | None:
    literals, pattern = spec.get(key), spec.get(f"{key}_pattern")
    if literals is None and pattern is None:
        return None
    if literals is not None and pattern is not None:
        raise refusal(name, f"has both {key} and {key}_pattern")
    if pattern is not None:
        if not isinstance(pattern, str) or not pattern:
            raise refusal(name, f"has a {key}_pattern that is no text, or with nothing in it")
        return Delimiter(key, pattern=pattern)
    several = [literals] if isinstance(literals, str) else literals
    if not isinstance(several, list) or not several:
        raise refusal(name, f"has a {key} that is neither a text nor a list of texts")
    if not all(isinstance(literal, str) and literal.strip() for literal in several):
        raise refusal(name, f"has a {key} with nothing in it, or nothing but white space")
    return Delimiter(key, tuple(several))


# -- what becomes of the content of calls ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """Where a call's name and its arguments come from."""

    name: Path
    arguments: Path


def source_of(field: Field) -> Source:
    """Where the parts of a call come from, as the transform has it."""
    transform = field.transform
    if transform is None or transform == "{content}":
        return Source(("content", "function", "name"), ("content", "function", "arguments"))
    if not isinstance(transform, Mapping):
        raise field.refuse("has a transform that makes no call of it")
    for text in _texts(transform):
        if _PLACEHOLDER.search(text) and not _PLACEHOLDER.fullmatch(text):
            raise field.refuse(f"has a transform that mixes text and a placeholder, {text!r}")
    function = transform.get("function", transform)
    if isinstance(function, str):
        whole = _path(field, function, "function")
        return Source((*whole, "name"), (*whole, "arguments"))
    if not isinstance(function, Mapping):
        raise field.refuse("has a transform without a function")
    return Source(
        _path(field, function.get("name"), "name"),
        _path(field, function.get("arguments"), "arguments"),
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _path(field: Field, placeholder: Any, what: str) -> Path:
    """What a placeholder stands for. With `transform_each`, the keys of each object are in scope."""
    found = _PLACEHOLDER.fullmatch(placeholder) if isinstance(placeholder, str) else None
    if found is None:
        raise field.refuse(f"has a transform that does not say where a call's {what} comes from")
    path = tuple(found[1].split("."))
    return ("content", *path) if field.each else path
