"""Replicas whose engine's configuration is made in a task of its own, as Ray does it on GPUs.

In that case nobody loads vLLM's plugins in the replica: the configuration comes there as it is.
"""

from __future__ import annotations

from typing import Any

from ray.llm._internal.serve.core.configs.accelerators import CPUAccelerator
from ray.serve.llm import LLMServer


class AsOnGpus(LLMServer):  # type: ignore[misc]
    async def __init__(self, *arguments: Any, **named: Any) -> None:
        CPUAccelerator.requires_remote_initialization = True
        await super().__init__(*arguments, **named)
