"""Makes the real engine wait at a gate before each token of a request: see `token_gate`.

A request has the processor as `custom_logit_processor` and the gate as `custom_params={"gate": PATH}`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sglang.srt.sampling.custom_logit_processor import CustomLogitProcessor
from token_gate import Passage

passage = cache(Passage)


class GatedOutput(CustomLogitProcessor):  # type: ignore[misc]
    def __call__(self, logits: Any, custom_param_list: list[dict[str, Any]] | None = None) -> Any:
        for parameters in custom_param_list or ():
            passage(parameters["gate"]).wait()
        return logits
