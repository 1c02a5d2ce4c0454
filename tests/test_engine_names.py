"""`TOOLWIRE_OVERRIDE=1` says which of an engine's names stay its own, and why."""

from __future__ import annotations

from toolwire.engines.names import sglang_kept, sglang_names, vllm_kept, vllm_names


def test_what_vllm_keeps_is_said() -> None:
    registered = ["hermes", "kimi_k3", "cohere_command4", "hf", "openai", "newest", "qwen3_json"]
    assert vllm_names(registered) == {"hermes": "hermes", "qwen3_json": "hermes"}
    sentences = vllm_kept(iter(registered))
    assert [sentence.partition(" to vLLM: ")[0] for sentence in sentences] == [
        "TOOLWIRE_OVERRIDE leaves cohere_command4, kimi_k3",
        "TOOLWIRE_OVERRIDE leaves hf",
        "TOOLWIRE_OVERRIDE leaves newest",
        "TOOLWIRE_OVERRIDE leaves openai",
    ]
    assert "toolwire_auto" in sentences[1]
    assert sentences[2].endswith("toolwire has no format of this name.")


def test_what_sglang_keeps_is_said() -> None:
    registered = ["qwen", "deepseekv4", "deepseekv41", "inkling", "response_template", "newest"]
    assert sglang_names(registered)["qwen"] == "hermes"
    sentences = sglang_kept(registered)
    assert [sentence.partition(" to SGLang: ")[0] for sentence in sentences] == [
        "TOOLWIRE_OVERRIDE leaves deepseekv4, deepseekv41, inkling",
        "TOOLWIRE_OVERRIDE leaves newest",
        "TOOLWIRE_OVERRIDE leaves response_template",
    ]


def test_where_all_is_taken_over_nothing_is_said() -> None:
    assert vllm_kept(["hermes"]) == sglang_kept(["qwen"]) == []
