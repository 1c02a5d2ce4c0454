"""The benchmark's workers inside vLLM, at tiny sizes; how fast anything is, is not asked."""

from __future__ import annotations

from pathlib import Path

from benchmark_checks import check_cache, check_correctness, check_parsers, check_thoughts


def test_what_parsers_cost(tmp_path: Path) -> None:
    check_parsers("vllm", "vLLM", tmp_path)


def test_what_thoughts_cost(tmp_path: Path) -> None:
    check_thoughts(tmp_path)


def test_whose_calls_depend_on_the_cuts(tmp_path: Path) -> None:
    check_correctness("vllm", tmp_path)


def test_what_the_next_prompt_keeps(tmp_path: Path) -> None:
    check_cache("vllm", tmp_path)
