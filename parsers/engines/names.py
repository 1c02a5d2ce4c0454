"""What engines call our formats, for `TOOLWIRE_OVERRIDE=1`: their names, our parsers."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..formats import get_format, list_formats

OVERRIDE = "TOOLWIRE_OVERRIDE"

#: vLLM's names that are neither ours nor an alias of ours. Behind those without any it takes no parser
#: but its own.
_VLLM = {
    "cohere_command3": "",
    "cohere_command4": "",
    "hy_v3": "hy3",
    "hy_v4": "hy4",
    "kimi_k3": "",
    "openai": "",
    "poolside_v1": "glm47",
    "qwen3_json": "hermes",
}

#: … and SGLang's. Its `hunyuan` is Hunyuan 3 and 4, our format of that name an older one;
#: Inkling's tokens it reads by itself.
_SGLANG = {
    "apertus2509": "apertus",
    "deepseekv3": "deepseek_v3",
    "deepseekv31": "deepseek_v3_1",
    "deepseekv32": "deepseek_v3_2",
    "deepseekv4": "deepseek_v4",
    "deepseekv41": "deepseek_v41",
    "glm": "glm45",
    "hunyuan": "hy3",
    "inkling": "",
    "interns1": "internlm",
    "nanbeige": "qwen3_coder",
    "poolside_v1": "glm47",
    "qwen": "hermes",
}


def overrides() -> bool:
    """Whether engines' own names are to stand for our parsers."""
    return os.environ.get(OVERRIDE, "") not in ("", "0")


#: Names that stay the engine's own whatever class stands behind them, and why.
_OWN_CLASS = "vLLM asks a class of its own for this name, whichever parser it stands for"
_FROM_CHECKPOINT = "it is read from the checkpoint's response_template"
_VLLM_KEPT = {
    "cohere_command3": _OWN_CLASS,
    "cohere_command4": _OWN_CLASS,
    "hf": f"{_FROM_CHECKPOINT}, as --tool-call-parser toolwire_auto does, too",
    "kimi_k3": _OWN_CLASS,
    "openai": "vLLM reads gpt-oss by its tokens, and starts with no other parser",
}
_BY_TOKENS = "SGLang reads this family by its tokens, and asks no parser by this name"
_SGLANG_KEPT = {
    "deepseekv4": _BY_TOKENS,
    "deepseekv41": _BY_TOKENS,
    "inkling": _BY_TOKENS,
    "response_template": _FROM_CHECKPOINT,
}
_UNKNOWN = "toolwire has no format of this name"


def vllm_kept(registered: Iterable[str]) -> list[str]:
    """A sentence for each reason why names that vLLM knows can't be taken over."""
    names = list(registered)
    return _kept(names, vllm_names(names), _VLLM_KEPT, "vLLM")


def sglang_kept(registered: Iterable[str]) -> list[str]:
    """A sentence for each reason why names that SGLang knows can't be taken over."""
    names = list(registered)
    return _kept(names, sglang_names(names), _SGLANG_KEPT, "SGLang")


def _kept(
    names: list[str], taken: dict[str, str], reasons: dict[str, str], engine: str
) -> list[str]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        if name in reasons or name not in taken:
            found.setdefault(reasons.get(name, _UNKNOWN), []).append(name)
    return [
        f"TOOLWIRE_OVERRIDE leaves {', '.join(several)} to {engine}: {reason}."
        for reason, several in found.items()
    ]


def vllm_names(registered: Iterable[str]) -> dict[str, str]:
    """Of the names that vLLM knows, those we have a format for, with its name."""
    return _known(registered, _VLLM)


def sglang_names(registered: Iterable[str]) -> dict[str, str]:
    """Of the names that SGLang knows, those we have a format for, with its name."""
    return _known(registered, _SGLANG)


def _known(registered: Iterable[str], special: dict[str, str]) -> dict[str, str]:
    known = set(list_formats(aliases=True))
    found = {}
    for name in registered:
        ours = special.get(name, name.replace("-", "_"))
        if ours in known:
            found[name] = get_format(ours).name
    return found


#: All names of the engines' own parsers, in the releases that toolwire was made for.
VLLM_NAMES = (
    "apertus", "cohere_command3", "cohere_command4", "deepseek_v3", "deepseek_v31",
    "deepseek_v32", "deepseek_v4", "deepseek_v41", "dots", "ernie45", "functiongemma", "gemma4",
    "gigachat3", "glm45", "glm47", "granite", "granite-20b-fc", "granite4", "hermes", "hf",
    "hunyuan_a13b", "hy_v3", "hy_v4", "inkling", "internlm", "jamba", "k2_horizon", "kimi_k2",
    "kimi_k3", "lfm2", "ling3", "llama3_json", "llama4_json", "llama4_pythonic", "longcat",
    "mimo", "minicpm5", "minimax_m2", "minimax_m3", "mistral", "muse_glimmer", "olmo3",
    "openai", "phi4_mini_json", "plamo3", "poolside_v1", "pythonic", "qwen3_coder",
    "qwen3_json", "qwen3_xml", "seed_oss", "step3", "step3p5", "xlam",
)  # fmt: skip
SGLANG_NAMES = (
    "apertus2509", "beam", "cohere_command4", "deepseekv3", "deepseekv31", "deepseekv32",
    "deepseekv4", "deepseekv41", "dots", "gemma4", "gigachat3", "gigachat35", "glm", "glm45",
    "glm47", "gpt-oss", "hermes", "hunyuan", "inkling", "interns1", "iquest_q1", "k2_horizon",
    "kimi_k2", "kimi_k3", "lfm2", "ling3", "llama3", "mimo", "minicpm5", "minimax-m2",
    "minimax-m3", "mistral", "muse", "nanbeige", "poolside_v1", "pythonic", "qwen", "qwen25",
    "qwen3_coder", "response_template", "spark25", "step3", "step3p5", "trinity",
)  # fmt: skip


def names_of(format: str) -> dict[str, list[str]]:
    """What each engine calls a format, whether or not our parser can take over that name."""
    known = set(list_formats(aliases=True))
    found: dict[str, list[str]] = {"vllm": [], "sglang": []}
    for engine, names, special in (
        ("vllm", VLLM_NAMES, _VLLM),
        ("sglang", SGLANG_NAMES, _SGLANG),
    ):
        for name in names:
            ours = special.get(name) or name.replace("-", "_")
            if ours in known and get_format(ours).name == format:
                found[engine].append(name)
    return found
