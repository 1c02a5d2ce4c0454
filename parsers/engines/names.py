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
