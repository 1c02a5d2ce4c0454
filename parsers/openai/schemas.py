"""The schemas of a request's tools, as far as they can be read.

A parser refuses a schema that is nested too deeply. Where a server makes the parser, a client must not
lose its answer for that: the tool keeps its name, and its values are strings.
"""

from __future__ import annotations

import logging
from typing import Any

from ..schema.json_schema import DEEPEST, too_deep
from .sizes import shortened

_log = logging.getLogger("toolwire")


def readable(name: str, parameters: Any) -> Any:
    """The parameters of a tool; an empty schema where they can't be read, and a sentence in the log."""
    if not isinstance(parameters, (dict, list)) or not too_deep(parameters):
        return parameters
    _log.warning(
        "The parameters of the tool %r are nested more than %d levels deep. They are not read: all of "
        "its values are strings.",
        shortened(name),
        DEEPEST,
    )
    return {}
