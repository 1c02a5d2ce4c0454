"""What SGLang makes of toolwire's own chat templates: which parsers `auto` chooses for them, and that a
model with one of them thinks only where it is told to.

SGLang looks at a template's text, by rules of which the first that matches counts. Ours come first, and
match what begins as our templates do; SGLang's own stay as they are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from ...formats import list_formats
from ...templates import list_templates

PREFIX = "toolwire_"
#: How each of them begins: it says its name, and which parser it is for.
_HEADER = re.compile(r"\{#-? toolwire chat template ([\w-]+): for the parser (\w+)\.")
#: SGLang's lists of rules.
_CALLS, _THOUGHTS, _SWITCHES = (
    *("TOOL_CALL_PARSER_RULES", "REASONING_PARSER_RULES"),
    "REASONING_MODE_RULES",
)


def add_rules() -> None:
    """May be called any number of times."""
    detection = import_module("sglang.srt.parser.template_detection")
    rule = detection.DetectionRule
    names = [PREFIX + name for name in list_formats()]
    _put_first(detection, _CALLS, [rule(name=n, value=n, predicate=_has(2, [n])) for n in names])
    styles = sorted({template.reasoning for template in list_templates()})
    thoughts = [
        rule(name=PREFIX + style, value=PREFIX + style, predicate=_has(1, _names_with(style)))
        for style in styles
    ]
    _put_first(detection, _THOUGHTS, thoughts)
    # Where nobody says anything, our templates open no thoughts: the model decides.
    off = detection.ReasoningToggleConfig(toggle_param="enable_thinking", default_enabled=False)
    ours = _has(1, [template.name for template in list_templates()])
    _put_first(detection, _SWITCHES, [rule(name=PREFIX + "templates", value=off, predicate=ours)])


def _names_with(style: str) -> list[str]:
    """The templates that show thoughts in this style."""
    return [template.name for template in list_templates() if template.reasoning == style]


def _has(group: int, words: Sequence[str]) -> Callable[[Any], bool]:
    """Whether a template's header has one of these words in its place."""

    def has(context: Any) -> bool:
        header = _HEADER.match(context.template)
        return header is not None and header[group] in words

    return has


def _put_first(detection: Any, rules: str, ours: Sequence[Any]) -> None:
    names = {rule.name for rule in ours}
    theirs = [rule for rule in getattr(detection, rules) if rule.name not in names]
    setattr(detection, rules, (*ours, *theirs))
    # This module has names of its own for the rules, once it is imported.
    manager: Any = sys.modules.get("sglang.srt.parser.template_manager")
    if hasattr(manager, rules):
        setattr(manager, rules, getattr(detection, rules))
