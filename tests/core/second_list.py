"""What the rows T have in common: what toolwire itself got wrong once, a row for each class.

Each failed before it was put here. Where a row makes sense in other formats of its kind, it runs there,
too. The rows are in the modules `test_second_list_…`.
"""

from __future__ import annotations

from hypothesis import strategies as st

from ..support import INTEGER, STRING, TOOLS, tool
from .rows import Calls

BOOK = tool(
    "book",
    guests={"type": "object"},
    town=STRING,
    nights=INTEGER,
    tags={"type": "array"},
    rate={"type": "number"},
)
SEARCH = tool("search", pattern=STRING, flags=STRING)
KNOWN = [*TOOLS, BOOK, SEARCH]
SUM = ("add", '{"a": 1, "b": 2}', True)
OTHER_SUM = ("add", '{"a": 3, "b": 4}', True)
SUM_JSON = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
OTHER_JSON = '{"name": "add", "arguments": {"a": 3, "b": 4}}'

Row = tuple[str, str, str, str | None, Calls]

#: What Python can write as a literal.
LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
