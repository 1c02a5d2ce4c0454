"""Which contract the installed SGLang has, and that a change of it is noticed."""

from __future__ import annotations

import pytest
import sglang
import xgrammar
from engine_cases import chunkings, tool, written
from engine_grammar import make_compiler
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang_driving import make_parser, stream, whole
from toolwire.engines.sglang import adapter
from toolwire.engines.sglang import plugin as sglang_plugin
from toolwire.engines.sglang.contract import Contract, find_contract
from toolwire.engines.sglang.forced_json import OPENER
from toolwire.engines.sglang.self_test import self_test
from toolwire.models.releases import SGLANG

NARROW = tool("narrow", code={"type": "string", "minLength": 2})
FORCED = written("json", "narrow").replace("city", "code")


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()


def test_it_is_the_one_that_the_doctor_names() -> None:
    """The plugin goes by what SGLang has; `toolwire doctor` loads nothing and goes by its number."""
    generation = SGLANG.generation(sglang.__version__)
    assert generation is not None
    assert find_contract().since == generation.since_text


# -- forced calls, where a detector does not hear the tool choice ------------------------------------


@pytest.fixture
def not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was before 0.5.21."""
    contract = Contract(hears_choice=False, names_app=False)
    monkeypatch.setattr(adapter, "CONTRACT", contract)


@pytest.mark.usefixtures("not_told")
@pytest.mark.parametrize("format", ["qwen3_coder", "hermes", "pythonic", "json", "call_text"])
def test_our_own_json_is_read_in_every_format(format: str) -> None:
    for pieces in (
        *chunkings(FORCED),
        *([FORCED[:at], FORCED[at:]] for at in range(len(OPENER) + 2)),
    ):
        got = stream(make_parser(f"toolwire_{format}", [NARROW]), pieces)
        assert (got.calls, got.content) == ([("narrow", '{"code": "Oslo"}')], None)
    got = whole(make_parser(f"toolwire_{format}", [NARROW]), FORCED)
    assert (got.calls, got.content) == ([("narrow", '{"code": "Oslo"}')], None)


@pytest.mark.usefixtures("not_told")
@pytest.mark.parametrize("text", ["", "{", '{"tool_calls": ', '{"tool_call": []}', "No."])
def test_what_only_begins_like_it_is_text(text: str) -> None:
    for pieces in ([text], list(text), [*text, ""]):
        got = stream(make_parser("toolwire_qwen3_coder", [NARROW]), pieces)
        assert (got.calls, got.content or "") == ([], text)
    assert (whole(make_parser("toolwire_qwen3_coder", [NARROW]), text).content or "") == text


@pytest.mark.usefixtures("not_told")
def test_the_formats_own_calls_are_read_as_ever() -> None:
    text = f"Well.\n{written('qwen3_coder', 'narrow').replace('city', 'code')}"
    for pieces in chunkings(text):
        got = stream(make_parser("toolwire_qwen3_coder", [NARROW]), pieces)
        assert (got.calls, got.content) == ([("narrow", '{"code": "Oslo"}')], "Well.")


# -- forced calls, as some releases ask about them --------------------------------------------------


def test_forced_calls_come_here_and_there_is_no_tag_of_the_old_kind() -> None:
    """Before 0.5.20, a stream of Responses goes by this alone; behind a tag it means another thing."""
    detector = make_parser("toolwire_call_text", [NARROW]).detector
    assert detector.supports_structural_tag()
    detector.get_structural_tag(tools=[Tool.model_validate(NARROW)], tool_choice="auto")
    assert not detector.supports_structural_tag()


def test_a_model_that_is_held_to_json_cannot_write_spaces_for_ever() -> None:
    """Before xgrammar 0.2.2, a schema in a tag can't say how many."""
    properties = {"a": {"type": "integer"}}
    left_to_xgrammar = {"type": "object", "properties": properties, "minProperties": 1}
    free = tool("free", data=left_to_xgrammar)
    detector = make_parser("toolwire_json", [free]).detector
    tag = detector.get_structural_tag(tools=[Tool.model_validate(free)], tool_choice="required")
    compiled = make_compiler().compile_structural_tag(tag)
    for spaces, fits in ((0, True), (2, True), (3, False)):
        data = "{" + " " * spaces + '"a": 1}'
        text = written("json", "free").replace('"city": "Oslo"', f'"data": {data}')
        matcher = xgrammar.GrammarMatcher(compiled)
        assert matcher.accept_string(text) is fits


# -- a release that nobody has tested --------------------------------------------------------------


def test_all_is_well() -> None:
    assert self_test() is None


def test_a_changed_contract_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sglang_plugin.log, "propagate", True)
    monkeypatch.setattr(sglang, "__version__", "0.9.0")
    monkeypatch.setattr(FunctionCallParser, "parse_stream_chunk", lambda *_: ("?", []))
    sglang_plugin.try_out.cache_clear()
    sglang_plugin.register()
    said = [record.getMessage() for record in caplog.records if "self-test" in record.getMessage()]
    assert len(said) == 1
    assert "failed on SGLang 0.9.0, whose contract with parsers has changed (streamed" in said[0]
    assert "\n" not in said[0]
    monkeypatch.delattr(FunctionCallParser, "parse_stream_chunk")
    problem = self_test()
    assert problem is not None
    assert problem.startswith("AttributeError")


def test_a_release_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(BaseFormatDetector, "finish")
    with pytest.raises(sglang_plugin.ToolwireError, match="where an answer ends"):
        find_contract()
