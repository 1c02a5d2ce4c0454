"""`ParseCalls`: rows in, the same rows with their calls out.

    parse = ParseCalls("hermes", tools)
    parse({"text": "…"})                                                   # a row
    dataset.with_format("arrow").map(parse, batched=True)                  # Hugging Face datasets
    ray_dataset.map_batches(parse, batch_format="pyarrow")                 # Ray Data

It takes a row, a dict of columns, a pandas DataFrame or an Arrow table, and gives the same kind back.
In Arrow the new columns always have the same types; of plain lists, those who collect batches guess
the types from the first one, and a first batch without any call misleads them.

A row never raises. What is wrong with how `ParseCalls` is used does: no such column, or one of the
new columns' names is taken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..formats import get_format
from ..formats.parser import Parser
from ..formats.reasoning import Reasoning
from ..formats.user_files import load_user_formats
from ..openai.message import ToolCall, parse
from ..schema.definitions import Tools
from ..schema.tools import KnownTools
from .outcome import (
    BAD_ARGUMENTS,
    COLUMNS,
    INCOMPLETE,
    UNKNOWN_TOOL,
    VIOLATION,
    Outcome,
    Problem,
)
from .validation import Check, checker

#: Of the tools that rows bring along, so many different ones are kept ready.
_KEPT_TOOLS = 256


class _Toolbox:
    """One list of tools: what a parser is given, and what its calls are held against."""

    def __init__(self, tools: Tools | None, validate: bool) -> None:
        known = KnownTools(tools)
        self.tools: Any = known
        self._known = known.by_name
        self._validate = validate
        self._checks: dict[str, Check] = {}

    def problem_of(self, call: ToolCall) -> Problem | None:
        """What is wrong with a call: the first thing that makes the others meaningless."""
        if not call.complete:
            return Problem(INCOMPLETE, f"the call to {call.name!r} was not finished")
        if self._known is not None and call.name not in self._known:
            return Problem(UNKNOWN_TOOL, f"there is no tool {call.name!r}")
        try:
            arguments = call.load()
        except ToolwireError as error:
            return Problem(BAD_ARGUMENTS, str(error))
        found = self._violations(call.name, arguments) if self._validate else []
        return Problem(VIOLATION, f"{call.name}: {'; '.join(found)}") if found else None

    def _violations(self, name: str, arguments: dict[str, Any]) -> list[str]:
        if self._known is None:
            return []
        if name not in self._checks:
            self._checks[name] = checker(self._known[name].schema)
        return self._checks[name](arguments)


class ParseCalls:
    """Adds `content`, `reasoning`, `tool_calls`, `complete` and `problems` to rows."""

    def __init__(
        self,
        format: str | Format,
        tools: Tools | None = None,
        *,
        text_column: str = "text",
        tools_column: str | None = None,
        format_column: str | None = None,
        reasoning: Reasoning = None,
        in_reasoning: bool = False,
        validate: bool = False,
        prefix: str = "",
    ) -> None:
        """`tools_column`: each row has its tools there, as a list or as JSON text; `tools` are for those
        without. `format_column` likewise. `prefix` is put before the new columns' names."""
        self._arguments = (format, tools)
        self._options: dict[str, Any] = {
            "text_column": text_column,
            "tools_column": tools_column,
            "format_column": format_column,
            "reasoning": reasoning,
            "in_reasoning": in_reasoning,
            "validate": validate,
            "prefix": prefix,
        }
        load_user_formats(
            complain=lambda sentence: None
        )  # said already where the command was given
        self.text_column = text_column
        self.prefix = prefix
        self._format = format if isinstance(format, Format) else get_format(format)
        self._tools_column = tools_column
        self._format_column = format_column
        self._reasoning: Reasoning = reasoning
        self._in_reasoning = in_reasoning
        self._validate = validate
        Parser(
            self._format, None, reasoning, in_reasoning
        )  # says what does not fit, before any row
        self._toolbox = _Toolbox(tools, validate)
        self._toolboxes: dict[str, _Toolbox] = {}
        if validate:
            checker({})  # … or what is not installed

    def __reduce__(self) -> Any:
        """Others are sent how it is made: what is kept ready is made anew where it arrives."""
        return _remake, (type(self), self._arguments, self._options)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides what comes out, in words that are the same in another process."""
        return {**self._options, "format": self._format.name, "tools": self._arguments[1]}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the new columns."""
        return tuple(self.prefix + name for name in COLUMNS)

    @property
    def looks_at(self) -> set[str]:
        """The names of the columns that are read."""
        found = (self.text_column, self._tools_column, self._format_column)
        return {name for name in found if name is not None}

    # -- one row ------------------------------------------------------------------------------

    def outcome(self, row: Mapping[str, Any]) -> Outcome:
        """What is in a row."""
        text = row.get(self.text_column)
        if not isinstance(text, str):
            return Outcome.bad(f"there is no text in the column {self.text_column!r}")
        try:
            format, toolbox = self._format_of(row), self._toolbox_of(row)
            message = parse(format, text, toolbox.tools, self._reasoning, self._in_reasoning)
        except ToolwireError as error:
            return Outcome.bad(str(error))
        problems = map(toolbox.problem_of, message.tool_calls)
        return Outcome(
            message.content,
            message.reasoning,
            tuple(message.tool_calls),
            tuple(problem for problem in problems if problem is not None),
        )

    def _format_of(self, row: Mapping[str, Any]) -> Format:
        name = row.get(self._format_column) if self._format_column else None
        if not name:
            return self._format
        if not isinstance(name, str):
            raise ToolwireError(f"the column {self._format_column!r} has no name of a format")
        return get_format(name)

    def _toolbox_of(self, row: Mapping[str, Any]) -> _Toolbox:
        given = row.get(self._tools_column) if self._tools_column else None
        if given is None or (isinstance(given, str) and not given):
            return self._toolbox
        key = given if isinstance(given, str) else _as_text(given, self._tools_column)
        found = self._toolboxes.get(key)
        if found is None:
            if len(self._toolboxes) >= _KEPT_TOOLS:
                self._toolboxes.clear()
            found = _Toolbox(_tools_in(key, self._tools_column), self._validate)
            self._toolboxes[key] = found
        return found

    # -- many rows ----------------------------------------------------------------------------

    def __call__(self, batch: Any) -> Any:
        if hasattr(batch, "schema") and hasattr(batch, "to_pylist"):
            from .tables import add_columns

            return add_columns(self, batch)
        names = list(batch.keys())
        self.refuse_missing(names)
        self.refuse_taken(names)
        if batch[self.text_column] is None or isinstance(batch[self.text_column], str):
            found = self.outcome(batch).to_dict()
            return {**batch, **{self.prefix + name: found[name] for name in COLUMNS}}
        columns = [_plain(batch[name]) for name in names]
        rows = (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
        found_rows = [self.outcome(row).to_dict() for row in rows]
        new = {self.prefix + name: [found[name] for found in found_rows] for name in COLUMNS}
        return batch.assign(**new) if hasattr(batch, "assign") else {**batch, **new}

    def refuse_missing(self, names: list[str]) -> None:
        """Raises where the text is not among these columns."""
        if self.text_column not in names:
            raise ToolwireError(
                f"There is no column {self.text_column!r}. There are: {', '.join(map(str, names))}."
            )

    def refuse_taken(self, names: list[str]) -> None:
        """Raises where a new column would take the place of one that is there."""
        taken = [name for name in self.columns if name in names]
        if taken:
            raise ToolwireError(
                f"There is a column {taken[0]!r} already: choose a prefix for the names of the new "
                "columns."
            )


def _remake(
    kind: type[ParseCalls], arguments: tuple[Any, Any], options: dict[str, Any]
) -> ParseCalls:
    return kind(*arguments, **options)


def _plain(column: Any) -> Any:
    """A column's values as Python has them: those of numpy and pandas are of types of their own."""
    return column.tolist() if hasattr(column, "tolist") else column


def _as_text(tools: Any, column: str | None) -> str:
    try:
        return json.dumps(tools, default=_plain_items)
    except (TypeError, ValueError, RecursionError):
        raise ToolwireError(f"the column {column!r} has no list of tools") from None


def _plain_items(value: Any) -> Any:
    """Ray and pandas have arrays inside of rows, too."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError


def _tools_in(text: str, column: str | None) -> Tools:
    try:
        tools = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"the tools in the column {column!r} are not JSON: {error}") from None
    if not isinstance(tools, list):
        raise ToolwireError(f"the column {column!r} has no list of tools")
    return tools
