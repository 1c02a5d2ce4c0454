"""Whose models write each of toolwire's formats, and since which year.

A format that several families write stands with the one that most people run. Formats that any model
can be told to write belong to none.
"""

from __future__ import annotations

from dataclasses import replace

from ..core.format import Format

_FAMILIES: dict[str, dict[str, int]] = {
    "Apertus": {"apertus": 2025},
    "Apriel": {"apriel": 2025},
    "Beam": {"beam": 2026},
    "Cohere": {"cohere": 2024, "command_r": 2024, "cohere_command5": 2026},
    "DeepSeek": {
        "deepseek_v3": 2024,
        "deepseek_v3_1": 2025,
        "deepseek_v3_2": 2025,
        "deepseek_v4": 2026,
        "deepseek_v41": 2026,
    },
    "Dots": {"dots": 2025},
    "Functionary": {"functionary": 2024},
    "Gemma": {"functiongemma": 2025, "gemma4": 2026},
    "GigaChat": {"gigachat3": 2025, "gigachat35": 2026},
    "GLM": {"glm45": 2025, "glm47": 2025},
    "gpt-oss": {"harmony": 2025},
    "Granite": {"granite": 2024, "granite_20b_fc": 2024, "granite4": 2025},
    "Hunyuan": {"hunyuan": 2025, "hy3": 2026, "hy4": 2026},
    "Inkling": {"inkling": 2026},
    "InternLM": {"internlm": 2024},
    "iQuest": {"iquest_coder": 2026, "iquest_q1": 2026},
    "Jamba": {"jamba": 2024},
    "K2": {"k2_horizon": 2026},
    "Kimi": {"kimi_k2": 2025, "kimi_k3": 2026},
    "LFM": {"lfm2": 2025},
    "Llama": {"llama3_json": 2024, "pythonic": 2024, "llama4_pythonic": 2025},
    "LongCat": {"longcat": 2025},
    "MiniCPM": {"minicpm5": 2026},
    "MiniMax": {"minimax_m2": 2025, "minimax_m3": 2026},
    "Mistral": {"mistral": 2024},
    "Muse": {"muse_glimmer": 2026},
    "Nemotron": {"nemotron": 2025},
    "OLMo": {"olmo3": 2025},
    "Pangu": {"pangu_v2": 2026},
    "Phi": {"phi4": 2025},
    "PLaMo": {"plamo3": 2026},
    "Qwen": {"hermes": 2024, "qwen3_coder": 2025},
    "Sarashina": {"sarashina": 2025},
    "Seed": {"seed_oss": 2025},
    "Solar": {"solar_open": 2026, "solar_open2": 2026},
    "Spark": {"spark25": 2026},
    "Step": {"step3": 2025},
    "Trinity": {"trinity": 2025},
    "xLAM": {"xlam": 2024},
}
_PLACES = {
    name: f"{family} {year}"
    for family, formats in _FAMILIES.items()
    for name, year in formats.items()
}


def with_family(spec: Format) -> Format:
    """The format with its family and its year, where it has any."""
    return replace(spec, family=_PLACES.get(spec.name, ""))


def family_and_year(spec: Format) -> tuple[str, int]:
    """A format's family, "" where it has none, and its year, 0 where it does not say."""
    family, _, year = spec.family.rpartition(" ")
    return (family, int(year)) if year.isdecimal() and family else (spec.family, 0)
