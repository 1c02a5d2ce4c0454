"""Does the model fit the format? Asked once, when the engine starts, not at the first request.

Two mistakes are easy to make and hard to find later: a tokenizer that does not have the format's
special tokens (the model can't write the markers), and a chat template that shows the model another
way to write calls (it will write that one). Each is one sentence that names what to change.

Only the first is certain, so only the first stops a server: a model that has no token for any of a
format's openers never writes a call in it. What a template shows is the usual way in which a model is
told about tools, but not the only one (a request may bring a template of its own, an application
describes tools in its own words), so what does not fit there is a warning. `TOOLWIRE_SKIP_CHECKS=1`
leaves both out. What a template shows is found out by `models.detect`, and so is the format itself
where nobody named one.
"""

from __future__ import annotations

import itertools
import logging
import os
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import get_format, list_formats, register_format
from ..formats.reasoning import channel_style
from ..formats.registry import names_read
from ..formats.response_template import NAME as RESPONSE_TEMPLATE
from ..formats.response_template import load_response_template
from ..models.detect import PROPOSED, SAYS_SO, Detection, detect
from ..models.rendering import tokenizer_renderer
from ..models.special_tokens import unwritable
from ..templates import get_template, list_templates

SKIP = "TOOLWIRE_SKIP_CHECKS"

log = logging.getLogger("toolwire")


def check_tokenizer(format_name: str, tokenizer: Any) -> None:
    """Raises a ToolwireError if a model with this tokenizer can't write the format."""
    if not skipped():
        check_special_tokens(get_format(format_name), tokenizer)


def warn_of_unread_thoughts(spec: Format, reasoning_parser: Any, log: logging.Logger) -> None:
    """Where a format has a channel for thoughts, and the server no reasoning parser."""
    if not reasoning_parser and channel_style(spec) is not None:
        log.warning(
            "Thoughts in the format %s have a channel of their own, and without a reasoning parser they "
            "are left out of answers: add --reasoning-parser toolwire_%s.",
            spec.name,
            spec.name,
        )


def choose_format(tokenizer: Any, template: str = "") -> tuple[str, str]:
    """The format that the checkpoint's response template describes, or that the chat template shows the
    model, and why. A ToolwireError if there is none.

    `template` is the text of the operator's template, empty for the model's own: it shows what is asked
    for, whatever the checkpoint says. A format that toolwire does not have, but that can be made,
    is made and registered.
    """
    spec = None if template else _described_by(tokenizer)
    if spec is not None:
        register_format(spec)
        if not skipped():
            check_special_tokens(spec, tokenizer)
        return spec.name, f"{SAYS_SO}."
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
    check_tokenizer(found.format, tokenizer)
    return found.format, " ".join(found.why)


def _described_by(tokenizer: Any) -> Format | None:
    """The format of the checkpoint's response template, where it has one that can be translated."""
    template = getattr(tokenizer, "response_template", None)
    if template is None:
        return None
    try:
        return load_response_template(template, _free_name(RESPONSE_TEMPLATE))
    except ToolwireError as error:
        log.warning("toolwire_auto goes by the chat template. %s", error)
        return None


def skipped() -> bool:
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
    missing = unwritable(spec, tokenizer.get_vocab())
    if missing is None:
        return
    raise ToolwireError(
        f"The format {spec.name} needs the special token {missing!r}, which this tokenizer does "
        "not have: use a model that was trained on the format, choose another --tool-call-parser "
        "(hermes and call_text suit most models), or set "
        f"{SKIP}=1 if the model writes the marker as plain text."
    )


# -- the chat template ----------------------------------------------------------------------------


def check_template(spec: Format, tokenizer: Any, template: str, log: logging.Logger = log) -> None:
    """Says so where the template, or the model's own if it is empty, suits another format. An engine has
    a log of its own: it may leave out what goes to any other."""
    if not template and not getattr(tokenizer, "chat_template", None):
        return  # the engine itself will ask for one
    try:
        found = _shown_by(tokenizer, template)
    except ToolwireError as error:
        log.warning("The chat template could not be checked against %s: %s", spec.name, error)
        return
    if spec.name in found.formats or found.format in names_read(spec):
        return
    if not found.shows_tools:
        log.warning(
            "The chat template does not show tools to the model, so it calls none unless requests "
            "describe them otherwise. A --chat-template that does (%s) changes that.",
            _ours(spec.name),
        )
    elif found.formats and not found.hinted:
        log.warning("%s", _wrong_format(spec.name, found.formats))
    else:
        log.warning(
            "The chat template shows tools, but not calls as %s writes them, so it can't be said "
            "whether the model will write them so. `toolwire detect` says more.",
            spec.name,
        )


def _shown_by(tokenizer: Any, template: str) -> Detection:
    return detect(
        tokenizer_renderer(tokenizer, template or None),
        vocabulary=frozenset(tokenizer.get_vocab()),
        name=_free_name(PROPOSED),
    )


def _free_name(wanted: str) -> str:
    """A name for a format that may have to be made."""
    taken = list_formats(aliases=True)
    numbered = (f"{wanted}_{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([wanted], numbered) if name not in taken)


def _wrong_format(name: str, others: tuple[str, ...]) -> str:
    parsers = " or ".join(f"toolwire_{other}" for other in others[:3])
    return (
        f"The chat template shows the model another way to write calls than {name}: use "
        f"--tool-call-parser {parsers}, or a --chat-template for {name} ({_ours(name)})."
    )


def _ours(format_name: str) -> str:
    names = [template.name for template in list_templates() if template.format == format_name]
    return f'for example "$(toolwire template {names[0]})"' if names else "most models bring one"
