"""The tools of `toolwire chat`: what they give, and that nothing a model writes can hurt."""

from __future__ import annotations

import datetime
import json

import pytest
from toolwire import ToolwireError
from toolwire.commands.chat_tools import declarations, run_call
from toolwire.openai import ToolCall, check_tools


def run(name: str, **arguments: object) -> str:
    return run_call(ToolCall("c1", name, json.dumps(arguments)))


def test_their_declarations_are_in_order() -> None:
    assert check_tools(declarations()) == []


def test_the_weather() -> None:
    assert run("get_weather", city="Oslo") == "Oslo: -3 °C, snow"
    assert run("get_weather", city="rome", unit="fahrenheit") == "rome: 66 °F, sunny"
    assert run("get_weather", city="Nowhere") == "Nowhere: 15 °C, cloudy"


def test_the_clock() -> None:
    asked = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    now = datetime.datetime.fromisoformat(run("get_time"))
    assert asked <= now <= datetime.datetime.now(datetime.timezone.utc)
    assert run("get_time", timezone="../../etc/passwd").startswith("There is no time zone")
    assert run("get_time", timezone="Nowhere/City").startswith("There is no time zone")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        (" (1 + 2) * -3 ", "-9"),
        ("7 / 2", "3.5"),
        ("7 // 2 + 7 % 2", "4"),
        ("2 ** 100", str(2**100)),
        ("2 ** -1", "0.5"),
        ("+1.5e3", "1500.0"),
    ],
)
def test_the_calculator(expression: str, value: str) -> None:
    assert run("calculate", expression=expression) == value


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("__import__('os').system('true')", "Only numbers"),
        ("'a' * 9", "Only numbers"),
        ("True + 1", "Only numbers"),
        ("[1][0]", "Only numbers"),
        ("2j", "Only numbers"),
        ("x := 1", "is no expression"),
        ("1 +", "is no expression"),
        ("1\0", "is no expression"),
        ("", "is no expression"),
        ("9 ** 9 ** 9", "too large"),
        ("-9 ** 99999999", "too large"),
        ("1e300 * 1e300 ** 2", "too large"),
        ("2.0 ** 99999", "too large"),
        ("(-8) ** 0.5", "not a real number"),
        ("1 / 0", "divides by zero"),
        ("1" * 201, "longer than 200"),
        ("(" * 100 + "1" + ")" * 99, "is no expression"),
    ],
)
def test_what_the_calculator_refuses(expression: str, said: str) -> None:
    assert said in run("calculate", expression=expression)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "'city' is missing"),
        ({"city": 5}, "'city' must be a string"),
        ({"city": "Oslo", "when": "now"}, "there is no parameter 'when'"),
        ({"city": "Oslo", "unit": "kelvin"}, "'unit' must be one of celsius, fahrenheit"),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict[str, object], said: str) -> None:
    assert run("get_weather", **arguments) == f"The arguments do not fit: {said}."


def test_a_tool_that_does_not_exist() -> None:
    assert run("rm").startswith("There is no tool 'rm'. There are: get_weather, ")


def test_arguments_that_are_no_object() -> None:
    with pytest.raises(ToolwireError):
        run_call(ToolCall("c1", "get_time", "[]"))
