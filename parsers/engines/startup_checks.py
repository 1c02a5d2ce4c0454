"""Does the model fit the format? Asked once, when the engine starts, not at the first request.

Two mistakes are easy to make and hard to find later: a tokenizer that does not have the format's
special tokens (the model can't write the markers), and a chat template that shows the model another
way to write calls (it will write that one). Each is one sentence that names what to change.
`TOOLWIRE_SKIP_CHECKS=1` starts the engine all the same.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from .. import get_format, list_formats, parse
from ..core.spec import Format
from ..errors import ToolwireError
from ..templates import list_templates
from .structural_tags import known_layout

SKIP = "TOOLWIRE_SKIP_CHECKS"
#: `<|like_this|>`, `<｜like▁this｜>`, `[LIKE_THIS]`: nobody writes these as plain text.
_SPECIAL = re.compile(r"<\|[^\s<>]+\|>|<｜[^\s<>]+｜>|\[[A-Z_]+\]")

_PROBE_NAME = "toolwire_probe"
_PROBE_ARGUMENTS = {"city": "Oslo"}
_QUESTION = "Toolwire asks about a city."
_TOOL = {
    "type": "function",
    "function": {
        "name": _PROBE_NAME,
        "description": "A probe.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}

log = logging.getLogger("toolwire")


def check_model(format_name: str, tokenizer: Any) -> None:
    """Raises a ToolwireError if this tokenizer and template can't work with this format."""
    if os.environ.get(SKIP, "") not in ("", "0"):
        return
    spec = get_format(format_name)
    check_special_tokens(spec, tokenizer)
    template = template_flag(sys.argv)
    if template is not None:
        check_template(spec, tokenizer, template)


# -- special tokens -------------------------------------------------------------------------------


def special_markers(spec: Format) -> list[str]:
    """The markers that a call needs and that have to be single tokens, in their first spelling."""
    if spec.bare:
        return []  # a call can do without any marker
    firsts = [wrapper.open[0] for wrapper in spec.wrappers if wrapper.open]
    return [literal for literal in firsts if _SPECIAL.fullmatch(literal.strip())]


def check_special_tokens(spec: Format, tokenizer: Any) -> None:
    vocabulary = tokenizer.get_vocab()
    missing = [m for m in special_markers(spec) if m.strip() not in vocabulary]
    if not missing:
        return
    raise ToolwireError(
        f"The format {spec.name} needs the special token {missing[0]!r}, which this tokenizer does "
        "not have: use a model that was trained on the format, choose another --tool-call-parser "
        "(hermes and call_text suit most models), or set "
        f"{SKIP}=1 if the model writes the marker as plain text."
    )


# -- the chat template ----------------------------------------------------------------------------


def template_flag(arguments: list[str]) -> str | None:
    """The template the command line names; "" if it names none; None if that can't be known."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name.replace("_", "-") == "--chat-template":
            return value if equals else "".join(arguments[place + 1 : place + 2])
        if name == "--config":
            return None
    return ""


def template_text(template: str) -> str | None:
    """A file's text, or the template itself where the flag holds one; None for the model's own."""
    if not template:
        return None
    if "{" in template or "\n" in template:
        return template
    return Path(template).read_text(encoding="utf-8")


def check_template(spec: Format, tokenizer: Any, template: str) -> None:
    if not template and not getattr(tokenizer, "chat_template", None):
        return  # the engine itself will ask for one
    try:
        shown = _conversation(tokenizer, template_text(template))
    except (TemplateError, TypeError, ValueError, KeyError, AttributeError, OSError) as error:
        log.warning("The chat template could not be checked against %s: %s", spec.name, error)
        return
    answer = shown.rpartition(_QUESTION)[2]
    if _calls_probe(spec.name, answer):
        return
    others = [name for name in list_formats() if _calls_probe(name, answer)]
    if others:
        raise ToolwireError(_wrong_format(spec.name, _best_first(others, answer)))
    if _PROBE_NAME not in shown:
        raise ToolwireError(
            "The chat template does not show tools to the model, so it would never call one: add "
            f"--chat-template with one that does ({_ours(spec.name)}), or set {SKIP}=1."
        )
    log.warning(
        "The chat template shows tools, but not how a call is written, so it can't be said whether "
        "the model will write calls as %s does.",
        spec.name,
    )


def _conversation(tokenizer: Any, template: str | None) -> str:
    """A conversation with one call in it, as the template shows it to the model."""
    call = {
        "id": "call_0",
        "type": "function",
        "function": {"name": _PROBE_NAME, "arguments": _PROBE_ARGUMENTS},
    }
    messages = [
        {"role": "user", "content": _QUESTION},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "name": _PROBE_NAME, "content": "Fine."},
    ]
    more = {} if template is None else {"chat_template": template}
    return str(
        tokenizer.apply_chat_template(
            messages, tools=[_TOOL], tokenize=False, add_generation_prompt=False, **more
        )
    )


def _calls_probe(format_name: str, text: str) -> bool:
    calls = parse(format_name, text, [_TOOL]).tool_calls
    wanted = (_PROBE_NAME, "".join(json.dumps(_PROBE_ARGUMENTS).split()))
    return bool(calls) and wanted == (calls[0].name, "".join(calls[0].arguments.split()))


def _best_first(names: list[str], answer: str) -> list[str]:
    """Several formats may read the same text. First those that would write it like that, too."""
    suits = {template.format for template in list_templates()}

    def rank(name: str) -> tuple[bool, bool, str]:
        layout = known_layout(get_format(name))
        same = layout is not None and layout.begin + _PROBE_NAME + layout.middle in answer
        return not same, name not in suits, name

    return sorted(names, key=rank)


def _wrong_format(name: str, others: list[str]) -> str:
    parsers = " or ".join(f"toolwire_{other}" for other in others[:3])
    return (
        f"The chat template shows the model another way to write calls than {name}: use "
        f"--tool-call-parser {parsers}, or a --chat-template for {name} ({_ours(name)}), or set "
        f"{SKIP}=1."
    )


def _ours(format_name: str) -> str:
    names = [template.name for template in list_templates() if template.format == format_name]
    return f'for example "$(toolwire template {names[0]})"' if names else "most models bring one"
