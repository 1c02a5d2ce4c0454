"""Rows in Arrow tables, as Parquet files, Ray Data and Hugging Face datasets have them.

The new columns have the same types in every table, whatever is in it: tables can be put together.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

from ..errors import ToolwireError
from .outcome import COLUMNS, Counts, Outcome
from .parse_calls import ParseCalls

_LONE = re.compile("[\ud800-\udfff]")


def arrow() -> Any:
    """The module `pyarrow`, or a sentence."""
    try:
        import pyarrow
    except ImportError as error:
        raise ToolwireError(
            'Tables are read and written by pyarrow: pip install "toolwire[batch]"'
        ) from error
    return pyarrow


@cache
def _types() -> dict[str, Any]:
    pa = arrow()
    text = pa.string()
    function = pa.struct([("name", text), ("arguments", text)])
    call = pa.struct([("id", text), ("type", text), ("function", function)])
    types = (text, text, pa.list_(call), pa.bool_(), pa.list_(text))
    return dict(zip(COLUMNS, types, strict=True))


def wider(parse: ParseCalls, schema: Any) -> Any:
    """The schema of a table that has the new columns, too."""
    parse.refuse_missing(schema.names)
    parse.refuse_taken(schema.names)
    for name, type in _types().items():
        schema = schema.append(arrow().field(parse.prefix + name, type))
    return schema


def add_columns(parse: ParseCalls, table: Any) -> Any:
    """The table, and what is in its texts."""
    return add_outcomes(parse, table)[0]


def add_outcomes(parse: ParseCalls, table: Any) -> tuple[Any, list[Outcome]]:
    """The same, and the outcomes by themselves. Columns that nobody looks at do not become Python's."""
    schema = wider(parse, table.schema)
    looked_at = [name for name in table.schema.names if name in parse.looks_at]
    outcomes = [parse.outcome(row) for row in table.select(looked_at).to_pylist()]
    found = [outcome.to_dict() for outcome in outcomes]
    arrays = [_array([row[name] for row in found], type) for name, type in _types().items()]
    return type(table).from_arrays([*table.columns, *arrays], schema=schema), outcomes


def counts_in(prefix: str, table: Any) -> Counts:
    """What the rows of a table with the new columns came to."""
    from pyarrow import compute

    calls = compute.sum(compute.list_value_length(table[f"{prefix}tool_calls"])).as_py() or 0
    problems = compute.list_flatten(table[f"{prefix}problems"]).to_pylist()
    kinds = Counter(problem.partition(":")[0] for problem in problems)
    return Counts(table.num_rows, calls, kinds)


def _array(values: list[Any], type: Any) -> Any:
    try:
        return arrow().array(values, type)
    except UnicodeEncodeError:  # half a character, which UTF-8 can't say
        return arrow().array([_sayable(value) for value in values], type)


def _sayable(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_sayable(item) for item in value]
    if isinstance(value, dict):
        return {key: _sayable(item) for key, item in value.items()}
    return value
