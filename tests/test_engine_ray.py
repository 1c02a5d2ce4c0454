"""What `llm_config` gives Ray, without Ray. That Ray serves with it: tests/engines/ray_serve."""

from __future__ import annotations

import pytest
from toolwire import ToolwireError
from toolwire.engines.ray import CALLBACK, with_calls
from toolwire.templates import get_template


def test_all_that_tool_calls_take() -> None:
    given = {"model_loading_config": {"model_id": "m"}, "engine_kwargs": {"max_model_len": 9}}
    config = with_calls(given, "qwen25", "chatml-hermes", "think")
    engine = config.pop("engine_kwargs")
    assert config == {
        "model_loading_config": {"model_id": "m"},
        "callback_config": {"callback_class": CALLBACK},
    }
    assert engine.pop("chat_template") == get_template("chatml-hermes").text()
    assert engine == {
        "max_model_len": 9,
        "enable_auto_tool_choice": True,
        "tool_call_parser": "toolwire_hermes",
        "reasoning_parser": "toolwire_think",
    }
    assert given["engine_kwargs"] == {"max_model_len": 9}, "what was given stays as it is"


@pytest.mark.parametrize("name", ["any", "auto"])
def test_formats_that_are_found_out(name: str) -> None:
    assert with_calls({}, name)["engine_kwargs"]["tool_call_parser"] == f"toolwire_{name}"


def test_ones_own_callback_is_kept() -> None:
    mine = {"callback_class": "my.Callback"}
    assert with_calls({"callback_config": mine}, "hermes")["callback_config"] == mine


def test_what_there_is_not_is_said_at_once() -> None:
    with pytest.raises(ToolwireError, match="hermse"):
        with_calls({}, "hermse")
    with pytest.raises(ToolwireError, match="no chat template"):
        with_calls({}, "hermes", "chatml")
    with pytest.raises(ToolwireError, match="no style of reasoning"):
        with_calls({}, "hermes", None, "thinking_hard")
