"""Does the model fit the format? Asked once, when the engine starts, not at the first request.

Two mistakes are easy to make and hard to find later: a tokenizer that does not have the format's
special tokens (the model can't write the markers), and a chat template that shows the model another
way to write calls (it will write that one). Each is one sentence that names what to change.
`TOOLWIRE_SKIP_CHECKS=1` starts the engine all the same. What a template shows is found out by
`models.detect`, and so is the format itself where nobody named one.
"""

from __future__ import annotations

import itertools
import logging
import os
import sys
from pathlib import Path
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import get_format, list_formats, register_format
from ..formats.registry import names_read
from ..models.detect import PROPOSED, Detection, detect
from ..models.rendering import tokenizer_renderer
from ..models.special_tokens import missing_tokens
from ..templates import get_template, list_templates

SKIP = "TOOLWIRE_SKIP_CHECKS"

log = logging.getLogger("toolwire")


def check_model(format_name: str, tokenizer: Any) -> None:
    """Raises a ToolwireError if this tokenizer and template can't work with this format."""
    if _skipped():
        return
    spec = get_format(format_name)
    check_special_tokens(spec, tokenizer)
    template = template_flag(sys.argv)
    if template is not None:
        check_template(spec, tokenizer, template)


def choose_format(tokenizer: Any) -> tuple[str, str]:
    """The format that the chat template shows the model, and why. A ToolwireError if it shows none.

    Where it shows one that toolwire does not have, but that can be made, it is made and registered.
    """
    template = template_flag(sys.argv) or ""
    if not template and not getattr(tokenizer, "chat_template", None):
        raise ToolwireError(
            "toolwire_auto goes by the chat template, and this model has none: add --chat-template "
            "(toolwire template --list shows ours), or name the parser."
        )
    found = _shown_by(tokenizer, template)
    if found.format is None:
        raise ToolwireError(
            f"toolwire_auto found no format. {' '.join(found.why)} {_instead(found)}"
        )
    if found.proposal is not None:
        register_format(found.proposal)
    if not _skipped():
        check_special_tokens(get_format(found.format), tokenizer)
    return found.format, " ".join(found.why)


def _skipped() -> bool:
    return os.environ.get(SKIP, "") not in ("", "0")


def _instead(found: Detection) -> str:
    if found.template is None:
        return "Use another --chat-template (toolwire template --list shows ours)."
    parser = get_template(found.template).parser
    return (
        f'Use --chat-template "$(toolwire template {found.template})" --tool-call-parser {parser}.'
    )


# -- special tokens -------------------------------------------------------------------------------


def check_special_tokens(spec: Format, tokenizer: Any) -> None:
    missing = missing_tokens(spec, tokenizer.get_vocab())
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
        found = _shown_by(tokenizer, template)
    except ToolwireError as error:
        log.warning("The chat template could not be checked against %s: %s", spec.name, error)
        return
    if spec.name in found.formats or found.format in names_read(spec):
        return
    if found.formats and not found.hinted:
        raise ToolwireError(_wrong_format(spec.name, found.formats))
    if not found.shows_tools:
        raise ToolwireError(
            "The chat template does not show tools to the model, so it would never call one: add "
            f"--chat-template with one that does ({_ours(spec.name)}), or set {SKIP}=1."
        )
    log.warning(
        "The chat template shows tools, but not calls as %s writes them, so it can't be said whether "
        "the model will write them so. `toolwire detect` says more.",
        spec.name,
    )


def _shown_by(tokenizer: Any, template: str) -> Detection:
    try:
        text = template_text(template)
    except (OSError, UnicodeDecodeError) as error:
        raise ToolwireError(f"The chat template {template} can't be read: {error}") from error
    return detect(
        tokenizer_renderer(tokenizer, text),
        vocabulary=frozenset(tokenizer.get_vocab()),
        name=_free_name(),
    )


def _free_name() -> str:
    """A name for a format that may have to be made."""
    taken = list_formats(aliases=True)
    numbered = (f"{PROPOSED}_{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([PROPOSED], numbered) if name not in taken)


def _wrong_format(name: str, others: tuple[str, ...]) -> str:
    parsers = " or ".join(f"toolwire_{other}" for other in others[:3])
    return (
        f"The chat template shows the model another way to write calls than {name}: use "
        f"--tool-call-parser {parsers}, or a --chat-template for {name} ({_ours(name)}), or set "
        f"{SKIP}=1."
    )


def _ours(format_name: str) -> str:
    names = [template.name for template in list_templates() if template.format == format_name]
    return f'for example "$(toolwire template {names[0]})"' if names else "most models bring one"
