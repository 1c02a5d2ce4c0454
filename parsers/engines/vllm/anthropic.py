"""vLLM's `/v1/messages`, not streamed: a call without an object as arguments costs nobody the answer.

That endpoint decodes the arguments of every call of a finished answer, and answers the whole request
with 400 where it can't: where the token limit has cut a call, say. A parser is not told which endpoint
an answer is for, and everywhere else such a call goes out as it is. So it is left out right before that
endpoint looks at it.
"""

from __future__ import annotations

import json
from functools import wraps
from importlib import import_module
from typing import Any

from ...openai.answers import CUT, is_complete
from .api import log

_MODULE = "vllm.entrypoints.anthropic.serving"
_OURS = "toolwire_leaves_out"  # what the converter is marked with


def leave_out_unreadable_calls() -> None:
    """Has the endpoint's converter do so. May be called any number of times."""
    try:
        serving = import_module(_MODULE).AnthropicServingMessages
        convert = serving.messages_full_converter
    except (ImportError, AttributeError):
        log.info("This vLLM has no %s as toolwire knows it: it is left as it is.", _MODULE)
        return
    if hasattr(convert, _OURS):
        return

    @wraps(convert)
    def converted(self: Any, generator: Any) -> Any:
        for choice in generator.choices:
            _leave_out(choice)
        return convert(self, generator)

    setattr(converted, _OURS, True)
    serving.messages_full_converter = converted


def _leave_out(choice: Any) -> None:
    calls = choice.message.tool_calls
    readable = [call for call in calls if _is_object(call.function.arguments)]
    if len(readable) == len(calls):
        return
    log.warning("A call without an object as its arguments was left out of an answer.")
    choice.message.tool_calls = readable
    # vLLM says `tool_calls` wherever there is one, also where the last was cut.
    if not is_complete(calls[-1].function.arguments):
        choice.finish_reason = "stop" if isinstance(choice.stop_reason, str) else CUT
    elif not readable and choice.finish_reason == "tool_calls":
        choice.finish_reason = "stop"


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
