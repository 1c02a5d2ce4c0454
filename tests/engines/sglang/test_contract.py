"""The parsers inside SGLang's own FunctionCallParser give what the core gives, however it is cut."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import toolwire
from engine_cases import (
    ADD_ONE_TWO,
    CASES,
    ONE_TWO,
    STRING,
    TOO_DEEP,
    TOO_DEEP_CALLS,
    TOOLS,
    Case,
    block,
    fill,
    tool,
)
from sglang.srt.environ import envs
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang_driving import chunkings, closed_by_text, make_parser, stream, whole
from toolwire.engines import sglang_adapter, sglang_plugin
from toolwire.engines.names import sglang_names

TABLE = FunctionCallParser.ToolCallParserEnum


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()


@pytest.fixture
def any_tool() -> Any:
    """As the core has it: every tool may be called, declared or not."""
    with envs.SGLANG_FORWARD_UNKNOWN_TOOLS.override(True):
        yield


def core(format_name: str, text: str, tools: Any) -> tuple[Any, str | None, set[int]]:
    message = toolwire.parse(format_name, text, tools)
    calls = message.tool_calls
    incomplete = {number for number, call in enumerate(calls) if not call.complete}
    return [(call.name, call.arguments) for call in calls], message.content, incomplete


def example(name: str) -> str:
    text = fill(toolwire.get_format(name).example)
    assert toolwire.parse(name, text, TOOLS).tool_calls, text
    return text


@pytest.mark.usefixtures("any_tool")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_known_failures(case: Case) -> None:
    name = f"toolwire_{case.format}"
    for pieces in chunkings(case.text):
        got = stream(make_parser(name, case.tools), pieces)
        assert (got.calls, got.content) == (case.calls, case.content)
    got = whole(make_parser(name, case.tools), case.text)
    assert (got.calls, got.content) == (case.calls, case.content)


def test_a_schema_that_is_nested_too_deeply(caplog: pytest.LogCaptureFixture) -> None:
    """It costs nobody the answer: a sentence in the log, and the values are strings."""
    for name, text in TOO_DEEP_CALLS.items():
        parser = make_parser(f"toolwire_{name}", [TOO_DEEP])
        assert whole(parser, text).calls == [("deep", '{"a": "1"}')]
        for pieces in chunkings(text):
            got = stream(make_parser(f"toolwire_{name}", [TOO_DEEP]), pieces)
            assert got.calls == [("deep", '{"a": "1"}')]
        assert parser.detector.get_structural_tag(parser.tools, "required") is not None
    assert "The parameters of the tool 'deep' are nested more than" in caplog.text


@pytest.mark.parametrize("name", toolwire.list_formats())
def test_every_format_is_as_the_core(name: str) -> None:
    one = example(name)
    for text in (one, f"Well.\n{one}\nSo.", f"Well.\n{one}"[:-3], "No call (none) here."):
        expected = core(name, text, TOOLS)
        for pieces in chunkings(text):
            got = stream(make_parser(f"toolwire_{name}", TOOLS), pieces)
            assert (got.calls, got.content, got.incomplete) == expected
        got = whole(make_parser(f"toolwire_{name}", TOOLS), text)
        assert (got.calls, got.content, got.incomplete) == expected


@pytest.mark.parametrize("name", toolwire.list_formats())
def test_every_cut_of_two(name: str) -> None:
    text = f"Well.\n{example(name)}\nSo."
    expected = core(name, text, TOOLS)
    for at in range(len(text)):
        got = stream(make_parser(f"toolwire_{name}", TOOLS), [text[:at], text[at:], ""])
        assert (got.calls, got.content, got.incomplete) == expected
        assert not closed_by_text(got)


def test_text_goes_out_after_the_call_it_follows() -> None:
    text = f"First.\n{ADD_ONE_TWO}\nThen.\n{ADD_ONE_TWO}\nDone."
    for pieces in chunkings(text):
        got = stream(make_parser("toolwire_hermes", TOOLS), [*pieces, ""])
        assert got.calls == [("add", ONE_TWO)] * 2
        assert got.content == "First.\n\nThen.\n\nDone."
        assert not closed_by_text(got)


def test_text_waits_while_another_call_is_open() -> None:
    second = ADD_ONE_TWO.index("2}")
    pieces = [f"{ADD_ONE_TWO}\nThen.\n{ADD_ONE_TWO[:second]}", "2", "", "}}\n</tool_call>", ""]
    got = stream(make_parser("toolwire_hermes", TOOLS), pieces)
    assert got.calls == [("add", ONE_TWO)] * 2
    assert [text for text, _ in got.steps] == ["", "", "", "", "Then."]


UNKNOWN = block('{"name": "unknown", "arguments": {"x": 1}}')


def test_unknown_tools_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    text = f"{UNKNOWN}\n{ADD_ONE_TWO}\n{UNKNOWN}\n{ADD_ONE_TWO}"
    for pieces in chunkings(text):
        got = stream(make_parser("toolwire_hermes", TOOLS), pieces)
        assert (got.calls, got.content) == ([("add", ONE_TWO)] * 2, None)
    with caplog.at_level(logging.WARNING):
        got = whole(make_parser("toolwire_hermes", TOOLS), text)
    assert (got.calls, got.content) == ([("add", ONE_TWO)] * 2, None)
    assert "'unknown'" in caplog.text


@pytest.mark.usefixtures("any_tool")
def test_unknown_tools_are_passed_on_where_sglang_says_so() -> None:
    text = f"{UNKNOWN}\n{ADD_ONE_TWO}"
    expected = [("unknown", '{"x": 1}'), ("add", ONE_TWO)]
    for pieces in chunkings(text):
        assert stream(make_parser("toolwire_hermes", TOOLS), pieces).calls == expected
    assert whole(make_parser("toolwire_hermes", TOOLS), text).calls == expected


def test_no_tools_leaves_the_text_alone() -> None:
    for pieces in chunkings(ADD_ONE_TWO):
        got = stream_of_a_request_without_tools(pieces)
        assert got == ADD_ONE_TWO
    assert whole(make_parser("toolwire_hermes", []), ADD_ONE_TWO).content == ADD_ONE_TWO


def stream_of_a_request_without_tools(pieces: list[str]) -> str:
    parser = make_parser("toolwire_hermes", [])
    texts = [parser.parse_stream_chunk(piece)[0] for piece in pieces]
    return "".join(texts) + parser.parse_stream_end()[0]


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_a_long_argument_streams_in_pieces(name: str) -> None:
    value = 'line of text, with \\"quotes\\" in it. ' * 900
    if name == "hermes":
        arguments = f'{{"path": "a", "content": "{value}"}}'
        text = block(f'{{"name": "write_file", "arguments": {arguments}}}')
    else:
        parameters = (
            f"<parameter=path>\na\n</parameter>\n<parameter=content>\n{value}\n</parameter>"
        )
        text = f"<tool_call>\n<function=write_file>\n{parameters}\n</function>\n</tool_call>"
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    got = stream(make_parser(f"toolwire_{name}", TOOLS), pieces)
    assert got.calls == core(name, text, TOOLS)[0]
    assert max(len(call.parameters) for _, calls in got.steps for call in calls) < 100


def test_a_detector_may_read_a_second_text() -> None:
    parser = make_parser("toolwire_hermes", TOOLS)
    for _ in range(2):
        assert whole(parser, ADD_ONE_TWO).calls == [("add", ONE_TWO)]


class Broken:
    """A parser with a fault, and its `feed`."""

    def __init__(self, *_: Any) -> None:
        self.feed = self

    def __call__(self, text: str) -> Any:
        raise RuntimeError("a fault")

    def finish(self) -> Any:
        raise RuntimeError("a fault")


@pytest.mark.parametrize("where", ["feed", "finish"])
def test_a_fault_of_ours_is_text_and_a_line_in_the_log(
    where: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    parser = make_parser("toolwire_hermes", TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    first = parser.parse_stream_chunk(ADD_ONE_TWO[:cut])
    assert first[1][0].name == "add"
    setattr(parser.detector._stream, "_feed" if where == "feed" else "_parser", Broken())
    with caplog.at_level(logging.ERROR):
        text = "".join(parser.parse_stream_chunk(piece)[0] for piece in ("one ", "two"))
        text += parser.parse_stream_end()[0]
    assert text == ("one two" if where == "feed" else "")
    assert parser.detector.incomplete_tool_call_indices == {0}
    assert "a fault" in caplog.text


def test_a_fault_of_ours_in_a_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sglang_adapter, "EventParser", Broken)
    assert whole(make_parser("toolwire_hermes", TOOLS), ADD_ONE_TWO).content == ADD_ONE_TWO
    content, calls = make_parser("toolwire_hermes", TOOLS).parse_non_stream(ADD_ONE_TWO)
    assert (content, calls) == (ADD_ONE_TWO, [])


#: Where SGLang's own parser reads a spelling that is not the first of ours.
SPELLINGS = {
    "interns1": '<|action_start|> <|plugin|>\n{"name": "look", "parameters": {"city": "Oslo"}}'
    "<|action_end|>",
    "mimo": "<tool_call>\n<function=look>\n<parameter=city>Oslo</parameter>\n</function>\n</tool_call>",
}
LOOK = tool("look", city=STRING)


def test_names_of_sglang_can_be_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was read before, by SGLang's own parser of that name, read the same by ours."""
    theirs = sglang_names(name for name in TABLE if not name.startswith("toolwire_"))
    assert len(theirs) > 20
    texts = {
        name: SPELLINGS.get(name, example(ours).replace("get_weather", "look"))
        for name, ours in theirs.items()
    }
    before = {name: whole(make_parser(name, [LOOK]), texts[name]).calls[:1] for name in theirs}
    table = dict(TABLE)
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", table)
    monkeypatch.setenv("TOOLWIRE_OVERRIDE", "1")
    sglang_plugin.register()
    for name, ours in theirs.items():
        assert table[name].toolwire_format == ours
        after = whole(make_parser(name, [LOOK]), texts[name]).calls
        assert [(n, "".join(a.split())) for n, a in before[name]] == [
            (n, "".join(a.split())) for n, a in after
        ], name
    untouched = set(TABLE) - set(theirs)
    assert all(table[name] is TABLE[name] for name in untouched)
