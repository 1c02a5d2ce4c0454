"""What models write, and what has to come out of it: cases for every format, written out by hand.

Each format has a plain case and at least one that is nasty: delimiters inside strings, closers that are
missing or too many, answers that break off, prose about tools, values that look like another type. What
is expected was taken from docs/rules.md and not from what any parser gives.
"""

from __future__ import annotations

from .case import Case
from .channelled import CHANNELLED
from .elements import TREES
from .json_bodies import JSON_BODIES
from .named import NAMED
from .python_like import PYTHON_LIKE
from .tags import TAGS

__all__ = ["CASES", "Case"]

CASES = [*JSON_BODIES, *NAMED, *TAGS, *TREES, *PYTHON_LIKE, *CHANNELLED]
