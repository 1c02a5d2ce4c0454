"""What Ray runs in each replica before the engine starts: see `ray`."""

from __future__ import annotations

from ray.llm._internal.common.callbacks.base import CallbackBase

from .vllm.plugin import register


class RegisterParsers(CallbackBase):  # type: ignore[misc]
    """Tells the replica's vLLM toolwire's parsers. A callback of your own may derive from it."""

    async def on_before_node_init(self) -> None:
        register()
