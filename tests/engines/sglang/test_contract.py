"""The parsers inside SGLang's own FunctionCallParser give what the core gives, however it is cut."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import toolwire
from engine_cases import ADD_ONE_TWO, ONE_TWO, STRING, TOOLS, block, chunkings, tool
from sglang.srt.environ import envs
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang_driving import Got, closed_by_text, make_parser, stream, whole
from shared_contract import Contract, example
from toolwire.core.parser import EventParser
from toolwire.engines.names import SGLANG_NAMES, sglang_kept, sglang_names
from toolwire.engines.sglang import adapter as sglang_adapter
from toolwire.engines.sglang import plugin as sglang_plugin

TABLE = FunctionCallParser.ToolCallParserEnum


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()


@pytest.fixture
def any_tool() -> Iterator[None]:
    with envs.SGLANG_FORWARD_UNKNOWN_TOOLS.override(True):
        yield


def test_kimi_k3_is_not_stopped_at_once() -> None:
    """SGLang stops that model at its detector's `eot_token`: the empty text is in every answer."""
    for format in toolwire.list_formats():
        detector = make_parser(f"toolwire_{format}", TOOLS).detector
        assert detector.eot_token == "<|close|>tools<|sep|>"


class TestContract(Contract):
    hears_choice = sglang_adapter.CONTRACT.hears_choice

    def stream(self, format: str, pieces: Sequence[str], tools: Any = TOOLS, **request: Any) -> Got:
        return stream(make_parser(f"toolwire_{format}", tools, **request), pieces)

    def whole(self, format: str, text: str, tools: Any = TOOLS, **request: Any) -> Got:
        return whole(make_parser(f"toolwire_{format}", tools, **request), text)

    def required_tag(self, format: str, tools: Any) -> Any:
        parser = make_parser(f"toolwire_{format}", tools)
        return parser.detector.get_structural_tag(parser.tools, "required")

    def pieces_of_arguments(self, got: Got) -> list[str]:
        return [call.parameters for _, calls in got.steps for call in calls]

    def check_same_as_core(self, got: Got, format: str, text: str) -> None:
        super().check_same_as_core(got, format, text)
        calls = toolwire.parse(format, text, TOOLS).tool_calls
        assert got.incomplete == {n for n, call in enumerate(calls) if not call.complete}

    @pytest.mark.parametrize("format", toolwire.list_formats())
    def test_every_cut_of_two(self, format: str) -> None:
        text = f"Well.\n{example(format)}\nSo."
        for at in range(len(text)):
            got = self.stream(format, [text[:at], text[at:], ""])
            self.check_same_as_core(got, format, text)
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


def test_a_detector_may_read_a_second_text() -> None:
    parser = make_parser("toolwire_hermes", TOOLS)
    for _ in range(2):
        assert whole(parser, ADD_ONE_TWO).calls == [("add", ONE_TWO)]


class Broken:
    """A parser with a fault: it shows after some good steps, or else at the end."""

    good_steps = 0

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.parser = EventParser(*arguments, **more)

    def feed(self, text: str) -> Any:
        if self.good_steps == 0:
            raise RuntimeError("a fault")
        self.good_steps -= 1
        return self.parser.feed(text)

    def finish(self) -> Any:
        raise RuntimeError("a fault")


@pytest.mark.parametrize("where", ["feed", "finish"])
def test_a_fault_of_ours_is_text_and_a_line_in_the_log(
    where: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sglang_adapter, "EventParser", Broken)
    monkeypatch.setattr(Broken, "good_steps", 1 if where == "feed" else 3)
    parser = make_parser("toolwire_hermes", TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    first = parser.parse_stream_chunk(ADD_ONE_TWO[:cut])
    assert first[1][0].name == "add"
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
    "gpt-oss": "<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>"
    '{"city": "Oslo"}<|call|>',
    "hunyuan": "<tool_calls>\n<tool_call>look<tool_sep>\n<arg_key>city</arg_key>\n"
    "<arg_value>Oslo</arg_value>\n</tool_call>\n</tool_calls>",
    "interns1": '<|action_start|> <|plugin|>\n{"name": "look", "parameters": {"city": "Oslo"}}'
    "<|action_end|>",
    "mimo": "<tool_call>\n<function=look>\n<parameter=city>Oslo</parameter>\n</function>\n</tool_call>",
}
LOOK = tool("look", city=STRING)


def test_every_name_of_sglang_is_known() -> None:
    """Each can be taken over, or there is a reason why not. A release with a new one fails here."""
    theirs = {name for name in TABLE if not name.startswith("toolwire_")}
    assert len(theirs) > 20
    assert theirs <= set(SGLANG_NAMES)
    assert not [sentence for sentence in sglang_kept(theirs) if "no format" in sentence]


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
