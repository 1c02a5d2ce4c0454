"""`write`: calls as the model's own chat template writes them.

What is written is read back before it is returned: a value that the format can't say without ambiguity
(its own closers, say) is an error that names it, and never a text that means something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.format import Format
from ..core.literals import without_optional
from ..core.parser import EventParser
from ..errors import ToolwireError
from ..events import Arguments, CallEnd, CallStart, Event, Reasoning
from ..schema.definitions import Tools
from .reasoning import style_of
from .registry import get_format
from .tools_for import tools_for


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: dict[str, Any]
    id: str


def write(
    format: str | Format,
    calls: Iterable[Any],
    tools: Tools | None = None,
    *,
    reasoning: str | None = None,
) -> str:
    """The text of some calls, behind the model's thoughts if `reasoning` has any.

    A call is a dict with `name` and `arguments` (an object, or its JSON text), one of OpenAI's
    `tool_calls`, or a `ToolCall`. Where the tools are given, it is made sure that the calls are read
    back with these: the text `null` between tags is no string where a parameter may be null.
    """
    spec = format if isinstance(format, Format) else get_format(format)
    if reasoning is not None and not isinstance(reasoning, str):
        raise ToolwireError(f"reasoning must be a str, not {type(reasoning).__name__}.")
    if reasoning:
        return _thoughts(spec, reasoning) + write(spec, calls, tools)
    spec.written  # noqa: B018  # says what is missing where there is no layout
    if isinstance(calls, (str, bytes, Mapping)):
        raise ToolwireError(f"write() takes a list of calls, not {type(calls).__name__}.")
    read = [_read(call, f"calls[{place}]") for place, call in enumerate(calls)]
    if not read:
        return ""
    proof = _Proof(spec, tools)
    if not proof.holds(read):
        raise ToolwireError(proof.reason(read))
    return _text(spec, read)


def _thoughts(spec: Format, reasoning: str) -> str:
    """Thoughts between their markers, as the format's own style, or its channels, have them."""
    style = style_of(spec, True)
    if style is not None:
        begin, end = map(without_optional, (style.open[0], style.close[0]))
        text = f"{begin}{reasoning}{end}"
    else:
        assert spec.channels is not None
        text = f"{spec.channels.thought_begin}{reasoning}{spec.channels.thought_end}"
    parser = EventParser(spec, None, style)
    read = [*parser.feed(text), *parser.finish()]
    thoughts = "".join(event.text for event in read if isinstance(event, Reasoning))
    if thoughts != reasoning.strip() or not all(isinstance(event, Reasoning) for event in read):
        raise ToolwireError(
            f"The format {spec.name} can't write these thoughts: they hold one of its own markers."
        )
    return text


def reads_what_it_writes(spec: Format) -> bool:
    """Whether a format's layout fits its wrappers and its shape: one call, and two, come back."""
    one = {"name": "NAME", "arguments": {"K": "V"}}
    try:
        write(spec, [one])
        write(spec, [one, {**one, "name": "OTHER", "id": "x1y2z3abc"}])
    except ToolwireError:
        return False
    return True


def _text(spec: Format, calls: list[_Call]) -> str:
    layout = spec.written
    return layout.section(
        layout.call(
            spec.shape.write_name(call.name),
            spec.shape.write(call.arguments, layout),
            _id(spec, call, place),
        )
        for place, call in enumerate(calls)
    )


def _id(spec: Format, call: _Call, place: int) -> str:
    """What is written as the call's id. A number is kept where the id is the header with it
    (`functions.NAME:3`): so a conversation goes back as it came."""
    layout = spec.written
    if layout.id is None or layout.id.first is None:
        return call.id
    header = layout.name_begin + call.name + layout.name_end + layout.id.begin
    number = call.id.removeprefix(header)
    return number if number != call.id and number.isdecimal() else str(layout.id.first + place)


# -- calls, as they are given ---------------------------------------------------------------------


def _read(call: Any, place: str) -> _Call:
    if not isinstance(call, Mapping):
        call = {key: getattr(call, key, None) for key in ("name", "arguments", "id", "function")}
    function = call.get("function")
    if function is not None and not isinstance(function, Mapping):
        function = {key: getattr(function, key, None) for key in ("name", "arguments")}
    body = function if function is not None else call
    name, id = body.get("name"), call.get("id")
    if not isinstance(name, str) or not name:
        raise ToolwireError(f'{place} has no name: a call is {{"name": …, "arguments": {{…}}}}.')
    arguments = _object(body.get("arguments"), f"{place}, a call to {name!r}")
    return _Call(name, arguments, id if isinstance(id, str) else "")


def _object(arguments: Any, place: str) -> dict[str, Any]:
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            raise ToolwireError(f"{place}: its arguments are not JSON.") from None
    if not isinstance(arguments, Mapping):
        raise ToolwireError(f"{place}: its arguments must be an object, not {_shown(arguments)}.")
    for key, value in arguments.items():
        try:
            text = json.dumps({key: value}, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            text = ""
        if not text or not isinstance(key, str):
            raise ToolwireError(f"{place}: the argument {key!r} is no JSON value.")
    return dict(arguments)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"


# -- the proof ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Proof:
    """Reads back what is written, with the caller's tools, or else with tools made for the calls."""

    spec: Format
    tools: Tools | None

    def holds(self, calls: list[_Call]) -> bool:
        tools = self.tools or tools_for((call.name, call.arguments) for call in calls)
        parser = EventParser(self.spec, tools)
        read = _calls_in([*parser.feed(_text(self.spec, calls)), *parser.finish()])
        return read is not None and _same(read, [(call.name, call.arguments) for call in calls])

    def reason(self, calls: list[_Call]) -> str:
        """Which part of which call the format can't say."""
        can_not = f"The format {self.spec.name} can't write"
        for call in calls:
            if not self.holds([_Call(call.name, {}, call.id)]):
                return f"{can_not} a call to {call.name!r}: the name would be read otherwise."
            for key, value in call.arguments.items():
                if not self.holds([_Call(call.name, {key: value}, call.id)]):
                    return (
                        f"{can_not} the argument {key!r} of {call.name!r}: {_shown(value)} would be "
                        "read as something else."
                    )
        return f"{can_not} these calls together: they would be read otherwise."


def _calls_in(events: list[Event]) -> list[tuple[str, Any]] | None:
    """The calls; None where one is not finished, or something was taken for prose."""
    calls: list[tuple[str, list[str]]] = []
    for event in events:
        if isinstance(event, CallStart):
            calls.append((event.name, []))
        elif isinstance(event, Arguments):
            calls[-1][1].append(event.text)
        elif not isinstance(event, CallEnd) or not event.complete:
            return None
    try:
        return [(name, json.loads("".join(pieces))) for name, pieces in calls]
    except (ValueError, RecursionError):
        return None


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true. The order of keys does not matter."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
