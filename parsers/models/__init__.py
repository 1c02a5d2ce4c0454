"""What can be known of a model from its files, or from texts that it wrote, before it ever runs.

Reading order: `propose` (from texts and the calls in them to a format, and the proof), with `around`
(what stands around calls), `cuts`, `tag_cuts` and `code_cuts` (how a call itself is written); `files`
and `gguf` (where a template and a vocabulary come from), `rendering` (a stranger's template, made ready
to be asked), `probes` (conversations with calls that can be told apart), `frames` (how turns are
marked), `detect` (which format a template shows), `markers` (tokens that a format needs), `doctor`
(whether a model, a format and this installation fit together).
"""
