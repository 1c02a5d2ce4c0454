"""Which format a model writes, by its name."""

from __future__ import annotations

import pytest
from toolwire.formats import get_format, list_formats
from toolwire.formats.model_names import format_of_model

NAMES = {
    "Qwen/Qwen3-8B": "hermes",
    "qwen2.5:7b": "hermes",
    "/models/qwen2.5-7b/": "hermes",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": "qwen3_coder",
    "hf.co/bartowski/Qwen_Qwen3-Coder-30B-GGUF:Q4": "qwen3_coder",
    "Qwen3.5-27B": "qwen3_coder",
    "NousResearch/Hermes-3-Llama-3.1-8B": "hermes",
    "nvidia/Llama-3.1-Nemotron-Nano-8B": "nemotron",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B": "qwen3_coder",
    "deepseek-ai/DeepSeek-V3.1": "deepseek_v3_1",
    "deepseek-r1:7b": "deepseek_v3",
    "gpt-oss:20b": "harmony",
    "meta-llama/Llama-3.3-70B-Instruct": "llama3_json",
    "llama3.2:3b": "llama3_json",
    "meta-llama/Llama-4-Scout-17B": "llama4_pythonic",
    "zai-org/GLM-4.6": "glm45",
    "zai-org/GLM-4.7-Flash": "glm47",
    "moonshotai/Kimi-K2-Instruct": "kimi_k2",
    "mistralai/Devstral-Small": "mistral",
    "ibm-granite/granite-4.0-h-small": "granite4",
    "microsoft/Phi-4-mini-instruct": "phi4",
    "CohereLabs/c4ai-command-r-plus": "command_r",
    "MiniMaxAI/MiniMax-M2": "minimax_m2",
    "Salesforce/Llama-xLAM-2-8b-fc-r": "xlam",
    "gemma3:4b": None,
    "HuggingFaceTB/SmolLM2-135M": None,
    "gpt-4o": None,
    "": None,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_models_name(name: str) -> None:
    assert format_of_model(name) == NAMES[name]


def test_every_format_of_a_family_has_names_of_its_own() -> None:
    each = {name: get_format(name) for name in list_formats()}
    assert {n for n in each if each[n].family} == {n for n in each if each[n].model_names}
    names = [known for format in each.values() for known in format.model_names]
    assert len(names) == len(set(names))
    assert {format_of_model(known) for known in names} == {n for n in each if each[n].family}
