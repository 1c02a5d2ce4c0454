"""What the rows T have in common: what toolwire itself got wrong once, a row for each class.

Each failed before it was put here. Where a row makes sense in other formats of its kind, it runs there,
too. The rows are in the modules `test_second_list_…`.
"""

from __future__ import annotations

from hypothesis import strategies as st
from toolwire import get_format, list_formats, write
from toolwire.shapes import JsonCalls

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

#: Members of a list of calls that are no object, and so no call.
NO_CALLS = ["1", '"x"', "null", "[]", "-1.5e3", '"a, [{"', "[[1], 2]", "word", "", "1}"]


def marked_lists() -> list[str]:
    """Formats whose calls are JSON objects behind a marker."""
    specs = map(get_format, list_formats())
    return [s.name for s in specs if isinstance(s.shape, JsonCalls) and s.wrappers and s.layout]


def marked_list(format: str, *members: str) -> tuple[str, str]:
    """A list of these behind the format's own marker; and what of that marker is content where the
    first of them is no call. `SUM_JSON` and `OTHER_JSON` are written as the format does."""
    for text, arguments in ((SUM_JSON, {"a": 1, "b": 2}), (OTHER_JSON, {"a": 3, "b": 4})):
        written = write(format, [{"name": "add", "arguments": arguments}])
        start, end = written.index("{"), written.rindex("}") + 1
        members = tuple(written[start:end] if member == text else member for member in members)
    opener = written[:start].rstrip().removesuffix("[")
    closer = written[end:].lstrip().removeprefix("]")
    is_header = get_format(format).channels is not None
    return f"{opener}[{', '.join(members)}]{closer}", "" if is_header else opener


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
