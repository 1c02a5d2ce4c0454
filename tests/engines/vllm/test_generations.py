"""Which contract the installed vLLM has, and that a change of it is noticed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import vllm
from engine_cases import ADD, ADD_ONE_TWO, ONE_TWO
from toolwire.engines.vllm import api as vllm_api
from toolwire.engines.vllm import start
from toolwire.engines.vllm.self_test import self_test
from toolwire.models.releases import VLLM
from toolwire.openai.request import read_functions
from vllm.parser.abstract_parser import DelegatingParser
from vllm_driving import chat_request, make_parser, responses_request, whole

pytestmark = pytest.mark.usefixtures("registered", "unchecked")


def test_it_is_the_one_that_the_doctor_names() -> None:
    """The plugin goes by what vLLM has; `toolwire doctor` loads nothing and goes by its number."""
    generation = VLLM.generation(vllm.__version__)
    assert generation is not None
    assert vllm_api.load().contract.since == generation.since_text


def test_an_older_one_is_refused_in_a_sentence() -> None:
    class ToolParser:
        """As it was before 0.24."""

        supports_required_and_named = True

        def get_structural_tag(self, request: Any) -> None: ...

    with pytest.raises(vllm_api.ToolwireError, match=r"works with vLLM 0\.24 to 0\.32"):
        vllm_api.find_contract(ToolParser, SimpleNamespace())


# -- tools that the model is shown -----------------------------------------------------------------

NAMESPACE = {
    "type": "namespace",
    "name": "maths",
    "description": "Numbers.",
    "tools": [{"type": "function", **ADD["function"]}],
}


def test_tools_in_a_namespace_are_called_by_the_names_that_are_shown(hf_tokenizer: Any) -> None:
    request = responses_request([ADD])
    request.tools += (
        type(request).model_validate({"input": "Go.", "model": "model", "tools": [NAMESPACE]}).tools
    )
    names = [function.name for function in functions(request)]
    if hasattr(vllm.tool_parsers.utils, "flat_namespace_tool_name"):  # since 0.26
        assert names == ["add", "maths__add"]
    else:
        assert names == ["add"]
    text = ADD_ONE_TWO.replace('"add"', f'"{names[-1]}"')
    got = whole(make_parser(hf_tokenizer, "toolwire_hermes", request), text, request)
    assert got.calls == [(names[-1], ONE_TWO)]


def functions(request: Any) -> Any:
    return read_functions(vllm_api.load().contract.function_tools(request.tools))


def test_hosted_tools_are_not_called() -> None:
    request = responses_request([])
    request.tools = (
        type(request)
        .model_validate(
            {"input": "Go.", "model": "model", "tools": [{"type": "web_search_preview"}]}
        )
        .tools
    )
    assert not functions(request)


# -- a release that nobody has tested --------------------------------------------------------------


def test_all_is_well(hf_tokenizer: Any) -> None:
    assert self_test(hf_tokenizer) is None


def serving(tokenizer: Any) -> Any:
    request = chat_request([ADD])
    kind = type(make_parser(tokenizer, "toolwire_hermes", request))
    renderer = SimpleNamespace(tokenizer=tokenizer)
    return SimpleNamespace(parser_cls=kind, renderer=renderer, chat_template=None)


def test_a_tested_release_is_not_tried_out(
    hf_tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(vllm_api.log, "propagate", True)
    monkeypatch.delattr(DelegatingParser, "parse_delta")
    start.started(serving(hf_tokenizer))
    assert "self-test" not in caplog.text


CHANGES = {
    "a method is gone": lambda *_, **__: None,
    "another result": lambda *_, **__: SimpleNamespace(content="?", tool_calls=[]),
}


@pytest.mark.parametrize("change", [*CHANGES, None])
def test_a_changed_contract_is_said_in_a_sentence(
    change: str | None,
    hf_tokenizer: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(vllm_api.log, "propagate", True)
    monkeypatch.setattr(vllm, "__version__", "0.99.0")
    if change is not None:
        monkeypatch.setattr(DelegatingParser, "parse_delta", CHANGES[change])
    found = serving(hf_tokenizer)
    monkeypatch.setattr(found.parser_cls.tool_parser_cls, "toolwire_started", (None, ""))
    start.started(found)
    said = [record.getMessage() for record in caplog.records if "self-test" in record.getMessage()]
    assert len(said) == (change is not None)
    for sentence in said:
        assert "failed on vLLM 0.99.0, whose contract with parsers has changed" in sentence
        assert "\n" not in sentence


def test_what_is_missing_is_named(hf_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(DelegatingParser, "parse_delta")
    problem = self_test(hf_tokenizer)
    assert problem is not None
    assert "contract with parsers has changed (" in problem
