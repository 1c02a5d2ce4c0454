"""Does the model fit the parser? Asked once, before SGLang starts anything.

SGLang hands a detector neither the tokenizer nor the chat template. But at the start of every server
it looks at its settings, in the main process, before there are any others (`check_server_args`), and
then settles which parsers to use where that was left to it (`resolve_auto_parsers`). Hooks of SGLang's
plugin system put `check` right behind both; it waits until the parsers are known.

What can't work ends the start with a sentence. A fault of the check's own does not.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...core.format import Format
from ...errors import ToolwireError
from ...formats import get_format
from ..names import overrides
from ..startup_checks import (
    check_special_tokens,
    check_template,
    skipped,
    warn_of_unread_thoughts,
)
from .contract import settings_of
from .ids import has_ids, make_ids_our_way
from .reasoning import is_ours, keep_special_tokens
from .responses import read_all_tools

#: What the hooks stand behind; `check` is given what these were given.
HOOKED = (
    "sglang.srt.server_args.ServerArgs.check_server_args",
    "sglang.srt.parser.template_detection.resolve_auto_parsers",
)

log = logging.getLogger("sglang.srt.toolwire")


@cache
def add_check() -> None:
    """Tells SGLang to call `check`; once, however often it is asked to."""
    hooks = import_module("sglang.srt.plugins.hook_registry")
    for place in HOOKED:
        hooks.HookRegistry.register(place, check, hooks.HookType.AFTER)


class _Last:
    """The settings that were checked last: once for each server, however often SGLang looks at them."""

    checked: Any = None


def check(_: Any, server_args: Any) -> None:
    """SystemExit, with a sentence, where the tokenizer can't work with the format."""
    try:
        settings = settings_of(server_args)
        # An Engine in a program of its own has no endpoints, so nobody reads calls there.
        if (getattr(server_args, "launch_command", None) or "").startswith("Engine("):
            return
        if "auto" in (settings.tool_call_parser, settings.reasoning_parser):
            return  # SGLang will settle that next
        if _Last.checked is server_args:
            return
        if is_ours(settings.reasoning_parser):
            keep_special_tokens()
        spec = _format_of(settings.tool_call_parser)
        if spec is not None:
            read_all_tools()
        if has_ids(spec):
            make_ids_our_way()
        if not skipped():
            _check(settings)
        _Last.checked = server_args
    except ToolwireError as error:
        raise SystemExit(f"toolwire: {error}") from None
    except Exception:
        log.exception("Whether the model fits its tool call parser could not be checked.")


def _check(settings: Any) -> None:
    spec = _format_of(settings.tool_call_parser)
    if spec is None and settings.tool_call_parser and overrides():
        log.warning(
            "TOOLWIRE_OVERRIDE=1 does not reach %s: SGLang reads its tokens by itself and asks no other "
            "parser, so SGLang's own is used.",
            settings.tool_call_parser,
        )
    if spec is not None:
        warn_of_unread_thoughts(spec, settings.reasoning_parser, log)
    if spec is None or settings.skip_tokenizer_init:
        return
    tokenizer = _tokenizer(settings)
    check_special_tokens(spec, tokenizer)
    template = _template(settings)
    if template is None:
        log.warning("The chat template is one of SGLang's own: not checked against %s.", spec.name)
    else:
        check_template(spec, tokenizer, template, log)


def _format_of(parser: str | None) -> Format | None:
    """The format that a parser's name stands for; None where the parser is not ours."""
    parsers = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    name = getattr(parsers.ToolCallParserEnum.get(parser), "toolwire_format", None)
    return None if name is None else get_format(name)


def _tokenizer(settings: Any) -> Any:
    """Loaded as SGLang will load it."""
    return import_module("sglang.srt.utils.hf_transformers_utils").get_tokenizer(
        settings.tokenizer_path,
        tokenizer_mode=settings.tokenizer_mode,
        trust_remote_code=settings.trust_remote_code,
        revision=settings.revision,
        tokenizer_backend=settings.tokenizer_backend,
    )


def _template(settings: Any) -> str | None:
    """The template's text; "" for the model's own; None for one that SGLang has built in."""
    named: str | None = settings.chat_template
    if named is None:
        by_path = import_module("sglang.srt.parser.conversation").get_conv_template_by_model_path
        return "" if by_path(settings.model_path) is None else None
    if not (named.endswith(".jinja") and os.path.exists(named)):
        return None
    return Path(named).read_text(encoding="utf-8").replace("\\n", "\n")  # as SGLang reads it
