"""toolwire inside inference engines: `vllm/` and `sglang/`, each a thin adapter, and what they share.

In each folder, `plugin` registers the parsers with the engine, `adapter` is what stands behind a name,
`reasoning` is the reasoning parser, `stream` turns events into the engine's own messages, `contract` is
what differs between releases, `self_test` tries out one that is new. Shared are `names` (what engines
call our formats), `versions` (is this release one that works?), `thinking` (styles of reasoning),
`startup_checks` (does the model fit the format?) and `model_construct` (messages without checks).
"""
