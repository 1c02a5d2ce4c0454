"""What the models are called that write each format: from a model's name to its format.

A name only hints at the format; a chat template shows it (`models/detect.py`). It is what is known of a
model behind somebody else's server.
"""

from __future__ import annotations

import re

from .registry import get_format

#: What stands in the names of models that write a format, without the characters between words.
_NAMES: dict[str, tuple[str, ...]] = {
    "apertus": ("apertus",),
    "apriel": ("apriel",),
    "beam": ("beam",),
    "cohere": ("commanda", "commandr7b", "command4"),
    "cohere_command5": ("command5",),
    "command_r": ("commandr",),
    "deepseek_v3": ("deepseek", "deepseekv3", "deepseekr1"),
    "deepseek_v3_1": ("deepseekv3.1",),
    "deepseek_v3_2": ("deepseekv3.2",),
    "deepseek_v4": ("deepseekv4",),
    "deepseek_v41": ("deepseekv4.1",),
    "dots": ("dots.llm", "dots1"),
    "functionary": ("functionary",),
    "functiongemma": ("functiongemma",),
    "gemma4": ("gemma4",),
    "gigachat3": ("gigachat3",),
    "gigachat35": ("gigachat3.5",),
    "glm45": ("glm4.5", "glm4.6"),
    "glm47": ("glm4.7", "glm5", "ling3", "poolside"),
    "granite": ("granite3",),
    "granite4": ("granite4",),
    "granite_20b_fc": ("granite20bfunctioncalling",),
    "harmony": ("gptoss",),
    "hermes": ("hermes", "qwen", "qwq", "ernie4.5", "reka", "kolibri"),
    "hunyuan": ("hunyuana13b",),
    "hy3": ("hunyuan3", "hy3"),
    "hy4": ("hunyuan4", "hy4"),
    "inkling": ("inkling",),
    "internlm": ("internlm2",),
    "iquest_coder": ("iquestcoder",),
    "iquest_q1": ("iquestq1",),
    "jamba": ("jamba", "minimaxm1"),
    "k2_horizon": ("k2horizon",),
    "kimi_k2": ("kimi", "kimik2"),
    "kimi_k3": ("kimik3",),
    "lfm2": ("lfm2",),
    "llama3_json": ("llama3.1", "llama3.2", "llama3.3"),
    "llama4_pythonic": ("llama4",),
    "longcat": ("longcat",),
    "minicpm5": ("minicpm5",),
    "minimax_m2": ("minimaxm2",),
    "minimax_m3": ("minimaxm3",),
    "mistral": ("mistral", "mixtral", "ministral", "magistral", "devstral", "codestral"),
    "muse_glimmer": ("museglimmer",),
    "nemotron": ("nemotron", "llama3.1nemotron", "llama3.3nemotron"),
    "olmo3": ("olmo3",),
    "pangu_v2": ("panguv2",),
    "phi4": ("phi4mini", "firefunction"),
    "plamo3": ("plamo3",),
    "pythonic": ("toolace",),
    "qwen3_coder": (
        *("qwen3coder", "qwen3.5", "nemotron3", "step3.5", "granite4.2", "mimo", "berrylm"),
        "qwen3.6",
    ),
    "sarashina": ("sarashina",),
    "seed_oss": ("seedoss",),
    "solar_open": ("solaropen",),
    "solar_open2": ("solaropen2",),
    "spark25": ("spark2.5",),
    "step3": ("step3",),
    "trinity": ("trinity",),
    "xlam": ("xlam",),
}
_BY_NAME = {name: format for format, names in _NAMES.items() for name in names}
_BETWEEN_WORDS = re.compile(r"[^a-z0-9.]+")


def format_of_model(name: str) -> str | None:
    """The format that a model of this name writes (`Qwen/Qwen3-8B`, `gpt-oss:20b`), as far as a name
    tells; None where it does not."""
    folder, _, last = name.lower().rstrip("/").rpartition("/")
    return _format_in(last) or _format_in(folder)


def _format_in(name: str) -> str | None:
    """What comes first says whose model it is: `Hermes-3-Llama-3.1` is one of Hermes. The most exact
    name of that family counts: `qwen3coder` and not `qwen`."""
    plain = _BETWEEN_WORDS.sub("", name)
    found = [known for known in _BY_NAME if known in plain]
    if not found:
        return None
    first = min(found, key=lambda known: (plain.index(known), -len(known)))
    family = _family(_BY_NAME[first])
    return _BY_NAME[max((f for f in found if _family(_BY_NAME[f]) == family), key=len)]


def _family(format: str) -> str:
    return get_format(format).family
