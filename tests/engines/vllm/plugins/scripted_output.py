"""Makes the real engine write a given text, token for token.

The client sends token ids as `vllm_xargs={"script": [...]}`; everything after sampling (the
detokenizer, the parser, the server) then works on them as on any model's output. After the script
the answer ends, or with `"go_on": 1` the rest of it is the model's own. So is a request without a
script. With `"gate": PATH` it is written no faster than the test allows (see `token_gate`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from token_gate import Passage
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

#: A step takes no less than this. A server that can't keep up with its model sends several tokens
#: at once, and mostly the tests are to read them one by one. Those that rely on it have a gate.
STEP_SECONDS = 0.02


class ScriptedOutput(AdapterLogitsProcessor):  # type: ignore[misc]
    def __init__(self, config: Any, device: torch.device, is_pin_memory: bool) -> None:
        super().__init__(config, device, is_pin_memory)
        self._end: int = config.model_config.hf_config.eos_token_id

    @classmethod
    def validate_params(cls, params: Any) -> None:
        script = (params.extra_args or {}).get("script")
        if script is not None and not isinstance(script, list):
            raise ValueError("vllm_xargs.script is a list of token ids")

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        if self.req_info:
            time.sleep(STEP_SECONDS)
        return super().apply(logits)

    def is_argmax_invariant(self) -> bool:
        return False

    def new_req_logits_processor(
        self, params: Any
    ) -> Callable[[list[int], torch.Tensor], torch.Tensor] | None:
        arguments = params.extra_args or {}
        script, go_on = arguments.get("script"), arguments.get("go_on")
        if script is None:
            return None
        gate = Passage(arguments["gate"]) if "gate" in arguments else None

        def follow(written: list[int], logits: torch.Tensor) -> torch.Tensor:
            if gate is not None:
                gate.wait()
            place = len(written)
            if go_on and place >= len(script):
                return logits
            token = int(script[place]) if place < len(script) else self._end
            logits.fill_(float("-inf"))
            logits[token] = 0.0
            return logits

        return follow
