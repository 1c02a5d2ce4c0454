"""What `llm_config` gives Ray, with the real Ray and vLLM but no replica: the parser is found in a
process of Ray's in which nobody has loaded vLLM's plugins.

That replicas serve with it: test_ray_serve.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import ray
from ray.serve.llm import LLMConfig
from toolwire.engines.ray import llm_config


@pytest.fixture(scope="module")
def started() -> Iterator[None]:
    """Ray, unless the tests before have one that runs."""
    if ray.is_initialized():
        yield
        return
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.short
def test_the_parser_is_registered_where_a_replica_starts(started: None) -> None:
    config = llm_config(
        "hermes",
        template="chatml-hermes",
        model_loading_config={"model_id": "model"},
        accelerator_config={"kind": "cpu"},
    )
    assert isinstance(config, LLMConfig)

    @ray.remote(num_cpus=1)
    def found_before_and_then(config: Any) -> tuple[str | None, str | None]:
        """As a replica does it, before its engine starts."""
        import asyncio

        from vllm.tool_parsers import ToolParserManager

        def found() -> str | None:
            try:
                kind = ToolParserManager.get_tool_parser(config.engine_kwargs["tool_call_parser"])
            except KeyError:
                return None
            return str(kind.__name__)

        before = found()
        asyncio.run(config.get_or_create_callback().run_callback("on_before_node_init"))
        return before, found()

    assert ray.get(found_before_and_then.remote(config)) == (None, "toolwire_hermes")
