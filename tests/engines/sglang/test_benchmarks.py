"""The benchmark's workers inside SGLang, at tiny sizes; how fast anything is, is not asked."""

from __future__ import annotations

from pathlib import Path

from benchmark_checks import check_cache, check_correctness, check_parsers


def test_what_parsers_cost(tmp_path: Path) -> None:
    check_parsers("sglang", "SGLang", tmp_path)


def test_whose_calls_depend_on_the_cuts(tmp_path: Path) -> None:
    check_correctness("sglang", tmp_path)


def test_what_the_next_prompt_keeps(tmp_path: Path) -> None:
    check_cache("sglang", tmp_path)
