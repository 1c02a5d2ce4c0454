"""The start of vLLM's server: whether model, template and parser fit is said then.

vLLM makes what answers Chat Completions once, when its server starts, whatever started the server: its
command line, a configuration file, Ray, or a program of one's own. That object knows the chat template
and the tokenizer that will be used. So the check stands behind its making; nothing is read from the
command line.

vLLM asks for a parser's class before that, which is when the check is put there (`watch_start`).
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from typing import Any

from ...errors import ToolwireError
from ...formats import get_format
from ...models.releases import VLLM
from ..startup_checks import warn_of_unread_thoughts
from . import api as vllm_api

_MODULE = "vllm.entrypoints.openai.chat_completion.serving"
_OURS = "toolwire_checks"  # what the constructor is marked with


def watch_start() -> None:
    """Has vLLM's server check its parser when it starts. May be called any number of times."""
    try:
        serving = import_module(_MODULE).OpenAIServingChat
    except (ImportError, AttributeError):
        vllm_api.log.info("This vLLM has no %s as toolwire knows it: no check at start.", _MODULE)
        return
    make = serving.__init__
    if hasattr(make, _OURS):
        return

    @wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        started(self)

    setattr(made, _OURS, True)
    serving.__init__ = made


def started(serving: Any) -> None:
    """A ToolwireError where the model can't write its parser's format. A fault of the check's own, or a
    server that keeps things elsewhere, stops nothing."""
    try:
        kind: Any = getattr(serving.parser_cls, "tool_parser_cls", None)
        if not hasattr(kind, "toolwire_starts"):
            return  # a parser of somebody else, or none
        tokenizer, template = serving.renderer.tokenizer, serving.chat_template or ""
        # vLLM makes several of these, one for each of its APIs.
        before, its_template = kind.toolwire_started
        if tokenizer is None or (before is tokenizer and its_template == template):
            return
        kind.toolwire_starts(tokenizer, template)
        kind.toolwire_started = (tokenizer, template)
        if isinstance(kind.toolwire_format, str):  # toolwire_auto's class has none
            thoughts = getattr(serving.parser_cls, "reasoning_parser_cls", None)
            warn_of_unread_thoughts(get_format(kind.toolwire_format), thoughts, vllm_api.log)
        _try_out(tokenizer)
    except ToolwireError:
        raise
    except Exception:  # noqa: BLE001 - vLLM may keep these things otherwise, and serves all the same
        vllm_api.log.exception("Whether the model fits its tool call parser could not be checked.")


def _try_out(tokenizer: Any) -> None:
    """On a release that nobody has tested."""
    from .self_test import self_test

    if not VLLM.has(vllm_api.version()):
        problem = self_test(tokenizer)
        if problem is not None:
            vllm_api.log.error("%s", problem)
