"""`constrain`, its grammar still in the pieces that it is put together from."""

from __future__ import annotations

from typing import Any
from unittest import mock

import toolwire
from toolwire.shapes.grammar_text import NotText


def constrain_in_pieces(*given: Any, **more: Any) -> toolwire.Constraint:
    """Nothing is made text: see `shapes/grammar_text`."""
    with mock.patch("toolwire.shapes.grammar_text._Rules.said", side_effect=NotText):
        return toolwire.constrain(*given, **more)
