"""The tools of `toolwire chat`: they run on this machine, need nothing, and can do no harm."""

from __future__ import annotations

import ast
import datetime
import operator
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolwireError
from ..openai import ToolCall

Json = dict[str, Any]

_PYTHON_TYPES = {"string": str}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function of ours, and how a model is told about it."""

    run: Callable[..., str]
    description: str
    properties: Mapping[str, Json] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    def declare(self, name: str) -> Json:
        """The tool as an entry of a request's `tools`."""
        parameters = {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }
        function = {"name": name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}

    def misfit(self, arguments: Mapping[str, Any]) -> str:
        """What is wrong with arguments, or nothing."""
        for name in self.required:
            if name not in arguments:
                return f"{name!r} is missing"
        for name, value in arguments.items():
            if name not in self.properties:
                return f"there is no parameter {name!r}"
            schema = self.properties[name]
            if not isinstance(value, _PYTHON_TYPES[schema["type"]]):
                return f"{name!r} must be a {schema['type']}"
            if value not in schema.get("enum", [value]):
                return f"{name!r} must be one of {', '.join(schema['enum'])}"
        return ""


def run_call(call: ToolCall) -> str:
    """What a call gives, for the model to read: also where the mistake is the model's own.

    Arguments that are no JSON object raise `ToolwireError`: servers take no conversation that holds
    such a call, so there is no way to tell the model.
    """
    arguments = call.load()
    tool = TOOLS.get(call.name)
    if tool is None:
        return f"There is no tool {call.name!r}. There are: {', '.join(TOOLS)}."
    wrong = tool.misfit(arguments)
    if wrong:
        return f"The arguments do not fit: {wrong}."
    try:
        return tool.run(**arguments)
    except ToolwireError as error:
        return str(error)


# -- the weather ----------------------------------------------------------------------------------

_WEATHER = {"oslo": (-3, "snow"), "rome": (19, "sunny"), "london": (11, "rain")}


def _get_weather(city: str, unit: str = "celsius") -> str:
    degrees, sky = _WEATHER.get(city.strip().lower(), (15, "cloudy"))
    if unit == "fahrenheit":
        return f"{city}: {degrees * 9 / 5 + 32:.0f} °F, {sky}"
    return f"{city}: {degrees} °C, {sky}"


# -- the clock ------------------------------------------------------------------------------------


def _get_time(timezone: str = "UTC") -> str:
    try:
        zone = datetime.timezone.utc if timezone == "UTC" else zoneinfo.ZoneInfo(timezone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolwireError(f"There is no time zone {timezone!r}.") from None
    return datetime.datetime.now(zone).isoformat(timespec="seconds")


# -- the calculator -------------------------------------------------------------------------------

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_MAX_EXPRESSION = 200  # characters
_MAX_BITS = 4096  # of a whole number: a model can't keep this machine busy with 9 ** 9 ** 9


def _calculate(expression: str) -> str:
    if len(expression) > _MAX_EXPRESSION:
        raise ToolwireError(f"The expression is longer than {_MAX_EXPRESSION} characters.")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError):  # ValueError: a null byte, or a number with too many digits
        raise ToolwireError(f"{expression!r} is no expression.") from None
    try:
        return str(_value(tree.body))
    except ZeroDivisionError:
        raise ToolwireError("The expression divides by zero.") from None
    except OverflowError:
        raise ToolwireError("The result is too large.") from None


def _value(node: ast.AST) -> Any:
    """The value of an expression: numbers and operators, and nothing else that Python has."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left), _value(node.right)
        if isinstance(left, int) and isinstance(right, int):
            grows = {ast.Pow: abs(right), ast.Mult: 2}.get(type(node.op), 1)
            if max(left.bit_length(), right.bit_length()) * grows > _MAX_BITS:
                raise OverflowError
        value = _OPERATORS[type(node.op)](left, right)
        if isinstance(value, complex):
            raise ToolwireError("The result is not a real number.")
        return value
    raise ToolwireError("Only numbers, brackets and + - * / // % ** can be calculated.")


TOOLS = {
    "get_weather": Tool(
        _get_weather,
        "The weather in a city",
        {
            "city": {"type": "string", "maxLength": 50},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        ("city",),
    ),
    "calculate": Tool(
        _calculate,
        "The value of an arithmetic expression, as in (2 + 3) * 4",
        {"expression": {"type": "string", "maxLength": _MAX_EXPRESSION}},
        ("expression",),
    ),
    "get_time": Tool(
        _get_time,
        "The date and the time now",
        {"timezone": {"type": "string", "description": "As in Europe/Oslo; UTC if left out"}},
    ),
}


def declarations() -> list[Json]:
    """The tools as a request's `tools`."""
    return [tool.declare(name) for name, tool in TOOLS.items()]
