"""Ray Serve LLM: `llm_config` makes Ray's own `LLMConfig`, with what tool calls take.

    from ray import serve
    from ray.serve.llm import build_openai_app
    from toolwire.engines.ray import llm_config

    config = llm_config("hermes", template="chatml-hermes", model_loading_config={"model_id": …})
    serve.run(build_openai_app({"llm_configs": [config]}))

Two things differ from a server that is started by its command line. Where Ray makes the engine's
configuration in a task of its own (on GPUs it does), nobody loads vLLM's plugins in the process that
answers: so a callback of Ray's does, before the engine starts (`CALLBACK`). And replicas are on other
machines, where a path may lead nowhere: so the template goes as text.
"""

from __future__ import annotations

from typing import Any

from ..formats import get_format
from ..templates import get_template
from .thinking import find_style
from .vllm.plugin import AUTO, PREFIX

#: What Ray runs in each replica before the engine starts. (A worker_process_setup_hook would not do: Ray
#: runs those of jobs only, not those of a deployment.)
CALLBACK = "toolwire.engines.ray_callback.RegisterParsers"


def llm_config(
    format: str, *, template: str | None = None, reasoning: str | None = None, **config: Any
) -> Any:
    """Ray's `LLMConfig` of a vLLM whose tool calls toolwire reads.

    `format` is a format's name, `any` or `auto`. `template` names a chat template of toolwire's; without
    it, the model's own is used, or that of `engine_kwargs`. `reasoning` is a style of thoughts. All else
    is Ray's, and goes there as it is; a `callback_config` of your own needs a class that derives from
    `CALLBACK`. toolwire has to be installed wherever a replica runs.
    """
    from ray.serve.llm import LLMConfig

    return LLMConfig(**with_calls(config, format, template, reasoning))


def with_calls(
    config: dict[str, Any], format: str, template: str | None = None, reasoning: str | None = None
) -> dict[str, Any]:
    """The arguments of Ray's `LLMConfig`, with those for tool calls among them."""
    parser = PREFIX + (AUTO if format == AUTO else get_format(format).name)
    engine = {**(config.get("engine_kwargs") or {}), "tool_call_parser": parser}
    engine["enable_auto_tool_choice"] = True
    if template is not None:
        engine["chat_template"] = get_template(template).text()
    if reasoning is not None:
        find_style(reasoning)
        engine["reasoning_parser"] = PREFIX + reasoning
    return {"callback_config": {"callback_class": CALLBACK}, **config, "engine_kwargs": engine}
