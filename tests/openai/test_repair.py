"""Repair that a server may ask for: what becomes of names and values, for every format and cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import (
    Arguments,
    CallEnd,
    CallStart,
    Content,
    Event,
    Parser,
    ToolwireError,
    list_formats,
    parse,
)
from toolwire.openai import DeltaStream, accumulate
from toolwire.openai.normalize import normalize_response
from toolwire.openai.repair import Repair
from toolwire.openai.repairs import REPAIRS, VARIABLE, environment_repairs, read_repairs
from toolwire.openai.stream_normalize import ChatStream

from ..core.generate import Conversation, conversations, soup, tools_for
from ..support import coalesce, cut_at, events_of, policy_for, tool
from .support_steps import assert_linear, steps

PARAMETERS = {
    "n": {"type": "integer"},
    "x": {"type": "float"},
    "yes": {"type": "bool"},
    "list": {"type": "array", "items": {"type": "integer"}},
    "dict": {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}},
    "maybe": {"type": ["integer", "null"]},
    "either": {"type": ["integer", "string"]},
    "s": {"type": "string"},
    "any": {},
    "level": {"type": "integer", "enum": [1, 2]},
}
TOOL = tool("f", **PARAMETERS)
CUTS = st.lists(st.integers(0, 200), max_size=6)


def repaired(arguments: str, cuts: list[int] | None = None, asked: str = "coerce") -> str:
    """The arguments of a call as they come out, cut there."""
    repair = Repair(asked, [TOOL])
    out = repair.events([CallStart(0, "f")])
    for piece in cut_at(arguments, cuts or []):
        out += repair.events([Arguments(0, piece)])
    out += repair.events([CallEnd(0, True)])
    assert out[0] == CallStart(0, "f")
    assert out[-1] == CallEnd(0, True)
    return "".join(event.text for event in out[1:-1] if isinstance(event, Arguments))


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("n", "5", "5"),
        ("n", " -5 ", "-5"),
        ("n", "5.0", "5.0"),
        ("n", "5.5", None),
        ("n", "five", None),
        ("n", "", None),
        ("x", "1e3", "1e3"),
        ("x", "5", "5"),
        ("x", "NaN", None),
        ("yes", "true", "true"),
        ("yes", "False", "false"),
        ("yes", "yes", None),
        ("list", "[1, 2]", "[1, 2]"),
        ("list", "['1', 2]", "[1, 2]"),
        ("list", '["1"]', "[1]"),
        ("list", "[1, 2", None),
        ("list", "1, 2", None),
        ("list", "[one]", None),
        ("list", "[1] [2]", None),
        ("list", "{'n': 1}", None),
        ("dict", '{"n": "1", "s": "2", "z": "3"}', '{"n": 1, "s": "2", "z": "3"}'),
        ("dict", "{'n': None, 's': True}", '{"n": null, "s": true}'),
        ("dict", "{'s': 'it\\'s'}", '{"s": "it\'s"}'),
        ("dict", "{n: 1}", None),
        ("dict", '{"dict": "{\\"n\\": 1}"}', '{"dict": "{\\"n\\": 1}"}'),
        ("maybe", "null", "null"),
        ("maybe", "None", "null"),
        ("maybe", "7", "7"),
        ("either", "7", None),
        ("s", "7", None),
        ("any", "7", None),
        ("unknown", "7", None),
        ("level", "2", "2"),
        ("n", "\u00e9\n\"\\", None),
    ],
)  # fmt: skip
def test_a_string_in_the_place_of_a_value(key: str, text: str, value: str | None) -> None:
    """None: it stays the string that it is, byte for byte."""
    for string in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        arguments = f'{{"s": "1", {json.dumps(key)} : {string} , "n": 3}}'
        wanted = arguments if value is None else arguments.replace(string, value)
        for cut in range(len(arguments) + 1):
            assert repaired(arguments, [cut]) == wanted
        assert repaired(arguments, list(range(len(arguments)))) == wanted
        assert repaired(arguments, asked="names") == arguments


def test_values_deep_inside() -> None:
    deep = tool("f", a={"type": "array", "items": {"properties": {"n": {"type": "number"}}}})
    repair = Repair("coerce", [deep])
    given = '{"a": [{"n": "1", "m": "1"}, {"m": {"n": "2"}}, {"n": [["3"]]}, {"n": "4"}]}'
    wanted = '{"a": [{"n": 1, "m": "1"}, {"m": {"n": "2"}}, {"n": [["3"]]}, {"n": 4}]}'
    assert repair.arguments("f", given) == wanted
    assert repair.counts == {"coerce": 2, "names": 0}
    assert repair.arguments("g", given) == given


@pytest.mark.parametrize(
    "arguments",
    [
        "", "null", '"5"', "5", "[", '["5"]', '{"n"', '{"n": "5', '{"n": "5\\', '{"n": ]"5"}',
        '{"n" "5"', '{"n": "x" "5"}', '{"list": ["x" "5"]}',
        '{"n": "\\x"}', '}{"n": "5"}', '{"n": 1} {"n": "5"}', '{{{"n": "5"}', '{"n": {"5"}}', "{]}",
    ],
)  # fmt: skip
def test_what_is_not_json_passes_as_it_is(arguments: str) -> None:
    for cut in range(len(arguments) + 1):
        assert repaired(arguments, [cut]) == arguments


@given(
    text=st.lists(
        st.sampled_from([*'{}[],:"\\ ', '"n"', '"5"', ": ", '"list"', "[1]", "'1'", "x", "é"]),
        max_size=20,
    ).map("".join),
    cuts=CUTS,
)
def test_every_cut_of_any_text_gives_the_same(text: str, cuts: list[int]) -> None:
    assert repaired(text, cuts) == repaired(text)


VALUES = st.recursive(
    st.sampled_from([1, -2, 0.5, True, None, "a", "5", "true", "[1]", "", '"', "\\", "é"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(value=st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4), cuts=CUTS)
def test_what_fits_its_schema_stays_and_what_was_made_a_string_comes_back(
    value: dict[str, Any], cuts: list[int]
) -> None:
    """Tools that declare just these values; then each container, number and boolean as a string."""
    tools = tools_for([("f", value)])
    whole = json.dumps(value)
    assert Repair("coerce", tools).arguments("f", whole) == whole
    strings = {k: v if isinstance(v, str | None) else json.dumps(v) for k, v in value.items()}
    repair = Repair("coerce", tools)
    coercion = repair.coercion("f")
    assert coercion is not None
    pieces = [coercion.feed(piece) for piece in cut_at(json.dumps(strings), cuts)]
    assert json.loads("".join(pieces) + coercion.finish()) == value
    changed = sum(not isinstance(v, str | None) for v in value.values())
    assert repair.counts["coerce"] >= changed


def test_everything_else_streams_on() -> None:
    repair = Repair("coerce", [TOOL])
    repair.events([CallStart(0, "f")])
    pieces = ['{"s": "', "some ", "text", '", "n": ', '"', "4", "2", '"', ', "s": "more', '"}']
    out = [repair.events([Arguments(0, piece)]) for piece in pieces]
    texts = ["".join(e.text for e in events if isinstance(e, Arguments)) for events in out]
    assert texts == ['{"s": "', "some ", "text", '", "n": ', "", "", "", "42", ', "s": "more', '"}']


def test_a_string_that_is_cut_off_goes_out_at_the_end() -> None:
    assert repaired('{"n": "4') == '{"n": "4'


# -- names ----------------------------------------------------------------------------------------

DECLARED = [
    "get_weather",
    "Get-Time",
    "web.search",
    "search",
    "mcp__git__log",
    "git_log2",
    "a.b",
    "b.b",
]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("get_weather", "get_weather"),
        ("Get_Weather", "get_weather"),
        ("get-weather", "get_weather"),
        ("getWeather", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.Get-Weather", "get_weather"),
        ("weather.get_weather", "get_weather"),
        ("mcp__weather__get_weather", "get_weather"),
        ("server/get_weather", "get_weather"),
        ("server:get_weather", "get_weather"),
        ("get_time", "Get-Time"),
        ("Search", "search"),
        ("functions.search", "search"),
        ("web.Search", "web.search"),
        ("log", "mcp__git__log"),
        ("git__log", "mcp__git__log"),
        ("functions.log", "mcp__git__log"),
        ("hub.log", None),  # another server's, perhaps
        ("b", None),  # two tools end so
        ("get_weather2", None),
        ("weather", None),
        ("functions.", None),
        ("", None),
        ("get_weather" * 100, None),
    ],
)
def test_a_name(written: str, meant: str | None) -> None:
    repair = Repair("names", [tool(name) for name in DECLARED])
    assert repair.name(written) == (written if meant is None else meant)
    assert repair.counts["names"] == (meant not in (None, written))


def test_two_tools_that_differ_only_so_are_not_mixed_up() -> None:
    repair = Repair("names", [tool("get_x"), tool("get-x")])
    assert [repair.name(n) for n in ("get_x", "get-x", "Get_X")] == ["get_x", "get-x", "Get_X"]


def test_without_tools_names_stay() -> None:
    assert Repair("names", None).name("F") == "F"


def test_the_repaired_name_tells_the_types() -> None:
    repair = Repair("coerce, names", [TOOL])
    events = [CallStart(0, "functions.F", "id"), Arguments(0, '{"n": "5"}'), CallEnd(0, True, "x")]
    wanted = [CallStart(0, "f", "id"), Arguments(0, '{"n": 5}'), CallEnd(0, True, "x")]
    assert coalesce(repair.events(list(events))) == wanted
    assert repair.counts == {"coerce": 1, "names": 1}


# -- messages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", list_formats())
@given(data=st.data())
def test_what_is_right_stays_and_every_cut_gives_the_same(format: str, data: st.DataObject) -> None:
    conversation: Conversation = data.draw(conversations(format))
    tools = tools_for(list(conversation.calls))
    text = data.draw(st.one_of(st.just(conversation.text), soup(format)))
    cuts = data.draw(CUTS)

    def read(chunks: list[str]) -> list[Event]:
        parser, repair = Parser(format, tools), Repair(REPAIRS, tools)
        events = [e for chunk in chunks for e in repair.events(parser.feed(chunk))]
        return coalesce(events + repair.events(parser.finish()))

    whole = read([text])
    assert read(cut_at(text, cuts)) == whole
    if text == conversation.text:
        assert whole == events_of(format, [text], tools)


TEXT = '<tool_call>{"name": "functions.F", "arguments": {"n": "5", "s": "6"}}</tool_call> Done.'
RIGHT = '{"n": 5, "s": "6"}'


def test_it_is_off_unless_somebody_asks() -> None:
    (call,) = parse("hermes", TEXT, [TOOL]).tool_calls
    assert (call.name, call.arguments) == ("functions.F", '{"n": "5", "s": "6"}')


@pytest.mark.parametrize("asked", ["coerce,names", ["coerce", "names"], frozenset(REPAIRS)])
def test_parse_and_streams_do_it_and_count(asked: Any) -> None:
    message = parse("hermes", TEXT, [TOOL], repair=asked)
    assert [(c.name, c.arguments) for c in message.tool_calls] == [("f", RIGHT)]
    assert message.content == " Done." or message.content == "Done."
    for size in range(1, len(TEXT)):
        stream = DeltaStream("hermes", [TOOL], repair=asked)
        chunks = cut_at(TEXT, list(range(size, len(TEXT), size)))
        deltas = [d for chunk in chunks for d in stream.feed(chunk)] + stream.finish()
        (call,) = accumulate(deltas).tool_calls
        assert (call.name, call.arguments) == ("f", RIGHT)
        assert stream.repairs == {"coerce": 1, "names": 1}


def test_text_only() -> None:
    stream = DeltaStream("hermes", [TOOL], tool_choice="none", repair=REPAIRS)
    assert stream.feed(TEXT) + stream.finish() == [{"content": TEXT}]
    assert Repair(REPAIRS, [TOOL]).events([Content("x")]) == [Content("x")]


@pytest.mark.parametrize("wrong", ["coerce, nmes", ["coerce", "nmes"]])
def test_what_there_is_not(wrong: Any) -> None:
    with pytest.raises(ToolwireError, match=r"There is no repair 'nmes': use coerce or names"):
        read_repairs(wrong)


def test_the_environment_asks() -> None:
    assert environment_repairs({}) == environment_repairs({VARIABLE: " "}) == frozenset()
    assert environment_repairs({VARIABLE: "names ,coerce"}) == frozenset(REPAIRS)
    with pytest.raises(ToolwireError, match=r"^TOOLWIRE_REPAIR: There is no repair 'x'"):
        environment_repairs({VARIABLE: "x"})


# -- the gateway ----------------------------------------------------------------------------------

NATIVE = {"index": 0, "id": "1", "type": "function",
          "function": {"name": "functions.F", "arguments": '{"n": "5", "s": "6"}'}}  # fmt: skip


@pytest.mark.parametrize(
    "message", [{"tool_calls": [NATIVE]}, {"content": TEXT}], ids=["native", "text"]
)
def test_the_gateway_repairs_whole_answers(message: dict[str, Any]) -> None:
    policy = policy_for([TOOL], format="hermes", repair=frozenset(REPAIRS))
    answer = {"choices": [{"message": message, "finish_reason": "stop"}]}
    normal, findings, _ = normalize_response(answer, policy)
    (call,) = normal["choices"][0]["message"]["tool_calls"]
    assert (call["function"]["name"], call["function"]["arguments"]) == ("f", RIGHT)
    actions = [finding.action for finding in findings if finding.action != "text_parsed"]
    assert actions == ["renamed", "coerced"]


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 100])
def test_the_gateway_repairs_streams(mode: str, native: bool, size: int) -> None:
    arguments = NATIVE["function"]["arguments"]  # type: ignore[index]
    deltas: list[Any] = [{"content": TEXT[i : i + size]} for i in range(0, len(TEXT), size)]
    if native:
        first = NATIVE | {"function": {"name": "functions.F", "arguments": ""}}
        pieces = [arguments[i : i + size] for i in range(0, len(arguments), size)]
        entries = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
        deltas = [{"tool_calls": [entry]} for entry in (first, *entries)]
    stream = ChatStream(policy_for([TOOL], format="hermes", repair=frozenset(REPAIRS)), mode)
    chunks = [c for delta in deltas for c in stream.feed({"choices": [{"delta": delta}]})]
    chunks += stream.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    chunks += stream.finish()
    (call,) = accumulate(c["choices"][0]["delta"] for c in chunks).tool_calls
    assert (call.name, call.arguments) == ("f", RIGHT)
    actions = [finding.action for finding in stream.findings if finding.action != "text_parsed"]
    assert sorted(map(str, actions)) == ["coerced", "renamed"]


def test_a_call_that_is_cut_off_in_a_held_string_keeps_it_live() -> None:
    stream = ChatStream(policy_for([TOOL], repair=frozenset(REPAIRS)), "live")
    entry = NATIVE | {"function": {"name": "f", "arguments": '{"n": "5'}}
    chunks = stream.feed({"choices": [{"delta": {"tool_calls": [entry]}}]})
    chunks += stream.feed({"choices": [{"delta": {}, "finish_reason": "length"}]})
    (call,) = accumulate(c["choices"][0]["delta"] for c in chunks).tool_calls
    assert call.arguments == '{"n": "5'
    assert [finding.reason for finding in stream.findings] == ["truncated"]


# -- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [
        '"n": "5", ',
        '"dict": {"n": "5"}, ',
        '"list": "[1, 2',
        '"s": "',
        "[",
        '{"n": ',
        "\\",
        '"n": "',
        "é",
    ],
)
@pytest.mark.parametrize("by_character", [True, False])
def test_long_arguments_take_linear_work(piece: str, by_character: bool) -> None:
    def work(count: int) -> Any:
        text = "{" + piece * count
        return lambda: repaired(text, list(range(len(text))) if by_character else [])

    assert_linear(work, 40)


@pytest.mark.parametrize("piece", ["a.", "__", "/x", "functions."])
def test_long_names_take_bounded_work(piece: str) -> None:
    repair = Repair("names", [tool("f")])
    few, many = (steps(lambda n=n: repair.name(piece * n)) for n in (100, 10000))
    assert many <= few
