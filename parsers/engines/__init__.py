"""Thin adapters: the core's events in the words of an engine. Nothing is decided twice.

`vllm_plugin` registers the parsers with vLLM, `vllm_adapter` is what stands behind a name (`vllm_auto`
behind `toolwire_auto`), `vllm_api` knows where vLLM keeps its classes. `sglang_plugin` and
`sglang_adapter` are the same for SGLang, `sglang_checks` looks at the model when it starts. Shared by
all engines: `tools` (an engine's tool objects as OpenAI dicts), `structural_tags` (constraints for
xgrammar), `startup_checks` (does the model fit the format), `names` (what engines call our formats).
"""
